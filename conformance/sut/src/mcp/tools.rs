//! Tools that answer at once, or speak with their client meanwhile.

use std::time::Duration;

use mcp::Request;
use rmcp::ErrorData;
use rmcp::model::*;
use serde_json::{Value, json};

use super::{Fixtures, argument, bare, form, text, tool};

/// A PNG of one red pixel.
pub(super) const IMAGE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";
pub(super) const PICTURE: &str = "image/png";

/// Where a request asks for logs.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// No sound at all.
const AUDIO: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==";

/// How long a tool pauses that must not answer at once.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) fn all() -> Vec<Tool> {
    let one = |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
    vec![
        bare("test_simple_text", "Gives a text."),
        bare("test_image_content", "Gives a picture."),
        bare("test_audio_content", "Gives a sound."),
        bare("test_embedded_resource", "Gives a resource."),
        bare(
            "test_multiple_content_types",
            "Gives a text, a picture and a resource.",
        ),
        bare("test_tool_with_logging", "Logs what it does."),
        bare("test_tool_with_progress", "Tells how far it is."),
        bare("test_error_handling", "Fails."),
        bare("test_reconnection", "Takes a moment."),
        tool("test_sampling", "Asks a model.", &one("prompt")),
        tool("test_elicitation", "Asks the user.", &one("message")),
        bare(
            "test_elicitation_sep1034_defaults",
            "Asks the user and proposes answers.",
        ),
        bare("test_elicitation_sep1330_enums", "Lets the user choose."),
        bare("test_missing_capability", "Needs a model."),
        bare("test_logging_tool", "Logs when that is asked for."),
        bare("test_trigger_tool_change", "Says that the tools changed."),
        bare(
            "test_trigger_prompt_change",
            "Says that the prompts changed.",
        ),
        tool(
            "json_schema_2020_12_tool",
            "Has a schema with many words.",
            &wordy_schema(),
        ),
        tool(
            "test_custom_header",
            "Has an argument that is also a header.",
            &json!({
                "type": "object",
                "properties": { "value": { "type": "string", "x-mcp-header": "Value" } },
                "required": ["value"],
            }),
        ),
    ]
}

