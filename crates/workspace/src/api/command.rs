//! `/api/agent/initialize` and `/api/agent/command`: what the chat does, in single requests. `/api/agent/tools`: what an agent can do.

use access::{Origin, Principal};
use agent::Owner;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{RawQuery, Request, State};
use axum::http::{Response, StatusCode};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use skill::Definition;

use super::agent::failure;
use super::one_session::covers;
use super::sessions::stored;
use super::{Caller, Failure, Fields, read, respond, whole};
use crate::chat::incoming::{self, Fault, check_session, read_command};
use crate::chat::sessions::Session;
use crate::chat::show::now;
use crate::chat::{AskedCommand, Chat, Cursor};

/// The longest body of a command, in bytes.
const MAX_BODY: usize = 4 << 20;

/// The routes of the three.
pub fn routes(chat: Chat) -> Router {
    Router::new()
        .route("/api/agent/initialize", post(initialize))
        .route("/api/agent/command", post(command))
        .route("/api/agent/tools", get(tools))
        .with_state(chat)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Initialize {
    session_id: Option<String>,
    #[serde(default)]
    config: Chosen,
    agent: Option<String>,
}

/// What is chosen for a session.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Chosen {
    model: Option<String>,
    temperature: Option<f64>,
    agent: Option<String>,
}

async fn initialize(
    State(chat): State<Chat>,
    caller: Caller,
    RawQuery(raw): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let initialized = async {
        let Initialize {
            session_id,
            config,
            agent,
        } = read(&whole(body)?)?;
        if let Some(temperature) = config.temperature
            && !(0.0..=2.0).contains(&temperature)
        {
            let why = format!("config.temperature is {temperature}; expected a number from 0 to 2");
            return Err(faulty(&Fault::new("invalid", "config.temperature", why)));
        }
        let session = match session_id {
            Some(id) => check_session("session_id", &id).map_err(|it| faulty(&it))?,
            None => format!("sess_{}", uuid::Uuid::new_v4().simple()),
        };
        let named = config.agent.as_deref().or(agent.as_deref());
        let agent = chat
            .thinking_agent(&caller, named.or_else(|| fields.get("agent")))
            .await?;
        let owner = Owner {
            caller: chat.parts().rights.caller(&caller).to_string(),
            conversation: session.clone(),
        };
        let known = chat.sessions().find(&owner, agent.id()).await;
        let known = known.map_err(stored)?;
        let state = match &known {
            Some(_) => {
                let history = chat.history(&agent, &owner, Cursor::default(), 0).await;
                history.map_err(failure)?.state
            }
            None => agent::State::Idle,
        };
        let begun = match known {
            Some(known) => known,
            None => Session {
                id: session.clone(),
                agent: agent.id().to_owned(),
                owner: owner.caller,
                created: now(),
                first: agent.last_event().await.map_err(failure)?,
                ..Session::default()
            },
        };
        let begun = Session {
            updated: now(),
            model: config.model.clone().or(begun.model),
            temperature: config.temperature.or(begun.temperature),
            ..begun
        };
        chat.sessions().put(&begun).await.map_err(stored)?;
        let about = (chat.parts().about)(agent.id());
        let model = about.model;
        let mut reply = json!({
            "session_id": session,
            "agent_state": state,
            "capabilities": about.skills,
            "agent": agent.id(),
            "model": model,
        });
        if let Some(note) = note(&config, model.as_deref()) {
            reply["note"] = note.into();
        }
        Ok(reply)
    };
    respond(initialized.await)
}

/// The note for a client that asked for a model or mode which is not available.
fn note(chosen: &Chosen, model: Option<&str>) -> Option<String> {
    let by = match model {
        Some(model) => format!("the configured model {model} answers"),
        None => "no language model is configured: rules understand direct requests".to_owned(),
    };
    let fits =
        |wanted: &str| model.is_some_and(|it| it == wanted || it.ends_with(&format!(":{wanted}")));
    match &chosen.model {
        Some(wanted) if !fits(wanted) => Some(format!("model {wanted:?} is not configured; {by}")),
        _ if chosen.temperature.is_some() => Some(format!(
            "the temperature is kept with the session and is not used; {by}"
        )),
        _ => None,
    }
}

