//! Tasks, messages and how they change.

use bytes::Bytes;

use crate::types::wire::{enumerations, messages, oneofs};
use crate::types::{Struct, Timestamp};

enumerations! { "a2a.v1";
    /// The author of a message: the user or the agent.
    Role "ROLE_UNSPECIFIED" {
        /// The one who asked.
        User = 1 "ROLE_USER",
        Agent = 2 "ROLE_AGENT",
    }

    /// How a task stands.
    TaskState "TASK_STATE_UNSPECIFIED" {
        /// Accepted, and not begun.
        Submitted = 1 "TASK_STATE_SUBMITTED",
        Working = 2 "TASK_STATE_WORKING",
        Completed = 3 "TASK_STATE_COMPLETED",
        Failed = 4 "TASK_STATE_FAILED",
        /// Ended because someone asked for it.
        Cancelled = 5 "TASK_STATE_CANCELLED",
        /// Stopped until the user says more.
        InputRequired = 6 "TASK_STATE_INPUT_REQUIRED",
        /// Ended because the agent would not do it.
        Rejected = 7 "TASK_STATE_REJECTED",
        /// Stopped until the user has proved who they are.
        AuthRequired = 8 "TASK_STATE_AUTH_REQUIRED",
    }
}

messages! { "a2a.v1";
    /// Work that an agent does for someone.
    Task {
        /// Made by the server.
        id: String = 1,
        /// The conversation it belongs to.
        context_id: String = 2,
        status: Option<TaskStatus> = 3,
        /// What it has made so far.
        artifacts: Vec<Artifact> = 4,
        /// The messages so far, oldest first.
        history: Vec<Message> = 5,
        /// Additional data, by key.
        metadata: Option<Struct> = 6,
    }

    /// How a task stands, and since when.
    TaskStatus {
        state: TaskState = 1,
        /// What the agent says about it.
        update as "message": Option<Message> = 2,
        /// When it came to stand so.
        timestamp: Option<Timestamp> = 3,
    }

    /// A piece of a message or of an artifact.
    Part [
        part: PartContent
    ] {
        /// Additional data, by key.
        metadata: Option<Struct> = 4,
    }

    /// A file, as bytes or by its address.
    FilePart [
        /// Where its bytes are.
        file: FileContent
    ] {
        /// The media type of its content.
        mime_type: String = 3,
        /// What it is called.
        name: String = 4,
    }

    /// A part that holds a JSON object.
    DataPart {
        data: Option<Struct> = 1,
    }

    /// One turn of a conversation.
    Message {
        /// Made by who speaks.
        message_id: String = 1,
        /// The conversation it belongs to.
        context_id: String = 2,
        /// The task it belongs to.
        task_id: String = 3,
        /// The author of a message: the user or the agent.
        role: Role = 4,
        content: Vec<Part> = 5,
        /// Additional data, by key.
        metadata: Option<Struct> = 6,
        /// URIs of the extensions that had a part in it.
        extensions: Vec<String> = 7,
    }

    /// Something a task has made.
    Artifact {
        /// Unique within the task.
        artifact_id: String = 1,
        name: String = 3,
        /// What it is, for people.
        description: String = 4,
        /// What it consists of.
        parts: Vec<Part> = 5,
        /// Additional data, by key.
        metadata: Option<Struct> = 6,
        /// URIs of the extensions that had a part in it.
        extensions: Vec<String> = 7,
    }

    /// A task stands differently now.
    TaskStatusUpdateEvent {
        task_id: String = 1,
        context_id: String = 2,
        status: Option<TaskStatus> = 3,
        /// Whether the stream ends with it.
        r#final: bool = 4,
        /// Additional data, by key.
        metadata: Option<Struct> = 5,
    }

    /// A task has made something, or more of it.
    TaskArtifactUpdateEvent {
        task_id: String = 1,
        context_id: String = 2,
        /// What it made: the whole, or what is added.
        artifact: Option<Artifact> = 3,
        /// Whether the parts are added to the artifact of the same id.
        append: bool = 4,
        /// Whether this is the last part of the artifact.
        last_chunk: bool = 5,
        /// Additional data, by key.
        metadata: Option<Struct> = 6,
    }
}

oneofs! {
    /// What a part holds.
    PartContent {
        Text text: String = 1,
        /// A file, as bytes or by its address.
        File file: FilePart = 2,
        /// A part that holds a JSON object.
        Data data: DataPart = 3,
    }

    /// Where the bytes of a file are.
    FileContent {
        /// The address of the file.
        Uri file_with_uri: String = 1,
        /// The bytes of the file.
        Bytes file_with_bytes: Bytes = 2,
    }
}
