//! The contents of results: texts, links and embedded resources, as MCP writes them.

use serde::Serialize;
use serde_json::Value;

/// The result of a tool.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolResult {
    pub(crate) content: Vec<Content>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) structured_content: Option<Value>,
    pub(crate) is_error: bool,
}

impl ToolResult {
    pub(crate) fn success(content: Vec<Content>) -> Self {
        Self {
            content,
            structured_content: None,
            is_error: false,
        }
    }

    /// A failure that the model should read, as opposed to an error of the protocol.
    pub(crate) fn error(content: Vec<Content>) -> Self {
        Self {
            is_error: true,
            ..Self::success(content)
        }
    }
}

/// One part of a result, or of a prompt.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Content {
    Text { text: String },
    ResourceLink(Resource),
    Resource { resource: ResourceContents },
}

impl Content {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// Something that can be read.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Resource {
    pub(crate) uri: String,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mime_type: Option<String>,
}

/// What was read: a text, or bytes in base64.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResourceContents {
    pub(crate) uri: String,
    pub(crate) mime_type: String,
    #[serde(flatten)]
    pub(crate) body: ResourceBody,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ResourceBody {
    Text(String),
    Blob(String),
}
