//! What one client and the server know of each other: what was agreed at `initialize`, which requests are open, and which
//! questions of ours wait for an answer.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use access::calls::{self, BegunCall};
use access::{Origin, Outcome, Principal, Rule};
use dial::trace::{self, TraceContext};
use futures_util::FutureExt as _;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::method::METHODS;
use super::outlet::PendingRequests;
use super::request::{Request, RequestResult, Shared, introduce};
use super::revision::{self, ClientInfo, Revision};
use super::rpc::{Id, Params, RpcError, code};

/// What one client and the server know of each other, from `initialize` on. Clones share one state.
///
/// It has three parts: what the client said of itself, which is set once; the client's requests that are not answered
/// yet; and our own requests that the client has not answered ([`PendingRequests`]). A session of HTTP has one, and so
/// has a connection over standard input and output. A request of revision 2026-07-28 describes its client itself and
/// needs no `initialize`.
///
/// A request is added before its work begins, so that a cancellation that arrives next finds it, and stays until its
/// [`OpenRequest`] is dropped, whichever way the work ends. Ids are the client's and may be used again as soon as a
/// response was read; so the removal compares a number of ours besides, or the end of one request could remove the
/// next one of the same id. The number of open requests has a limit, because each holds a task of the server.
///
/// At the end of a session the owner cancels the open requests and ends the pending ones; without the second, a tool
/// call that asks a question would wait for a client that is gone until its time is over.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) asked: Arc<PendingRequests>,
    client: Arc<OnceLock<ClientInfo>>,
    open: Arc<Mutex<Requests>>,
    max_requests: usize,
}

/// The requests that are not answered yet.
///
/// The id of a request is the client's, and a client that has read a response may use its id again at once. So each
/// request has a number of ours besides: the end of an earlier request cannot remove a later one with the same id.
#[derive(Debug, Default)]
struct Requests {
    by_id: HashMap<Id, (u64, CancellationToken)>,
    last: u64,
}

/// A request that is open until this is dropped.
#[derive(Debug)]
pub(crate) struct OpenRequest {
    requests: Arc<Mutex<Requests>>,
    id: Id,
    number: u64,
    pub(crate) cancelled: CancellationToken,
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let mut requests = lock(&self.requests);
        if requests
            .by_id
            .get(&self.id)
            .is_some_and(|it| it.0 == self.number)
        {
            requests.by_id.remove(&self.id);
        }
    }
}

/// The parameters of `initialize` that matter here.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialize {
    protocol_version: String,
    #[serde(default)]
    capabilities: Map<String, Value>,
}

impl Exchange {
    /// A client that has not said anything yet.
    pub(crate) fn new(max_requests: usize) -> Self {
        Self {
            asked: Arc::default(),
            client: Arc::default(),
            open: Arc::default(),
            max_requests,
        }
    }

    /// What the client said of itself in `initialize`.
    pub(crate) fn client(&self) -> Option<&ClientInfo> {
        self.client.get()
    }

    /// Agrees on a revision with the client, once.
    pub(crate) fn initialize(&self, params: Params) -> Result<ClientInfo, RpcError> {
        let wrong = |why: String| RpcError::invalid_params(format!("params of initialize: {why}"));
        let params = params.ok_or_else(|| wrong("must be an object".to_owned()))?;
        let params: Initialize = serde_json::from_value(Value::Object(params))
            .map_err(|error| wrong(error.to_string()))?;
        let revision = Revision::of_session(&params.protocol_version);
        let client = ClientInfo::new(revision, &params.capabilities);
        match self.client.set(client) {
            Ok(()) => Ok(client),
            Err(_) => Err(RpcError::invalid_request("session already initialized")),
        }
    }

    /// The client of a request: described by the request itself, or known since `initialize`.
    pub(crate) fn client_of(
        &self,
        method: &str,
        meta: &Map<String, Value>,
    ) -> Result<ClientInfo, RpcError> {
        if meta.contains_key(revision::VERSION) || method == "server/discover" {
            return revision::stateless_client(meta);
        }
        match self.client.get() {
            Some(client) => Ok(*client),
            // A client may find out whether there is a server before it begins.
            None if method == "ping" => Ok(ClientInfo::new(Revision::V2025_11_25, &Map::new())),
            None => Err(RpcError::invalid_request(
                "not initialized: send initialize first, or name revision 2026-07-28 in _meta",
            )),
        }
    }

