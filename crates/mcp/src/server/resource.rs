//! Tasks and their artifacts as resources: `monas://tasks/ID` and `monas://tasks/ID/artifacts/ID`.

use a2a::types::wire::WireMessage as _;
use a2a::types::{Artifact, Content, ListTasksRequest, Part, Task};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::content::{Resource, ResourceBody, ResourceContents};
use super::request::Request;
use super::rpc::{RpcError, code};
use super::{CacheHints, Handler, refused};

const TASKS: &str = "monas://tasks/";

/// How many tasks one page lists, each with its artifacts.
const PAGE: i32 = 50;

/// The parameters of a list with pages.
#[derive(Debug, Default, Deserialize)]
pub(super) struct PageParams {
    #[serde(default)]
    cursor: Option<String>,
}

/// The parameters of `resources/read`.
#[derive(Debug, Deserialize)]
pub(super) struct ReadParams {
    uri: String,
}

/// The result of `resources/list`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResourceList {
    resources: Vec<Resource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(flatten)]
    cache: CacheHints,
}

/// The result of `resources/read`.
#[derive(Debug, Serialize)]
pub(super) struct ReadResult {
    contents: Vec<ResourceContents>,
    #[serde(flatten)]
    cache: CacheHints,
}

/// A pattern of URIs that can be read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResourceTemplate {
    uri_template: String,
    name: &'static str,
    description: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'static str>,
}

/// The URI templates of what can be read.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate {
            uri_template: format!("{TASKS}{{id}}"),
            name: "task",
            description: "A task: its state and its artifacts, as A2A JSON.",
            mime_type: Some("application/json"),
        },
        ResourceTemplate {
            uri_template: format!("{TASKS}{{id}}/artifacts/{{artifact}}"),
            name: "artifact",
            description: "An artifact of a task.",
            mime_type: None,
        },
    ]
}

fn of_task(task: &Task) -> Resource {
    let state = task.status.as_ref().and_then(|status| status.state.name());
    let state = state.unwrap_or_default().trim_start_matches("TASK_STATE_");
    Resource {
        uri: format!("{TASKS}{}", task.id),
        name: task.id.clone(),
        title: Some(format!(
            "{}, {}",
            task.context_id,
            state.to_ascii_lowercase()
        )),
        description: None,
        mime_type: Some("application/json".to_owned()),
    }
}

pub(super) fn of_artifact(task: &Task, artifact: &Artifact) -> Resource {
    let id = utf8_percent_encode(&artifact.artifact_id, NON_ALPHANUMERIC);
    let name = match artifact.name.is_empty() {
        true => &artifact.artifact_id,
        false => &artifact.name,
    };
    Resource {
        uri: format!("{TASKS}{}/artifacts/{id}", task.id),
        name: name.clone(),
        title: None,
        description: Some(artifact.description.clone()).filter(|it| !it.is_empty()),
        mime_type: match &artifact.parts[..] {
            [one] => Some(media_type(one)),
            _ => None,
        },
    }
}

impl Handler {
    /// `resources/list`: the caller's tasks, last changed first, each followed by its artifacts.
    pub(super) async fn resources(
        &self,
        page: PageParams,
        request: &Request,
    ) -> Result<ResourceList, RpcError> {
        let list = ListTasksRequest {
            page_size: Some(PAGE),
            page_token: page.cursor.unwrap_or_default(),
            history_length: Some(0),
            include_artifacts: Some(true),
            ..ListTasksRequest::default()
        };
        let listed = self.tasks().list_tasks(self.call_by(request), list).await;
        let listed = listed.map_err(|error| refused(&error))?;
        let resources = listed.tasks.iter().flat_map(|task| {
            let made = task.artifacts.iter().map(|made| of_artifact(task, made));
            std::iter::once(of_task(task)).chain(made)
        });
        Ok(ResourceList {
            resources: resources.collect(),
            next_cursor: Some(listed.next_page_token).filter(|token| !token.is_empty()),
            cache: CacheHints::NONE,
        })
    }

    /// `resources/read`. A task of another caller looks like one that does not exist.
    pub(super) async fn read(
        &self,
        params: ReadParams,
        request: &Request,
    ) -> Result<ReadResult, RpcError> {
        let uri = &*params.uri;
        let missing = || missing(uri, request.client.is_modern());
        let (id, artifact) = parts_of(uri).ok_or_else(missing)?;
        let task = self.load(id, request).await.map_err(|_| missing())?;
        let contents = match artifact {
            None => vec![ResourceContents {
                uri: uri.to_owned(),
                mime_type: "application/json".to_owned(),
                body: ResourceBody::Text(String::from_utf8_lossy(&task.to_json()).into_owned()),
            }],
            Some(artifact) => {
                let artifact = percent_decode_str(artifact).decode_utf8_lossy();
                let mut made = task.artifacts.iter();
                let made = made.find(|made| made.artifact_id == artifact);
                let parts = &made.ok_or_else(missing)?.parts;
                parts.iter().map(|part| contents(uri, part)).collect()
            }
        };
        Ok(ReadResult {
            contents,
            cache: CacheHints::NONE,
        })
    }
}

/// The id of the task that a URI names.
pub(super) fn task_of(uri: &str) -> Option<&str> {
    parts_of(uri).map(|(id, _)| id)
}

/// The task and the artifact that a URI names.
fn parts_of(uri: &str) -> Option<(&str, Option<&str>)> {
    let path = uri.strip_prefix(TASKS)?;
    Some(match path.split_once("/artifacts/") {
        Some((id, artifact)) => (id, Some(artifact)),
        None => (path, None),
    })
}

/// The error for what cannot be read, which has another code since 2026-07-28.
fn missing(uri: &str, modern: bool) -> RpcError {
    let code = match modern {
        true => code::INVALID_PARAMS,
        false => code::RESOURCE_NOT_FOUND,
    };
    RpcError::new(code, format!("unknown resource {uri}")).with_data(json!({ "uri": uri }))
}

fn contents(uri: &str, part: &Part) -> ResourceContents {
    let body = match &part.content {
        Content::Text(text) | Content::Url(text) => ResourceBody::Text(text.clone()),
        Content::Data(data) => ResourceBody::Text(data.0.to_string()),
        Content::Raw(bytes) => ResourceBody::Blob(STANDARD.encode(bytes)),
        _ => ResourceBody::Text(String::new()),
    };
    ResourceContents {
        uri: uri.to_owned(),
        mime_type: media_type(part),
        body,
    }
}

fn media_type(part: &Part) -> String {
    if !part.media_type.is_empty() {
        return part.media_type.clone();
    }
    let usual = match &part.content {
        Content::Data(_) => "application/json",
        Content::Raw(_) => "application/octet-stream",
        Content::Url(_) => "text/uri-list",
        _ => "text/plain",
    };
    usual.to_owned()
}
