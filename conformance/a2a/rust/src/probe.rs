//! The common needs of scenarios: a client for one binding, requests, and checks that say what differed.

use std::error::Error;
use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;

use a2a::{
    A2AError, AgentCard, CancelTaskRequest, GetTaskRequest, Message, Part, SendMessageRequest,
    SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, TaskState,
};
use a2a_client::agent_card::AgentCardResolver;
use a2a_client::middleware::CallInterceptor;
use a2a_client::{A2AClient, A2AClientFactory, BoxStream, ServiceParams, Transport};
use a2a_grpc::GrpcTransportFactory;
use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use uuid::Uuid;

/// The error of a scenario: a text for the reader.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;
pub(crate) type Client = A2AClient<Box<dyn Transport>>;
pub(crate) type Events = BoxStream<'static, std::result::Result<StreamResponse, A2AError>>;

pub(crate) const BINDINGS: [&str; 3] = ["JSONRPC", "HTTP+JSON", "GRPC"];

/// The official client for one binding.
pub(crate) struct Probe {
    pub(crate) binding: &'static str,
    pub(crate) card: AgentCard,
    pub(crate) client: Client,
    /// The prefix of message ids that make a task work until it is cancelled.
    held: String,
}

impl Probe {
    pub(crate) async fn reach(base: &str, binding: &'static str, held: &str) -> Result<Self> {
        let card = AgentCardResolver::new(None).resolve(base).await?;
        let client = client(&card, binding, []).await?;
        Ok(Self {
            binding,
            card,
            client,
            held: held.to_owned(),
        })
    }

    /// A client that sends this service parameter with every request, in place of its own.
    pub(crate) async fn client_with(&self, name: &'static str, value: &str) -> Result<Client> {
        let parameter = Arc::new(Parameter {
            name,
            value: value.to_owned(),
        });
        client(&self.card, self.binding, [parameter]).await
    }

    pub(crate) async fn send_for_task(&self, request: &SendMessageRequest) -> Result<Task> {
        task_of(self.client.send_message(request).await?)
    }

    pub(crate) async fn send_for_message(&self, request: &SendMessageRequest) -> Result<Message> {
        match self.client.send_message(request).await? {
            SendMessageResponse::Message(message) => Ok(message),
            SendMessageResponse::Task(_) => Err("the answer is a task, not a message".into()),
        }
    }

    /// Every event of a stream, to its end.
    pub(crate) async fn stream(&self, request: &SendMessageRequest) -> Result<Vec<StreamResponse>> {
        let events = self.client.send_streaming_message(request).await?;
        Ok(events.try_collect().await?)
    }

    pub(crate) async fn subscribe(&self, id: &str) -> std::result::Result<Events, A2AError> {
        self.client.subscribe_to_task(&subscription(id)).await
    }

    pub(crate) async fn get(&self, id: &str) -> std::result::Result<Task, A2AError> {
        self.get_with_history(id, None).await
    }

    pub(crate) async fn get_with_history(
        &self,
        id: &str,
        history_length: Option<i32>,
    ) -> std::result::Result<Task, A2AError> {
        let request = GetTaskRequest {
            id: id.into(),
            history_length,
            tenant: None,
        };
        self.client.get_task(&request).await
    }

    pub(crate) async fn cancel(&self, id: &str) -> std::result::Result<Task, A2AError> {
        let request = CancelTaskRequest {
            id: id.into(),
            metadata: None,
            tenant: None,
        };
        self.client.cancel_task(&request).await
    }

    /// A task that is at work and stays so.
    pub(crate) async fn start_held(&self) -> Result<Task> {
        let mut request = request(&self.held, "go");
        request.configuration = Some(typed(json!({"returnImmediately": true}))?);
        self.send_for_task(&request).await
    }
}

/// The task that is the answer to a message.
pub(crate) fn task_of(answer: SendMessageResponse) -> Result<Task> {
    match answer {
        SendMessageResponse::Task(task) => Ok(task),
        SendMessageResponse::Message(_) => Err("the answer is a message, not a task".into()),
    }
}

