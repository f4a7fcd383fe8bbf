//! Replies, events, deliveries to webhooks and cards have the fields of the version that is spoken, and no others: they are
//! checked with JSON schemas that the official package's own definitions give, for callers that ask for nothing of ours.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};

use a2a::binding::card::View;
use a2a::client::{Heard, Tap, Version};
use a2a::event::Format;
use a2a::types::{
    GetExtendedAgentCardRequest, SendMessageConfiguration, TaskPushNotificationConfig,
};
use a2a::v0_3::{self, Dialect};
use a2a::{binding, operation};
use proof::run::run_in;
use proof::{Plan, Wire, World};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::receiver::Receiver;
use crate::support::{script, task};
use crate::written;

/// The package of 1.0, and of 0.3 in protobuf and its JSON.
const V1_0: &str = "lf.a2a.v1";
const V0_3: &str = "a2a.v1";
/// The JSON of 0.3 in which objects name their kind.
const KIND: &str = "kind";

/// Something that a client got.
struct Got {
    /// Which operation over which wire.
    place: String,
    package: &'static str,
    /// What it has to be, by the name of the definition.
    message: String,
    body: Body,
}

enum Body {
    Json(Value),
    Protobuf(Vec<u8>),
}

/// All that the clients of a test got.
#[derive(Clone, Default)]
struct Collected(Arc<Mutex<Vec<Got>>>);

impl Collected {
    fn tap(&self) -> Tap {
        let collected = self.clone();
        Tap::new(move |heard| collected.take(heard))
    }

    fn take(&self, heard: &Heard<'_>) {
        let place = format!(
            "{} over {} {}",
            heard.operation, heard.binding.key, heard.version
        );
        let package = match (heard.version, heard.format, heard.binding.dialect) {
            (Version::V1_0, ..) => V1_0,
            (Version::V0_3, Format::Json, Dialect::Kind) => KIND,
            (Version::V0_3, ..) => V0_3,
        };
        match heard.format {
            Format::Json => {
                let body = serde_json::from_slice(heard.body).unwrap_or_default();
                self.add_json(&place, package, heard.operation, body);
            }
            Format::Protobuf => self.add(Got {
                place,
                package,
                message: reply_of(package, heard.operation),
                body: Body::Protobuf(heard.body.to_vec()),
            }),
        }
    }

    fn add_json(&self, place: &str, package: &'static str, operation: &str, body: Value) {
        let (message, bodies) = match (package, operation) {
            // Neither has an official definition of a list of tasks, so the tasks are checked.
            (KIND | V0_3, "ListTasks") => ("Task".to_owned(), listed(&body["tasks"])),
            (KIND, "ListTaskPushNotificationConfigs") => {
                ("TaskPushNotificationConfig".to_owned(), listed(&body))
            }
            (KIND, _) => (kind_of(operation, &body), vec![body]),
            _ => (reply_of(package, operation), vec![body]),
        };
        for body in bodies {
            self.add(Got {
                place: place.to_owned(),
                package,
                message: message.clone(),
                body: Body::Json(body),
            });
        }
    }

    fn add(&self, got: Got) {
        self.0.lock().unwrap().push(got);
    }

    /// Checks all of it; gives how many there were of each package.
    fn check(&self) -> HashMap<&'static str, usize> {
        let mut counts = HashMap::new();
        let mut faults = String::new();
        let got = self.0.lock().unwrap();
        let mut asked = Vec::new();
        let mut validators = HashMap::new();
        for got in got.iter() {
            *counts.entry(got.package).or_default() += 1;
            let (message, place) = (&*got.message, &got.place);
            match &got.body {
                Body::Json(body) => {
                    let validator = validators
                        .entry((got.package, message))
                        .or_insert_with(|| Definition::new(got.package, message));
                    if let Err(fault) = validator.fits(body) {
                        faults += &format!("{place}: {fault} in {body}\n");
                    }
                }
                Body::Protobuf(bytes) if message == "Empty" => assert!(bytes.is_empty(), "{place}"),
                Body::Protobuf(bytes) => {
                    let bytes: String = bytes.iter().map(|it| format!("{it:02x}")).collect();
                    let question = json!({
                        "do": "unknown", "package": got.package, "message": message, "bytes": bytes,
                    });
                    asked.push((place, question));
                }
            }
        }
        let questions: Vec<Value> = asked.iter().map(|(_, question)| question.clone()).collect();
        for ((place, question), unknown) in asked.iter().zip(official(&questions)) {
            if unknown != json!([]) {
                faults += &format!("{place}: {unknown} in {question}\n");
            }
        }
        assert!(faults.is_empty(), "{faults}");
        counts
    }
}

