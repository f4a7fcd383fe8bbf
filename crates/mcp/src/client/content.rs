//! Translates the result of a tool into the result of a skill.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::json;
use skill::{Context, Outcome, Reply, SkillError, reply};

use super::clean::{COMPLAINT, NAME, line};

/// The output is the structured content if there is any, else the text. Files and embedded resources become artifacts. An
/// error result fails the skill with the text of the tool.
pub(super) async fn outcome(result: CallToolResult, max_files: usize, ctx: &Context) -> Outcome {
    let mut texts = Vec::new();
    let mut files = Vec::new();
    for content in result.content {
        match content {
            ContentBlock::Text(text) => texts.push(text.text),
            ContentBlock::ResourceLink(link) => texts.push(link.uri.to_string()),
            ContentBlock::Image(image) => files.push(file(None, &image.mime_type, &image.data)?),
            ContentBlock::Audio(audio) => files.push(file(None, &audio.mime_type, &audio.data)?),
            ContentBlock::Resource(embedded) => match embedded.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => {
                    files.push(File::Text(line(&uri, COMPLAINT), text));
                }
                ResourceContents::BlobResourceContents {
                    uri,
                    mime_type,
                    blob,
                    ..
                } => {
                    files.push(file(Some(&uri), &mime_type.unwrap_or_default(), &blob)?);
                }
                _ => {}
            },
            _ => {}
        }
    }
    if result.is_error == Some(true) {
        let text = match texts.is_empty() {
            true => "the tool failed without a message".to_owned(),
            false => texts.join("\n"),
        };
        return Err(SkillError::coded("tool-failed", text));
    }
    if files.len() > max_files {
        let why = format!("result with more than {max_files} files");
        return Err(SkillError::coded("tool-server", why));
    }
    for (number, file) in files.into_iter().enumerate() {
        ctx.artifact(match file {
            File::Text(uri, text) => reply::text_artifact(uri, text),
            File::Bytes(uri, kind, bytes) => {
                let name = uri.unwrap_or_else(|| format!("content-{number}"));
                reply::file_artifact(name, kind, bytes)
            }
        })
        .await?;
    }
    Ok(Reply::Done(match result.structured_content {
        Some(structured) => structured,
        None => json!(texts.join("\n")),
    }))
}

enum File {
    Text(String, String),
    Bytes(Option<String>, String, Vec<u8>),
}

fn file(uri: Option<&str>, kind: &str, data: &str) -> Result<File, SkillError> {
    let unread = |error| {
        SkillError::coded(
            "tool-server",
            format!("file in the result is not base64: {error}"),
        )
    };
    let bytes = STANDARD.decode(data).map_err(unread)?;
    let uri = uri.map(|uri| line(uri, COMPLAINT));
    Ok(File::Bytes(uri, line(kind, NAME), bytes))
}
