//! Translates messages and their parts between ACP and A2A.

use a2a::types::{Artifact, Content, Part as A2aPart, Struct, Timestamp};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use crate::error::Error;
use crate::types::{Encoding, Message, Part};

const TEXT: &str = "text/plain";
const JSON: &str = "application/json";
const BYTES: &str = "application/octet-stream";

/// The key in the metadata of an A2A part that holds the metadata of the ACP part: a citation or a trajectory.
const METADATA: &str = "urn:monas:a2a:ext:acp:1/metadata";

/// The parts of all messages of a request.
#[derive(Debug)]
pub(crate) struct InputParts {
    pub(crate) parts: Vec<A2aPart>,
    /// The path, in the request, of the part that a skill reads as its input: the first that holds data, else the first.
    /// Errors about the input name it.
    pub(crate) read: String,
}

/// Collects the parts of messages. `field` is their name in the request, for errors.
pub(crate) fn parts_of(messages: Vec<Message>, field: &str) -> Result<InputParts, Error> {
    let mut parts = Vec::new();
    let (mut first, mut data) = (None, None);
    for (at, message) in messages.into_iter().enumerate() {
        let place = match field {
            "input" => format!("input[{at}]"),
            field => field.to_owned(),
        };
        if !is_role(&message.role) {
            let problem = "must be user, agent or agent/NAME";
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
        None => Err(Error::invalid(field, "has no parts")),
        Some(read) => Ok(InputParts { parts, read }),
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

/// A part of ACP as a part of A2A. The error is the text that follows the path of the part.
pub(crate) fn to_a2a(part: Part) -> Result<A2aPart, String> {
    let given = part.content_type.filter(|given| !given.trim().is_empty());
    let media_type = given.unwrap_or_else(|| TEXT.to_owned());
    let kind = Kind::of(&media_type);
    // A part may hold metadata only; then it has no content with a type.
    let empty = part.content.is_none() && part.content_url.is_none();
    let content = match (part.content, part.content_url) {
        (Some(_), Some(_)) => return Err("has both content and content_url: give one".to_owned()),
        (None, Some(url)) if is_url(&url) => Content::Url(url),
        (None, Some(_)) => return Err("content_url is not a URL".to_owned()),
        (None, None) => Content::Text(String::new()),
        (Some(content), None) => match part.content_encoding.unwrap_or(Encoding::Plain) {
            Encoding::Plain => kind.read(content)?,
            Encoding::Base64 => {
                let bytes = BASE64_STANDARD.decode(content);
                let bytes = bytes.map_err(|error| format!("content is not base64: {error}"))?;
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
    // The media type is left out where the kind of content implies it.
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

/// How content of a media type is read.
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
                let data = read.map_err(|error| format!("content is not JSON: {error}"))?;
                Ok(Content::Data(data.into()))
            }
            Self::Text | Self::Other => Ok(Content::Text(text)),
        }
    }
}

/// Whether a text begins with a URL scheme. The URL is not opened here, so no more is checked.
fn is_url(text: &str) -> bool {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    let rest = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(rest)
}

/// A part of A2A as a part of ACP. `name` is the name of its artifact.
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

/// Parts of A2A as a complete message, created and completed at `at`.
pub(crate) fn message(role: String, parts: &[A2aPart], at: Option<Timestamp>) -> Message {
    Message {
        role,
        parts: parts.iter().map(|part| from_a2a(part, None)).collect(),
        created_at: at,
        completed_at: at,
    }
}

/// The parts of an artifact. The output of a skill has no name: in ACP a named part is a file beside the answer.
pub(crate) fn artifact_parts(artifact: &Artifact) -> impl Iterator<Item = Part> {
    let name = match (&*artifact.artifact_id, &*artifact.name) {
        (skill::extension::OUTPUT, _) => None,
        (id, "") => Some(id),
        (_, name) => Some(name),
    };
    artifact.parts.iter().map(move |part| from_a2a(part, name))
}
