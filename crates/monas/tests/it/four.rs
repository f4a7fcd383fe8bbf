//! The same thing seen four ways: skills called over A2A, both wires of MCP and ACP, by the protocols' own clients.
//!
//! However a skill is called, its caller hears the same and the journal shows the same; and a task that was begun on
//! one wire is watched, answered and cancelled on any other that has a word for it.

use std::time::Duration;

use a2a::client::{Client, Version};
use a2a::types::ListTasksRequest;
use a2a::types::wire::WireMessage as _;
use monas::testkit::Kit;
use serde_json::{Value, json};

use skills::agent;
use wires::{View, Way, Wire};

mod mcp;
mod remote;
mod skills;
mod wires;

/// The limit for every wait.
const DEADLINE: Duration = Duration::from_secs(120);

/// A server, a client that sees all its tasks, and a caller for each protocol.
struct Stage {
    kit: Kit,
    observer: Client,
}

impl Stage {
    async fn set() -> Self {
        Self::on(Kit::start(agent()).await.unwrap()).await
    }

    async fn on(kit: Kit) -> Self {
        let observer = kit.client("jsonrpc", Version::V1_0).await.unwrap();
        Self { kit, observer }
    }

    async fn wire(&self, way: Way) -> Wire {
        Wire::open(way, self.kit.url()).await
    }

    /// How many tasks there are, and the one to which something happened last.
    async fn tasks(&self) -> (i32, String) {
        let listed = self.observer.list_tasks(ListTasksRequest::default()).await;
        let listed = listed.unwrap();
        let newest = listed.tasks.first().map(|task| task.id.clone());
        (listed.total_size, newest.unwrap_or_default())
    }

    async fn newest(&self) -> String {
        self.tasks().await.1
    }

    /// What the journal has of a task, but for what is different each time: ids and times.
    async fn journal(&self, task: &str) -> Vec<Value> {
        let events = self.kit.journal(task).await.unwrap();
        let events = events.iter().map(|event| event.response().to_json());
        let events = events.map(|event| serde_json::from_slice(&event).unwrap());
        events.map(timeless).collect()
    }
}

fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            let own = ["id", "taskId", "contextId", "messageId", "timestamp"];
            fields.retain(|name, _| !own.contains(&&**name));
            fields.values_mut().for_each(|it| *it = timeless(it.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|it| *it = timeless(it.take())),
        _ => {}
    }
    value
}

/// The states that a journal tells of, one after the other, and the artifacts between them.
fn steps(journal: &[Value]) -> Vec<String> {
    let step = |event: &Value| {
        let status = ["task", "statusUpdate"].map(|kind| &event[kind]["status"]["state"]);
        let artifact = &event["artifactUpdate"]["artifact"]["artifactId"];
        let found = status.into_iter().chain([artifact]).find_map(Value::as_str);
        found.unwrap_or("something else").to_owned()
    };
    journal.iter().map(step).collect()
}

async fn in_time<T>(work: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(DEADLINE, work).await;
    done.expect("it should be over by now")
}

fn riga() -> Value {
    json!({ "to": "Riga" })
}

fn yes() -> Value {
    json!({ "approved": true })
}

fn booked() -> View {
    View {
        state: "completed".to_owned(),
        said: None,
        output: Some(json!({ "seat": "7A" })),
        files: [("ticket.txt".to_owned(), "seat 7A to Riga".to_owned())].into(),
    }
}

fn stands(state: &str, said: Option<&str>) -> View {
    View {
        state: state.to_owned(),
        said: said.map(str::to_owned),
        ..View::default()
    }
}

fn asks() -> View {
    stands("asks", Some("Go to Riga?"))
}

