//! Messages and the parts they consist of.

use bytes::Bytes;

use super::wire::{enumerations, messages, oneofs};
use super::{Struct, Value};

enumerations! { "lf.a2a.v1";
    /// The author of a message: the user or the agent.
    Role "ROLE_UNSPECIFIED" {
        /// The one who asked.
        User = 1 "ROLE_USER",
        Agent = 2 "ROLE_AGENT",
    }
}

messages! { "lf.a2a.v1";
    /// One turn of a conversation.
    Message {
        /// Made by who speaks; a message sent again has the same one.
        message_id: String = 1 required,
        /// The conversation it belongs to.
        context_id: String = 2,
        /// The task it belongs to.
        task_id: String = 3,
        /// The author of a message: the user or the agent.
        role: Role = 4 required,
        parts: Vec<Part> = 5 required,
        /// Additional data, by key.
        metadata: Option<Struct> = 6,
        /// URIs of the extensions that had a part in it.
        extensions: Vec<String> = 7,
        /// Other tasks that it speaks of.
        reference_task_ids: Vec<String> = 8,
    }

    /// A piece of a message or of an artifact.
    Part [
        content: Content
    ] {
        /// Additional data, by key.
        metadata: Option<Struct> = 5,
        /// What a file with this content would be called.
        filename: String = 6,
        /// The media type of the content.
        media_type: String = 7,
    }
}

oneofs! {
    /// What a part holds.
    Content {
        Text text: String = 1,
        /// Bytes, as they are in a file.
        Raw raw: Bytes = 2,
        /// Where the bytes can be fetched.
        Url url: String = 3,
        /// JSON, which may also be `null`.
        Data data: Value = 4,
    }
}

impl Message {
    /// A message of one text from the agent. The id is the caller's to make.
    pub fn agent(message_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::of(Role::Agent, message_id.into(), text.into())
    }

    /// A message of one text from the user. The id is the caller's to make.
    pub fn user(message_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::of(Role::User, message_id.into(), text.into())
    }

    /// Its text parts, a line each; other parts are left out.
    pub fn text(&self) -> String {
        Part::join_text(&self.parts)
    }

    fn of(role: Role, message_id: String, text: String) -> Self {
        Self {
            message_id,
            role,
            parts: vec![Part::text(text)],
            ..Self::default()
        }
    }
}

impl Part {
    /// A part that holds text.
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text(text.into()).into()
    }

    /// A part that holds bytes.
    pub fn raw(bytes: impl Into<Bytes>) -> Self {
        Content::Raw(bytes.into()).into()
    }

    /// A part that holds the address of a file.
    pub fn url(url: impl Into<String>) -> Self {
        Content::Url(url.into()).into()
    }

    /// A part that holds JSON.
    pub fn data(data: impl Into<Value>) -> Self {
        Content::Data(data.into()).into()
    }

    /// The text of all parts that hold text, a line each.
    pub fn join_text<'a>(parts: impl IntoIterator<Item = &'a Self>) -> String {
        let texts: Vec<&str> = parts.into_iter().filter_map(Self::as_text).collect();
        texts.join("\n")
    }

    /// The text, if that is what it holds.
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl From<Content> for Part {
    fn from(content: Content) -> Self {
        Self {
            content,
            ..Self::default()
        }
    }
}