async fn command(State(chat): State<Chat>, caller: Caller, request: Request) -> Response<Body> {
    let (head, body) = request.into_parts();
    let fields = Fields::of(head.uri.query().map(str::to_owned));
    let origin = Origin::of("api", &head);
    let sent = async {
        let body = axum::body::to_bytes(body, MAX_BODY)
            .await
            .map_err(|error| Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", error))?;
        let body: Map<String, Value> = read(&body)?;
        let text = |name: &str| match body.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(other) => {
                let why = format!("{name} is {other}; expected a text");
                Err(faulty(&Fault::new("invalid", name, why)))
            }
        };
        let command = read_command(&body, "", text("priority")?).map_err(|it| faulty(&it))?;
        let session = match text("session_id")? {
            Some(id) => check_session("session_id", id).map_err(|it| faulty(&it))?,
            None => format!("sess_{}", uuid::Uuid::new_v4().simple()),
        };
        let id = match text("id")? {
            Some(id) if crate::chat::envelope::is_uuid_v4(id) => id.to_owned(),
            Some(id) => {
                let why = format!("id is {id:?}; expected a UUID, version 4");
                return Err(faulty(&Fault::new("invalid", "id", why)));
            }
            None => uuid::Uuid::new_v4().to_string(),
        };
        let person = chat.parts().rights.caller(&caller);
        if !covers(&person, &session) {
            let why = "this credential was lent for another session";
            return Err(Failure::new(StatusCode::FORBIDDEN, "denied", why));
        }
        let named = text("agent")?.or_else(|| fields.get("agent"));
        let agent = chat.thinking_agent(&caller, named).await?;
        let sent = chat.command(AskedCommand {
            caller: person,
            origin,
            agent: agent.clone(),
            session: session.clone(),
            id,
            command,
        });
        let task = sent.await.map_err(|error| refused(&error))?;
        let status = agent.status().await.map_err(failure)?;
        let queued = status.queue.iter().any(|(turn, _)| *turn == task);
        Ok(json!({
            "task_id": task,
            "status": if queued { "queued" } else { "processing" },
            "session_id": session,
        }))
    };
    respond(sent.await)
}

/// The skills of an agent. `allowed` says whether the caller has the permission that one needs.
async fn tools(
    State(chat): State<Chat>,
    caller: Caller,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let listed = async {
        let agent = chat.agent(&caller, fields.get("agent")).await?;
        let caller = chat.parts().rights.caller(&caller);
        let skills = (chat.parts().skills)(agent.id());
        let tools: Vec<Value> = skills.iter().map(|it| tool(it, &caller)).collect();
        Ok(json!({ "agent": agent.id(), "tools": tools }))
    };
    respond(listed.await)
}

fn tool(skill: &Definition, caller: &Principal) -> Value {
    let allowed = skill.permission.is_none_or(|it| caller.may(it));
    let mut tool = json!({
        "id": skill.id,
        "name": skill.name,
        "description": skill.description,
        "tags": skill.tags,
        "examples": skill.examples,
        "input": skill.input,
        "requires_approval": skill.traits.approval,
        "read_only": skill.traits.read_only,
        "allowed": allowed,
    });
    if let Some(output) = &skill.output {
        tool["output"] = output.clone();
    }
    if let Some(permission) = skill.permission {
        tool["permission"] = permission.name().into();
    }
    tool
}

/// A fault of a field, as a reply.
pub(super) fn faulty(fault: &incoming::Fault) -> Failure {
    let failure = Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", &fault.message);
    failure.with("field", fault.field.as_str().into())
}

/// Why the task server did not take a command.
pub(crate) fn refused(error: &a2a::Error) -> Failure {
    let status = StatusCode::from_u16(error.code().http);
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let code = match status.as_u16() {
        403 => "denied",
        429 => "rate_limited",
        400..500 => "refused",
        _ => "unavailable",
    };
    Failure::new(status, code, error)
}
