//! Tasks: what they are, how they stand, what they made, and how they change.

use super::wire::{enumerations, messages};
use super::{Message, Part, Struct, Timestamp};

enumerations! { "lf.a2a.v1";
    /// How a task stands.
    TaskState "TASK_STATE_UNSPECIFIED" {
        /// Accepted, and not begun.
        Submitted = 1 "TASK_STATE_SUBMITTED",
        Working = 2 "TASK_STATE_WORKING",
        Completed = 3 "TASK_STATE_COMPLETED",
        Failed = 4 "TASK_STATE_FAILED",
        /// Ended because someone asked for it.
        Canceled = 5 "TASK_STATE_CANCELED",
        /// Stopped until the user says more.
        InputRequired = 6 "TASK_STATE_INPUT_REQUIRED",
        /// Ended because the agent would not do it.
        Rejected = 7 "TASK_STATE_REJECTED",
        /// Stopped until the user has proved who they are.
        AuthRequired = 8 "TASK_STATE_AUTH_REQUIRED",
    }
}

impl TaskState {
    /// Whether a task in this state has ended for good.
    pub fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected
        )
    }

    /// Whether a task in this state waits for its user.
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }

    /// Whether a task in this state has ended or waits for its user: nothing happens to it before another message comes.
    pub fn is_settled(self) -> bool {
        self.is_terminal() || self.is_interrupted()
    }

    /// Whether a stream ends with this state: nothing more comes without another message.
    pub fn ends_streams(self) -> bool {
        self.is_terminal() || self == Self::InputRequired
    }
}

messages! { "lf.a2a.v1";
    /// Work that an agent does for someone.
    Task {
        /// Made by the server when it accepts the first message.
        id: String = 1 required,
        /// The conversation it belongs to.
        context_id: String = 2,
        status: Option<TaskStatus> = 3 required,
        /// What it has made so far.
        artifacts: Vec<Artifact> = 4,
        /// The messages so far, oldest first.
        history: Vec<Message> = 5,
        /// Additional data, by key.
        metadata: Option<Struct> = 6,
        /// Counts its changes of state and artifacts from 1 on; 0 means that its server does not count.
        generation: i64 = 7,
    }

    /// How a task stands, and since when.
    TaskStatus {
        state: TaskState = 1 required,
        /// What the agent says about it.
        message: Option<Message> = 2,
        /// When it came to stand so.
        timestamp: Option<Timestamp> = 3,
    }

    /// Something a task has made.
    Artifact {
        /// Unique within the task.
        artifact_id: String = 1 required,
        name: String = 2,
        /// What it is, for people.
        description: String = 3,
        /// What it consists of.
        parts: Vec<Part> = 4 required,
        /// Additional data, by key.
        metadata: Option<Struct> = 5,
        /// URIs of the extensions that had a part in it.
        extensions: Vec<String> = 6,
    }

    /// A task stands differently now.
    TaskStatusUpdateEvent {
        task_id: String = 1 required,
        context_id: String = 2 required,
        status: Option<TaskStatus> = 3 required,
        /// Additional data, by key.
        metadata: Option<Struct> = 4,
        /// The task's generation with this event.
        generation: i64 = 5,
    }

    /// A task has made something, or more of it.
    TaskArtifactUpdateEvent {
        task_id: String = 1 required,
        context_id: String = 2 required,
        /// What it made: the whole, or what is added.
        artifact: Option<Artifact> = 3 required,
        /// Whether the parts are added to the artifact of the same id; otherwise they replace it.
        append: bool = 4,
        /// Whether this is the last part of the artifact.
        last_chunk: bool = 5,
        /// Additional data, by key.
        metadata: Option<Struct> = 6,
        /// The task's generation with this event.
        generation: i64 = 7,
    }
}

impl Task {
    /// The state of its status; unspecified where a peer sent no status.
    pub fn state(&self) -> TaskState {
        let status = self.status.as_ref();
        status.map_or(TaskState::Unspecified, |status| status.state)
    }

    /// Whether it has ended or waits for its user, as [`TaskState::is_settled`].
    pub fn is_settled(&self) -> bool {
        self.state().is_settled()
    }

    /// The text of its artifacts, then of the message of its status, a line for each part.
    pub fn text(&self) -> String {
        let artifacts = self.artifacts.iter().flat_map(|it| &it.parts);
        let said = self.status_message().into_iter().flat_map(|it| &it.parts);
        Part::join_text(artifacts.chain(said))
    }

    /// The message of its status: what the agent said last, or asks.
    pub fn status_message(&self) -> Option<&Message> {
        self.status.as_ref()?.message.as_ref()
    }
}

impl Artifact {
    /// Its text parts, a line each.
    pub fn text(&self) -> String {
        Part::join_text(&self.parts)
    }
}
