//! The bindings: how operations travel over a wire. Each is derived from the table; no file below names an operation.
//!
//! Layout: every binding has a `server` that makes its routes and a `client` that carries calls to one;
//! `http_call` is what they share, `versioned_operation` is what a name means in either version, `sse` writes and reads streams,
//! `card` publishes the card that lists them.

use std::collections::BTreeMap;
use std::sync::Arc;
#[cfg(feature = "http")]
use std::time::SystemTime;

#[cfg(feature = "http")]
use ::capnweb::Tasks;
#[cfg(feature = "http")]
use ::capnweb::observe::Metrics;
#[cfg(feature = "http")]
use access::{CallRecord, Calls, Door, Origin, Outcome, Presented, Principal, Refusal, calls};
#[cfg(feature = "http")]
use axum::Router;
#[cfg(feature = "http")]
use axum::middleware::map_response;
#[cfg(feature = "http")]
use http::request::Parts;
#[cfg(feature = "http")]
use http::{HeaderName, HeaderValue, Response};
use serde_json::json;

#[cfg(feature = "client")]
use crate::client::channel::Channel;
#[cfg(feature = "client")]
use crate::client::dial::Dialer;
#[cfg(feature = "client")]
use crate::client::{self, AgentEndpoint};
#[cfg(feature = "http")]
use crate::error::Error;
#[cfg(feature = "http")]
use crate::limits::Limits;
#[cfg(feature = "http")]
use crate::sabotage::{self, broken};
#[cfg(feature = "http")]
use crate::service::{Call, Service};
use crate::types::{AgentCard, AgentExtension, AgentInterface};
use crate::v0_3::{self, Dialect};

pub mod capnweb;
#[cfg(feature = "http")]
pub mod card;
#[cfg(feature = "grpc")]
pub mod grpc;
#[cfg(feature = "http")]
pub(crate) mod http_call;
#[cfg(feature = "client")]
mod http_reply;
pub mod jsonrpc;
pub mod rest;
pub mod sse;
pub(crate) mod versioned_operation;
#[cfg(feature = "websocket")]
pub mod websocket;

#[cfg(feature = "http")]
pub use ::capnweb::{beside, poll_beside, weight};
#[cfg(feature = "http")]
pub use http_call::{challenge, read as read_body, refused, turn_away};

/// Service parameters that a call carries itself: what HTTP has in its headers.
pub(crate) type Parameters = BTreeMap<String, String>;

/// The version of the protocol that these bindings speak, with [`v0_3::VERSION`] beside it.
pub const VERSION: &str = "1.0";

/// The version in preparation: 1.0 with the generations of tasks.
pub const NEXT_VERSION: &str = "1.1";

/// Where a host publishes the card of its agent; the second path is the older one.
pub const CARD_PATHS: [&str; 2] = ["/.well-known/agent-card.json", "/.well-known/agent.json"];

/// The extension that lists deprecated bindings.
pub const DEPRECATED: &str = "urn:monas:a2a:ext:deprecated-bindings:1";

/// What a server does with a binding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BindingUse {
    /// The binding is served, in the order of the list.
    #[default]
    On,
    /// It is served, and listed first.
    Preferred,
    /// It is served, listed last and marked, so that clients move on.
    Deprecated,
    /// It is not served, and not listed.
    Off,
}

/// Makes a wire to an agent.
#[cfg(feature = "client")]
type Connect = fn(&AgentEndpoint, &Arc<Dialer>) -> Result<Arc<dyn Channel>, client::Error>;

/// A binding as the card lists it, and where it is.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Its name in the card.
    pub name: &'static str,
    /// Its name in a configuration.
    pub key: &'static str,
    /// Its name in the record of calls and in metrics.
    pub wire: &'static str,
    /// Its name in help texts and on pages.
    pub title: &'static str,
    /// What its address begins with.
    pub scheme: Scheme,
    /// The path its address ends with; gRPC has its own paths, and an address without one.
    pub path: &'static str,
    /// Its name in cards of 0.3, which is spoken there as well. Clients know the binding by either name.
    pub old: Option<&'static str>,
    /// How 0.3 is written there.
    pub dialect: Dialect,
    #[cfg(feature = "http")]
    routes: fn(Wire) -> Router,
    #[cfg(feature = "client")]
    pub(crate) channel: Connect,
}

