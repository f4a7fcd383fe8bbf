//! Tasks and their artifacts as resources: `monas://tasks/ID` and `monas://tasks/ID/artifacts/ID`.

use a2a::types::wire::WireMessage as _;
use a2a::types::{Artifact, Content, ListTasksRequest, Part, Task};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::RoleServer;
use rmcp::model::{
    CacheScope, ErrorData, ListResourcesResult, PaginatedRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use rmcp::service::RequestContext;
use serde_json::json;

use super::{Handler, refused};

const TASKS: &str = "monas://tasks/";

/// How many tasks one page lists, each with its artifacts.
const PAGE: i32 = 50;

/// The URI templates of what can be read.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{TASKS}{{id}}"), "task")
            .with_description("A task: its state and its artifacts, as A2A JSON.")
            .with_mime_type("application/json"),
        ResourceTemplate::new(format!("{TASKS}{{id}}/artifacts/{{artifact}}"), "artifact")
            .with_description("An artifact of a task."),
    ]
}

fn of_task(task: &Task) -> Resource {
    let state = task.status.as_ref().and_then(|status| status.state.name());
    let state = state.unwrap_or_default().trim_start_matches("TASK_STATE_");
    Resource::new(format!("{TASKS}{}", task.id), &task.id)
        .with_title(format!(
            "{}, {}",
            task.context_id,
            state.to_ascii_lowercase()
        ))
        .with_mime_type("application/json")
}

pub(super) fn of_artifact(task: &Task, artifact: &Artifact) -> Resource {
    let id = utf8_percent_encode(&artifact.artifact_id, NON_ALPHANUMERIC);
    let name = match artifact.name.is_empty() {
        true => &artifact.artifact_id,
        false => &artifact.name,
    };
    let mut resource = Resource::new(format!("{TASKS}{}/artifacts/{id}", task.id), name);
    if !artifact.description.is_empty() {
        resource = resource.with_description(&artifact.description);
    }
    match &artifact.parts[..] {
        [one] => resource.with_mime_type(media_type(one)),
        _ => resource,
    }
}

impl Handler {
    /// `resources/list`: the caller's tasks, last changed first, each followed by its artifacts.
    pub(super) async fn resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: &RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let request = ListTasksRequest {
            page_size: Some(PAGE),
            page_token: page.and_then(|page| page.cursor).unwrap_or_default(),
            history_length: Some(0),
            include_artifacts: Some(true),
            ..ListTasksRequest::default()
        };
        let listed = self
            .tasks()
            .list_tasks(self.call_by(context), request)
            .await;
        let listed = listed.map_err(|error| refused(&error))?;
        let resources = listed.tasks.iter().flat_map(|task| {
            let made = task.artifacts.iter().map(|made| of_artifact(task, made));
            std::iter::once(of_task(task)).chain(made)
        });
        let mut list = ListResourcesResult::with_all_items(resources.collect());
        list.next_cursor = Some(listed.next_page_token).filter(|token| !token.is_empty());
        Ok(list.with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    /// `resources/read`. A task of another caller looks like one that does not exist.
    pub(super) async fn read(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let missing = || {
            let data = json!({ "uri": uri });
            ErrorData::resource_not_found(format!("unknown resource {uri}"), Some(data))
        };
        let path = uri.strip_prefix(TASKS).ok_or_else(missing)?;
        let (id, artifact) = match path.split_once("/artifacts/") {
            Some((id, artifact)) => (id, Some(artifact)),
            None => (path, None),
        };
        let task = self.load(id, context).await.map_err(|_| missing())?;
        let contents = match artifact {
            None => {
                let json = String::from_utf8_lossy(&task.to_json()).into_owned();
                vec![ResourceContents::text(json, uri).with_mime_type("application/json")]
            }
            Some(artifact) => {
                let artifact = percent_decode_str(artifact).decode_utf8_lossy();
                let mut made = task.artifacts.iter();
                let made = made.find(|made| made.artifact_id == artifact);
                let parts = &made.ok_or_else(missing)?.parts;
                parts.iter().map(|part| contents(uri, part)).collect()
            }
        };
        let result = ReadResourceResult::new(contents);
        let result = result.with_ttl_ms(0).with_cache_scope(CacheScope::Private);
        Ok(result.into())
    }
}

fn contents(uri: &str, part: &Part) -> ResourceContents {
    let contents = match &part.content {
        Content::Text(text) | Content::Url(text) => ResourceContents::text(text, uri),
        Content::Data(data) => ResourceContents::text(data.0.to_string(), uri),
        Content::Raw(bytes) => ResourceContents::blob(STANDARD.encode(bytes), uri),
        _ => ResourceContents::text("", uri),
    };
    contents.with_mime_type(media_type(part))
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
