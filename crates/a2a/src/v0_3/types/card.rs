//! Cards, and how callers of an agent can prove who they are.

use std::collections::BTreeMap;

use crate::types::Struct;
use crate::types::wire::{messages, oneofs};

messages! { "a2a.v1";
    /// What an agent is, can do and asks for, and where it is.
    AgentCard {
        name: String = 1,
        /// What the agent is for.
        description: String = 2,
        /// Where it is reached by the preferred transport.
        url: String = 3,
        /// The organisation that runs the agent.
        provider: Option<AgentProvider> = 4,
        /// The agent's own version.
        version: String = 5,
        /// Where more is written about it.
        documentation_url: String = 6,
        /// Which optional parts of the protocol it has.
        capabilities: Option<AgentCapabilities> = 7,
        /// Ways to prove who one is, by names that the requirements use.
        security_schemes: BTreeMap<String, SecurityScheme> = 8,
        /// The credentials that a caller must prove; one of these is enough.
        security: Vec<Security> = 9,
        /// Media types that all skills take unless they say otherwise.
        default_input_modes: Vec<String> = 10,
        /// Media types that all skills give unless they say otherwise.
        default_output_modes: Vec<String> = 11,
        /// What it can do.
        skills: Vec<AgentSkill> = 12,
        /// Whether known callers get a card with more in it.
        supports_authenticated_extended_card: bool = 13,
        /// What is spoken at the address.
        preferred_transport: String = 14,
        /// All places where it is reached.
        additional_interfaces: Vec<AgentInterface> = 15,
        /// The version of the protocol.
        protocol_version: String = 16,
        /// Proofs that the card is genuine.
        signatures: Vec<AgentCardSignature> = 17,
        /// A picture of it.
        icon_url: String = 18,
    }

    /// A place where an agent is reached, and what is spoken there.
    AgentInterface {
        url: String = 1,
        /// `JSONRPC`, `GRPC`, `HTTP+JSON`, or another one.
        transport: String = 2,
    }

    /// Who offers an agent.
    AgentProvider {
        url: String = 1,
        organization: String = 2,
    }

    /// Optional parts of the protocol.
    AgentCapabilities {
        /// Whether it answers with streams.
        streaming: bool = 1,
        /// Whether it reports to where it is told.
        push_notifications: bool = 2,
        /// Extensions that it knows.
        extensions: Vec<AgentExtension> = 3,
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
        id: String = 1,
        name: String = 2,
        description: String = 3,
        /// Words to find it by.
        tags: Vec<String> = 4,
        /// What one could ask for.
        examples: Vec<String> = 5,
        /// Media types that it takes, instead of the agent's.
        input_modes: Vec<String> = 6,
        /// Media types that it gives, instead of the agent's.
        output_modes: Vec<String> = 7,
        /// The credentials that a caller must prove; one of these is enough.
        security: Vec<Security> = 8,
    }

    /// A signature of a card (RFC 7515), without what it signs.
    AgentCardSignature {
        /// The protected header, as JSON in base64url.
        protected: String = 1,
        /// The signature, in base64url.
        signature: String = 2,
        /// The header that is not protected.
        header: Option<Struct> = 3,
    }

    /// Schemes that must all be satisfied together.
    Security {
        /// The scopes that are needed, by the name of the scheme.
        schemes: BTreeMap<String, StringList> = 1,
    }

    /// A list, where a map needs one as a value.
    StringList {
        list: Vec<String> = 1,
    }

    /// A way to prove who one is.
    SecurityScheme [
        scheme: Scheme
    ] {}

    /// A secret key, sent in a header, a query parameter or a cookie.
    APIKeySecurityScheme {
        description: String = 1,
        /// Where it is sent: `query`, `header` or `cookie`.
        location: String = 2,
        /// The name of that parameter, header or cookie.
        name: String = 3,
    }

    /// A scheme of HTTP authentication.
    HTTPAuthSecurityScheme {
        description: String = 1,
        scheme: String = 2,
        /// What a bearer token looks like.
        bearer_format: String = 3,
    }

    /// OAuth 2.0, with the flows that the agent supports.
    OAuth2SecurityScheme {
        description: String = 1,
        /// How a token is got.
        flows: Option<OAuthFlows> = 2,
        /// Where the authorization server describes itself.
        oauth2_metadata_url: String = 3,
    }

    /// OpenID Connect, described by its discovery document.
    OpenIdConnectSecurityScheme {
        description: String = 1,
        /// Where the provider describes itself.
        open_id_connect_url: String = 2,
    }

    /// A certificate of the caller's.
    MutualTlsSecurityScheme {
        description: String = 1,
    }

    /// How an OAuth 2.0 token is got.
    OAuthFlows [
        flow: Flow
    ] {}

    /// A person agrees in a browser, and a code is exchanged for a token.
    AuthorizationCodeOAuthFlow {
        /// Where the person agrees.
        authorization_url: String = 1,
        /// Where the token is got.
        token_url: String = 2,
        /// Where a new token is got for an old one.
        refresh_url: String = 3,
        /// The permissions of each scope, by its name.
        scopes: BTreeMap<String, String> = 4,
    }

    /// A program gets a token in its own name.
    ClientCredentialsOAuthFlow {
        /// Where the token is got.
        token_url: String = 1,
        /// Where a new token is got for an old one.
        refresh_url: String = 2,
        /// The permissions of each scope, by its name.
        scopes: BTreeMap<String, String> = 3,
    }

    /// A person agrees in a browser, which is handed the token.
    ImplicitOAuthFlow {
        /// Where the person agrees.
        authorization_url: String = 1,
        /// Where a new token is got for an old one.
        refresh_url: String = 2,
        /// The permissions of each scope, by its name.
        scopes: BTreeMap<String, String> = 3,
    }

    /// A program sends a person's password.
    PasswordOAuthFlow {
        /// Where the token is got.
        token_url: String = 1,
        /// Where a new token is got for an old one.
        refresh_url: String = 2,
        /// The permissions of each scope, by its name.
        scopes: BTreeMap<String, String> = 3,
    }
}

oneofs! {
    /// The ways to prove who one is.
    Scheme {
        /// By a secret key.
        ApiKey api_key_security_scheme: APIKeySecurityScheme = 1,
        HttpAuth http_auth_security_scheme: HTTPAuthSecurityScheme = 2,
        /// By a token from an authorization server.
        OAuth2 oauth2_security_scheme: OAuth2SecurityScheme = 3,
        /// By a token from an identity provider.
        OpenIdConnect open_id_connect_security_scheme: OpenIdConnectSecurityScheme = 4,
        MutualTls mtls_security_scheme: MutualTlsSecurityScheme = 5,
    }

    /// The ways to get an OAuth 2.0 token.
    Flow {
        /// By a person's consent and a code.
        AuthorizationCode authorization_code: AuthorizationCodeOAuthFlow = 1,
        /// By a program for itself.
        ClientCredentials client_credentials: ClientCredentialsOAuthFlow = 2,
        /// By a person's consent alone.
        Implicit implicit: ImplicitOAuthFlow = 3,
        /// By a person's password.
        Password password: PasswordOAuthFlow = 4,
    }
}
