//! Translates the question of a skill into a form of MCP, and the filled form into the message that answers it.

use std::time::Duration;

use a2a::types::{Message, SendMessageRequest, Task, TaskState};
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    ErrorData, InputRequest, InputRequests, InputRequiredResult, InputResponses, RequestStateCodec,
    SealOptions,
};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use skill::extension::{self, Question};

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;

/// The only field of a form that takes the answer as JSON.
const WHOLE: &str = "answer";

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
    Fields(ElicitationSchema),
    /// One text field that takes the whole answer as JSON.
    Json(ElicitationSchema),
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
            schema: Form::of(&schema)?,
            from,
            number,
        })
    }

    /// The parameters of the request to show the form.
    pub(super) fn form(&self) -> ElicitRequestParams {
        let (Form::Fields(schema) | Form::Json(schema)) = &self.schema;
        let from = |server: &String| {
            let meta = json!({ FROM: server });
            meta.as_object().cloned().unwrap_or_default().into()
        };
        ElicitRequestParams::FormElicitationParams {
            meta: self.from.as_ref().map(from),
            message: self.message.clone(),
            requested_schema: schema.clone(),
        }
    }

    /// The form in the list that a task or an `InputRequiredResult` holds.
    pub(super) fn requests(&self) -> InputRequests {
        let request = InputRequest::Elicitation(ElicitRequest::new(self.form()));
        InputRequests::from([(self.key.clone(), request)])
    }

    /// The result that asks the client to repeat the call with the answer and this state.
    pub(super) fn required(&self, state: String) -> InputRequiredResult {
        InputRequiredResult::new(Some(self.requests()), Some(state))
    }

    /// Finds this question's response among those that a client sent.
    pub(super) fn find_response(
        &self,
        task: &Task,
        responses: &InputResponses,
    ) -> Option<FormResponse> {
        let response = responses.get(&self.key)?.clone();
        let result: ElicitResult = serde_json::from_value(response).ok()?;
        Some(self.response(task, result))
    }

    pub(super) fn response(&self, task: &Task, result: ElicitResult) -> FormResponse {
        match result.action {
            ElicitationAction::Accept => {
                FormResponse::Answer(self.answer(task, Some(self.content(result.content))))
            }
            ElicitationAction::Decline => FormResponse::Answer(self.answer(task, None)),
            _ => FormResponse::Dismissed,
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
    fn of(schema: &Value) -> Option<Self> {
        if let Some(fields) = fields(schema) {
            return Some(Self::Fields(fields));
        }
        let whole = json!({
            "type": "object",
            "properties": {
                WHOLE: {
                    "type": "string",
                    "title": "Answer",
                    "description": format!("JSON that fulfils this schema: {schema}"),
                }
            },
            "required": [WHOLE],
        });
        serde_json::from_value(whole).ok().map(Self::Json)
    }
}

/// The schema as a form, if all its fields have types that forms allow.
fn fields(schema: &Value) -> Option<ElicitationSchema> {
    let mut schema = schema.clone();
    for (_, field) in schema.get_mut("properties")?.as_object_mut()? {
        simplify(field);
    }
    serde_json::from_value(schema).ok()
}

/// Rewrites a field to what forms allow. Schemas made from Rust types write an optional field as "or null"; in a form it
/// is a field that is not required.
fn simplify(field: &mut Value) {
    let Some(field) = field.as_object_mut() else {
        return;
    };
    let kinds = field.get("type").and_then(Value::as_array);
    let kinds = kinds.map(|kinds| kinds.iter().filter(|kind| *kind != "null").cloned());
    if let Some([one]) = kinds.map(Iterator::collect::<Vec<_>>).as_deref() {
        field.insert("type".to_owned(), one.clone());
    }
    if field.get("default") == Some(&Value::Null) {
        field.remove("default");
    }
    // `schemars` writes Rust's integer types here, which forms do not know.
    if field.get("type") != Some(&json!("string")) {
        field.remove("format");
    }
}

/// A hash of caller, tool and input. A sealed state is valid only for the call with the same digest, so a client cannot
/// use the state of one call to answer another.
#[derive(Clone, Debug)]
pub(super) struct CallDigest(Vec<u8>);

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

/// Seals and opens the `requestState` of revision 2026-07-28: the id of the task that asks. The client
/// sends it back with the answer, so the server keeps nothing between the two calls.
#[derive(Debug)]
pub(super) struct StateSeal {
    codec: RequestStateCodec,
    time: Duration,
}

impl StateSeal {
    pub(super) fn new(key: &[u8], time: Duration) -> Self {
        // The codec wants 32 bytes. Hashing does not make a weak key strong.
        let key = Sha256::digest(key).to_vec();
        Self {
            codec: RequestStateCodec::new_unchecked(key),
            time,
        }
    }

    /// The state of a call that waits for an answer to its task.
    pub(super) fn seal(&self, task: &str, digest: &CallDigest) -> String {
        let options = SealOptions::new().associated_data(&digest.0).ttl(self.time);
        self.codec.seal_with(task.as_bytes(), &options)
    }

    /// The id of the task in a state. The error does not say whether the state was forged, expired or made for another
    /// call.
    pub(super) fn open(&self, state: &str, digest: &CallDigest) -> Result<String, ErrorData> {
        let opened = self.codec.open_with(state, &digest.0).ok();
        let task = opened.and_then(|task| String::from_utf8(task).ok());
        let wrong = "requestState is invalid for this call, or has expired";
        task.ok_or_else(|| ErrorData::invalid_params(wrong, None))
    }
}