/// A client that prefers this binding, and of the card knows nothing else.
async fn client(
    card: &AgentCard,
    binding: &str,
    interceptors: impl IntoIterator<Item = Arc<Parameter>>,
) -> Result<Client> {
    let mut only = card.clone();
    only.supported_interfaces
        .retain(|interface| interface.protocol_binding == binding);
    let builder = A2AClientFactory::builder().register(Arc::new(GrpcTransportFactory::new()));
    let builder = interceptors
        .into_iter()
        .fold(builder, |builder, parameter| {
            builder.with_interceptor(parameter)
        });
    Ok(builder.build().create_from_card(&only).await?)
}

/// Sets one service parameter, which travels as a header or as metadata.
struct Parameter {
    name: &'static str,
    value: String,
}

#[async_trait]
impl CallInterceptor for Parameter {
    async fn before(
        &self,
        _method: &str,
        parameters: &mut ServiceParams,
    ) -> std::result::Result<(), A2AError> {
        parameters.insert(self.name.to_owned(), vec![self.value.clone()]);
        Ok(())
    }
}

/// A request with one user message of this text and a new id that begins with `prefix`.
pub(crate) fn request(prefix: &str, text: &str) -> SendMessageRequest {
    request_of(prefix, vec![Part::text(text)])
}

pub(crate) fn request_of(prefix: &str, parts: Vec<Part>) -> SendMessageRequest {
    let mut message = Message::new(a2a::Role::User, parts);
    message.message_id = format!("{prefix}-{}", Uuid::new_v4());
    SendMessageRequest {
        message,
        configuration: None,
        metadata: None,
        tenant: None,
    }
}

pub(crate) fn subscription(id: &str) -> SubscribeToTaskRequest {
    SubscribeToTaskRequest {
        id: id.into(),
        tenant: None,
    }
}

/// One of the SDK's types, from the JSON it stands for.
pub(crate) fn typed<T: serde::de::DeserializeOwned>(json: Value) -> Result<T> {
    Ok(serde_json::from_value(json)?)
}

pub(crate) fn anything() -> String {
    Uuid::new_v4().to_string()
}

pub(crate) fn check<T: PartialEq<U> + Debug, U: Debug>(
    actual: T,
    expected: U,
    what: &str,
) -> Result<()> {
    check_that(
        actual == expected,
        format!("{what}: expected {expected:?}, got {actual:?}"),
    )
}

pub(crate) fn check_that(holds: bool, otherwise: impl Into<String>) -> Result<()> {
    if holds {
        Ok(())
    } else {
        Err(otherwise.into().into())
    }
}

pub(crate) fn check_state(task: &Task, state: TaskState) -> Result<()> {
    check(&task.status.state, &state, "the state of the task")
}

/// The call must fail with the error of this code (`a2a::error_code`).
pub(crate) async fn check_fails<T: Debug>(
    call: impl Future<Output = std::result::Result<T, A2AError>>,
    code: i32,
) -> Result<()> {
    match call.await {
        Ok(answer) => Err(format!("expected error {code}, got an answer: {answer:?}").into()),
        Err(error) => check(error.code, code, &format!("the error ({})", error.message)),
    }
}

/// The call must fail, at once or as the first event of its stream.
pub(crate) async fn check_stream_fails(
    call: impl Future<Output = std::result::Result<Events, A2AError>>,
    code: i32,
) -> Result<()> {
    let collected = async { call.await?.try_collect::<Vec<_>>().await };
    check_fails(collected, code).await
}

/// The next event of a stream that must not have ended.
pub(crate) async fn next(events: &mut Events) -> Result<StreamResponse> {
    Ok(events.next().await.ok_or("the stream ended early")??)
}

/// The task that a stream begins with.
pub(crate) fn first_task(event: Option<&StreamResponse>) -> Result<&Task> {
    match event {
        Some(StreamResponse::Task(task)) => Ok(task),
        other => Err(format!("the stream does not begin with a task but with {other:?}").into()),
    }
}

/// An event in a word or two, such as `Working` or `artifact: chunk-1`.
pub(crate) fn told(event: &StreamResponse) -> String {
    match event {
        StreamResponse::Task(_) => "task".to_owned(),
        StreamResponse::Message(_) => "message".to_owned(),
        StreamResponse::StatusUpdate(update) => format!("{:?}", update.status.state),
        StreamResponse::ArtifactUpdate(update) => {
            format!("artifact: {}", text_of(&update.artifact.parts))
        }
    }
}

pub(crate) fn text_of(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect()
}