    /// Adds a request. Fails for an id that is open, and for too many open requests.
    pub(crate) fn begin(&self, id: &Id) -> Result<OpenRequest, RpcError> {
        let mut requests = lock(&self.open);
        if requests.by_id.contains_key(id) {
            return Err(RpcError::invalid_request(
                "a request with this id is already open",
            ));
        }
        if requests.by_id.len() >= self.max_requests {
            return Err(RpcError::invalid_request(format!(
                "{} requests of this session are open, which is the limit; wait for an answer",
                self.max_requests
            )));
        }
        requests.last += 1;
        let number = requests.last;
        let cancelled = CancellationToken::new();
        requests
            .by_id
            .insert(id.clone(), (number, cancelled.clone()));
        Ok(OpenRequest {
            requests: self.open.clone(),
            id: id.clone(),
            number,
            cancelled,
        })
    }

    /// Does what a notification says. Only a cancellation has an effect; its request is answered no more under that id.
    pub(crate) fn notice(&self, method: &str, params: Params) {
        if method != "notifications/cancelled" {
            tracing::debug!(method, "MCP notification received");
            return;
        }
        let id = params.and_then(|mut params| params.remove("requestId"));
        let id = id.and_then(|id| serde_json::from_value::<Id>(id).ok());
        let open = id.and_then(|id| lock(&self.open).by_id.remove(&id));
        if let Some((_, cancelled)) = open {
            cancelled.cancel();
        }
    }

    /// Whether no request is open.
    pub(crate) fn is_idle(&self) -> bool {
        lock(&self.open).by_id.is_empty()
    }

    /// Cancels what is open: the client is gone.
    pub(crate) fn end(&self) {
        self.asked.end();
        for (_, cancelled) in lock(&self.open).by_id.values() {
            cancelled.cancel();
        }
    }
}

fn lock(requests: &Mutex<Requests>) -> MutexGuard<'_, Requests> {
    requests.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Announces a request. It may be one too many for its caller.
pub(crate) fn announce(
    responder: &Shared,
    origin: &Origin,
    caller: Option<&Principal>,
    version: &'static str,
    method: &str,
) -> Result<BegunCall, RpcError> {
    // A caller may send any text as a method: only those of the table are written down.
    let known = METHODS.iter().map(Rule::method);
    let known = known.into_iter().find(|it| *it == method);
    let begun = responder.calls().begin(calls::CallRecord {
        origin: origin.clone(),
        caller: caller.cloned().unwrap_or_else(Principal::anonymous),
        version,
        operation: known.unwrap_or(calls::UNKNOWN).into(),
    });
    begun.map_err(|limit| RpcError::limited(&limit))
}

/// How the record of calls has the end of a request.
pub(crate) fn outcome<T>(answered: &Result<T, RpcError>) -> Outcome {
    match answered.as_ref().err().map(|error| error.code) {
        None => Outcome::Ok,
        Some(code::INTERNAL_ERROR) => Outcome::Failed,
        Some(code::TOO_MANY_CALLS) => Outcome::Limited,
        Some(code::FORBIDDEN) => Outcome::Denied,
        Some(_) => Outcome::Rejected,
    }
}

/// Answers a request, with an internal error when its handler panics: the client would wait forever. Every request of
/// every transport comes here, except `initialize`.
pub(crate) async fn answer(
    responder: &Shared,
    mut request: Request,
) -> Result<RequestResult, RpcError> {
    // The metadata are the request's own; a header may be that of the connection.
    let named = request.meta.get(trace::HEADER).and_then(Value::as_str);
    let named = named.and_then(TraceContext::read);
    request.origin.trace = named.or(request.origin.trace);
    let (origin, caller) = (request.origin.clone(), request.caller.as_ref());
    let revision = request.client.revision.as_str();
    let begun = announce(responder, &origin, caller, revision, &request.method)?;
    let answered = begun.run(work(responder, request)).await;
    let answered = answered.unwrap_or_else(|exceeded| Err(RpcError::limited(&exceeded.into())));
    begun.end(outcome(&answered));
    answered
}

async fn work(responder: &Shared, request: Request) -> Result<RequestResult, RpcError> {
    if let Some(answer) = introduce(&**responder, &request.method, &request.client) {
        return answer;
    }
    let work = AssertUnwindSafe(responder.answer(request)).catch_unwind();
    let crashed = |_| {
        Err(RpcError::internal(
            "internal error: the request handler panicked",
        ))
    };
    work.await.unwrap_or_else(crashed)
}
