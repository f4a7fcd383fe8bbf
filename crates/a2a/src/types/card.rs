//! Cards: what an agent says about itself.

use std::collections::BTreeMap;

use super::wire::messages;
use super::{SecurityRequirement, SecurityScheme, Struct};

messages! { "lf.a2a.v1";
    /// What an agent is, can do and asks for, and where it is.
    AgentCard {
        name: String = 1 required,
        /// What the agent is for, for people and for other agents.
        description: String = 2 required,
        /// Where it can be reached and how, the preferred way first.
        supported_interfaces: Vec<AgentInterface> = 3 required,
        /// The organisation that runs the agent.
        provider: Option<AgentProvider> = 4,
        /// The agent's own version, in a form that its provider likes.
        version: String = 5 required,
        /// Where more is written about it.
        documentation_url: Option<String> = 6,
        /// Which optional parts of the protocol it has.
        capabilities: Option<AgentCapabilities> = 7 required,
        /// Ways to prove who one is, by names that the requirements use.
        security_schemes: BTreeMap<String, SecurityScheme> = 8,
        /// The credentials that a caller must prove; one of these is enough.
        security_requirements: Vec<SecurityRequirement> = 9,
        /// Media types that all skills take unless they say otherwise.
        default_input_modes: Vec<String> = 10 required,
        /// Media types that all skills give unless they say otherwise.
        default_output_modes: Vec<String> = 11 required,
        /// What it can do.
        skills: Vec<AgentSkill> = 12 required,
        /// Proofs that the card is genuine.
        signatures: Vec<AgentCardSignature> = 13,
        /// A picture of it.
        icon_url: Option<String> = 14,
    }

    /// A place where an agent can be reached, and what is spoken there.
    AgentInterface {
        /// The place; for gRPC host and port alone.
        url: String = 1 required,
        /// `JSONRPC`, `GRPC`, `HTTP+JSON`, or the URI of another binding.
        protocol_binding: String = 2 required,
        /// What callers put into the `tenant` of every request.
        tenant: String = 3,
        /// The version of the protocol that is spoken there: `1.0`.
        protocol_version: String = 4 required,
    }

    /// Who offers an agent.
    AgentProvider {
        url: String = 1 required,
        organization: String = 2 required,
    }

    /// Optional parts of the protocol. Where an agent says nothing, it does not have the part.
    AgentCapabilities {
        /// Whether it answers with streams.
        streaming: Option<bool> = 1,
        /// Whether it reports to where it is told.
        push_notifications: Option<bool> = 2,
        /// Extensions that it knows.
        extensions: Vec<AgentExtension> = 3,
        /// Whether known callers get a card with more in it.
        extended_agent_card: Option<bool> = 4,
    }

    /// An extension that an agent knows.
    AgentExtension {
        uri: String = 1,
        /// How the agent uses it.
        description: String = 2,
        /// Whether callers must know it as well.
        required: bool = 3,
        /// What the extension wants to be told.
        params: Option<Struct> = 4,
    }

    /// Something that an agent can do.
    AgentSkill {
        /// Unique for the agent.
        id: String = 1 required,
        name: String = 2 required,
        /// What it does, for people and for other agents.
        description: String = 3 required,
        /// Words to find it by.
        tags: Vec<String> = 4 required,
        /// What one could ask for.
        examples: Vec<String> = 5,
        /// Media types that it takes, instead of the agent's.
        input_modes: Vec<String> = 6,
        /// Media types that it gives, instead of the agent's.
        output_modes: Vec<String> = 7,
        /// The credentials that a caller must prove; one of these is enough.
        security_requirements: Vec<SecurityRequirement> = 8,
    }

    /// A signature of a card (RFC 7515), without what it signs.
    AgentCardSignature {
        /// The protected header, as JSON in base64url.
        protected: String = 1 required,
        /// The signature, in base64url.
        signature: String = 2 required,
        /// The header that is not protected.
        header: Option<Struct> = 3,
    }
}
