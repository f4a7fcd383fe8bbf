//! The rule of each operation for its caller, and what is known of a caller after a restart.

use std::sync::{Arc, Mutex};

use a2a::error::Error;
use a2a::event::Format;
use a2a::operation::{Input, TABLE};
use a2a::server::{AfterRestart, Agent, Failure, Turn};
use a2a::service::Call;
use a2a::types::*;
use a2a::v0_3::{self, Dialect};
use access::{Bounds, Permissions, Principal, Role};
use bytes::Bytes;
use futures_core::future::BoxFuture;
use serde_json::{Value, json};
use testkit::{Kit, fresh_id};

use super::support::{Bench, Script, config, in_memory, message, on_disk};

/// A caller with a credential that was lent with these bounds.
fn lent(bounds: &Bounds) -> Call {
    Call::by(Principal::named("ada").attenuated(bounds, None))
}

fn input(body: &Value) -> Input {
    Input {
        format: Format::Json,
        body: Bytes::from(body.to_string()),
        fields: Vec::new(),
    }
}

/// A request about a task that is one for every operation, in 1.0.
fn about(task: &str) -> Value {
    json!({
        "id": task, "taskId": task, "url": "http://127.0.0.1:1/",
        "message": {
            "messageId": fresh_id(), "role": "ROLE_USER", "taskId": task, "parts": [{ "text": "done" }],
        },
    })
}

/// The same in 0.3.
fn about_in_v0_3(task: &str) -> Value {
    json!({
        "id": task, "taskId": task, "pushNotificationConfigId": "c",
        "pushNotificationConfig": { "id": "c", "url": "http://127.0.0.1:1/" },
        "message": {
            "kind": "message", "messageId": fresh_id(), "role": "user", "taskId": task,
            "parts": [{ "kind": "text", "text": "done" }],
        },
    })
}

async fn bench() -> Bench {
    let mut config = config();
    let offered = config.card.capabilities.get_or_insert_default();
    offered.extended_agent_card = Some(true);
    config.extended_card = Some(AgentCard::default());
    Bench::with(config, in_memory(), Script::new()).await
}

fn is_refused<T>(reply: &Result<T, Error>) -> bool {
    matches!(reply, Err(Error::Unauthorized(_)))
}

#[tokio::test]
async fn the_rule_of_every_row_has_its_name() {
    for row in TABLE {
        assert_eq!(row.rule.method(), row.name);
    }
    for row in v0_3::TABLE {
        let known = TABLE.iter().any(|it| it.name == row.operation);
        assert!(known, "{row:?} is no row of the table, and has no rule");
    }
}

#[tokio::test]
async fn every_row_checks_its_rule_before_the_request_is_read() {
    let bench = bench().await;
    let nothing = Bounds {
        methods: Some(Arc::default()),
        ..Bounds::default()
    };
    let read_only = Bounds {
        read_only: true,
        ..Bounds::default()
    };
    for row in TABLE {
        let unreadable = || Input {
            body: Bytes::from_static(b"{"),
            ..input(&Value::Null)
        };
        let reply = row
            .perform(&bench.server, lent(&nothing), unreadable())
            .await;
        assert!(is_refused(&reply), "{}: {reply:?}", row.name);
        let reply = row
            .perform(&bench.server, lent(&read_only), unreadable())
            .await;
        assert_eq!(
            is_refused(&reply),
            row.rule.is_change(),
            "{}: {reply:?}",
            row.name
        );
    }
    for row in v0_3::TABLE {
        let perform = |bounds| {
            let body = input(&about_in_v0_3("t1"));
            row.perform(&bench.server, lent(bounds), body, Dialect::Kind)
        };
        let reply = perform(&nothing).await;
        assert!(is_refused(&reply), "{row:?}: {reply:?}");
        let rule = TABLE
            .iter()
            .find(|it| it.name == row.operation)
            .unwrap()
            .rule;
        let reply = perform(&read_only).await;
        assert_eq!(is_refused(&reply), rule.is_change(), "{row:?}: {reply:?}");
    }
}

