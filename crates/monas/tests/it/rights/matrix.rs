//! Every wire, every role, every operation of the tables: the answer of the real server is what the rule says.

use a2a::binding::BINDINGS;
use a2a::client::{Client, Error, Settings, Version};
use a2a::operation::TABLE;
use a2a::types::{
    CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTasksRequest, Message, SendMessageRequest, SubscribeToTaskRequest,
    TaskPushNotificationConfig,
};
use access::{Role, Rule};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::{Caller, closed, principal, token};
use crate::support::program::Monas;

/// The id of a task that does not exist.
const NONE: &str = "0199a1b2-0000-7000-8000-000000000000";

/// Performs the operation of a row over the way of a client.
pub(super) async fn perform(client: &Client, row: &str, task: &str) -> Result<String, Error> {
    let id = task.to_owned();
    let task_id = task.to_owned();
    let message = Message {
        task_id: task.to_owned(),
        ..Message::user(uuid::Uuid::new_v4().to_string(), "hello")
    };
    let send = SendMessageRequest::from(message);
    Ok(match row {
        "SendMessage" => format!("{:?}", client.send_message(send).await?),
        "SendStreamingMessage" => {
            let mut events = client.send_streaming_message(send).await?;
            format!("{:?}", events.next().await.transpose()?)
        }
        "GetTask" => {
            let request = GetTaskRequest {
                id,
                ..Default::default()
            };
            format!("{:?}", client.get_task(request).await?)
        }
        "ListTasks" => format!(
            "{:?}",
            client.list_tasks(ListTasksRequest::default()).await?
        ),
        "CancelTask" => {
            let request = CancelTaskRequest {
                id,
                ..Default::default()
            };
            format!("{:?}", client.cancel_task(request).await?)
        }
        "SubscribeToTask" => {
            let request = SubscribeToTaskRequest {
                id,
                ..Default::default()
            };
            let mut events = client.subscribe_to_task(request).await?;
            format!("{:?}", events.next().await.transpose()?)
        }
        "CreateTaskPushNotificationConfig" => {
            let url = "http://127.0.0.1:1/".to_owned();
            let request = TaskPushNotificationConfig {
                task_id,
                url,
                id: "c".to_owned(),
                ..Default::default()
            };
            format!("{:?}", client.create_push_config(request).await?)
        }
        "GetTaskPushNotificationConfig" => {
            let request = GetTaskPushNotificationConfigRequest {
                task_id,
                id: "c".to_owned(),
                ..Default::default()
            };
            format!("{:?}", client.get_push_config(request).await?)
        }
        "ListTaskPushNotificationConfigs" => {
            let request = ListTaskPushNotificationConfigsRequest {
                task_id,
                ..Default::default()
            };
            format!("{:?}", client.list_push_configs(request).await?)
        }
        "DeleteTaskPushNotificationConfig" => {
            let request = DeleteTaskPushNotificationConfigRequest {
                task_id,
                id: "c".to_owned(),
                ..Default::default()
            };
            format!("{:?}", client.delete_push_config(request).await?)
        }
        "GetExtendedAgentCard" => {
            let request = GetExtendedAgentCardRequest::default();
            format!("{:?}", client.get_extended_card(request).await?)
        }
        new => panic!("{new} is a new operation: say here how it is called"),
    })
}

/// Every wire of A2A: a binding and a version.
pub(super) fn wires() -> impl Iterator<Item = (&'static str, Version)> {
    let versions = [Version::V1_0, Version::V0_3];
    let of = move |version| BINDINGS.iter().map(move |binding| (binding.key, version));
    versions.into_iter().flat_map(of)
}

pub(super) async fn client(monas: &Monas, token: Option<&str>, wire: (&str, Version)) -> Client {
    let mut settings = match token {
        Some(token) => Settings::default().bearer(token).unwrap(),
        None => Settings::default(),
    };
    settings.bindings = vec![wire.0.to_owned()];
    settings.version = Some(wire.1);
    settings.attempts = 1;
    Client::discover(&monas.url, settings).await.unwrap()
}

/// The status of HTTP that stands for a refusal of the caller, if it is one.
fn refused(reply: &Result<String, Error>) -> Option<u16> {
    match reply {
        Err(Error::Unauthorized { status, .. }) => Some(*status),
        _ => None,
    }
}

