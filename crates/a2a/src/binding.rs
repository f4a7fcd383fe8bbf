//! The wires, each derived from the table of operations. No file below names an operation.
//!
//! Layout: every binding has a `server` that makes its routes and a `client` that carries calls to one;
//! `http_call` is what they share, `asked` is what a name means in either version, `sse` writes and reads streams,
//! `card` publishes the card that lists them.

use std::sync::Arc;
use std::time::SystemTime;

use ::capnweb::Tasks;
use ::capnweb::observe::Metrics;
use access::{Door, Principal, Shown};
use axum::Router;
use axum::middleware::map_response;
use http::request::Parts;
use http::{HeaderName, HeaderValue, Response};
use serde_json::json;

use crate::client::channel::Channel;
use crate::client::dial::Dialer;
use crate::client::{self, Way};
use crate::error::Error;
use crate::limits::Limits;
use crate::old::{self, Dialect};
use crate::sabotage::{self, broken};
use crate::service::{Call, Service};
use crate::types::{AgentCard, AgentExtension, AgentInterface};

pub(crate) mod asked;
pub mod capnweb;
pub mod card;
#[cfg(feature = "grpc")]
pub mod grpc;
pub(crate) mod http_call;
mod http_reply;
pub mod jsonrpc;
pub mod rest;
pub mod sse;
pub mod websocket;

pub use http_call::{challenge, read as read_body, refused, turn_away};

/// The version of the protocol that these bindings speak, with [`old::VERSION`] beside it.
pub const VERSION: &str = "1.0";

/// The extension that tells which bindings are on their way out.
pub const DEPRECATED: &str = "urn:monas:a2a:ext:deprecated-bindings:1";

/// What a server does with a binding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offer {
    /// It is served.
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
type Connect = fn(&Way, &Arc<Dialer>) -> Result<Arc<dyn Channel>, client::Error>;

/// A binding as the card lists it, and where it is.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Its name in the card.
    pub name: &'static str,
    /// Its name in a configuration.
    pub key: &'static str,
    /// What its address begins with.
    pub scheme: Scheme,
    /// The path its address ends with; gRPC has its own paths, and an address without one.
    pub path: &'static str,
    /// Its name in cards of 0.3, which is spoken there as well. Clients know the binding by either name.
    pub old: Option<&'static str>,
    /// How 0.3 is written there.
    pub dialect: Dialect,
    routes: fn(Wire) -> Router,
    pub(crate) channel: Connect,
}

/// What the address of a binding begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// `http` or `https`
    Http,
    /// `ws` or `wss`
    WebSocket,
    /// Nothing: it is host and port.
    None,
}

