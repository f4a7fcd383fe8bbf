//! A call that takes longer than the time limit is answered with a task, which A2A shows too.

use a2a::service::{Call, Service as _};
use a2a::types::{CancelTaskRequest, TaskState};
use access::Principal;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, GetTaskParams, InputResponses,
    TaskPayload, TaskStatus, UpdateTaskParams,
};
use serde_json::json;

use crate::support::{BOTH, Bench, Client, User, Wire, refused, request};

async fn begin(client: &Client, call: CallToolRequestParams) -> rmcp::model::Task {
    match client.call_tool_once(call).await.unwrap() {
        CallToolResponse::Task(created) => created.task,
        other => panic!("no task: {other:?}"),
    }
}

async fn get(client: &Client, id: &str) -> rmcp::model::DetailedTask {
    client.get_task(GetTaskParams::new(id)).await.unwrap().task
}

#[tokio::test]
async fn what_ends_at_once_is_no_task_to_its_client() {
    let bench = Bench::start().await;
    let client = bench.client(Wire::Stateless, User::following()).await;
    let called = client
        .call_tool_once(request("greet", json!({ "who": "Ada" })))
        .await;
    assert!(matches!(called.unwrap(), CallToolResponse::Complete(_)));
}

#[tokio::test]
async fn a_long_call_can_be_watched_and_cancelled_from_either_side() {
    let bench = Bench::start().await;
    let client = bench.client(Wire::Stateless, User::following()).await;
    for from_a2a in [false, true] {
        let task = begin(&client, request("wait", json!({}))).await;
        assert_eq!(task.status, TaskStatus::Working);
        assert!(task.created_at.ends_with('Z') && task.created_at <= task.last_updated_at);
        let shown = get(&client, &task.task_id).await;
        assert_eq!(shown.payload, TaskPayload::Working);
        assert_eq!(shown.task.status_message.as_deref(), Some("waiting"));
        bench.until_state(&task.task_id, TaskState::Working).await;
        if from_a2a {
            let request = CancelTaskRequest {
                id: task.task_id.clone(),
                ..CancelTaskRequest::default()
            };
            let call = Call::by(Principal::anonymous());
            bench.server.cancel_task(call, request).await.unwrap();
        } else {
            client
                .cancel_task(CancelTaskParams::new(&task.task_id))
                .await
                .unwrap();
        }
        assert_eq!(
            get(&client, &task.task_id).await.payload,
            TaskPayload::Cancelled
        );
        // Cancelling a task that ended changes nothing.
        client
            .cancel_task(CancelTaskParams::new(&task.task_id))
            .await
            .unwrap();
        assert_eq!(
            get(&client, &task.task_id).await.status(),
            TaskStatus::Cancelled
        );
    }
}

#[tokio::test]
async fn a_task_that_asks_is_answered_with_an_update() {
    let bench = Bench::start().await;
    let client = bench.client(Wire::Stateless, User::following()).await;
    let task = begin(&client, request("order", json!({ "what": "a lamp" }))).await;
    assert_eq!(task.status, TaskStatus::InputRequired);
    let mut keys = Vec::new();
    for _ in 0..2 {
        bench
            .until_state(&task.task_id, TaskState::InputRequired)
            .await;
        let TaskPayload::InputRequired { input_requests } =
            get(&client, &task.task_id).await.payload
        else {
            panic!("nothing is asked");
        };
        let key = input_requests.keys().next().unwrap().clone();
        let answer = json!({ "action": "accept", "content": { "approved": true } });
        // A response to a question that is not open is ignored.
        let other = InputResponses::from([("another".to_owned(), answer.clone())]);
        client
            .update_task(UpdateTaskParams::new(&task.task_id, other))
            .await
            .unwrap();
        let answers = InputResponses::from([(key.clone(), answer)]);
        client
            .update_task(UpdateTaskParams::new(&task.task_id, answers))
            .await
            .unwrap();
        bench.past(&task.task_id, &key).await;
        keys.push(key);
    }
    assert_ne!(keys[0], keys[1]);
    bench.until_state(&task.task_id, TaskState::Completed).await;
    let TaskPayload::Completed { result } = get(&client, &task.task_id).await.payload else {
        panic!("not completed");
    };
    assert_eq!(result["structuredContent"]["text"], "a lamp: true, sure");
}

#[tokio::test]
async fn a_task_that_is_not_there_is_an_error() {
    let bench = Bench::start().await;
    let client = bench.client(Wire::Stateless, User::following()).await;
    let error = refused(client.get_task(GetTaskParams::new("none")).await);
    assert_eq!(error.code.0, -32602);
}

#[tokio::test]
async fn a_client_that_cannot_follow_tasks_is_not_given_any() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let client = bench.client(wire, User::plain()).await;
        let error = refused(client.get_task(GetTaskParams::new("none")).await);
        assert_eq!(error.code.0, -32021, "{wire:?}");
    }
}