#[tokio::test]
async fn each_role_may_what_the_rule_of_each_operation_of_a2a_says_over_every_wire() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut closed(home.path())).await;
    for wire in wires() {
        for role in Role::ALL {
            let token = token(role.name(), role);
            let client = client(&monas, Some(&token), wire).await;
            for row in TABLE {
                let expected = row.rule.check(&principal(role)).err().map(|_| 403);
                let reply = perform(&client, row.name, NONE).await;
                let about = format!("{} as {role} over {wire:?}: {reply:?}", row.name);
                assert_eq!(refused(&reply), expected, "{about}");
            }
        }
        let stranger = client(&monas, None, wire).await;
        for row in TABLE {
            let reply = perform(&stranger, row.name, NONE).await;
            // The old version has not every operation over every binding.
            if matches!(reply, Err(Error::Settings(_))) {
                continue;
            }
            assert_eq!(
                refused(&reply),
                Some(401),
                "{} over {wire:?}: {reply:?}",
                row.name
            );
        }
    }
    monas.stop().await;
}

/// A path of a table with its parameters filled.
fn filled(path: &str) -> String {
    let segments = path
        .split('/')
        .map(|segment| match segment.starts_with('{') {
            true => "x",
            false => segment,
        });
    segments.collect::<Vec<_>>().join("/")
}

fn permission_in(text: &str, rule: &Rule) -> bool {
    rule.permission().is_some_and(|it| text.contains(it.name()))
}

#[tokio::test]
async fn each_role_may_what_the_rule_of_each_route_says() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut closed(home.path())).await;
    let mut cells = 0;
    for row in monas::serve::rules::all() {
        let path = filled(row.path);
        for role in Role::ALL {
            let answer = Caller::with(&monas, role)
                .send(row.verb, &path, &json!({}))
                .await;
            let status = answer.status.as_u16();
            let about = format!("{} {path} as {role}: {status} {}", row.verb, answer.text);
            match row.rule.check(&principal(role)) {
                Ok(()) => assert!(![401, 403, 405, 500].contains(&status), "{about}"),
                Err(_) => {
                    assert_eq!(status, 403, "{about}");
                    assert!(permission_in(&answer.text, &row.rule), "{about}");
                }
            }
            cells += 1;
        }
        let answer = Caller::nameless(&monas)
            .send(row.verb, &path, &json!({}))
            .await;
        assert_eq!(answer.status, 401, "{} {path}: {}", row.verb, answer.text);
    }
    assert!(cells >= 100, "{cells}");
    monas.stop().await;
}

#[tokio::test]
async fn each_role_may_what_the_rule_of_each_operation_of_acp_and_each_method_of_mcp_says() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut closed(home.path())).await;
    for role in Role::ALL {
        let caller = Caller::with(&monas, role);
        for row in acp::operation::TABLE {
            assert_eq!(row.rule.method(), row.name);
            let expected = row.rule.check(&principal(role)).err().map(|_| 403);
            for route in row.routes {
                let path = format!("/acp{}", filled(route.path));
                let body = json!({
                    "agent_name": "nobody", "input": [], "await_resume": {
                        "type": "message", "message": { "role": "user", "parts": [] },
                    },
                });
                let answer = caller.send(route.verb.as_str(), &path, &body).await;
                let status = answer.status.as_u16();
                let refused = Some(status).filter(|it| matches!(it, 401 | 403));
                assert_eq!(refused, expected, "{} as {role}: {}", row.name, answer.text);
            }
        }
        for rule in mcp::METHODS {
            let expected = rule
                .check(&principal(role))
                .err()
                .map(|_| json!(mcp::code::FORBIDDEN));
            let params = json!({ "taskId": NONE, "name": "about", "uri": "x" });
            let reply = caller.mcp(rule.method(), params).await;
            let code = reply["error"]
                .get("code")
                .filter(|it| **it == json!(mcp::code::FORBIDDEN));
            assert_eq!(
                code.cloned(),
                expected,
                "{} as {role}: {reply}",
                rule.method()
            );
        }
    }
    let stranger = Caller::nameless(&monas);
    for row in acp::operation::TABLE {
        let route = row.routes[0];
        let path = format!("/acp{}", filled(route.path));
        let answer = stranger
            .send(route.verb.as_str(), &path, &Value::Null)
            .await;
        assert_eq!(answer.status, 401, "{}", row.name);
    }
    let answer = stranger.send("POST", "/mcp", &json!({})).await;
    assert_eq!(answer.status, 401);
    monas.stop().await;
}
