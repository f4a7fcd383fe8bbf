//! Sessions of revision 2025-11-25, and which of their requests are open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::{Stream, StreamExt as _, future, stream};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, JsonRpcRequest, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, LocalSessionWorker,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use rmcp::transport::{Transport, WorkerTransport};

use crate::limits::Limits;

/// The open requests of one session, or of standard input: those that are not answered yet.
///
/// The library finds the stream of a response by the request's id. Two open requests with the same id would share one
/// response, and the other would wait forever; so the second is refused. Each request has a number besides its id,
/// because an id may be used again once it is answered, and the end of the first request can be noticed twice: where the
/// response is sent (`TrackedTransport`) and where it is read (`create_stream`). The number keeps the second notice from
/// removing a later request with the same id.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenRequests(Arc<Mutex<Requests>>);

#[derive(Debug, Default)]
struct Requests {
    numbers: HashMap<RequestId, u64>,
    last: u64,
    /// An `initialize` was accepted; another one is refused.
    initialized: bool,
}

impl OpenRequests {
    /// Adds a request and returns its number. Fails for an id that is open, and for a second `initialize`.
    pub(super) fn begin(&self, request: &JsonRpcRequest<ClientRequest>) -> Result<u64, ErrorData> {
        let mut requests = self.lock();
        let refuse = |why: &'static str| Err(ErrorData::invalid_request(why, None));
        let initializes = matches!(request.request, ClientRequest::InitializeRequest(_));
        if initializes && requests.initialized {
            return refuse("session already initialized");
        }
        if requests.numbers.contains_key(&request.id) {
            return refuse("a request with this id is already open");
        }
        requests.initialized |= initializes;
        requests.last += 1;
        let number = requests.last;
        requests.numbers.insert(request.id.clone(), number);
        Ok(number)
    }

    /// Removes a request that was answered, unless its id stands for a later request.
    fn end(&self, id: &RequestId, number: u64) {
        let mut requests = self.lock();
        if requests.numbers.get(id) == Some(&number) {
            requests.numbers.remove(id);
        }
    }

    /// Removes the request with this id, of any number: it was answered, or the client cancelled it.
    pub(super) fn forget(&self, id: &RequestId) {
        self.lock().numbers.remove(id);
    }

    fn is_empty(&self) -> bool {
        self.lock().numbers.is_empty()
    }

    fn number(&self, id: &RequestId) -> Option<u64> {
        self.lock().numbers.get(id).copied()
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The id of the request that a message answers.
pub(super) fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

/// The id of the request that a message cancels: the library sends no response to it.
pub(super) fn cancelled(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ClientJsonRpcMessage::Notification(it) => match &it.notification {
            ClientNotification::CancelledNotification(it) => it.params.request_id.as_ref(),
            _ => None,
        },
        _ => None,
    }
}

/// All sessions of a server: those of the library, each with its open requests.
#[derive(Debug)]
pub(super) struct Sessions {
    inner: LocalSessionManager,
    open_requests: Mutex<HashMap<SessionId, OpenRequests>>,
}

impl Sessions {
    pub(super) fn new(limits: &Limits) -> Self {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = Some(limits.session_idle);
        Self {
            inner,
            open_requests: Mutex::default(),
        }
    }

    /// The ids of the open sessions.
    pub(super) async fn open(&self) -> Vec<SessionId> {
        self.inner.sessions.read().await.keys().cloned().collect()
    }

    /// Whether no request of a session is open.
    pub(super) fn is_idle(&self, id: &str) -> bool {
        let all = self.lock();
        all.get(id).is_none_or(OpenRequests::is_empty)
    }

    /// Closes a session to make room for another.
    pub(super) async fn end(&self, id: &str) {
        if let Err(error) = self.close_session(&id.into()).await {
            tracing::debug!(%error, "closing an MCP session failed");
        }
    }

    fn open_requests(&self, id: &SessionId) -> OpenRequests {
        let all = self.lock();
        all.get(id).cloned().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, OpenRequests>> {
        self.open_requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = TrackedTransport<WorkerTransport<LocalSessionWorker>>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let (id, inner) = self.inner.create_session().await?;
        let open_requests = OpenRequests::default();
        self.lock().insert(id.clone(), open_requests.clone());
        Ok((
            id,
            TrackedTransport {
                inner,
                open_requests,
            },
        ))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        if let ClientJsonRpcMessage::Request(request) = &message {
            // Cannot fail: it is the first request of the session.
            let _ = self.open_requests(id).begin(request);
        }
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.lock().remove(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let open_requests = self.open_requests(id);
        let begun = match &message {
            ClientJsonRpcMessage::Request(request) => match open_requests.begin(request) {
                Ok(number) => Some((request.id.clone(), number)),
                Err(error) => {
                    let refusal = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
                    let refusal = ServerSseMessage::from_message(refusal);
                    return Ok(stream::once(future::ready(refusal)).left_stream());
                }
            },
            _ => None,
        };
        let events = match self.inner.create_stream(id, message).await {
            Ok(events) => events,
            Err(error) => {
                if let Some((id, number)) = begun {
                    open_requests.end(&id, number);
                }
                return Err(error);
            }
        };
        // A client that has read the response may use the id again at once, so the id is free before it is read.
        let events = events.inspect(move |event| {
            let answers = event.message.as_deref().and_then(answered).is_some();
            if let (true, Some((id, number))) = (answers, &begun) {
                open_requests.end(id, *number);
            }
        });
        Ok(events.right_stream())
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        let cancelled = cancelled(&message).cloned();
        self.inner.accept_message(id, message).await?;
        if let Some(request) = cancelled {
            self.open_requests(id).forget(&request);
        }
        Ok(())
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.resume(id, last_event_id).await
    }
}

/// The library's transport of a session, which notes the responses: they pass here also when the client has disconnected
/// and its stream is not read.
#[derive(Debug)]
pub(super) struct TrackedTransport<T> {
    inner: T,
    open_requests: OpenRequests,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for TrackedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answers = answered(&message).cloned();
        let answers = answers.and_then(|id| Some((self.open_requests.number(&id)?, id)));
        let open_requests = self.open_requests.clone();
        let sending = self.inner.send(message);
        async move {
            let sent = sending.await;
            if let Some((number, id)) = answers {
                open_requests.end(&id, number);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.inner.receive().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