#[tokio::test]
async fn a_skill_that_asks_half_way_is_the_same_on_every_wire() {
    in_time(async {
        let stage = Stage::set().await;
        let mut first = None;
        for way in Way::ALL {
            let mut wire = stage.wire(way).await;
            let asked = wire.begin("book", riga(), None).await.unwrap();
            assert_eq!(asked, asks(), "{way:?}");
            let task = stage.newest().await;
            let ended = wire.answer(&task, yes()).await.unwrap();
            assert_eq!(ended, booked(), "{way:?}");
            let heard = wire.heard(way.hears(2)).await;
            let said = ["looking for a seat", "booking it"];
            assert_eq!(heard, said[..heard.len()], "{way:?}");

            let journal = stage.journal(&task).await;
            let known = first.get_or_insert_with(|| journal.clone());
            assert_eq!(&journal, known, "{way:?}");
        }
        let steps = steps(&first.unwrap());
        assert_eq!(steps[..2], ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"]);
        assert!(steps.contains(&"TASK_STATE_INPUT_REQUIRED".to_owned()));
        let end = ["ticket.txt", "output", "TASK_STATE_COMPLETED"];
        assert_eq!(steps[steps.len() - 3..], end);
    })
    .await;
}

#[tokio::test]
async fn a_skill_that_fails_or_is_cancelled_is_the_same_on_every_wire() {
    in_time(async {
        let stage = Stage::set().await;
        let (mut failures, mut cancellations) = (Vec::new(), Vec::new());
        for way in Way::ALL {
            let mut wire = stage.wire(way).await;
            let failed = wire.begin("strike", riga(), None).await.unwrap();
            let why = stands("failed", Some("Nobody drives to Riga today."));
            assert_eq!(failed, why, "{way:?}");
            failures.push(stage.journal(&stage.newest().await).await);

            let waits = wire.begin("wait", riga(), Some("waiting")).await.unwrap();
            assert_eq!(waits, stands("working", Some("waiting")), "{way:?}");
            let task = stage.newest().await;
            wire.cancel(&task).await.unwrap();
            let observed = wires::observed(&stage.observer, &task).await;
            assert_eq!(observed, stands("cancelled", None), "{way:?}");
            cancellations.push(stage.journal(&task).await);
        }
        for journals in [&failures, &cancellations] {
            for (journal, way) in journals.iter().zip(Way::ALL) {
                assert_eq!(*journal, journals[0], "{way:?}");
            }
        }
        let end = |journals: &[Vec<Value>]| steps(&journals[0]).pop().unwrap();
        assert_eq!(end(&failures), "TASK_STATE_FAILED");
        assert_eq!(end(&cancellations), "TASK_STATE_CANCELED");
    })
    .await;
}

#[tokio::test]
async fn input_that_is_none_is_refused_on_every_wire_before_there_is_a_task() {
    in_time(async {
        let stage = Stage::set().await;
        for way in Way::ALL {
            let mut wire = stage.wire(way).await;
            let refused = wire.begin("book", json!({ "to": true }), None).await;
            let why = refused.unwrap_err();
            assert!(
                why.contains("invalid input: /to: expected a text, not true"),
                "{way:?}: {why}"
            );
        }
        assert_eq!(stage.tasks().await.0, 0);
    })
    .await;
}

/// Every pair of two ways, the second of which has a word for what it is to do.
fn pairs(has: fn(Way) -> bool) -> impl Iterator<Item = (Way, Way)> {
    let each = |here| Way::ALL.map(move |there| (here, there));
    let all = Way::ALL.into_iter().flat_map(each);
    all.filter(move |(here, there)| here != there && has(*there))
}

#[tokio::test]
async fn a_task_begun_on_one_wire_is_watched_on_another() {
    in_time(async {
        let stage = Stage::set().await;
        let mut wires = Wire::all(stage.kit.url()).await;
        for (here, there) in pairs(|_| true) {
            let begun = wires.at(here).begin("book", riga(), None).await;
            assert_eq!(begun.unwrap(), asks());
            let task = stage.newest().await;
            let pair = format!("begun on {here:?}, watched on {there:?}");
            let shown = wires.at(there).show(&task).await.unwrap();
            assert_eq!(shown, asks(), "{pair}");
            let ended = wires.at(here).answer(&task, yes()).await.unwrap();
            assert_eq!(ended, booked(), "{pair}");
            let shown = wires.at(there).follow(&task).await.unwrap();
            assert_eq!(shown, booked(), "{pair}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_task_begun_on_one_wire_is_answered_on_another() {
    in_time(async {
        let stage = Stage::set().await;
        let mut wires = Wire::all(stage.kit.url()).await;
        let mut first = None;
        for (here, there) in pairs(Way::answers_others) {
            let begun = wires.at(here).begin("book", riga(), None).await;
            assert_eq!(begun.unwrap(), asks());
            let task = stage.newest().await;
            let pair = format!("begun on {here:?}, answered on {there:?}");
            let ended = wires.at(there).answer(&task, yes()).await.unwrap();
            assert_eq!(ended, booked(), "{pair}");
            // The caller that began it is told, too.
            let told = wires.at(here).end(&task).await.unwrap();
            assert_eq!(told, booked(), "{pair}");
            let journal = stage.journal(&task).await;
            let known = first.get_or_insert_with(|| journal.clone());
            assert_eq!(&journal, known, "{pair}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_task_begun_on_one_wire_is_cancelled_on_another() {
    in_time(async {
        let stage = Stage::set().await;
        let mut wires = Wire::all(stage.kit.url()).await;
        let over = stands("cancelled", None);
        for (here, there) in pairs(Way::answers_others) {
            for (skill, until) in [("wait", Some("waiting")), ("book", None)] {
                let begun = wires.at(here).begin(skill, riga(), until).await;
                let task = stage.newest().await;
                let pair = format!("{skill} begun on {here:?}, cancelled on {there:?}");
                let shown = wires.at(there).show(&task).await.unwrap();
                assert_eq!(shown, begun.unwrap(), "{pair}");
                wires.at(there).cancel(&task).await.unwrap();
                let told = wires.at(here).end(&task).await.unwrap();
                assert_eq!(told, over, "{pair}");
                let shown = wires.at(there).follow(&task).await.unwrap();
                assert_eq!(shown, over, "{pair}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn an_agent_asks_before_it_writes_on_every_wire() {
    in_time(async {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Kit::config();
        config.workspace = Some(folder.path().to_owned());
        let kit = monas::app().alive().start_with(&config).await;
        let stage = Stage::on(kit.unwrap()).await;
        for way in Way::ALL {
            for (decision, end) in [("approve", "completed"), ("reject", "cancelled")] {
                let path = format!("{way:?}-{decision}.txt");
                let file = folder.path().join(&path);
                let mut wire = stage.wire(way).await;
                let note = json!({ "path": path, "content": "hello" });
                let asked = wire.begin("file-write", note, None).await.unwrap();
                assert_eq!(asked.state, "asks", "{way:?}");
                let said = asked.said.unwrap();
                assert!(said.contains("+hello"), "{way:?}: {said}");
                assert!(!file.exists(), "{way:?}: nobody has agreed");
                let task = stage.newest().await;
                let answer = json!({ "decision": decision });
                wire.answer(&task, answer).await.ok();
                let ended = wires::observed(&stage.observer, &task).await;
                assert_eq!(ended.state, end, "{way:?}: {ended:?}");
                assert_eq!(file.exists(), decision == "approve", "{way:?}");
            }
        }
        stage.kit.stop().await;
    })
    .await;
}