fn listed(list: &Value) -> Vec<Value> {
    list.as_array().cloned().unwrap_or_default()
}

/// The name of what an operation gives, in protobuf of either version.
fn reply_of(package: &str, operation: &str) -> String {
    let name = match package {
        V1_0 => operation::named(operation).map(|row| (row.reply)().name),
        _ => {
            let mut rows = v0_3::TABLE.iter().filter(|row| row.operation == operation);
            rows.find_map(|row| row.rpc.as_ref().map(|rpc| (rpc.reply)().name))
        }
    };
    name.unwrap_or_else(|| panic!("{operation} is none of {package}"))
        .to_owned()
}

/// The name of what an operation gives in the JSON of 0.3, where events say themselves what they are.
fn kind_of(operation: &str, body: &Value) -> String {
    let name = match (operation, body["kind"].as_str()) {
        ("GetTask" | "CancelTask", _) | (_, Some("task")) => "Task",
        (_, Some("message")) => "Message",
        (_, Some("status-update")) => "TaskStatusUpdateEvent",
        (_, Some("artifact-update")) => "TaskArtifactUpdateEvent",
        ("GetExtendedAgentCard", _) => "AgentCard",
        ("DeleteTaskPushNotificationConfig", _) => "Empty",
        (operation, _) if operation.ends_with("TaskPushNotificationConfig") => {
            "TaskPushNotificationConfig"
        }
        other => panic!("{other:?}: {body}"),
    };
    name.to_owned()
}

/// What the official package says of one message.
enum Definition {
    /// It has no fields.
    Empty,
    Schema(Box<jsonschema::Validator>),
}

impl Definition {
    fn new(package: &str, message: &str) -> Self {
        if message == "Empty" {
            return Self::Empty;
        }
        let definitions = &schemas()[package];
        assert!(
            definitions.get(message).is_some(),
            "{package} defines no {message}"
        );
        let schema = json!({ "$defs": definitions, "$ref": format!("#/$defs/{message}") });
        Self::Schema(Box::new(jsonschema::validator_for(&schema).unwrap()))
    }

    /// Whether JSON is what the definition says, and has nothing else in it.
    fn fits(&self, body: &Value) -> Result<(), String> {
        let Self::Schema(validator) = self else {
            let is_empty = body.is_null() || body.as_object().is_some_and(|it| it.is_empty());
            return is_empty
                .then_some(())
                .ok_or("it has to be empty".to_owned());
        };
        let faults = validator.iter_errors(body);
        let faults: Vec<_> = faults
            .map(|it| format!("{it} at {}", it.instance_path()))
            .collect();
        match faults.is_empty() {
            true => Ok(()),
            false => Err(faults.join("; ")),
        }
    }
}

/// The definitions of each package.
fn schemas() -> &'static HashMap<&'static str, Value> {
    static SCHEMAS: OnceLock<HashMap<&'static str, Value>> = OnceLock::new();
    SCHEMAS.get_or_init(|| {
        let packages = [V1_0, V0_3, KIND];
        let questions = packages.map(|package| json!({ "do": "schema", "package": package }));
        packages.into_iter().zip(official(&questions)).collect()
    })
}