#[tokio::test]
async fn a_credential_for_one_task_reaches_no_other_by_any_row() {
    let bench = bench().await.by("ada", "");
    let [own, other] = [bench.task("ask:?").await.id, bench.task("ask:?").await.id];
    let bounds = Bounds {
        task: Some(own.clone()),
        ..Bounds::default()
    };
    for row in TABLE {
        // A list has the one task that the caller may see.
        if row.name == "ListTasks" {
            continue;
        }
        let names_a_task = row.name != "GetExtendedAgentCard";
        let reply = row
            .perform(&bench.server, lent(&bounds), input(&about(&other)))
            .await;
        assert!(is_refused(&reply), "{}: {reply:?}", row.name);
        // Ended first, it could not be sent to.
        if row.name == "CancelTask" {
            continue;
        }
        let reply = row
            .perform(&bench.server, lent(&bounds), input(&about(&own)))
            .await;
        assert_eq!(is_refused(&reply), !names_a_task, "{}: {reply:?}", row.name);
    }
    for row in v0_3::TABLE
        .iter()
        .filter(|row| row.operation != "ListTasks")
    {
        let body = input(&about_in_v0_3(&other));
        let reply = row
            .perform(&bench.server, lent(&bounds), body, Dialect::Kind)
            .await;
        assert!(is_refused(&reply), "{row:?}: {reply:?}");
    }
    // A message that names no task would begin another one.
    let body = json!({ "message": {
        "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "done" }],
    }});
    let reply = TABLE[0]
        .perform(&bench.server, lent(&bounds), input(&body))
        .await;
    assert!(is_refused(&reply), "{reply:?}");
}

/// Asks once, and keeps what each of its callers may do.
struct Watching(Arc<Mutex<Vec<Principal>>>);

impl Agent for Watching {
    fn answer(&self, turn: Turn) -> BoxFuture<'static, Result<(), Failure>> {
        self.0.lock().unwrap().push(turn.caller().clone());
        Box::pin(async move {
            match turn.text().as_str() {
                "wait" if !turn.is_resumed() => {
                    turn.working().await?;
                    std::future::pending().await
                }
                "ask" if !turn.is_resumed() => Ok(turn.ask("?").await?),
                _ => Ok(turn.complete().await?),
            }
        })
    }

    fn after_restart(&self, _: &Task) -> AfterRestart {
        AfterRestart::Resume
    }
}

#[tokio::test]
async fn a_caller_has_after_a_restart_what_it_had_when_it_sent_its_message() {
    let folder = tempfile::tempdir().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let start = async || {
        let agent = Arc::new(Watching(seen.clone()));
        Kit::start(config(), agent, on_disk(folder.path())).await
    };
    let viewer = Principal::named("vera")
        .permitted(Role::Viewer.permissions())
        .scoped(vec!["deploy".to_owned()]);
    // An agent that acts for a person still does after the restart.
    let nobody = Principal::named("nora")
        .permitted(Permissions::NONE)
        .acting_for("ada");
    let kit = start().await;
    let waiting = kit
        .by_principal(&viewer)
        .send_at_once(message("wait"))
        .await;
    let asking = kit
        .by_principal(&nobody)
        .send_for_task(message("ask"))
        .await;
    kit.server.stop().await;
    seen.lock().unwrap().clear();

    // The one is resumed by the restart, the other by its agent.
    let kit = start().await;
    let done = TaskState::Completed;
    kit.by_principal(&viewer)
        .until_state(&waiting.id, done)
        .await;
    let caller = kit.server.caller_of(&TaskId::from(&asking.id)).await;
    assert_eq!(caller.unwrap(), nobody);
    kit.server.resume(&TaskId::from(&asking.id)).await.unwrap();
    kit.by_principal(&nobody)
        .until_state(&asking.id, done)
        .await;
    assert_eq!(*seen.lock().unwrap(), [viewer, nobody]);
    kit.server.stop().await;
}
