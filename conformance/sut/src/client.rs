//! `sut client URL`: a conformance suite of MCP starts it to see how we use the tools of its server. Every tool is
//! called.

use std::collections::BTreeMap;
use std::sync::Arc;

use a2a::server::TABLES;
use a2a::service::{Call, Service as _};
use a2a::types::{Answer, Message, Task, TaskState};
use access::Principal;
use agent::{Agent, Manifest, Options};
use futures_util::future::join_all;
use mcp::{ToolLimits, ToolServers};
use serde_json::{Map, Value, json};
use skill::{Definition, ToolServer, extension};
use store::Store;

use monas::Error;

/// A suite writes here which tools are to be called; without it all of them are.
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";

/// The server of a suite, and which of its tools to call.
#[derive(Clone, Debug, PartialEq)]
pub struct Calls {
    /// Where the suite listens.
    pub url: String,
    /// What it wants to see called: `toolCalls`, a list of names with arguments.
    pub context: Value,
}

impl Calls {
    /// The calls that the command line and the environment ask for.
    pub fn new(url: String, environment: &dyn Fn(&str) -> Option<String>) -> Self {
        let context = environment(CONTEXT).and_then(|text| serde_json::from_str(&text).ok());
        Self {
            url,
            context: context.unwrap_or_default(),
        }
    }

    /// Calls these tools at once, or else all tools. Questions are answered with the smallest object that fits their
    /// schema.
    pub async fn perform(&self, say: impl Fn(&str)) -> Result<(), Error> {
        let server = ToolServer {
            url: Some(self.url.clone()),
            ..ToolServer::default()
        };
        let servers = BTreeMap::from([("suite".to_owned(), server)]);
        let servers = ToolServers::new(
            &servers,
            &BTreeMap::new(),
            &ToolLimits::default(),
            &dial::Dialer::default(),
        );
        let mut options = Options::default();
        let found = servers.tools(&options.skills, &[]).await;
        for problem in found.problems {
            say(&problem.to_string());
        }
        options.tools = found.offered;
        if !options.tools.is_empty() {
            let agent = Agent::create(Manifest::new("Monas under test"), options)?;
            let served = a2a::server::Config::new(agent.card());
            let store = Store::memory(TABLES);
            let tasks = a2a::Server::start(served, Arc::new(agent.clone()), store).await?;
            let calls = self
                .calls(&agent)
                .into_iter()
                .map(|(id, input)| call(&tasks, id, input));
            for called in join_all(calls).await {
                say(&called);
            }
            tasks.stop().await;
        }
        servers.close().await;
        Ok(())
    }

    fn calls(&self, agent: &Agent) -> Vec<(String, Value)> {
        let tools = agent.skills();
        let Some(wanted) = self.context["toolCalls"].as_array() else {
            let schemas = tools.iter().find(|tool| !tool.input["$defs"].is_null());
            let all = tools
                .iter()
                .map(|tool| (tool.id.clone(), filled(tool, schemas)));
            return all.collect();
        };
        let calls = wanted.iter().filter_map(|call| {
            let name = call["name"].as_str();
            let tool = tools.iter().find(|tool| tool.origin.as_deref() == name)?;
            let mut arguments = call["arguments"].as_object().cloned().unwrap_or_default();
            // To say nothing about a field is to leave it out.
            arguments.retain(|_, value| !value.is_null());
            Some((tool.id.clone(), Value::Object(arguments)))
        });
        calls.collect()
    }
}

/// What a tool takes, at least; where it takes a schema, one that it was given.
fn filled(tool: &Definition, schemas: Option<&Definition>) -> Value {
    let mut input = least(&tool.input);
    if let (Some(schema), Some(given)) = (input.get_mut("schema"), schemas) {
        *schema = given.input.clone();
    }
    input
}

/// The smallest object that fulfils a schema of simple fields.
fn least(schema: &Value) -> Value {
    let required = schema["required"].as_array().into_iter().flatten();
    let fields = required.filter_map(Value::as_str).map(|name| {
        let field = &schema["properties"][name];
        let value = match field["type"].as_str() {
            _ if field["enum"].is_array() => field["enum"][0].clone(),
            Some("string") => json!("text"),
            Some("integer" | "number") => json!(1),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => least(field),
            _ => Value::Null,
        };
        (name.to_owned(), value)
    });
    Value::Object(fields.collect::<Map<_, _>>())
}

/// Calls a tool, answers what it asks, and says what came of it.
async fn call(tasks: &a2a::Server, id: String, input: Value) -> String {
    let mut number = 0;
    let mut message = extension::call(format!("{id}-0"), &id, input);
    loop {
        let task = match send(tasks, message).await {
            Ok(Answer::Task(task)) => task,
            other => return format!("{id}: {other:?}"),
        };
        let state = task.status.as_ref().map(|status| status.state);
        match extension::question(&task).filter(|_| state == Some(TaskState::InputRequired)) {
            Some(question) => {
                number += 1;
                let answer = least(&question.schema);
                message = extension::answer(format!("{id}-{number}"), &task, Some(answer));
            }
            None => return format!("{id}: {}", said(&task)),
        }
    }
}

async fn send(tasks: &a2a::Server, message: Message) -> Result<Answer, a2a::Error> {
    let call = Call::by(Principal::anonymous());
    let sent = tasks.send_message(call, message.into()).await?;
    Ok(sent.payload)
}

fn said(task: &Task) -> String {
    let status = task.status.as_ref();
    let why = status.and_then(|status| status.message.as_ref());
    format!(
        "{:?} {:?}",
        extension::output(task),
        why.map(|why| &why.parts)
    )
}
