//! The requests and replies of the operations.

use super::{Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent};
use crate::types::Struct;
use crate::types::wire::{messages, oneofs};

messages! { "a2a.v1";
    /// Says something to an agent.
    SendMessageRequest {
        request as "message": Option<Message> = 1,
        configuration: Option<SendMessageConfiguration> = 2,
        /// Additional data, by key.
        metadata: Option<Struct> = 3,
    }

    /// How a sent message is to be answered.
    SendMessageConfiguration {
        /// Media types that the sender can take.
        accepted_output_modes: Vec<String> = 1,
        /// Where to report on the task from now on.
        push_notification: Option<PushNotificationConfig> = 2,
        /// How many of the newest messages the answer shall hold; all for 0.
        history_length: i32 = 3,
        /// Whether to answer when the task has ended, rather than when it exists.
        blocking: bool = 4,
    }

    /// Asks for a task.
    GetTaskRequest {
        name: String = 1,
        /// How many of the newest messages the answer shall hold; all for 0.
        history_length: i32 = 2,
    }

    /// Asks that a task end.
    CancelTaskRequest {
        name: String = 1,
    }

    /// Asks for what happens to a task from now on.
    TaskSubscriptionRequest {
        name: String = 1,
    }

    /// Asks for the card.
    GetAgentCardRequest {}

    /// The answer to a sent message.
    SendMessageResponse [
        /// The task that began or went on, or a message alone.
        payload: Answer
    ] {}

    /// One event of a stream.
    StreamResponse [
        payload: Event
    ] {}

    /// Where to report on a task.
    PushNotificationConfig {
        /// Tells several configurations of a task apart.
        id: String = 1,
        /// Where each event is sent.
        url: String = 2,
        /// Sent along, so that the receiver knows that the report was asked for.
        token: String = 3,
        /// How the server proves to the receiver who it is.
        authentication: Option<AuthenticationInfo> = 4,
    }

    /// What goes into the `Authorization` header of a notification.
    AuthenticationInfo {
        /// Schemes of HTTP authentication, the preferred one first.
        schemes: Vec<String> = 1,
        /// What stands behind it.
        credentials: String = 2,
    }

    /// A configuration and the name of its task.
    TaskPushNotificationConfig {
        name: String = 1,
        push_notification_config: Option<PushNotificationConfig> = 2,
    }

    /// Asks for reports on a task.
    CreateTaskPushNotificationConfigRequest {
        parent: String = 1,
        /// What to call the configuration.
        config_id: String = 2,
        config: Option<TaskPushNotificationConfig> = 3,
    }

    /// Asks for one configuration of a task.
    GetTaskPushNotificationConfigRequest {
        name: String = 1,
    }

    /// Asks that one configuration of a task be forgotten.
    DeleteTaskPushNotificationConfigRequest {
        name: String = 1,
    }

    /// Asks for the configurations of a task.
    ListTaskPushNotificationConfigRequest {
        parent: String = 1,
        /// How many at once.
        page_size: i32 = 2,
        /// Where the page before ended.
        page_token: String = 3,
    }

    /// A page of configurations.
    ListTaskPushNotificationConfigResponse {
        configs: Vec<TaskPushNotificationConfig> = 1,
        /// Where the next page begins; empty behind the last one.
        next_page_token: String = 2,
    }
}

oneofs! {
    /// What a message is answered with.
    Answer {
        /// The task that works on it.
        Task task: Task = 1,
        /// All there is to say.
        Message msg as "message": Message = 2,
    }

    /// What can happen in a stream.
    Event {
        /// The whole task, as it stands.
        Task task: Task = 1,
        /// All there is to say; the stream ends.
        Message msg as "message": Message = 2,
        /// The task stands differently.
        StatusUpdate status_update: TaskStatusUpdateEvent = 3,
        /// The task has made something.
        ArtifactUpdate artifact_update: TaskArtifactUpdateEvent = 4,
    }
}