/// What the address of a binding begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Http,
    WebSocket,
    /// Nothing: it is host and port.
    None,
}

/// All bindings, in the order in which a card lists them.
///
/// This list is the only place that knows which bindings exist. From a row come the routes of the server
/// ([`routes`]), the interfaces of the card in both versions ([`declare`]), the word in the configuration
/// ([`BindingUses::set`]), and the channel of a client that finds the name in a card ([`Binding::named`]). To add a binding
/// is a module with a `server` that makes routes and a `client` that makes a channel, and a row here.
///
/// The order matters in two places: a card lists interfaces in it (after the preferred ones), and a client without a
/// preference tries them in the order of the card. JSON-RPC is first because every client speaks it.
///
/// A row of a feature that is off is not there at all: its key is unknown to the configuration, and a client passes over
/// its interface as it does over those of other vendors.
pub static BINDINGS: &[Binding] = &[
    Binding {
        name: "JSONRPC",
        key: "jsonrpc",
        wire: "a2a/jsonrpc",
        title: "JSON-RPC",
        scheme: Scheme::Http,
        path: "/a2a/jsonrpc",
        old: Some("JSONRPC"),
        dialect: Dialect::Kind,
        #[cfg(feature = "http")]
        routes: jsonrpc::server::routes,
        #[cfg(feature = "client")]
        channel: jsonrpc::client::channel,
    },
    Binding {
        name: "HTTP+JSON",
        key: "rest",
        wire: "a2a/rest",
        title: "HTTP+JSON (REST)",
        scheme: Scheme::Http,
        path: "/a2a/rest",
        old: Some("HTTP+JSON"),
        dialect: Dialect::Proto,
        #[cfg(feature = "http")]
        routes: rest::server::routes,
        #[cfg(feature = "client")]
        channel: rest::client::channel,
    },
    #[cfg(feature = "grpc")]
    Binding {
        name: "GRPC",
        key: "grpc",
        wire: "a2a/grpc",
        title: "gRPC",
        scheme: Scheme::None,
        path: "",
        old: Some("GRPC"),
        dialect: Dialect::Proto,
        #[cfg(feature = "http")]
        routes: grpc::server::routes,
        #[cfg(feature = "client")]
        channel: grpc::client::channel,
    },
    Binding {
        name: "urn:monas:a2a:binding:capnweb:1",
        key: "capnweb",
        wire: "a2a/capnweb",
        title: "Cap'n Web",
        scheme: Scheme::Http,
        path: capnweb::PATH,
        old: Some("CAPNWEB"),
        dialect: Dialect::Kind,
        #[cfg(feature = "http")]
        routes: capnweb::server::routes,
        #[cfg(feature = "client")]
        channel: capnweb::client::channel,
    },
    #[cfg(feature = "websocket")]
    Binding {
        name: "urn:monas:a2a:binding:websocket:1",
        key: "websocket",
        wire: "a2a/websocket",
        title: "JSON-RPC over WebSockets",
        scheme: Scheme::WebSocket,
        path: websocket::PATH,
        old: Some("WEBSOCKET"),
        dialect: Dialect::Kind,
        #[cfg(feature = "http")]
        routes: websocket::server::routes,
        #[cfg(feature = "client")]
        channel: websocket::client::channel,
    },
];

impl Binding {
    /// The binding of that name: as a card of either version has it, or its key in letters of any size.
    pub fn named(name: &str) -> Option<&'static Self> {
        let named = |it: &&Self| {
            it.name == name || it.old == Some(name) || it.key.eq_ignore_ascii_case(name)
        };
        BINDINGS.iter().find(named)
    }
}

/// What every binding is made with: the service that answers, the limits, and the check of callers.
#[cfg(feature = "http")]
#[derive(Clone)]
pub struct Wire {
    pub service: Arc<dyn Service>,
    pub limits: Limits,
    /// Authenticates callers.
    pub door: Arc<Door>,
    /// Where calls are announced, and the name under which.
    pub calls: Calls,
    pub name: &'static str,
    /// Sockets that stay open, and what runs on them. Drain it when the server stops.
    pub tasks: Tasks,
    /// Where sessions of objects are counted.
    pub metrics: Metrics,
}

