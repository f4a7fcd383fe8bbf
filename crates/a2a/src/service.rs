//! The operations of an agent server: one method for each operation, the same for all bindings.

use std::time::SystemTime;

use access::{Origin, Principal, Refusal};
use futures_core::future::BoxFuture;

use crate::error::Error;
use crate::event::EventStream;
use crate::generation::{Generations, WITH_GENERATIONS};
use crate::types::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, Empty,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    ListTasksRequest, ListTasksResponse, SendMessageRequest, SendMessageResponse,
    SubscribeToTaskRequest, Task, TaskPushNotificationConfig,
};

mod tenant;

pub use tenant::Tenant;

/// What is known of a call besides its request.
#[derive(Clone, Debug)]
pub struct Call {
    /// Who calls. Everything a call sees and changes is this caller's own.
    pub caller: Principal,
    /// The extensions the caller understands, by URI.
    pub extensions: Vec<String>,
    /// The last generation the caller has seen of the stream it wants to go on with.
    pub cursor: Option<u64>,
    /// What the caller calls a send that it may have to repeat, beside or instead of the id of its message.
    pub idempotency_key: Option<String>,
    /// Whether the caller wants to see generations, which 1.0 does not have.
    pub generations: Generations,
    /// How the caller writes, as a word that only the edge understands: what is sent to the caller later is
    /// written in the same way. Empty for the protocol's own form.
    pub dialect: &'static str,
    /// The caller knows nothing but tasks: where an agent answers with a message alone, a task is completed
    /// with it.
    pub always_task: bool,
    /// Where it comes from, for the record of calls.
    pub origin: Origin,
}

impl Call {
    /// A call without extensions or cursor.
    pub fn by(caller: Principal) -> Self {
        Self {
            caller,
            extensions: Vec::new(),
            cursor: None,
            idempotency_key: None,
            generations: Generations::Hidden,
            dialect: "",
            always_task: false,
            origin: Origin::default(),
        }
    }

    /// The same call by a caller that knows [`REPEATABLE`].
    pub fn repeatable(mut self) -> Self {
        self.extensions.push(REPEATABLE.to_owned());
        self.generations = Generations::Shown;
        self
    }

    /// The word that is kept with a webhook of this caller: how its deliveries are written.
    pub(crate) fn webhook_dialect(&self) -> &'static str {
        match (self.dialect, self.generations) {
            ("", Generations::Shown) => WITH_GENERATIONS,
            (dialect, _) => dialect,
        }
    }

    /// Whether the caller understands an extension.
    pub fn knows(&self, extension: &str) -> bool {
        self.extensions.iter().any(|uri| uri == extension)
    }

    /// Whether the caller is known still: sockets may outlive the credentials that they were opened with.
    pub fn check(&self) -> Result<(), Error> {
        if self.caller.is_revoked() {
            return Err(Refusal::revoked().into());
        }
        if self.caller.until().is_some() && self.caller.is_over(SystemTime::now()) {
            return Err(Refusal::over().into());
        }
        Ok(())
    }
}

/// The extension of callers that send a message again when its answer was lost: for them, and for sends with an
/// [idempotency key](Call::idempotency_key), a repeated message gets the answer of the first time. For all other callers
/// a message is a new one, whatever its id: real clients use ids twice. To take a stream up again takes its cursor, so those
/// who activate the extension also get the generations of tasks.
pub const REPEATABLE: &str = "urn:monas:a2a:ext:repeatable-send:1";

/// A reply under way.
pub type Answering<T> = BoxFuture<'static, Result<T, Error>>;

/// The operations. Rows of [`operation::TABLE`](crate::operation::TABLE) name these methods, and
/// bindings know only the rows.
pub trait Service: Send + Sync + 'static {
    /// The public card: its capabilities decide which operations are offered.
    fn card(&self) -> &AgentCard;

    /// Sends a message; answers with a message, or with the task it led to.
    fn send_message(
        &self,
        call: Call,
        request: SendMessageRequest,
    ) -> Answering<SendMessageResponse>;

    /// Sends a message; what comes of it is streamed.
    fn send_streaming_message(
        &self,
        call: Call,
        request: SendMessageRequest,
    ) -> Answering<EventStream>;

    /// A task as it is now, or once it has passed a generation.
    fn get_task(&self, call: Call, request: GetTaskRequest) -> Answering<Task>;

    /// The caller's tasks, those that changed last first.
    fn list_tasks(&self, call: Call, request: ListTasksRequest) -> Answering<ListTasksResponse>;

    /// Ends a task that has not ended.
    fn cancel_task(&self, call: Call, request: CancelTaskRequest) -> Answering<Task>;

    /// A task as it is now, then what happens to it; or, with a cursor, all that happened since.
    fn subscribe_to_task(
        &self,
        call: Call,
        request: SubscribeToTaskRequest,
    ) -> Answering<EventStream>;

    /// Has events of a task posted to a webhook.
    fn create_push_config(
        &self,
        call: Call,
        request: TaskPushNotificationConfig,
    ) -> Answering<TaskPushNotificationConfig>;

    /// One webhook of a task.
    fn get_push_config(
        &self,
        call: Call,
        request: GetTaskPushNotificationConfigRequest,
    ) -> Answering<TaskPushNotificationConfig>;

    /// All webhooks of a task.
    fn list_push_configs(
        &self,
        call: Call,
        request: ListTaskPushNotificationConfigsRequest,
    ) -> Answering<ListTaskPushNotificationConfigsResponse>;

    /// Deletes a webhook. Deleting an unknown one succeeds.
    fn delete_push_config(
        &self,
        call: Call,
        request: DeleteTaskPushNotificationConfigRequest,
    ) -> Answering<Empty>;

    /// The card that only those who may call get to see.
    fn get_extended_card(
        &self,
        call: Call,
        request: GetExtendedAgentCardRequest,
    ) -> Answering<AgentCard>;
}
