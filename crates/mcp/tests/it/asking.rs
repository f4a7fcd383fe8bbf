//! A skill asks a question during a call, and the user of the client answers it.

use std::sync::Arc;

use a2a::event::EventStream;
use a2a::server::TABLES;
use a2a::service::{Answering, Call, Service};
use a2a::types::*;
use rmcp::model::{
    CallToolResponse, ElicitResult, ElicitationAction, InputResponses, ProtocolVersion,
    UpdateTaskParams,
};
use serde_json::{Value, json};
use store::Store;

use crate::support::{
    BOTH, Bench, Client, User, Wire, accept, approved, envelope, refused, request, state, texts,
};

fn order() -> rmcp::model::CallToolRequestParams {
    request("order", json!({ "what": "a lamp" }))
}

#[tokio::test]
async fn a_question_is_a_form_and_the_call_goes_on_with_the_answer() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let user = User::answering([
            approved(),
            accept(json!({ "approved": false, "why": "dear" })),
        ]);
        let asked = user.asked.clone();
        let client = bench.client(wire, user).await;
        let result = client.call_tool(order()).await.unwrap();
        assert_eq!(
            result.structured_content.unwrap()["text"],
            "a lamp: true, dear"
        );
        let asked = asked.lock().unwrap();
        let messages: Vec<_> = asked.iter().map(|form| &form["message"]).collect();
        assert_eq!(messages, ["Order a lamp?", "Really?"], "{wire:?}");
        let form = &asked[0]["requestedSchema"];
        assert_eq!(form["properties"]["approved"]["type"], "boolean");
        assert_eq!(form["required"], json!(["approved"]));
    }
}

#[tokio::test]
async fn an_answer_that_is_none_is_asked_for_again() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let wrong = accept(json!({ "approved": "maybe" }));
        let user = User::answering([wrong, approved(), approved()]);
        let asked = user.asked.clone();
        let client = bench.client(wire, user).await;
        let result = client.call_tool(order()).await.unwrap();
        assert_eq!(
            result.structured_content.unwrap()["text"],
            "a lamp: true, sure"
        );
        let again = asked.lock().unwrap()[1]["message"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(again.contains("not understood: /approved"), "{again}");
    }
}

#[tokio::test]
async fn a_declined_question_ends_the_call() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let declined = ElicitResult::new(ElicitationAction::Decline);
        let client = bench.client(wire, User::answering([declined])).await;
        let result = client.call_tool(order()).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        assert_eq!(texts(&result), ["the question was declined"]);
        assert_eq!(
            envelope(&result).1["status"]["state"],
            "TASK_STATE_REJECTED"
        );
    }
}

/// Regression: closing a form without a choice was taken for declining it.
#[tokio::test]
async fn a_form_that_is_put_away_leaves_the_question_open() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let put_away = ElicitResult::new(ElicitationAction::Cancel);
        let user = User::answering([put_away]);
        let asked = user.asked.clone();
        let client = bench.client(wire, user).await;
        let result = client.call_tool(order()).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        let task = envelope(&result).1;
        let task = bench.load(task["id"].as_str().unwrap()).await;
        assert_eq!(state(&task), TaskState::InputRequired);
        // The form is not shown again right after the user closed it.
        assert_eq!(asked.lock().unwrap().len(), 1, "{wire:?}");
    }
}

/// A service that cancels every task just before a message for it arrives.
struct Ending(a2a::Server);

impl Ending {
    fn end(&self, call: &Call, request: &SendMessageRequest) -> Option<Answering<Task>> {
        let id = request.message.as_ref()?.task_id.clone();
        let request = CancelTaskRequest {
            id,
            ..CancelTaskRequest::default()
        };
        let call = Call::by(call.caller.clone());
        (!request.id.is_empty()).then(|| self.0.cancel_task(call, request))
    }
}

