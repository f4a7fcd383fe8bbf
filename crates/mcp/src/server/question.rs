//! Translates the question of a skill into a form of MCP, and the filled form into the message that answers it.

use std::collections::BTreeMap;

use a2a::types::{Message, SendMessageRequest, Task, TaskState};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use skill::extension::{self, Question};

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;

/// The only field of a form that takes the answer as JSON.
const WHOLE: &str = "answer";

/// The method that shows a form.
pub(super) const ELICIT: &str = "elicitation/create";

/// Where a form names the tool server that asks.
const FROM: &str = "urn:monas:a2a:ext:skill:1/from";

/// The open question of a task.
#[derive(Clone, Debug)]
pub(super) struct PendingQuestion {
    /// The key of the form and of its answer. It holds the task's generation, so an answer to an earlier question, or to
    /// the same one asked again, does not match.
    key: String,
    message: String,
    schema: Form,
    /// The tool server that asks, if it is not the agent.
    from: Option<String>,
    pub(super) number: usize,
}

/// The schema of a form. MCP allows fields of simple types only.
#[derive(Clone, Debug)]
enum Form {
    /// Every field of the answer is a field of the form.
    Fields(Value),
    /// One text field that takes the whole answer as JSON.
    Json(Value),
}

/// The forms that a task or an [`InputRequired`] shows, by the key of the question.
pub(super) type InputRequests = BTreeMap<String, InputRequest>;

/// A request to show a form, which the client finds in a result.
#[derive(Clone, Debug, Serialize)]
pub(super) struct InputRequest {
    method: &'static str,
    params: FormParams,
}

/// The parameters of `elicitation/create`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FormParams {
    mode: &'static str,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Value>,
    message: String,
    requested_schema: Value,
}

/// A result that asks the client to repeat the call with the answers and this state.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InputRequired {
    input_requests: InputRequests,
    request_state: String,
}

/// What a client sends back of a form.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct FormResult {
    action: Action,
    #[serde(default)]
    content: Option<Value>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Accept,
    Decline,
    Cancel,
}

/// What the user did with a form.
#[derive(Clone, Debug)]
pub(super) enum FormResponse {
    /// The message that answers the question, or declines it.
    Answer(Message),
    /// The form was closed without a choice: the question stays open.
    Dismissed,
}

impl PendingQuestion {
    /// The question of a task that waits for input; `None` for any other task.
    pub(super) fn of(task: &Task) -> Option<Self> {
        let status = task.status.as_ref()?;
        if status.state != TaskState::InputRequired {
            return None;
        }
        let Question {
            schema,
            number,
            from,
            ..
        } = extension::question(task)?;
        Some(Self {
            key: format!("question-{}", task.generation),
            // The message includes what was wrong with an earlier answer.
            message: status.message.as_ref()?.text(),
            schema: Form::of(&schema),
            from,
            number,
        })
    }

    /// The parameters of the request to show the form.
    pub(super) fn form(&self) -> FormParams {
        let (Form::Fields(schema) | Form::Json(schema)) = &self.schema;
        FormParams {
            mode: "form",
            meta: self.from.as_ref().map(|server| json!({ FROM: server })),
            message: self.message.clone(),
            requested_schema: schema.clone(),
        }
    }

    /// The form in the list that a task or an [`InputRequired`] holds.
    pub(super) fn requests(&self) -> InputRequests {
        let request = InputRequest {
            method: ELICIT,
            params: self.form(),
        };
        InputRequests::from([(self.key.clone(), request)])
    }

    /// The result that asks the client to repeat the call with the answer and this state.
    pub(super) fn required(&self, state: String) -> InputRequired {
        InputRequired {
            input_requests: self.requests(),
            request_state: state,
        }
    }

    /// Finds this question's response among those that a client sent.
    pub(super) fn find_response(
        &self,
        task: &Task,
        responses: &BTreeMap<String, Value>,
    ) -> Option<FormResponse> {
        let result = FormResult::deserialize(responses.get(&self.key)?).ok()?;
        Some(self.response(task, result))
    }

    pub(super) fn response(&self, task: &Task, result: FormResult) -> FormResponse {
        match result.action {
            Action::Accept => {
                FormResponse::Answer(self.answer(task, Some(self.content(result.content))))
            }
            Action::Decline => FormResponse::Answer(self.answer(task, None)),
            Action::Cancel => FormResponse::Dismissed,
        }
    }