#[cfg(feature = "http")]
impl Wire {
    /// A wire without authentication: every caller is the anonymous one.
    pub fn new(service: Arc<dyn Service>, limits: Limits) -> Self {
        Self {
            service,
            limits,
            door: Arc::new(Door::open()),
            calls: Calls::default(),
            name: "a2a",
            tasks: Tasks::new(),
            metrics: Metrics::new(),
        }
    }

    /// The same wire for the calls of one binding.
    fn named(&self, binding: &Binding) -> Self {
        Self {
            name: binding.wire,
            ..self.clone()
        }
    }

    /// A call in the name of the caller of an HTTP request, for bindings of other protocols.
    pub fn call(&self, head: &Parts) -> Result<Call, Error> {
        let called = self.call_in_session(head);
        called.inspect_err(|error| self.refused(head, error))
    }

    /// As [`call`](Self::call), for a session that may be told credentials later: a refusal is not recorded as a call.
    pub fn call_in_session(&self, head: &Parts) -> Result<Call, Error> {
        let caller = self.recognise(head)?;
        Ok(Call {
            origin: Origin::of(self.name, head),
            ..Call::by(caller)
        })
    }

    /// A call in the name of the owner of these credentials: a token as a text, or an object, as callers of Cap'n Web
    /// pass them.
    pub fn call_with(&self, shown: ::capnweb::Value) -> Result<Call, Error> {
        let credentials = capnweb::credentials(shown)?;
        let recognised = self.door.recognise(&credentials, SystemTime::now());
        let origin = Origin::on(self.name);
        let caller = self.authenticated(origin.clone(), recognised)?;
        Ok(Call {
            origin,
            ..Call::by(caller)
        })
    }

    /// Authenticates a request. Without a principal there is no call.
    pub(crate) fn admit(&self, head: &Parts) -> Result<Principal, Error> {
        let admitted = self.recognise(head);
        admitted.inspect_err(|error| self.refused(head, error))
    }

    /// As [`admit`](Self::admit), without a record of a refusal.
    pub(crate) fn recognise(&self, head: &Parts) -> Result<Principal, Error> {
        if broken("r07_header_authentication") {
            return Ok(Principal::anonymous());
        }
        if self.door.asks() && sabotage::overlooks(&head.headers) {
            return Err(self.door.without_credentials().into());
        }
        Ok(self.door.admit(&Presented::by(head), SystemTime::now())?)
    }

    /// Records a request that was refused before it became a call.
    pub fn refused(&self, head: &Parts, error: &Error) {
        if self.calls.is_watched() {
            let asked = Self::unknown(Origin::of(self.name, head));
            self.calls.refused(&asked, error.outcome());
        }
    }

    /// Records that a session was told credentials, and whether they were good.
    pub fn authenticated(
        &self,
        origin: Origin,
        recognised: Result<Principal, Refusal>,
    ) -> Result<Principal, Error> {
        let mut asked = CallRecord {
            operation: "authenticate".into(),
            ..Self::unknown(origin)
        };
        match recognised {
            Ok(caller) => {
                asked.caller = caller.clone();
                self.calls.refused(&asked, Outcome::Ok);
                Ok(caller)
            }
            Err(refusal) => {
                let error = Error::from(refusal);
                self.calls.refused(&asked, error.outcome());
                Err(error)
            }
        }
    }

    /// The call record of a request with an unknown caller.
    fn unknown(origin: Origin) -> CallRecord {
        CallRecord {
            origin,
            caller: Principal::anonymous(),
            version: "",
            operation: calls::UNKNOWN.into(),
        }
    }
}

#[cfg(feature = "http")]
impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire")
            .field("door", &self.door)
            .finish_non_exhaustive()
    }
}

/// Which bindings are offered; those not named are on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BindingUses(Vec<(&'static str, BindingUse)>);

impl BindingUses {
    /// Decides about the binding of a key; an unknown one gives nothing.
    pub fn set(&mut self, key: &str, offer: BindingUse) -> Option<()> {
        let binding = BINDINGS.iter().find(|binding| binding.key == key)?;
        self.0.retain(|(key, _)| *key != binding.key);
        self.0.push((binding.key, offer));
        Some(())
    }

    /// What is decided about a binding.
    pub fn get(&self, binding: &Binding) -> BindingUse {
        let found = self.0.iter().find(|(key, _)| *key == binding.key);
        found.map(|(_, offer)| *offer).unwrap_or_default()
    }

