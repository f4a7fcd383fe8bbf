//! `sut client URL`: a conformance suite of MCP starts it to see how we use the tools of its server. Every tool is
//! called.

use std::collections::BTreeMap;
use std::sync::Arc;

use a2a::server::TABLES;
use a2a::service::{Call, Service as _};
use a2a::types::{Answer, Message, Task, TaskState};
use access::Principal;
use agent::{Agent, Manifest, Options};
use axum::body::Bytes;
use axum::http::{self, header::LOCATION};
use dial::Redirects;
use futures_util::future::join_all;
use mcp::{SignIns, ToolLimits, ToolServers};
use oauth::{Consent, ConsentError, Consenting, Vault};
use serde_json::{Map, Value, json};
use skill::{Definition, ToolEnterprise, ToolServer, ToolSignIn, extension};
use store::Store;

use monas::Error;

/// A suite writes here which tools are to be called; without it all of them are.
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";

/// A suite writes here what it is about to see. A user would have configured whether a program or a person signs in.
const SCENARIO: &str = "MCP_CONFORMANCE_SCENARIO";

/// The document that a suite expects a client to be named by.
const CLIENT_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// The server of a suite, and which of its tools to call.
#[derive(Clone, Debug, PartialEq)]
pub struct Calls {
    /// Where the suite listens.
    pub url: String,
    /// What it wants to see called: `toolCalls`, a list of names with arguments.
    pub context: Value,
    /// Whether the program itself signs in, rather than a person.
    pub is_program: bool,
}

impl Calls {
    /// The calls that the command line and the environment ask for.
    pub fn new(url: String, environment: &dyn Fn(&str) -> Option<String>) -> Self {
        let context = environment(CONTEXT).and_then(|text| serde_json::from_str(&text).ok());
        let scenario = environment(SCENARIO).unwrap_or_default();
        Self {
            url,
            context: context.unwrap_or_default(),
            is_program: scenario.starts_with("auth/client-credentials"),
        }
    }

    /// Calls these tools at once, or else all tools. Questions are answered with the smallest object that fits their
    /// schema.
    pub async fn perform(&self, say: impl Fn(&str)) -> Result<(), Error> {
        let server = ToolServer {
            url: Some(self.url.clone()),
            oauth: Some(self.sign_in()),
            ..ToolServer::default()
        };
        let servers = BTreeMap::from([("suite".to_owned(), server)]);
        let dialer = dial::Dialer::default();
        let agreeing = Arc::new(Agreeing(dialer.http()));
        let servers = ToolServers::with_sign_ins(
            &servers,
            &BTreeMap::new(),
            &ToolLimits::default(),
            &dialer,
            &SignIns::new(Vault::memory(), agreeing),
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

    /// How the suite wants us to sign in, where its server asks for a token.
    fn sign_in(&self) -> ToolSignIn {
        let text = |name: &str| self.context[name].as_str().map(str::to_owned);
        let enterprise = text("idp_id_token").map(|id_token| ToolEnterprise {
            token_url: text("idp_token_endpoint").unwrap_or_default(),
            client_id: text("idp_client_id").unwrap_or_default(),
            id_token,
        });
        ToolSignIn {
            client_id: text("client_id"),
            client_secret: text("client_secret"),
            private_key: text("private_key_pem"),
            issuer: text("issuer"),
            client_metadata_url: Some(CLIENT_DOCUMENT.to_owned()),
            client_credentials: self.is_program,
            assertion: text("valid_jwt"),
            enterprise,
            ..ToolSignIn::default()
        }
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

/// The person that a suite's authorization server asks: one that agrees at once. The server answers with a redirect, and
/// nothing listens where it leads to.
struct Agreeing(dial::HttpClient);

impl Consent for Agreeing {
    fn redirect(&self) -> Option<String> {
        Some("http://127.0.0.1:8976/callback".to_owned())
    }

    fn agree<'a>(&'a self, url: &'a str) -> Consenting<'a> {
        Box::pin(async move {
            let request = http::Request::get(url).body(Bytes::new());
            let request = request.map_err(|error| ConsentError(error.to_string()))?;
            let answer = self.0.send(request, Redirects::None).await;
            let answer = answer.map_err(|error| ConsentError(error.to_string()))?;
            let location = answer.headers().get(LOCATION);
            let location = location.and_then(|it| it.to_str().ok());
            let status = answer.status();
            location.map(str::to_owned).ok_or_else(|| {
                ConsentError(format!(
                    "the authorization server answered {status} without a redirect"
                ))
            })
        })
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
