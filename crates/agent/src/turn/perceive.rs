//! Messages to an agent, as it perceives them.

use a2a::types::Message;
use access::{Permission, Principal};
use skill::{Context, Fault, Registry, SkillError};

use crate::context::Ability;
use crate::event::Request;
use crate::handle::AgentHandle;
use crate::law::Origin;
use crate::limits::{self, REQUEST};
use crate::message::Letter;
use crate::mode::ChosenMode;

/// Where a message says how much it matters, from 0 to 100.
pub const PRIORITY: &str = "urn:monas:a2a:ext:agent:1/priority";

/// Metadata key that marks a task which an agent began for itself. It counts only if the caller is [`principal`].
pub const OWN: &str = "urn:monas:a2a:ext:agent:1/own";

/// Where a message has what its sender wants to be shown with it again, as small JSON. It is kept with the request.
pub const NOTE: &str = "urn:monas:a2a:ext:agent:1/note";

/// The name in which an agent calls its own server.
pub fn principal(agent: &str) -> String {
    format!("agent:{agent}")
}

/// Whether a name is that of an agent of this server.
pub(crate) fn is_principal(caller: &str) -> bool {
    caller.starts_with("agent:")
}

/// Where an agent says how many have asked each other until now.
pub const DEPTH: &str = "urn:monas:a2a:ext:agent:1/depth";

/// Where an agent that passes an answer on names the person who gave it. It counts for agents of this server alone.
pub const PERSON: &str = "urn:monas:a2a:ext:agent:1/person";

/// Where an agent that asks another one names its own task and the scope of the call: an answer finds its way back by it.
pub(crate) const PLACE: &str = "urn:monas:a2a:ext:agent:1/place";

/// The speaker of a message: its caller, or the person that an agent of this server names when it passes an answer on.
pub(crate) fn speaker(caller: &Principal, message: &Message) -> String {
    let caller = caller.to_string();
    let person = message.metadata.as_ref().and_then(|it| it.get(PERSON));
    match person.and_then(|it| it.as_str()) {
        Some(person) if is_principal(&caller) => {
            format!("{}, through {caller}", crate::text::bounded(person, 200))
        }
        _ => caller,
    }
}

/// The name of the person for whom an agent sends something; empty where the caller acts for itself.
pub(crate) fn person(caller: &Principal) -> String {
    match caller.acts_for() {
        Some(_) => caller.person().to_string(),
        None => String::new(),
    }
}

/// A message as a request.
pub(super) fn heard(
    agent: &AgentHandle,
    message: &Message,
    mode: Option<ChosenMode>,
    ctx: &Context,
) -> Result<Request, SkillError> {
    let refuse = |problem: String| SkillError::InvalidInput(vec![Fault::new("", problem)]);
    let letter = Letter::of(message).transpose();
    let letter = letter.map_err(|invalid| refuse(invalid.to_string()))?;
    let mut text = message.text();
    if let Some(letter) = &letter
        && text.trim().is_empty()
    {
        text = letter.text().to_owned();
    }
    if text.len() > REQUEST {
        return Err(refuse(format!("a request has at most {REQUEST} bytes")));
    }
    let about = |key: &str| message.metadata.as_ref().and_then(|it| it.get(key));
    let caller = ctx.caller().to_string();
    let own =
        about(OWN).and_then(|it| it.as_bool()) == Some(true) && caller == principal(agent.id());
    // A letter is from its caller, not from the name written in it: an agent of this server calls in its own name, and others are
    // known by the names under which they call.
    let (origin, from) = match &letter {
        // What an agent writes to itself is no other agent's word.
        Some(_) if caller == principal(agent.id()) => (Origin::Own, caller),
        Some(letter) if caller == principal(&letter.provenance.agent) => {
            (Origin::Agent, letter.provenance.agent.clone())
        }
        // A caller that is called like an agent of this server is not that agent.
        Some(_) if agent.population.agent(&caller).is_ok() => {
            (Origin::Agent, format!("caller:{caller}"))
        }
        Some(_) => (Origin::Agent, caller),
        None if own => (Origin::Own, caller),
        // An agent is never a user, also if it writes no letter.
        None if is_principal(&caller) => {
            let name = caller.strip_prefix("agent:").unwrap_or_default();
            (Origin::Agent, name.to_owned())
        }
        None => (Origin::User, caller),
    };
    let depth = about(DEPTH).and_then(|it| it.as_u64());
    let depth = depth.filter(|_| is_principal(&ctx.caller().to_string()));
    let priority = about(PRIORITY).and_then(|it| it.as_u64());
    Ok(Request {
        turn: ctx.task_id().into(),
        conversation: ctx.context_id(),
        caller: ctx.caller().to_string(),
        person: person(&ctx.caller()),
        origin,
        from,
        text,
        message: message.message_id.clone(),
        note: about(NOTE)
            .cloned()
            .filter(|note| note.to_string().len() <= limits::NOTE),
        letter,
        priority: priority.map(|it| u8::try_from(it.min(100)).unwrap_or(100)),
        may_raise: may_raise(&ctx.caller()),
        depth: u8::try_from(depth.unwrap_or_default()).unwrap_or(u8::MAX),
        operator: is_operator(&ctx.caller()),
        mode: mode.map(Box::new),
    })
}

/// Whether a caller governs the agent. Agents of this server do not.
fn is_operator(caller: &Principal) -> bool {
    caller.may(Permission::Operate) && !is_principal(caller.name())
}

/// Whether the priority that a caller gives counts against requests of others: of an operator, of an agent of this server, and
/// of a caller that the program around the server has let in itself.
fn may_raise(caller: &Principal) -> bool {
    is_operator(caller)
        || is_principal(caller.name())
        || (!caller.is_anonymous() && caller.scheme().is_empty())
}

/// What skills there are, as far as the agent's steps have to know.
pub(crate) fn abilities(skills: &Registry) -> Vec<Ability> {
    let abilities = skills.iter().map(|it| Ability {
        id: it.id.clone(),
        read_only: it.traits.read_only,
        replayable: it.traits.replayable || it.traits.idempotent,
        approval: it.traits.approval,
        // Another agent does the work, under an attention of its own. Any other call outside of the server, such as one
        // of a tool server, is work of this one.
        elsewhere: it.traits.open_world && it.traits.own_state && it.origin.is_none(),
    });
    abilities.collect()
}