impl Fixtures {
    /// The answer of one of these tools, if it is one.
    pub(super) async fn test(
        &self,
        request: &CallToolRequestParams,
        context: &Request,
    ) -> Option<Result<CallToolResult, ErrorData>> {
        let argument = |name: &str| argument(request.arguments.as_ref(), name);
        let picture = || ContentBlock::image(IMAGE, PICTURE);
        let result = match &*request.name {
            "test_simple_text" => text("This is a simple text."),
            "test_image_content" => CallToolResult::success(vec![picture()]),
            "test_audio_content" => {
                CallToolResult::success(vec![ContentBlock::audio(AUDIO, "audio/wav")])
            }
            "test_embedded_resource" => {
                CallToolResult::success(vec![embedded("text/plain", "Embedded.")])
            }
            "test_multiple_content_types" => {
                let data = embedded("application/json", r#"{"test":"data","value":123}"#);
                CallToolResult::success(vec![ContentBlock::text("Three things:"), picture(), data])
            }
            "test_error_handling" => {
                let why = "This tool intentionally returns an error for testing";
                CallToolResult::error(vec![ContentBlock::text(why)])
            }
            "test_tool_with_logging" => {
                for step in ["begun", "half done", "done"] {
                    log(context, "info", step).await;
                    tokio::time::sleep(PAUSE).await;
                }
                text("Logged.")
            }
            "test_logging_tool" => {
                let level = context.meta.get(LOG_LEVEL);
                if let Some(level) = level.and_then(Value::as_str) {
                    log(context, level, "This was asked for.").await;
                }
                text("Done.")
            }
            "test_tool_with_progress" => {
                for far in [0.0, 50.0, 100.0] {
                    context.progress(far, Some(100.0), None).await;
                    tokio::time::sleep(PAUSE).await;
                }
                text("Done.")
            }
            "test_reconnection" => {
                tokio::time::sleep(PAUSE).await;
                text("Done.")
            }
            "test_sampling" => {
                let prompt = vec![SamplingMessage::user_text(argument("prompt"))];
                let asked = CreateMessageRequestParams::new(prompt, 100);
                match context.ask("sampling/createMessage", &asked).await {
                    Ok(answer) => {
                        let said = answer["content"]["text"].as_str().unwrap_or_default();
                        text(format!("LLM response: {said}"))
                    }
                    Err(error) => {
                        CallToolResult::error(vec![ContentBlock::text(error.to_string())])
                    }
                }
            }
            "test_elicitation" => {
                let field = |about: &str| json!({ "type": "string", "description": about });
                let fields =
                    json!({ "username": field("Your name"), "email": field("Your address") });
                ask(context, form(&argument("message"), &fields)).await
            }
            "test_elicitation_sep1034_defaults" => ask(context, proposals()).await,
            "test_elicitation_sep1330_enums" => ask(context, choices()).await,
            "test_missing_capability" => {
                if !context.client.sampling {
                    let needed = ClientCapabilities::builder().enable_sampling().build();
                    return Some(Err(ErrorData::missing_required_client_capability(needed)));
                }
                text("There is a model.")
            }
            "test_trigger_tool_change" => {
                self.tell("toolsListChanged", "notifications/tools/list_changed")
                    .await;
                text("Done.")
            }
            "test_trigger_prompt_change" => {
                self.tell("promptsListChanged", "notifications/prompts/list_changed")
                    .await;
                text("Done.")
            }
            "json_schema_2020_12_tool" => text(format!("Hello, {}!", argument("name"))),
            "test_custom_header" => text(argument("value")),
            _ => return None,
        };
        Some(Ok(result))
    }
}

fn embedded(kind: &str, said: &str) -> ContentBlock {
    let contents = ResourceContents::text(said, "test://embedded-resource");
    ContentBlock::resource(contents.with_mime_type(kind))
}

/// In revision 2026-07-28 only those who ask for logs get them.
async fn log(context: &Request, level: &str, said: &str) {
    if context.client.is_modern() && !context.meta.contains_key(LOG_LEVEL) {
        return;
    }
    let message = json!({ "level": level, "data": said });
    context.notify("notifications/message", &message).await;
}

async fn ask(context: &Request, form: ElicitRequestParams) -> CallToolResult {
    match context.ask("elicitation/create", &form).await {
        Ok(answer) => {
            let action = answer["action"].as_str().unwrap_or_default();
            let content = &answer["content"];
            text(format!("User response: action={action}, content={content}"))
        }
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
    }
}

/// A form with default values.
fn proposals() -> ElicitRequestParams {
    let field = |kind: &str, proposed: Value| json!({ "type": kind, "default": proposed });
    let mut status = field("string", json!("active"));
    status["enum"] = json!(["active", "inactive", "pending"]);
    let fields = json!({
        "name": field("string", json!("John Doe")),
        "age": field("integer", json!(30)),
        "score": field("number", json!(95.5)),
        "status": status,
        "verified": field("boolean", json!(true)),
    });
    form("Change what is not right.", &fields)
}

/// A form of every kind of choice there is.
fn choices() -> ElicitRequestParams {
    let plain = ["option1", "option2", "option3"];
    let titled = |title: &str| {
        let values = [(1, "One"), (2, "Two"), (3, "Three")];
        let values = values.map(|(number, name)| {
            json!({ "const": format!("value{number}"), "title": format!("{title} {name}") })
        });
        json!(values)
    };
    let fields = json!({
        "untitledSingle": { "type": "string", "enum": plain },
        "titledSingle": { "type": "string", "oneOf": titled("Option") },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
    });
    form("Choose.", &fields)
}

/// A schema with words that only JSON Schema 2020-12 has.
fn wordy_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "address",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            }
        },
        "properties": { "name": { "type": "string" }, "address": { "$ref": "#/$defs/address" } },
        "allOf": [{ "anyOf": [{ "required": ["name"] }, { "required": ["address"] }] }],
        "if": { "required": ["address"] },
        "then": { "properties": { "address": { "required": ["street"] } } },
        "else": { "required": ["name"] },
        "additionalProperties": false,
    })
}
