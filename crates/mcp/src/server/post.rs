//! One message that was posted: in a session, or standing alone.

use std::sync::Arc;

use ::http::request::Parts;
use ::http::{HeaderValue, StatusCode};
use access::{Origin, Outcome, Principal};
use axum::response::IntoResponse as _;
use serde_json::Value;

use super::http::{Inner, SESSION, Served, WIRE, bad, check_known, json, refusal, refused};
use super::reply::{Reply, prefers_streams};
use super::request::{Request, introduce, without_meta};
use super::revision::{self, ClientInfo, Revision};
use super::rpc::{self, Id, Params, RpcError};
use super::session::{self, Session};
use super::{events, exchange, headers};

pub(super) const NO_SESSION: &str =
    "the header Mcp-Session-Id is missing: send initialize first, or use revision 2026-07-28";

/// One message that was posted.
pub(super) struct Post<'a> {
    pub(super) inner: &'a Arc<Inner>,
    /// The revision in the header.
    pub(super) version: Option<&'a str>,
    pub(super) head: &'a Parts,
    /// How long the message is.
    pub(super) bytes: usize,
    pub(super) caller: Principal,
    pub(super) session: Option<Arc<Session>>,
}

impl Post<'_> {
    pub(super) async fn request(self, id: Id, method: String, params: Params) -> Served {
        if method == "initialize" && !self.knows_no_sessions(&params) {
            let origin = Origin::of(WIRE, self.head).with_bytes(self.bytes);
            let asked = params.as_ref().and_then(|it| it.get("protocolVersion"));
            let asked = asked.and_then(Value::as_str).and_then(Revision::named);
            let version = asked.map_or("", Revision::as_str);
            let responder = &self.inner.responder;
            let caller = Some(&self.caller);
            let begun = match exchange::announce(responder, &origin, caller, version, &method) {
                Ok(begun) => begun,
                Err(error) => {
                    let body = rpc::error(Some(&id), &error);
                    return Ok(json(StatusCode::TOO_MANY_REQUESTS, body));
                }
            };
            let served = self.initialize(&id, params);
            begun.end(match &served {
                Ok(_) => Outcome::Ok,
                Err(refused) => Outcome::of_status(refused.status().as_u16()),
            });
            return served;
        }
        if self.is_stateless() {
            self.check_headers(&method, &params)
                .map_err(|error| refused(Some(&id), &error))?;
        }
        let (params, meta) = without_meta(params);
        let stateless = self.is_stateless()
            || meta.contains_key(revision::VERSION)
            || method == "server/discover";
        let client = match stateless {
            true => headers::check_version(self.version, &meta)
                .and_then(|()| revision::stateless_client(&meta)),
            false => self.client_in_session(),
        };
        let client = client.map_err(|error| refused(Some(&id), &error))?;
        let session = self.session.clone().filter(|_| !stateless);
        let mut reply = Reply::new(self.inner.clone(), session, client);
        reply.streams = prefers_streams(&self.head.headers);
        let outlet = reply.outlet();
        let mut request = Request::new(id, method, params, client, outlet);
        request.meta = meta;
        request.caller = Some(self.caller);
        request.origin = Origin::of(WIRE, self.head).with_bytes(self.bytes);
        match reply.begin(&mut request) {
            Ok(()) => Ok(reply.answer(request).await),
            Err(error) => Ok(json(StatusCode::OK, rpc::error(Some(&request.id), &error))),
        }
    }

    /// Opens a session.
    fn initialize(self, id: &Id, params: Params) -> Served {
        let fail = |error: &RpcError| json(StatusCode::OK, rpc::error(Some(id), error));
        if self.session.is_some() {
            return Ok(fail(&RpcError::invalid_request(
                "session already initialized",
            )));
        }
        let asked = params.as_ref().and_then(|it| it.get("protocolVersion"));
        let asked = asked.and_then(|it| it.as_str()).unwrap_or_default();
        if self.version.is_some_and(|version| version != asked) {
            let why = "MCP-Protocol-Version and protocolVersion of initialize differ";
            return Err(refused(Some(id), &RpcError::invalid_request(why)));
        }
        if self.head.headers.contains_key("mcp-method") {
            headers::check(&self.head.headers, "initialize", &params, |_| None)
                .map_err(|error| refused(Some(id), &error))?;
        }
        let exchange = self.inner.sessions.exchange();
        let client = match exchange.initialize(params) {
            Ok(client) => client,
            Err(error) => return Ok(fail(&error)),
        };
        let introduced = introduce(&*self.inner.responder, "initialize", &client);
        let answer = match introduced {
            Some(Ok(answer)) => answer,
            Some(Err(error)) => return Ok(fail(&error)),
            None => return Ok(fail(&RpcError::unknown_method("initialize"))),
        };
        let share = session::share(&self.caller, &self.head.extensions);
        let sessions = &self.inner.sessions;
        let session = match sessions.open(exchange, &self.caller, share, None) {
            Ok(session) => session,
            Err(full) => {
                let refusal = refusal(StatusCode::SERVICE_UNAVAILABLE, &full.to_string());
                return Err(Box::new(refusal));
            }
        };
        let body = answer.response(id, &client);
        let mut response = match prefers_streams(&self.head.headers) {
            true => events::one(&body),
            false => json(StatusCode::OK, body),
        };
        if let Ok(id) = HeaderValue::from_str(&session.id) {
            response.headers_mut().insert(SESSION, id);
        }
        Ok(response)
    }

    pub(super) fn notification(self, method: &str, params: Params) -> Served {
        if self.is_stateless() {
            self.check_headers(method, &params)
                .map_err(|error| refused(None, &error))?;
        } else {
            check_known(self.version)?;
            let session = self.session;
            let session = session.ok_or_else(|| bad(&RpcError::invalid_request(NO_SESSION)))?;
            session.exchange.notice(method, params);
        }
        Ok(StatusCode::ACCEPTED.into_response())
    }

    pub(super) fn response(self, id: &Id, result: Result<Value, RpcError>) -> Served {
        let Some(session) = self
            .session
            .filter(|_| !self.version.is_some_and(Revision::is_stateless_name))
        else {
            let why = "a response answers a request of the server, which only sessions have";
            return Err(bad(&RpcError::invalid_request(why)));
        };
        session.exchange.asked.answer(id, result);
        Ok(StatusCode::ACCEPTED.into_response())
    }

    fn client_in_session(&self) -> Result<ClientInfo, RpcError> {
        if self.version.is_some_and(|it| Revision::named(it).is_none()) {
            return Err(Revision::unsupported(self.version.unwrap_or_default()));
        }
        let client = self.session.as_ref().and_then(|it| it.exchange.client());
        client
            .copied()
            .ok_or_else(|| RpcError::invalid_request(NO_SESSION))
    }

    /// Whether an `initialize` comes from a client of a revision that does not have it: such a client names no revision in
    /// its parameters, and learns that the method is unknown.
    fn knows_no_sessions(&self, params: &Params) -> bool {
        let asked = params.as_ref().and_then(|it| it.get("protocolVersion"));
        self.is_stateless() && asked.is_none()
    }

    /// Whether the header names a revision without sessions.
    fn is_stateless(&self) -> bool {
        self.version.is_some_and(Revision::is_stateless_name)
    }

    fn check_headers(&self, method: &str, params: &Params) -> Result<(), RpcError> {
        let schema = |tool: &str| self.inner.responder.input_schema(tool);
        headers::check(&self.head.headers, method, params, schema)
    }
}