    fn with(&self, wanted: BindingUse) -> impl Iterator<Item = &'static Binding> {
        BINDINGS
            .iter()
            .filter(move |binding| self.get(binding) == wanted)
    }
}

/// Where a server is reached from outside.
#[derive(Clone, Debug)]
pub struct Address {
    /// Whether connections are encrypted.
    pub encrypted: bool,
    pub authority: String,
    /// The path that all of its paths are below: empty, or it begins with a slash and ends without one. gRPC has none.
    pub path: String,
    /// The agent that it is the address of, where there are several: its paths are below `/agents/` and its id, and
    /// what has no path names it as tenant.
    pub tenant: Option<String>,
}

impl Address {
    /// The address of a binding, as cards write it: gRPC as host and port, the others as URLs.
    pub fn of(&self, binding: &Binding) -> String {
        let scheme = match (binding.scheme, self.encrypted) {
            (Scheme::Http, true) => "https",
            (Scheme::Http, false) => "http",
            (Scheme::WebSocket, true) => "wss",
            (Scheme::WebSocket, false) => "ws",
            (Scheme::None, _) => return self.authority.clone(),
        };
        let below = self.tenant.as_deref().map(below).unwrap_or_default();
        let (authority, path) = (&self.authority, &self.path);
        format!("{scheme}://{authority}{path}{below}{}", binding.path)
    }
}

/// Where the paths of one agent of several are.
pub fn below(agent: &str) -> String {
    format!("/agents/{agent}")
}

/// The part of a path that comes after those of one agent of several begin; all of it elsewhere.
pub fn path_below(path: &str) -> &str {
    let agent = path.strip_prefix("/agents/");
    let after = agent.and_then(|rest| rest.find('/').map(|at| &rest[at..]));
    after.unwrap_or(path)
}

/// Writes the offered interfaces into a card: those of 1.0, then the same ones for clients of 0.3.
pub fn declare(card: &mut AgentCard, offers: &BindingUses, address: &Address) {
    let interface = |binding: &Binding, version: &str, name: &str| AgentInterface {
        url: address.of(binding),
        tenant: match binding.scheme {
            Scheme::None => address.tenant.clone().unwrap_or_default(),
            _ => String::new(),
        },
        protocol_binding: name.to_owned(),
        protocol_version: version.to_owned(),
    };
    let order = [
        BindingUse::Preferred,
        BindingUse::On,
        BindingUse::Deprecated,
    ];
    let offered = || order.into_iter().flat_map(|offer| offers.with(offer));
    let new = offered().map(|binding| interface(binding, VERSION, binding.name));
    // Calls of 0.3 name no tenant: only a path can say which agent they are for.
    let addressed = |it: &&Binding| address.tenant.is_none() || it.scheme != Scheme::None;
    let old = offered()
        .filter(addressed)
        .filter_map(|binding| Some(interface(binding, v0_3::VERSION, binding.old?)));
    card.supported_interfaces = new.chain(old).collect();
    let deprecated: Vec<&str> = offers
        .with(BindingUse::Deprecated)
        .map(|binding| binding.name)
        .collect();
    if !deprecated.is_empty() {
        let params = json!({ "bindings": deprecated });
        card.capabilities
            .get_or_insert_default()
            .extensions
            .push(AgentExtension {
                uri: DEPRECATED.to_owned(),
                description: "These bindings will go; use another one.".to_owned(),
                params: params.as_object().cloned().map(Into::into),
                ..AgentExtension::default()
            });
    }
}

/// The routes of all bindings that are offered.
#[cfg(feature = "http")]
pub fn routes(wire: &Wire, offers: &BindingUses) -> Router {
    let mut router = Router::new();
    for binding in BINDINGS {
        router = match offers.get(binding) {
            BindingUse::On | BindingUse::Preferred => {
                router.merge((binding.routes)(wire.named(binding)))
            }
            BindingUse::Deprecated => {
                router.merge((binding.routes)(wire.named(binding)).layer(map_response(mark)))
            }
            BindingUse::Off => router,
        };
    }
    router
}

#[cfg(feature = "http")]
async fn mark<B: Send>(mut response: Response<B>) -> Response<B> {
    response.headers_mut().insert(
        HeaderName::from_static("deprecation"),
        HeaderValue::from_static("true"),
    );
    response
}
