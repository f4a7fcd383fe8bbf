//! What a skill asks, as a form that MCP clients show, and the answer as a message.

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

use super::outcome;

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;

/// The field of a form that takes a whole answer as JSON.
const WHOLE: &str = "answer";

/// A question that waits for its answer.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// What the answer is given under. Another question, and the same one asked again, has another.
    key: String,
    message: String,
    schema: Form,
    pub(super) number: usize,
}

/// What a form looks like. Forms have fields of simple types; other answers are written as JSON.
#[derive(Clone, Debug)]
enum Form {
    Fields(ElicitationSchema),
    Whole(ElicitationSchema),
}

/// What comes of showing a form.
#[derive(Clone, Debug)]
pub(super) enum Given {
    /// The message that answers, or declines to.
    Answer(Message),
    /// The form was put away without a choice: the question stays open.
    Nothing,
}

impl Asked {
    /// What a task asks now.
    pub(super) fn by(task: &Task) -> Option<Self> {
        let status = task.status.as_ref()?;
        if status.state != TaskState::InputRequired {
            return None;
        }
        let Question { schema, number, .. } = extension::question(task)?;
        Some(Self {
            key: format!("question-{}", task.generation),
            // What was wrong with an earlier answer is part of it.
            message: outcome::text(status.message.as_ref()?),
            schema: Form::of(&schema)?,
            number,
        })
    }

    /// The form, as a request to show it.
    pub(super) fn form(&self) -> ElicitRequestParams {
        let (Form::Fields(schema) | Form::Whole(schema)) = &self.schema;
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: self.message.clone(),
            requested_schema: schema.clone(),
        }
    }

    /// The form among what a client is asked.
    pub(super) fn requests(&self) -> InputRequests {
        let request = InputRequest::Elicitation(ElicitRequest::new(self.form()));
        InputRequests::from([(self.key.clone(), request)])
    }

    /// The call ends here and is to be made again with the answer.
    pub(super) fn required(&self, state: String) -> InputRequiredResult {
        InputRequiredResult::new(Some(self.requests()), Some(state))
    }

    /// The message that answers, if a client's responses have one for this question.
    pub(super) fn answered(&self, task: &Task, responses: &InputResponses) -> Option<Given> {
        let response = responses.get(&self.key)?.clone();
        let result: ElicitResult = serde_json::from_value(response).ok()?;
        Some(self.given(task, result))
    }

    /// What a client's user said.
    pub(super) fn given(&self, task: &Task, result: ElicitResult) -> Given {
        match result.action {
            ElicitationAction::Accept => {
                Given::Answer(self.answer(task, Some(self.content(result.content))))
            }
            ElicitationAction::Decline => Given::Answer(self.answer(task, None)),
            _ => Given::Nothing,
        }
    }

    /// What a form was filled in with.
    fn content(&self, content: Option<Value>) -> Value {
        let content = content.unwrap_or_else(|| Value::Object(Map::new()));
        let Form::Whole(_) = self.schema else {
            return content;
        };
        let whole = content.get(WHOLE).and_then(Value::as_str);
        let parsed = whole.and_then(|text| serde_json::from_str(text).ok());
        parsed.unwrap_or(content)
    }

    /// The message that answers. The same answer to the same question is the same message, so that one that is
    /// sent again is not taken twice.
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

/// A request with an answer to what this task asks as it was seen: of two who answer the same question one is told
/// that it is answered.
pub(super) fn message(answer: Message, task: &Task) -> SendMessageRequest {
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
        serde_json::from_value(whole).ok().map(Self::Whole)
    }
}

/// A schema as the fields of a form, if it has only such.
fn fields(schema: &Value) -> Option<ElicitationSchema> {
    let mut schema = schema.clone();
    for (_, field) in schema.get_mut("properties")?.as_object_mut()? {
        simplify(field);
    }
    serde_json::from_value(schema).ok()
}

/// What may be left out is `null` in a schema made from a type; in a form it is left out.
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
    // Rust's own names for the sizes of numbers.
    if field.get("type") != Some(&json!("string")) {
        field.remove("format");
    }
}

/// What a state is good for: this caller, this tool, this input.
#[derive(Clone, Debug)]
pub(super) struct Bond(Vec<u8>);

impl Bond {
    pub(super) fn new(caller: &str, tool: &str, input: &Value) -> Self {
        let mut hash = Sha256::new();
        for part in [caller, tool, &input.to_string()] {
            hash.update(part.len().to_be_bytes());
            hash.update(part);
        }
        Self(hash.finalize().to_vec())
    }
}

/// Signs the states that clients carry from one call to the next.
#[derive(Debug)]
pub(super) struct Seal {
    codec: RequestStateCodec,
    time: Duration,
}

impl Seal {
    pub(super) fn new(key: &[u8], time: Duration) -> Self {
        // A key that is too short is made one that is not; how hard it is to guess stays its owner's affair.
        let key = Sha256::digest(key).to_vec();
        Self {
            codec: RequestStateCodec::new_unchecked(key),
            time,
        }
    }

    /// The state of a call that waits for the answer of this task's question.
    pub(super) fn close(&self, task: &str, bond: &Bond) -> String {
        let options = SealOptions::new().associated_data(&bond.0).ttl(self.time);
        self.codec.seal_with(task.as_bytes(), &options)
    }

    /// The task of a state. One that is not ours, is too old, or belongs to another call tells nothing more.
    pub(super) fn open(&self, state: &str, bond: &Bond) -> Result<String, ErrorData> {
        let opened = self.codec.open_with(state, &bond.0).ok();
        let task = opened.and_then(|task| String::from_utf8(task).ok());
        let wrong = "requestState does not belong to this call, or is too old";
        task.ok_or_else(|| ErrorData::invalid_params(wrong, None))
    }
}
