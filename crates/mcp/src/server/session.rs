//! Sessions of the older wire, and which of their requests are under way.

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

/// The requests of one session that are not answered yet, each with a number that tells it from a later one of the same
/// id. Two of the same id at a time would have one answer between them, and one of the two would wait forever.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight(Arc<Mutex<Requests>>);

#[derive(Debug, Default)]
struct Requests {
    numbers: HashMap<RequestId, u64>,
    last: u64,
    /// Both sides have said who they are, which is done once.
    initialized: bool,
}

impl InFlight {
    /// Takes up a request, or says why not.
    pub(super) fn begin(&self, request: &JsonRpcRequest<ClientRequest>) -> Result<u64, ErrorData> {
        let mut requests = self.lock();
        let refuse = |why: &'static str| Err(ErrorData::invalid_request(why, None));
        let initializes = matches!(request.request, ClientRequest::InitializeRequest(_));
        if initializes && requests.initialized {
            return refuse("the session is initialized already");
        }
        if requests.numbers.contains_key(&request.id) {
            return refuse("a request of this id is under way");
        }
        requests.initialized |= initializes;
        requests.last += 1;
        let number = requests.last;
        requests.numbers.insert(request.id.clone(), number);
        Ok(number)
    }

    /// The request of this number is answered.
    fn end(&self, id: &RequestId, number: u64) {
        let mut requests = self.lock();
        if requests.numbers.get(id) == Some(&number) {
            requests.numbers.remove(id);
        }
    }

    /// Whatever is under way by this id is answered, or is not going to be.
    pub(super) fn forget(&self, id: &RequestId) {
        self.lock().numbers.remove(id);
    }

    fn number(&self, id: &RequestId) -> Option<u64> {
        self.lock().numbers.get(id).copied()
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which request a message of ours answers.
pub(super) fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

/// Which request a client gave up: the library does not answer it any more.
pub(super) fn given_up(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ClientJsonRpcMessage::Notification(it) => match &it.notification {
            ClientNotification::CancelledNotification(it) => it.params.request_id.as_ref(),
            _ => None,
        },
        _ => None,
    }
}

/// All sessions of a server: the library's, in which no id stands for two requests.
#[derive(Debug)]
pub(super) struct Sessions {
    inner: LocalSessionManager,
    in_flight: Mutex<HashMap<SessionId, InFlight>>,
}

impl Sessions {
    pub(super) fn new(limits: &Limits) -> Self {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = Some(limits.session_idle);
        Self {
            inner,
            in_flight: Mutex::default(),
        }
    }

    /// Those that are open.
    pub(super) async fn open(&self) -> Vec<SessionId> {
        self.inner.sessions.read().await.keys().cloned().collect()
    }

    /// How many are open.
    pub(super) async fn count(&self) -> usize {
        self.inner.sessions.read().await.len()
    }

    fn in_flight(&self, id: &SessionId) -> InFlight {
        let all = self.lock();
        all.get(id).cloned().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, InFlight>> {
        self.in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = Watched<WorkerTransport<LocalSessionWorker>>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let (id, inner) = self.inner.create_session().await?;
        let in_flight = InFlight::default();
        self.lock().insert(id.clone(), in_flight.clone());
        Ok((id, Watched { inner, in_flight }))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        if let ClientJsonRpcMessage::Request(request) = &message {
            // The first request of a session is never one too many.
            let _ = self.in_flight(id).begin(request);
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
        let in_flight = self.in_flight(id);
        let begun = match &message {
            ClientJsonRpcMessage::Request(request) => match in_flight.begin(request) {
                Ok(number) => Some((request.id.clone(), number)),
                Err(error) => {
                    let refusal = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
                    let refusal = ServerSseMessage::from_message(refusal);
                    return Ok(stream::once(future::ready(refusal)).left_stream());
                }
            },
            _ => None,
        };
        let told = match self.inner.create_stream(id, message).await {
            Ok(told) => told,
            Err(error) => {
                if let Some((id, number)) = begun {
                    in_flight.end(&id, number);
                }
                return Err(error);
            }
        };
        // Whoever has the answer may use the id again at once.
        let told = told.inspect(move |said| {
            let answers = said.message.as_deref().and_then(answered).is_some();
            if let (true, Some((id, number))) = (answers, &begun) {
                in_flight.end(id, *number);
            }
        });
        Ok(told.right_stream())
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        let given_up = given_up(&message).cloned();
        self.inner.accept_message(id, message).await?;
        if let Some(request) = given_up {
            self.in_flight(id).forget(&request);
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

/// A session's own end of its messages. Answers pass here also when nobody listens any more.
#[derive(Debug)]
pub(super) struct Watched<T> {
    inner: T,
    in_flight: InFlight,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Watched<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answers = answered(&message).cloned();
        let answers = answers.and_then(|id| Some((self.in_flight.number(&id)?, id)));
        let in_flight = self.in_flight.clone();
        let sending = self.inner.send(message);
        async move {
            let sent = sending.await;
            if let Some((number, id)) = answers {
                in_flight.end(&id, number);
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
