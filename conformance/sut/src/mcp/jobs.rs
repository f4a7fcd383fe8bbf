//! Tools of the tasks extension: skills under the names that the suite has for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp::Request;
use rmcp::ErrorData;
use rmcp::model::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use skill::{Context, DefinitionError, Registry, SkillError, SkillInput, skill};

use super::{Fixtures, bare, form, tool};

/// The skill with one question that is shown as two.
pub(super) const HALVED: &str = "multi-input";

/// The suite's names, our skills, and whether the call must become a task.
const JOBS: &[(&str, &str, bool)] = &[
    ("slow_compute", "slow-compute", false),
    ("failing_job", "failing-job", true),
    ("protocol_error_job", "protocol-error-job", false),
    ("confirm_delete", "confirm-delete", true),
    ("multi_input", HALVED, true),
    ("test_tool_with_task", "greet-later", true),
];

/// These skills, added to others.
pub(crate) fn skills(skills: Registry) -> Result<Registry, DefinitionError> {
    skills
        .with(greet)?
        .with(slow_compute)?
        .with(failing_job)?
        .with(protocol_error_job)?
        .with(confirm_delete)?
        .with(multi_input)?
        .with(greet_later)
}

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Nothing {}

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Name {
    name: String,
}

/// Greets at once.
#[skill(tags = ["conformance"], examples = ["greet Ada"])]
async fn greet(input: Name) -> Result<String, SkillError> {
    Ok(format!("Hello, {}!", input.name))
}

/// Greets after a moment.
#[skill(tags = ["conformance"], examples = ["greet Ada later"])]
async fn greet_later(input: Name) -> Result<String, SkillError> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok(format!("Hello, {}!", input.name))
}

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Compute {
    #[serde(default)]
    seconds: f64,
    #[serde(default)]
    label: String,
}

/// Takes as many seconds as it is told.
#[skill(tags = ["conformance"], examples = ["compute for a second"])]
async fn slow_compute(input: Compute, ctx: Context) -> Result<String, SkillError> {
    let time = Duration::try_from_secs_f64(input.seconds);
    let time = time.map_err(|error| SkillError::failed(error.to_string()))?;
    tokio::select! {
        () = tokio::time::sleep(time) => Ok(format!("{} took {time:?}", input.label)),
        () = ctx.cancelled().cancelled_owned() => Err(SkillError::Cancelled),
    }
}

/// Fails after a moment.
#[skill(tags = ["conformance"], examples = ["fail"])]
async fn failing_job(_input: Nothing) -> Result<String, SkillError> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    Err(SkillError::failed("this job always fails"))
}

/// Crashes after a moment.
#[skill(tags = ["conformance"], examples = ["crash"])]
async fn protocol_error_job(_input: Nothing) -> Result<String, SkillError> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    panic!("this job always crashes")
}

#[derive(Deserialize, JsonSchema, SkillInput)]
struct File {
    #[serde(default)]
    filename: String,
}

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Confirmed {
    confirm: bool,
}

/// Deletes nothing, once that is confirmed.
#[skill(tags = ["conformance"], examples = ["delete a file"])]
async fn confirm_delete(input: File, ctx: Context) -> Result<String, SkillError> {
    let answer: Confirmed = ctx.ask(format!("Delete {}?", input.filename)).await?;
    Ok(format!(
        "{} is to be deleted: {}",
        input.filename, answer.confirm
    ))
}

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Both {
    first: String,
    second: String,
}

/// Asks two things at once.
#[skill(tags = ["conformance"], examples = ["ask me"])]
async fn multi_input(_input: Nothing, ctx: Context) -> Result<String, SkillError> {
    let Both { first, second } = ctx.ask("Which two?").await?;
    Ok(format!("{first} and {second}"))
}