macro_rules! as_it_is {
    ($($method:ident: $request:ty => $reply:ty;)*) => {
        $(fn $method(&self, call: Call, request: $request) -> Answering<$reply> {
            self.0.$method(call, request)
        })*
    };
}

impl Service for Ending {
    fn card(&self) -> &AgentCard {
        self.0.card()
    }

    fn send_message(
        &self,
        call: Call,
        request: SendMessageRequest,
    ) -> Answering<SendMessageResponse> {
        let (tasks, ending) = (self.0.clone(), self.end(&call, &request));
        Box::pin(async move {
            if let Some(ending) = ending {
                ending.await?;
            }
            tasks.send_message(call, request).await
        })
    }

    fn send_streaming_message(
        &self,
        call: Call,
        request: SendMessageRequest,
    ) -> Answering<EventStream> {
        let (tasks, ending) = (self.0.clone(), self.end(&call, &request));
        Box::pin(async move {
            if let Some(ending) = ending {
                ending.await?;
            }
            tasks.send_streaming_message(call, request).await
        })
    }

    as_it_is! {
        get_task: GetTaskRequest => Task;
        list_tasks: ListTasksRequest => ListTasksResponse;
        cancel_task: CancelTaskRequest => Task;
        subscribe_to_task: SubscribeToTaskRequest => EventStream;
        create_push_config: TaskPushNotificationConfig => TaskPushNotificationConfig;
        get_push_config: GetTaskPushNotificationConfigRequest => TaskPushNotificationConfig;
        list_push_configs: ListTaskPushNotificationConfigsRequest
            => ListTaskPushNotificationConfigsResponse;
        delete_push_config: DeleteTaskPushNotificationConfigRequest => Empty;
        get_extended_card: GetExtendedAgentCardRequest => AgentCard;
    }
}

/// Regression: when the task was cancelled while its form was open, the client got an internal error.
#[tokio::test]
async fn an_answer_that_comes_too_late_is_told_how_the_task_ended() {
    let store = Store::memory(TABLES);
    let change = |config: &mut mcp::Config, tasks: &a2a::Server| {
        config.tasks = Arc::new(Ending(tasks.clone()));
    };
    let bench = Bench::over(store, change, |_| {}).await;
    for wire in BOTH {
        let client = bench.client(wire, User::answering([approved()])).await;
        let result = client.call_tool(order()).await.unwrap();
        assert_eq!(result.is_error, Some(true), "{wire:?}");
        assert_eq!(texts(&result), ["the task was cancelled"]);
        let ended = &envelope(&result).1["status"]["state"];
        assert_eq!(ended, "TASK_STATE_CANCELED");
    }
    let client = bench.client(Wire::Stateless, User::following()).await;
    let CallToolResponse::Task(created) = client.call_tool_once(order()).await.unwrap() else {
        panic!("no task");
    };
    let id = created.task.task_id;
    let key = format!("question-{}", bench.load(&id).await.generation);
    let answer = json!({ "action": "accept", "content": { "approved": true } });
    let update = UpdateTaskParams::new(&id, answers(&key, answer));
    client.update_task(update).await.unwrap();
    assert_eq!(state(&bench.load(&id).await), TaskState::Canceled);
}

#[tokio::test]
async fn a_client_without_forms_is_told_what_is_asked_and_by_which_task() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let client = bench.client(wire, User::plain()).await;
        let result = client.call_tool(order()).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        let task = envelope(&result).1;
        let id = task["id"].as_str().unwrap();
        let said = texts(&result).join("\n");
        assert!(
            said.contains("Order a lamp?") && said.contains(id),
            "{said}"
        );
        assert_eq!(state(&bench.load(id).await), TaskState::InputRequired);
    }
}

/// One round of revision 2026-07-28: the state, and the key of the question.
async fn first_round(client: &Client) -> (String, String) {
    let CallToolResponse::InputRequired(round) = client.call_tool_once(order()).await.unwrap()
    else {
        panic!("nothing is asked");
    };
    let requests = round.input_requests.unwrap();
    let key = requests.keys().next().unwrap().clone();
    (round.request_state.unwrap(), key)
}