/// Asks the official SDK, in a python process.
fn official(questions: &[Value]) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../a2a");
    let named = std::env::var_os("MONAS_PYTHON").map(PathBuf::from);
    let python = named.unwrap_or_else(|| folder.join(".venv/bin/python"));
    let mut command = Command::new(&python);
    command.arg(folder.join("python/wire.py"));
    let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut process = spawned.unwrap_or_else(|error| {
        panic!(
            "{}: {error}; run `cargo xtask test`, which installs the official SDK, or set MONAS_PYTHON",
            python.display()
        )
    });
    let mut input = process.stdin.take().unwrap();
    let lines: Vec<String> = questions.iter().map(|it| format!("{it}\n")).collect();
    // Written beside: the answers may fill their pipe before all is asked.
    let writing = std::thread::spawn(move || {
        for line in lines {
            input.write_all(line.as_bytes()).unwrap();
        }
    });
    let output = process.wait_with_output().unwrap();
    writing.join().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), questions.len(), "{text}");
    for answer in &answers {
        assert!(answer.get("error").is_none(), "{answer}");
    }
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn every_reply_has_the_fields_of_its_version_and_no_others() {
    let collected = Collected::default();
    for wire in Wire::all() {
        for (_, scenario) in written::all() {
            let world = World::start().await.tapped(collected.tap());
            run_in(&world, &scenario, &Plan::over(&scenario, &[wire])).await;
            world.stop().await;
        }
        let world = World::start().await.tapped(collected.tap());
        let request = GetExtendedAgentCardRequest::default();
        world.client(wire).get_extended_card(request).await.unwrap();
        world.stop().await;
    }
    let counts = collected.check();
    for package in [V1_0, V0_3, KIND] {
        assert!(counts[package] > 100, "{package}: {counts:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_and_cards_have_the_fields_of_their_version_and_no_others() {
    let collected = Collected::default();
    for wire in Wire::all() {
        let world = World::start().await.tapped(collected.tap());
        let mut receiver = Receiver::open().await;
        let mut request = script("work, text made, pieces 3, done");
        request.configuration = Some(SendMessageConfiguration {
            return_immediately: true,
            task_push_notification_config: Some(TaskPushNotificationConfig {
                url: receiver.url.clone(),
                ..TaskPushNotificationConfig::default()
            }),
            ..SendMessageConfiguration::default()
        });
        task(&world.client(wire), request).await;
        let place = format!("a webhook of {wire}");
        for body in crate::support::in_time(receiver.bodies()).await {
            match wire.version {
                Version::V1_0 => collected.add_json(&place, V1_0, "SubscribeToTask", body),
                Version::V0_3 => collected.add_json(&place, KIND, "GetTask", body),
            }
        }
        world.stop().await;
    }
    for (view, version, package) in [
        (View::Both, "A2A-Version: 1.0\r\n", V1_0),
        (View::V1_0, "", V1_0),
        (View::V0_3, "", KIND),
        (View::V0_3, "A2A-Version: 1.0\r\n", KIND),
    ] {
        let mut config = World::config();
        config.card_view = view;
        let world = World::with(config, None).await;
        for path in binding::CARD_PATHS {
            let card = card(&world, path, version).await;
            collected.add_json(
                &format!("{view:?} {path}"),
                package,
                "GetExtendedAgentCard",
                card,
            );
        }
        world.stop().await;
    }
    collected.check();
}

/// The card at a path, asked for with these headers.
async fn card(world: &World, path: &str, headers: &str) -> Value {
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap()
}

/// The schemas are as strict as strict readers are.
#[test]
fn a_field_of_another_version_is_refused() {
    let task = json!({ "id": "t", "status": { "state": "TASK_STATE_WORKING" } });
    let fits = |package, task: &Value| Definition::new(package, "Task").fits(task);
    assert_eq!(fits(V1_0, &task), Ok(()));
    let old = json!({
        "kind": "task", "id": "t", "contextId": "c", "status": { "state": "working" },
    });
    assert_eq!(fits(KIND, &old), Ok(()));
    for (package, task) in [(V1_0, task.clone()), (V0_3, task), (KIND, old)] {
        for (name, value) in [("generation", json!("7")), ("final", json!(true))] {
            let mut more = task.clone();
            more[name] = value;
            let refused = fits(package, &more).unwrap_err();
            assert!(refused.contains(name), "{package}: {refused}");
        }
    }
}