pub(super) fn all() -> Vec<Tool> {
    let text =
        |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } } });
    let slow = json!({
        "type": "object",
        "properties": { "seconds": { "type": "number" }, "label": { "type": "string" } },
    });
    vec![
        tool(
            "slow_compute",
            "Takes as many seconds as it is told.",
            &slow,
        ),
        bare("failing_job", "Fails after a moment."),
        bare("protocol_error_job", "Crashes after a moment."),
        tool(
            "confirm_delete",
            "Deletes nothing, once that is confirmed.",
            &text("filename"),
        ),
        bare("multi_input", "Asks two things at once."),
        bare(
            "test_tool_with_task",
            "Asks for a name and greets after a moment.",
        ),
    ]
}

/// What a call becomes.
pub(super) enum Begun {
    Asks(InputRequiredResult),
    Calls(CallToolRequestParams),
}

impl Fixtures {
    /// Replaces a name of the suite by that of the skill behind it; other calls stay as they are.
    pub(super) fn job(
        &self,
        request: &CallToolRequestParams,
        context: &Request,
    ) -> Result<Begun, ErrorData> {
        let mut request = request.clone();
        let job = JOBS.iter().find(|(name, ..)| *name == request.name);
        let Some(&(name, skill, must)) = job else {
            return Ok(Begun::Calls(request));
        };
        if must && !context.client.tasks {
            let needed = ClientCapabilities::builder().enable_tasks().build();
            return Err(ErrorData::missing_required_client_capability(needed));
        }
        if name == "test_tool_with_task" {
            let answers = request.input_responses.take().unwrap_or_default();
            let Some(answer) = answers.get("user_name").filter(|answer| answer.is_object()) else {
                let fields = json!({ "name": { "type": "string" } });
                let asked = ElicitRequest::new(form("What is your name?", &fields));
                let asked = InputRequest::Elicitation(asked);
                let requests = InputRequests::from([("user_name".to_owned(), asked)]);
                let asked = InputRequiredResult::from_input_requests(requests);
                return Ok(Begun::Asks(asked));
            };
            let name = answer["content"]["name"].clone();
            request.arguments = json!({ "name": name }).as_object().cloned();
        }
        request.name = skill.into();
        Ok(Begun::Calls(request))
    }
}

/// Tasks with a question that is shown as two, with the half that was answered first.
#[derive(Clone, Debug, Default)]
pub(super) struct Halves {
    tasks: Arc<Mutex<HashMap<String, Halved>>>,
}

#[derive(Debug, Default)]
struct Halved {
    /// The key of the whole question, once it was shown.
    whole: String,
    answers: HashMap<String, Value>,
}

const SIDES: [&str; 2] = ["first", "second"];

impl Halves {
    /// From now on the questions of this task are two.
    pub(super) fn halve(&self, task: &str) {
        self.lock().insert(task.to_owned(), Halved::default());
    }

    /// Shows what is not answered yet.
    pub(super) fn show(&self, task: &mut DetailedTask) {
        let mut tasks = self.lock();
        let Some(halved) = tasks.get_mut(&task.task.task_id) else {
            return;
        };
        let TaskPayload::InputRequired { input_requests } = &mut task.payload else {
            return;
        };
        let Some((whole, request)) = input_requests.pop_first() else {
            return;
        };
        for side in SIDES
            .into_iter()
            .filter(|&side| !halved.answers.contains_key(side))
        {
            input_requests.insert(format!("{whole}-{side}"), request.clone());
        }
        halved.whole = whole;
    }

    /// Keeps one half of an answer, and makes two into the whole.
    pub(super) fn take(&self, request: &mut UpdateTaskParams) {
        let mut tasks = self.lock();
        let Some(halved) = tasks.get_mut(&request.task_id) else {
            return;
        };
        for side in SIDES {
            let key = format!("{}-{side}", halved.whole);
            if let Some(answer) = request.input_responses.remove(&key) {
                halved
                    .answers
                    .insert(side.to_owned(), answer["content"]["name"].clone());
            }
        }
        if halved.answers.len() == SIDES.len() {
            let answer = json!({ "action": "accept", "content": halved.answers });
            request.input_responses.insert(halved.whole.clone(), answer);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Halved>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