/// All bindings, in the order in which a card lists them.
pub static BINDINGS: &[Binding] = &[
    Binding {
        name: "JSONRPC",
        key: "jsonrpc",
        scheme: Scheme::Http,
        path: "/a2a/jsonrpc",
        old: Some("JSONRPC"),
        dialect: Dialect::Kind,
        routes: jsonrpc::server::routes,
        channel: jsonrpc::client::channel,
    },
    Binding {
        name: "HTTP+JSON",
        key: "rest",
        scheme: Scheme::Http,
        path: "/a2a/rest",
        old: Some("HTTP+JSON"),
        dialect: Dialect::Proto,
        routes: rest::server::routes,
        channel: rest::client::channel,
    },
    #[cfg(feature = "grpc")]
    Binding {
        name: "GRPC",
        key: "grpc",
        scheme: Scheme::None,
        path: "",
        old: Some("GRPC"),
        dialect: Dialect::Proto,
        routes: grpc::server::routes,
        channel: grpc::client::channel,
    },
    Binding {
        name: "urn:monas:a2a:binding:capnweb:1",
        key: "capnweb",
        scheme: Scheme::Http,
        path: capnweb::server::PATH,
        old: Some("CAPNWEB"),
        dialect: Dialect::Kind,
        routes: capnweb::server::routes,
        channel: capnweb::client::channel,
    },
    Binding {
        name: "urn:monas:a2a:binding:websocket:1",
        key: "websocket",
        scheme: Scheme::WebSocket,
        path: websocket::server::PATH,
        old: Some("WEBSOCKET"),
        dialect: Dialect::Kind,
        routes: websocket::server::routes,
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

/// What every binding needs: whom to ask, and how much to take.
#[derive(Clone)]
pub struct Wire {
    /// Who answers.
    pub service: Arc<dyn Service>,
    /// The numbers.
    pub limits: Limits,
    /// Who is let in.
    pub door: Arc<Door>,
    /// Sockets that stay open, and what runs on them. Drain it when the server stops.
    pub tasks: Tasks,
    /// Where sessions of objects are counted.
    pub metrics: Metrics,
}

impl Wire {
    /// Calls to a service by everybody, who are all the anonymous caller.
    pub fn new(service: Arc<dyn Service>, limits: Limits) -> Self {
        Self {
            service,
            limits,
            door: Arc::new(Door::open()),
            tasks: Tasks::new(),
            metrics: Metrics::new(),
        }
    }

    /// A call by whoever a request is from, for bindings of other protocols.
    pub fn call(&self, head: &Parts) -> Result<Call, Error> {
        self.admit(head).map(Call::by)
    }

    /// A call by whoever these credentials belong to: a token as a text, or an object, as callers of Cap'n Web show
    /// them.
    pub fn call_with(&self, shown: ::capnweb::Value) -> Result<Call, Error> {
        let credentials = capnweb::credentials(shown)?;
        let caller = self.door.recognise(&credentials, SystemTime::now())?;
        Ok(Call::by(caller))
    }

    /// Who a request is from. A call can only be made in the name of somebody.
    pub(crate) fn admit(&self, head: &Parts) -> Result<Principal, Error> {
        if broken("r7") {
            return Ok(Principal::anonymous());
        }
        if self.door.asks() && sabotage::overlooks(&head.headers) {
            return Err(self.door.stranger().into());
        }
        Ok(self.door.admit(&Shown::by(head), SystemTime::now())?)
    }
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire")
            .field("door", &self.door)
            .finish_non_exhaustive()
    }
}

/// Which bindings are offered; those not named are on.
#[derive(Clone, Debug, Default)]
pub struct Offers(Vec<(&'static str, Offer)>);

impl Offers {
    /// Decides about the binding of a key; an unknown one gives nothing.
    pub fn set(&mut self, key: &str, offer: Offer) -> Option<()> {
        let binding = BINDINGS.iter().find(|binding| binding.key == key)?;
        self.0.retain(|(key, _)| *key != binding.key);
        self.0.push((binding.key, offer));
        Some(())
    }

    /// What is decided about a binding.
    pub fn get(&self, binding: &Binding) -> Offer {
        let found = self.0.iter().find(|(key, _)| *key == binding.key);
        found.map(|(_, offer)| *offer).unwrap_or_default()
    }

    fn with(&self, wanted: Offer) -> impl Iterator<Item = &'static Binding> {
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
    /// Host and port.
    pub authority: String,
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
        format!("{scheme}://{}{below}{}", self.authority, binding.path)
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

/// Writes into a card what is offered, and where: all of 1.0, then the same for who speaks 0.3.
pub fn declare(card: &mut AgentCard, offers: &Offers, address: &Address) {
    let interface = |binding: &Binding, version: &str, name: &str| AgentInterface {
        url: address.of(binding),
        tenant: match binding.scheme {
            Scheme::None => address.tenant.clone().unwrap_or_default(),
            _ => String::new(),
        },
        protocol_binding: name.to_owned(),
        protocol_version: version.to_owned(),
    };
    let order = [Offer::Preferred, Offer::On, Offer::Deprecated];
    let offered = || order.into_iter().flat_map(|offer| offers.with(offer));
    let new = offered().map(|binding| interface(binding, VERSION, binding.name));
    // Calls of 0.3 name no tenant: only those that have a path say whom they are for.
    let addressed = |it: &&Binding| address.tenant.is_none() || it.scheme != Scheme::None;
    let old = offered()
        .filter(addressed)
        .filter_map(|binding| Some(interface(binding, old::VERSION, binding.old?)));
    card.supported_interfaces = new.chain(old).collect();
    let deprecated: Vec<&str> = offers
        .with(Offer::Deprecated)
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
pub fn routes(wire: &Wire, offers: &Offers) -> Router {
    let mut router = Router::new();
    for binding in BINDINGS {
        router = match offers.get(binding) {
            Offer::On | Offer::Preferred => router.merge((binding.routes)(wire.clone())),
            Offer::Deprecated => {
                router.merge((binding.routes)(wire.clone()).layer(map_response(mark)))
            }
            Offer::Off => router,
        };
    }
    router
}

async fn mark<B: Send>(mut response: Response<B>) -> Response<B> {
    response.headers_mut().insert(
        HeaderName::from_static("deprecation"),
        HeaderValue::from_static("true"),
    );
    response
}
