//! Messages and their parts, in the words of A2A and back.

use a2a::types::{Artifact, Content, Part as A2aPart, Struct, Timestamp};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use crate::error::Error;
use crate::types::{Encoding, Message, Part};

const TEXT: &str = "text/plain";
const JSON: &str = "application/json";
const BYTES: &str = "application/octet-stream";

/// Where a part of A2A has what ACP calls its metadata: a citation or a trajectory.
const METADATA: &str = "urn:monas:a2a:ext:acp:1/metadata";

/// What messages say.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) parts: Vec<A2aPart>,
    /// The part that is read where one object is wanted, as it is called in the request: the first that holds data, else
    /// the first.
    pub(crate) read: String,
}

/// What messages say, part by part. `field` is what they are called in the request.
pub(crate) fn parts_of(messages: Vec<Message>, field: &str) -> Result<Said, Error> {
    let mut parts = Vec::new();
    let (mut first, mut data) = (None, None);
    for (at, message) in messages.into_iter().enumerate() {
        let place = match field {
            "input" => format!("input[{at}]"),
            field => field.to_owned(),
        };
        if !is_role(&message.role) {
            let problem = "is none of user, agent and agent/NAME";
            return Err(Error::invalid(format!("{place}.role"), problem));
        }
        for (at, part) in message.parts.into_iter().enumerate() {
            let place = || format!("{place}.parts[{at}]");
            let part = to_a2a(part).map_err(|problem| Error::invalid(place(), problem))?;
            first.get_or_insert_with(place);
            if matches!(part.content, Content::Data(_)) {
                data.get_or_insert_with(place);
            }
            parts.push(part);
        }
    }
    match data.or(first) {
        None => Err(Error::invalid(field, "says nothing: it has no parts")),
        Some(read) => Ok(Said { parts, read }),
    }
}

fn is_role(role: &str) -> bool {
    match role.split_once('/') {
        None => matches!(role, "user" | "agent"),
        Some(("agent", name)) => {
            let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            !name.is_empty() && name.bytes().all(word)
        }
        Some(_) => false,
    }
}

/// A part in the words of A2A, or what is wrong with it.
pub(crate) fn to_a2a(part: Part) -> Result<A2aPart, String> {
    let given = part.content_type.filter(|given| !given.trim().is_empty());
    let media_type = given.unwrap_or_else(|| TEXT.to_owned());
    let kind = Kind::of(&media_type);
    // Metadata can stand by itself; then there is nothing to have a type.
    let empty = part.content.is_none() && part.content_url.is_none();
    let content = match (part.content, part.content_url) {
        (Some(_), Some(_)) => return Err("has content and content_url: give one".to_owned()),
        (None, Some(url)) if is_url(&url) => Content::Url(url),
        (None, Some(_)) => return Err("content_url is no URL".to_owned()),
        (None, None) => Content::Text(String::new()),
        (Some(content), None) => match part.content_encoding.unwrap_or(Encoding::Plain) {
            Encoding::Plain => kind.read(content)?,
            Encoding::Base64 => {
                let bytes = BASE64_STANDARD.decode(content);
                let bytes = bytes.map_err(|error| format!("content is no base64: {error}"))?;
                match kind {
                    Kind::Other => Content::Raw(bytes.into()),
                    kind => match String::from_utf8(bytes) {
                        Ok(text) => kind.read(text)?,
                        Err(error) => Content::Raw(error.into_bytes().into()),
                    },
                }
            }
        },
    };
    // What the content says by itself need not be said again.
    let implied = match content {
        Content::Text(_) => empty || media_type == TEXT,
        Content::Data(_) => media_type == JSON,
        _ => false,
    };
    Ok(A2aPart {
        content,
        filename: part.name.unwrap_or_default(),
        media_type: if implied { String::new() } else { media_type },
        metadata: part
            .metadata
            .map(|metadata| Struct::from_iter([(METADATA, Value::Object(metadata))])),
    })
}

/// What a media type promises.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Json,
    Other,
}

impl Kind {
    fn of(media_type: &str) -> Self {
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        let essence = essence.to_ascii_lowercase();
        match &*essence {
            JSON => Self::Json,
            it if it.starts_with("text/") => Self::Text,
            _ => Self::Other,
        }
    }

    fn read(self, text: String) -> Result<Content, String> {
        match self {
            Self::Json => {
                let read = serde_json::from_str::<Value>(&text);
                let data = read.map_err(|error| format!("content is no JSON: {error}"))?;
                Ok(Content::Data(data.into()))
            }
            Self::Text | Self::Other => Ok(Content::Text(text)),
        }
    }
}

/// Whether a text begins as URLs do. Nobody here follows it.
fn is_url(text: &str) -> bool {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    let rest = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(rest)
}

/// A part of A2A in the words of ACP. `name` is that of the artifact it belongs to.
pub(crate) fn from_a2a(part: &A2aPart, name: Option<&str>) -> Part {
    let typed = |otherwise: &str| match &*part.media_type {
        "" => Some(otherwise.to_owned()),
        given => Some(given.to_owned()),
    };
    let name = match &*part.filename {
        "" => name,
        given => Some(given),
    };
    let metadata = part.metadata.as_ref().and_then(|all| all.get(METADATA));
    let mut written = Part {
        name: name.map(str::to_owned),
        metadata: metadata.and_then(Value::as_object).cloned(),
        ..Part::default()
    };
    match &part.content {
        Content::Text(text) => {
            written.content_type = typed(TEXT);
            written.content = Some(text.clone());
            written.content_encoding = Some(Encoding::Plain);
        }
        Content::Data(data) => {
            written.content_type = typed(JSON);
            written.content = Some(data.0.to_string());
            written.content_encoding = Some(Encoding::Plain);
        }
        Content::Raw(bytes) => {
            written.content_type = typed(BYTES);
            written.content = Some(BASE64_STANDARD.encode(bytes));
            written.content_encoding = Some(Encoding::Base64);
        }
        Content::Url(url) => {
            written.content_type = typed(BYTES);
            written.content_url = Some(url.clone());
        }
        Content::Unset => written.content_type = typed(TEXT),
    }
    written
}

/// Parts of A2A as a message that was finished at that moment.
pub(crate) fn message(role: String, parts: &[A2aPart], at: Option<Timestamp>) -> Message {
    Message {
        role,
        parts: parts.iter().map(|part| from_a2a(part, None)).collect(),
        created_at: at,
        completed_at: at,
    }
}

/// The parts of an artifact. What a skill gives is the answer itself, and has no name.
pub(crate) fn artifact_parts(artifact: &Artifact) -> impl Iterator<Item = Part> {
    let name = match (&*artifact.artifact_id, &*artifact.name) {
        (skill::extension::OUTPUT, _) => None,
        (id, "") => Some(id),
        (_, name) => Some(name),
    };
    artifact.parts.iter().map(move |part| from_a2a(part, name))
}
