//! Tools that ask before they answer, each in its own way: the call ends with what is asked, and is made again
//! with the answers.

use mcp::Request;
use rmcp::ErrorData;
use rmcp::model::*;
use serde_json::{Value, json};

use super::{Fixtures, bare, form, text};

type ToolResult = Result<CallToolResponse, ErrorData>;

pub(super) fn all() -> [Tool; 9] {
    [
        bare("test_input_required_result_elicitation", "Asks for a name."),
        bare("test_input_required_result_sampling", "Asks a model."),
        bare("test_input_required_result_list_roots", "Asks for roots."),
        bare(
            "test_input_required_result_request_state",
            "Asks and remembers.",
        ),
        bare(
            "test_input_required_result_tampered_state",
            "Asks and does not trust.",
        ),
        bare(
            "test_input_required_result_multiple_inputs",
            "Asks three things at once.",
        ),
        bare("test_input_required_result_multi_round", "Asks twice."),
        bare(
            "test_input_required_result_capabilities",
            "Asks what the client can answer.",
        ),
        bare("test_streaming_elicitation", "Asks for a value."),
    ]
}

fn name(key: &str) -> (String, InputRequest) {
    asks(
        key,
        "What is your name?",
        &json!({ "name": { "type": "string" } }),
    )
}

fn asks(key: &str, message: &str, fields: &Value) -> (String, InputRequest) {
    let request = ElicitRequest::new(form(message, fields));
    (key.to_owned(), InputRequest::Elicitation(request))
}

fn samples(key: &str, prompt: &str) -> (String, InputRequest) {
    let message = vec![SamplingMessage::user_text(prompt)];
    let request = CreateMessageRequest::new(CreateMessageRequestParams::new(message, 100));
    (key.to_owned(), InputRequest::CreateMessage(request))
}

fn roots(key: &str) -> (String, InputRequest) {
    (
        key.to_owned(),
        InputRequest::ListRoots(ListRootsRequest::default()),
    )
}

/// What one call is answered with so far.
struct Round<'a> {
    request: &'a CallToolRequestParams,
    seal: &'a RequestStateCodec,
}

impl Round<'_> {
    /// The answer that has this key, if it is one.
    fn answer(&self, key: &str) -> Option<&Value> {
        let answers = self.request.input_responses.as_ref()?;
        answers.get(key).filter(|answer| answer.is_object())
    }

    /// Which round it is, as the state says that came back.
    fn number(&self) -> Result<u64, ErrorData> {
        let Some(state) = &self.request.request_state else {
            return Ok(0);
        };
        let changed = |_| ErrorData::invalid_params("requestState was changed", None);
        self.seal.open_json(state).map_err(changed)
    }

    fn ask<const N: usize>(&self, asked: [(String, InputRequest); N]) -> ToolResult {
        Ok(InputRequiredResult::from_input_requests(InputRequests::from(asked)).into())
    }

    fn ask_round<const N: usize>(
        &self,
        number: u64,
        asked: [(String, InputRequest); N],
    ) -> ToolResult {
        let unwritten =
            |error: RequestStateError| ErrorData::internal_error(error.to_string(), None);
        let state = self.seal.seal_json(&number).map_err(unwritten)?;
        let requests = InputRequests::from(asked);
        Ok(InputRequiredResult::new(Some(requests), Some(state)).into())
    }
}

impl Fixtures {
    /// The answer of a tool that asks, if it is one.
    pub(super) fn round(
        &self,
        request: &CallToolRequestParams,
        context: &Request,
    ) -> Option<ToolResult> {
        let round = Round {
            request,
            seal: &self.seal,
        };
        let answer = match &*request.name {
            "test_input_required_result_elicitation" => match round.answer("user_name") {
                Some(answer) => done(format!("Hello, {}!", said(&answer["content"]["name"]))),
                None => round.ask([name("user_name")]),
            },
            "test_streaming_elicitation" => {
                let fields = json!({ "value": { "type": "string" } });
                round.ask([asks("value", "Which value?", &fields)])
            }
            "test_input_required_result_sampling" => match round.answer("capital_question") {
                Some(answer) => done(format!(
                    "The model says: {}",
                    said(&answer["content"]["text"])
                )),
                None => round.ask([samples(
                    "capital_question",
                    "What is the capital of France?",
                )]),
            },
            "test_input_required_result_list_roots" => match round.answer("client_roots") {
                Some(answer) => done(format!("The roots are {}", answer["roots"])),
                None => round.ask([roots("client_roots")]),
            },
            "test_input_required_result_request_state"
            | "test_input_required_result_tampered_state" => {
                round.number().and_then(|number| match number {
                    0 => {
                        let fields = json!({ "ok": { "type": "boolean" } });
                        round.ask_round(1, [asks("confirm", "Is that so?", &fields)])
                    }
                    _ => done("It is so: state-ok"),
                })
            }
            "test_input_required_result_multiple_inputs" => round.number().and_then(|number| {
                let all = ["user_name", "greeting", "client_roots"];
                match number {
                    1 if all.iter().all(|key| round.answer(key).is_some()) => {
                        done("All is answered.")
                    }
                    _ => {
                        let greeting = samples("greeting", "Write a greeting.");
                        round.ask_round(1, [name("user_name"), greeting, roots("client_roots")])
                    }
                }
            }),
            "test_input_required_result_multi_round" => {
                round.number().and_then(|number| match number {
                    0 => round.ask_round(1, [name("step1")]),
                    1 => {
                        let fields = json!({ "color": { "type": "string" } });
                        round.ask_round(2, [asks("step2", "Which colour?", &fields)])
                    }
                    _ => done("Both are answered."),
                })
            }
            "test_input_required_result_capabilities" => self.ask_what_is_offered(&round, context),
            _ => return None,
        };
        Some(answer)
    }

    fn ask_what_is_offered(&self, round: &Round<'_>, context: &Request) -> ToolResult {
        if round.request.input_responses.is_some() {
            return done("All is answered.");
        }
        let can = &context.client;
        let mut requests = InputRequests::new();
        requests.extend(can.forms.then(|| name("user_name")));
        requests.extend(
            can.sampling
                .then(|| samples("greeting", "Write a greeting.")),
        );
        requests.extend(can.roots.then(|| roots("client_roots")));
        match requests.is_empty() {
            true => done("The client supports no input requests."),
            false => Ok(InputRequiredResult::from_input_requests(requests).into()),
        }
    }
}

fn done(said: impl Into<String>) -> ToolResult {
    Ok(text(said).into())
}

fn said(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