fn answers(key: &str, answer: Value) -> InputResponses {
    InputResponses::from([(key.to_owned(), answer)])
}

#[tokio::test]
async fn a_state_is_good_for_its_call_only() {
    let bench = Bench::start().await;
    let client = bench.client(Wire::Stateless, User::answering([])).await;
    let (state, key) = first_round(&client).await;
    let answer = json!({ "action": "accept", "content": { "approved": true } });
    let mut other = request("order", json!({ "what": "ten lamps" }));
    other.request_state = Some(state.clone());
    other.input_responses = Some(answers(&key, answer.clone()));
    let mut forged = order();
    forged.request_state = Some(format!("{state}A"));
    forged.input_responses = Some(answers(&key, answer));
    for wrong in [other, forged] {
        let error = refused(client.call_tool_once(wrong).await);
        assert_eq!(error.code.0, -32602);
        assert!(error.message.contains("requestState"), "{}", error.message);
    }
}

/// An answer that is sent twice, because the first reply was lost, counts once.
#[tokio::test]
async fn an_answer_is_taken_once() {
    let bench = Bench::start().await;
    let client = bench.client(Wire::Stateless, User::answering([])).await;
    let (state, key) = first_round(&client).await;
    let answer = json!({ "action": "accept", "content": { "approved": true } });
    let mut keys = Vec::new();
    for _ in 0..2 {
        let mut retry = order();
        retry.request_state = Some(state.clone());
        retry.input_responses = Some(answers(&key, answer.clone()));
        let CallToolResponse::InputRequired(round) = client.call_tool_once(retry).await.unwrap()
        else {
            panic!("nothing is asked");
        };
        let asked = round.input_requests.unwrap();
        let (key, form) = asked.first_key_value().unwrap();
        assert_eq!(
            serde_json::to_value(form).unwrap()["params"]["message"],
            "Really?"
        );
        keys.push(key.clone());
    }
    assert_eq!(keys[0], keys[1]);
}

#[tokio::test]
async fn an_answer_that_is_missing_or_odd_is_asked_for_again() {
    let bench = Bench::start().await;
    let client = bench.client(Wire::Stateless, User::answering([])).await;
    let (state, key) = first_round(&client).await;
    for responses in [
        None,
        Some(answers("another", json!({ "action": "decline" }))),
        Some(answers(&key, json!(42))),
        Some(answers(&key, json!({ "action": "shrug" }))),
    ] {
        let mut retry = order();
        retry.request_state = Some(state.clone());
        retry.input_responses = responses;
        let CallToolResponse::InputRequired(round) = client.call_tool_once(retry).await.unwrap()
        else {
            panic!("nothing is asked");
        };
        assert!(round.input_requests.unwrap().contains_key(&key));
    }
}

/// Everything that the second server needs is in the sealed state and in the journal.
#[tokio::test]
async fn a_question_survives_the_server() {
    let store = Store::memory(TABLES);
    let key = b"a key that outlives the process".to_vec();
    let first = Bench::on(store.clone(), |it| it.key = key.clone(), |_| {}).await;
    let client = first.client(Wire::Stateless, User::answering([])).await;
    let (state, name) = first_round(&client).await;

    let second = Bench::on(store, |it| it.key = key, |_| {}).await;
    let client = second
        .client(Wire::Stateless, User::answering([approved()]))
        .await;
    let mut retry = order();
    retry.request_state = Some(state);
    let answer = json!({ "action": "accept", "content": { "approved": true } });
    retry.input_responses = Some(answers(&name, answer));
    let result = client.call_tool(retry).await.unwrap();
    assert_eq!(
        result.structured_content.unwrap()["text"],
        "a lamp: true, sure"
    );
    assert_eq!(
        client.peer_info().unwrap().protocol_version,
        ProtocolVersion::V_2026_07_28
    );
}
