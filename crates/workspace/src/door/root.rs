//! The first object of a session: it says what the server is, and takes credentials.

use std::sync::Arc;
use std::time::SystemTime;

use ::capnweb::{
    Arguments, Capability, Description, Error as RpcError, Member, Peer, Reply, Target, Type, Value,
};
use access::calls::Session;
use access::{Credentials, Origin, Principal, users};
use axum::http::request::Parts;
use serde_json::{Map, json};

use super::workspace::{WorkspaceObject, failed};
use super::{Shared, WIRE};

/// The names of its methods.
const METHODS: [&str; 2] = ["hello", "authenticate"];

/// The first object of a session.
#[derive(Clone)]
pub(super) struct RootObject {
    shared: Arc<Shared>,
    /// The caller of the handshake, or why it is none.
    known: Result<Principal, a2a::Error>,
    origin: Origin,
    peer: Peer,
}

/// What a caller shows.
#[derive(Debug, PartialEq, Eq)]
enum Shown {
    Nothing,
    Token(String),
    /// A sign-in link, which becomes a token.
    Link(String),
}

impl RootObject {
    pub(super) fn new(shared: Arc<Shared>, request: &Parts, peer: &Peer) -> Self {
        let known = shared.parts.wire.call_in_session(request);
        let known = known.map(|it| it.caller);
        if known.is_err() {
            peer.restrict(shared.parts.wire.limits.guests());
        }
        Self {
            known,
            origin: Origin {
                session: Some(Session::next().0),
                // Each call gets a name of its own.
                request: String::new(),
                ..Origin::of(WIRE, request)
            },
            peer: peer.clone(),
            shared,
        }
    }

    fn hello(&self) -> Value {
        let about = &self.shared.parts.about;
        a2a::binding::capnweb::value::from_json(json!({
            "build": about.build,
            "version": about.version,
            "open": about.open,
            "base": about.base,
        }))
    }

    /// The owner of a bearer token. A refusal is recorded.
    fn recognise(&self, token: String) -> Result<Principal, RpcError> {
        let wire = &self.shared.parts.wire;
        let recognised = wire
            .door
            .recognise(&Credentials::Bearer(token), SystemTime::now());
        let known = wire.authenticated(self.origin.clone(), recognised);
        known.map_err(|error| failed(&error))
    }

    fn workspace(&self, caller: Principal, issued: Option<(String, String)>) -> Value {
        self.peer.admit();
        Value::Stub(Capability::new(WorkspaceObject::new(
            self.shared.clone(),
            caller,
            self.origin.clone(),
            &self.peer,
            issued,
        )))
    }

    fn authenticate(self: Arc<Self>, arguments: Vec<Value>) -> Reply {
        let shown = match shown(arguments) {
            Ok(shown) => shown,
            Err(error) => return Reply::error(error),
        };
        // At once where that is possible, so that the next message of the session may be a large one.
        match shown {
            Shown::Nothing => match &self.known {
                Ok(caller) => Reply::ready(self.workspace(caller.clone(), None)),
                Err(error) => Reply::error(failed(error)),
            },
            Shown::Token(token) => match self.recognise(token) {
                Ok(caller) if caller.scheme() == users::LINK_SCHEME => {
                    Reply::future(async move { self.redeem(caller).await })
                }
                Ok(caller) => Reply::ready(self.workspace(caller, None)),
                Err(error) => Reply::error(error),
            },
            Shown::Link(link) => match self.recognise(link) {
                Ok(caller) if caller.scheme() == users::LINK_SCHEME => {
                    Reply::future(async move { self.redeem(caller).await })
                }
                // A link of the owner has a token already.
                Ok(caller) => Reply::ready(self.workspace(caller, None)),
                Err(error) => Reply::error(error),
            },
        }
    }

    /// Makes a token of a sign-in link, by the route that does so.
    async fn redeem(&self, caller: Principal) -> Result<Value, RpcError> {
        let link = WorkspaceObject::of_link(self.shared.clone(), caller, self.origin.clone());
        let issued = link.ask("postSession", Map::new()).await?;
        let text = |name: &str| issued[name].as_str().unwrap_or_default().to_owned();
        let caller = self.recognise(text("token"))?;
        Ok(self.workspace(caller, Some((text("token"), text("expires")))))
    }
}

/// The argument of `authenticate`: an object with `token`, with `link`, or with nothing; or a token as a text.
fn shown(arguments: Vec<Value>) -> Result<Shown, RpcError> {
    let given = arguments.into_iter().next().unwrap_or(Value::Undefined);
    let text = |name: &str| match given.field(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text.clone())),
        None => Ok(None),
        Some(it) if it.is_nullish() => Ok(None),
        Some(_) => {
            let error = RpcError::type_error(format!("{name} is a text that is not empty"));
            Err(error.with_code("invalid").with_prop("field", name))
        }
    };
    if let Value::String(token) = &given {
        return Ok(Shown::Token(token.clone()));
    }
    Ok(match (text("token")?, text("link")?) {
        (Some(token), _) => Shown::Token(token),
        (None, Some(link)) => Shown::Link(in_fragment(&link).to_owned()),
        (None, None) => Shown::Nothing,
    })
}

/// The secret or the token in the fragment of a link, or the text itself.
fn in_fragment(link: &str) -> &str {
    let fragment = link.split_once('#').map(|(_, it)| it);
    let mut fields = fragment.into_iter().flat_map(|it| it.split('&'));
    let shown = |it| {
        let link: &str = it;
        link.strip_prefix("link=")
            .or_else(|| link.strip_prefix("token="))
    };
    fields.find_map(shown).unwrap_or(link)
}

impl Target for RootObject {
    fn member(&self, name: &str) -> Member {
        match METHODS.contains(&name) {
            true => Member::Method,
            false => Member::Absent,
        }
    }

    fn call(self: Arc<Self>, method: &str, arguments: Arguments) -> Reply {
        match method {
            "hello" => Reply::ready(self.hello()),
            "authenticate" => self.authenticate(arguments.rest()),
            _ => Reply::no_such_method(method),
        }
    }

    fn interface(&self) -> &'static str {
        "Door"
    }

    fn describe(&self) -> Description {
        let door = Description::new("Door", "The door of the workspace.");
        METHODS.into_iter().fold(door, |door, name| {
            door.method(name, "", Vec::new(), Type::Any)
        })
    }
}
