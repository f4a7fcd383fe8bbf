//! The requests and replies of the operations.

use super::wire::{messages, oneofs};
use super::{
    Message, Struct, Task, TaskArtifactUpdateEvent, TaskPushNotificationConfig, TaskState,
    TaskStatusUpdateEvent, Timestamp,
};

messages! { "lf.a2a.v1";
    /// Says something to an agent, and asks for one answer or for a stream.
    SendMessageRequest {
        /// Which agent behind the endpoint is meant.
        tenant: String = 1,
        message: Option<Message> = 2 required,
        configuration: Option<SendMessageConfiguration> = 3,
        /// Additional data, by key.
        metadata: Option<Struct> = 4,
    }

    /// How a sent message is to be answered.
    SendMessageConfiguration {
        /// Media types that the sender can take.
        accepted_output_modes: Vec<String> = 1,
        /// Where to report on the task from now on.
        task_push_notification_config: Option<TaskPushNotificationConfig> = 2,
        /// How many of the newest messages the answer shall hold: none for 0, what the server likes if not given.
        history_length: Option<i32> = 3,
        /// Whether to answer as soon as there is a task, rather than when it has ended or waits for its user.
        return_immediately: bool = 4,
        /// Refuse the message unless the task has this generation.
        if_generation_match: Option<i64> = 5,
    }

    /// Asks for a task.
    GetTaskRequest {
        /// Which agent behind the endpoint is meant.
        tenant: String = 1,
        id: String = 2 required,
        /// How many of the newest messages the answer shall hold.
        history_length: Option<i32> = 3,
        /// Wait until the task has a larger generation than this.
        current_generation: Option<i64> = 4,
    }

    /// Asks for the tasks that fit all conditions, newest first.
    ListTasksRequest {
        /// Which agent behind the endpoint is meant.
        tenant: String = 1,
        /// Only those of this conversation.
        context_id: String = 2,
        /// Only those in this state.
        status: TaskState = 3,
        /// How many at once, from 1 to 100.
        page_size: Option<i32> = 4,
        /// Where the page before ended.
        page_token: String = 5,
        /// How many of the newest messages each task shall hold.
        history_length: Option<i32> = 6,
        /// Only tasks with a status from this moment or later.
        status_timestamp_after: Option<Timestamp> = 7,
        /// Whether the tasks shall have their artifacts.
        include_artifacts: Option<bool> = 8,
    }

    /// A page of tasks. All of it is in JSON also when there are none.
    ListTasksResponse {
        tasks: Vec<Task> = 1 always,
        /// Where the next page begins; empty behind the last one.
        next_page_token: String = 2 always,
        /// How many were asked for.
        page_size: i32 = 3 always,
        /// How many fit, on all pages.
        total_size: i32 = 4 always,
    }

    /// Asks that a task end.
    CancelTaskRequest {
        /// Which agent behind the endpoint is meant.
        tenant: String = 1,
        id: String = 2 required,
        /// Additional data, by key.
        metadata: Option<Struct> = 3,
    }

    /// Asks for what happens to a task from now on.
    SubscribeToTaskRequest {
        /// Which agent behind the endpoint is meant.
        tenant: String = 1,
        id: String = 2 required,
    }

    /// Asks for the card that only known callers see.
    GetExtendedAgentCardRequest {
        /// Which agent behind the endpoint is meant.
        tenant: String = 1,
    }

    /// The answer to a sent message.
    SendMessageResponse [
        /// The task that began or went on, or a message alone.
        payload: Answer
    ] {}

    /// One event of a stream.
    StreamResponse [
        payload: Event
    ] {}
}

oneofs! {
    /// What a message is answered with.
    Answer {
        /// The task that works on it.
        Task task: Task = 1,
        /// All there is to say.
        Message message: Message = 2,
    }

    /// What can happen in a stream.
    Event {
        /// The whole task, as it stands.
        Task task: Task = 1,
        /// All there is to say; the stream ends.
        Message message: Message = 2,
        /// The task stands differently.
        StatusUpdate status_update: TaskStatusUpdateEvent = 3,
        /// The task has made something.
        ArtifactUpdate artifact_update: TaskArtifactUpdateEvent = 4,
    }
}

messages! { "google.protobuf";
    /// The reply of an operation that has nothing to give but success.
    Empty {}
}

impl From<Message> for SendMessageRequest {
    fn from(message: Message) -> Self {
        Self {
            message: Some(message),
            ..Self::default()
        }
    }
}

impl From<Task> for SendMessageResponse {
    fn from(task: Task) -> Self {
        Self {
            payload: Answer::Task(task),
        }
    }
}

impl From<Message> for SendMessageResponse {
    fn from(message: Message) -> Self {
        Self {
            payload: Answer::Message(message),
        }
    }
}

impl From<Task> for StreamResponse {
    fn from(task: Task) -> Self {
        Self {
            payload: Event::Task(task),
        }
    }
}

impl From<Message> for StreamResponse {
    fn from(message: Message) -> Self {
        Self {
            payload: Event::Message(message),
        }
    }
}

impl From<TaskStatusUpdateEvent> for StreamResponse {
    fn from(update: TaskStatusUpdateEvent) -> Self {
        Self {
            payload: Event::StatusUpdate(update),
        }
    }
}

impl From<TaskArtifactUpdateEvent> for StreamResponse {
    fn from(update: TaskArtifactUpdateEvent) -> Self {
        Self {
            payload: Event::ArtifactUpdate(update),
        }
    }
}
