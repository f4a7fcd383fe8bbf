//! Resources and prompts that never change.

use rmcp::model::*;

use super::tools::{IMAGE, PICTURE};
use super::{argument, form};

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";
const WATCHED: &str = "test://watched-resource";

pub(super) fn resources() -> [Resource; 3] {
    [
        Resource::new(TEXT, "A text").with_mime_type("text/plain"),
        Resource::new(BINARY, "A picture").with_mime_type(PICTURE),
        Resource::new(WATCHED, "Something to watch").with_mime_type("text/plain"),
    ]
}

pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new("test://template/{id}/data", "Data by id")
        .with_mime_type("application/json")
}

pub(super) fn read(uri: &str) -> Option<ResourceContents> {
    match uri {
        TEXT => Some(ResourceContents::text("This text stays as it is.", uri)),
        WATCHED => Some(ResourceContents::text(
            "This could change and does not.",
            uri,
        )),
        BINARY => Some(ResourceContents::blob(IMAGE, uri).with_mime_type(PICTURE)),
        _ => {
            let id = uri
                .strip_prefix("test://template/")?
                .strip_suffix("/data")?;
            let data = serde_json::json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            Some(ResourceContents::text(data.to_string(), uri).with_mime_type("application/json"))
        }
    }
}

pub(super) fn prompts() -> Vec<Prompt> {
    let plain = |name: &str, about: &str| Prompt::new(name, Some(about), None);
    let argument = |name: &str| PromptArgument::new(name).with_required(true);
    let with = |name: &str, about: &str, arguments: Vec<PromptArgument>| {
        Prompt::new(name, Some(about), Some(arguments))
    };
    vec![
        plain("test_simple_prompt", "One text."),
        with(
            "test_prompt_with_arguments",
            "A text with two words put in.",
            vec![argument("arg1"), argument("arg2")],
        ),
        with(
            "test_prompt_with_embedded_resource",
            "A text beside a resource.",
            vec![argument("resourceUri")],
        ),
        plain("test_prompt_with_image", "A text beside a picture."),
        plain(
            "test_input_required_result_prompt",
            "A text that asks first.",
        ),
    ]
}

pub(super) fn prompt(request: &GetPromptRequestParams) -> Option<GetPromptResponse> {
    let argument = |name: &str| argument(request.arguments.as_ref(), name);
    let says = |text: String| PromptMessage::new_text(Role::User, text);
    let messages = match &*request.name {
        "test_simple_prompt" => vec![says("This is a simple prompt.".to_owned())],
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1"), argument("arg2"));
            vec![says(format!("Two words: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let contents =
                ResourceContents::text("What the resource says.", argument("resourceUri"));
            let resource = ContentBlock::resource(contents);
            vec![
                PromptMessage::new(Role::User, resource),
                says("Look at the resource.".to_owned()),
            ]
        }
        "test_prompt_with_image" => vec![
            PromptMessage::new(Role::User, ContentBlock::image(IMAGE, PICTURE)),
            says("Look at the picture.".to_owned()),
        ],
        "test_input_required_result_prompt" => {
            let responses = request.input_responses.as_ref();
            let Some(answer) = responses
                .and_then(|it| it.get("user_context"))
                .filter(|it| it.is_object())
            else {
                let fields = serde_json::json!({ "context": { "type": "string" } });
                let asked = ElicitRequest::new(form("What is it about?", &fields));
                let asked = InputRequest::Elicitation(asked);
                let requests = InputRequests::from([("user_context".to_owned(), asked)]);
                return Some(InputRequiredResult::from_input_requests(requests).into());
            };
            let about = answer["content"]["context"].as_str().unwrap_or_default();
            vec![says(format!("It is about: {about}"))]
        }
        _ => return None,
    };
    Some(GetPromptResult::new(messages).into())
}