    /// The answer in a filled form. Text that is not JSON is passed on as it is: the skill then says what is wrong.
    fn content(&self, content: Option<Value>) -> Value {
        let content = content.unwrap_or_else(|| Value::Object(Map::new()));
        let Form::Json(_) = self.schema else {
            return content;
        };
        let whole = content.get(WHOLE).and_then(Value::as_str);
        let parsed = whole.and_then(|text| serde_json::from_str(text).ok());
        parsed.unwrap_or(content)
    }

    /// The message that answers the question, or declines it (`None`). Its id is a hash of task, question and answer, so
    /// an answer that is sent twice is the same message and counts once.
    fn answer(&self, task: &Task, answer: Option<Value>) -> Message {
        let mut hash = Sha256::new();
        let written = answer.as_ref().map(Value::to_string).unwrap_or_default();
        for part in [&*task.id, &self.key, &written] {
            hash.update(part.len().to_be_bytes());
            hash.update(part);
        }
        hash.update([u8::from(answer.is_some())]);
        let id: String = hash
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        extension::answer(id, task, answer)
    }
}

/// The request that sends an answer. It names the generation of the task that showed the question, so of two concurrent
/// answers the second fails with `TaskGenerationMismatch`.
pub(super) fn answer_request(answer: Message, task: &Task) -> SendMessageRequest {
    let mut request = SendMessageRequest::from(answer);
    let configuration = request.configuration.get_or_insert_default();
    configuration.if_generation_match = Some(task.generation);
    request
}

impl Form {
    fn of(schema: &Value) -> Self {
        if let Some(fields) = fields(schema) {
            return Self::Fields(fields);
        }
        Self::Json(json!({
            "type": "object",
            "properties": {
                WHOLE: {
                    "type": "string",
                    "title": "Answer",
                    "description": format!("JSON that fulfils this schema: {schema}"),
                }
            },
            "required": [WHOLE],
        }))
    }
}

/// The schema as a form, if all its fields have types that forms allow.
fn fields(schema: &Value) -> Option<Value> {
    let mut fields = Map::new();
    for (name, field) in schema.get("properties")?.as_object()? {
        fields.insert(name.clone(), simple(field)?);
    }
    let required = schema.get("required").cloned().unwrap_or_else(|| json!([]));
    Some(json!({ "type": "object", "properties": fields, "required": required }))
}

/// The formats of texts that forms know.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// A field as forms allow it: a text, a number, a yes or no, or a choice. Keywords that forms do not know are left out: the
/// answer is validated with the whole schema. Schemas made from Rust types write an optional field as "or null"; in a form
/// it is a field that is not required.
fn simple(field: &Value) -> Option<Value> {
    let field = field.as_object()?;
    let kind = match field.get("type")? {
        Value::Array(kinds) => {
            let mut kinds = kinds.iter().filter(|kind| *kind != "null");
            kinds.next().filter(|_| kinds.next().is_none())?
        }
        kind => kind,
    };
    let known: &[&str] = match kind.as_str()? {
        "string" => &[
            "enum",
            "enumNames",
            "oneOf",
            "minLength",
            "maxLength",
            "format",
        ],
        "number" | "integer" => &["minimum", "maximum"],
        "boolean" => &[],
        "array" => {
            let items = field.get("items")?;
            let is_choice = items.get("enum").is_some() || items.get("anyOf").is_some();
            is_choice.then_some(&["items", "minItems", "maxItems"][..])?
        }
        _ => return None,
    };
    let mut form = Map::from_iter([("type".to_owned(), kind.clone())]);
    for keyword in ["title", "description", "default"].iter().chain(known) {
        let value = field.get(*keyword).filter(|value| !value.is_null());
        form.extend(value.map(|value| ((*keyword).to_owned(), value.clone())));
    }
    let unknown = |format: &Value| !FORMATS.contains(&format.as_str().unwrap_or_default());
    if form.get("format").is_some_and(unknown) {
        form.remove("format");
    }
    Some(Value::Object(form))
}

/// A hash of caller, tool and input. A sealed state is valid only for the call with the same digest, so a client cannot
/// use the state of one call to answer another.
#[derive(Clone, Debug)]
pub(super) struct CallDigest(pub(super) Vec<u8>);

impl CallDigest {
    pub(super) fn new(caller: &str, tool: &str, input: &Value) -> Self {
        let mut hash = Sha256::new();
        for part in [caller, tool, &input.to_string()] {
            hash.update(part.len().to_be_bytes());
            hash.update(part);
        }
        Self(hash.finalize().to_vec())
    }
}
