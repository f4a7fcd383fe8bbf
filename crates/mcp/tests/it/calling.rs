//! Calling a tool, and the task of the call.

use a2a::types::TaskState;
use rmcp::model::{ClientRequest, Request, RequestMetaObject};
use rmcp::service::PeerRequestOptions;
use serde_json::{Value, json};

use crate::support::{BOTH, Bench, User, Wire, envelope, refused, request, state, texts};

#[tokio::test]
async fn a_result_is_typed_and_readable_and_holds_the_task() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let client = bench.client(wire, User::plain()).await;
        let called = client
            .call_tool(request("greet", json!({ "who": "Ada" })))
            .await;
        let result = called.unwrap();
        assert_eq!(result.is_error, Some(false));
        let greeting = json!({ "text": "Hello, Ada!" });
        assert_eq!(result.structured_content, Some(greeting.clone()));
        assert_eq!(texts(&result), [greeting.to_string()]);
        let (uri, task) = envelope(&result);
        let id = task["id"].as_str().unwrap();
        assert!(
            uri.starts_with("tag:test-agent,20") && uri.ends_with(id),
            "{uri}"
        );
        assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
        assert_eq!(task["artifacts"][0]["artifactId"], "output");
        assert_eq!(state(&bench.load(id).await), TaskState::Completed);
    }
}

#[tokio::test]
async fn what_is_no_object_is_typed_on_the_newer_wire_only() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let client = bench.client(wire, User::plain()).await;
        let result = client
            .call_tool(request("shout", json!({ "text": "hi" })))
            .await
            .unwrap();
        assert_eq!(texts(&result), ["HI"]);
        let expected = (wire == Wire::Stateless).then(|| Value::from("HI"));
        assert_eq!(result.structured_content, expected);
    }
}

#[tokio::test]
async fn a_message_is_a_result_without_a_task() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let client = bench.client(wire, User::plain()).await;
        let result = client.call_tool(request("tell", json!({}))).await.unwrap();
        assert_eq!(texts(&result), ["It is late."]);
        let (uri, message) = envelope(&result);
        assert_eq!(message["role"], "ROLE_AGENT");
        assert!(
            uri.ends_with(message["messageId"].as_str().unwrap()),
            "{uri}"
        );
    }
    assert!(bench.all().await.is_empty());
}

#[tokio::test]
async fn all_faults_of_an_input_are_told_and_the_skill_is_not_run() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let client = bench.client(wire, User::plain()).await;
        let wrong = request("greet", json!({ "who": 1, "times": 9 }));
        let result = client.call_tool(wrong).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        let said = texts(&result).join("\n");
        assert!(said.contains("/who") && said.contains("/times"), "{said}");
    }
    assert!(bench.all().await.is_empty());
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_an_error_of_the_protocol() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let client = bench.client(wire, User::plain()).await;
        let error = refused(client.call_tool(request("fly", json!({}))).await);
        assert_eq!(
            (error.code.0, &*error.message),
            (-32602, "unknown tool: fly")
        );
    }
}

#[tokio::test]
async fn a_failure_is_a_result_and_a_crash_is_none() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let client = bench.client(wire, User::plain()).await;
        let result = client.call_tool(request("fail", json!({}))).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        assert_eq!(texts(&result), ["There is no paper."]);
        assert_eq!(envelope(&result).1["status"]["state"], "TASK_STATE_FAILED");

        let error = refused(client.call_tool(request("crash", json!({}))).await);
        assert_eq!(error.code.0, -32603);
        let id = error.data.unwrap()["taskId"].as_str().unwrap().to_owned();
        assert_eq!(state(&bench.load(&id).await), TaskState::Failed);
    }
}

#[tokio::test]
async fn progress_is_sent_to_clients_that_ask_for_it() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let (user, mut told) = User::told();
        let client = bench.client(wire, user).await;
        let result = client.call_tool(request("count", json!({}))).await.unwrap();
        let mut heard = Vec::new();
        for _ in 0..3 {
            let step = told.recv().await.unwrap();
            heard.push((step.progress, step.total, step.message.unwrap()));
        }
        let steps = [1.0, 2.0, 3.0].map(|step| (step, Some(3.0), format!("step {step}")));
        assert_eq!(heard, steps, "{wire:?}");
        // Artifacts other than the output are linked.
        let mut links = result.content.iter().filter_map(|it| it.as_resource_link());
        let link = links.next().unwrap();
        assert!(
            link.uri.ends_with("/artifacts/a%20file%2Ebin"),
            "{}",
            link.uri
        );
        assert_eq!(link.mime_type.as_deref(), Some("application/x-count"));
    }
}

#[tokio::test]
async fn a_cancelled_request_cancels_the_task() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let (user, mut told) = User::told();
        let client = bench.client(wire, user).await;
        let call = Request::new(request("wait", json!({})));
        let call = ClientRequest::CallToolRequest(call);
        let sent = client.send_cancellable_request(call, PeerRequestOptions::no_options());
        let sent = sent.await.unwrap();
        told.recv().await.unwrap();
        let id = bench.all().await[0].id.clone();
        sent.cancel(Some("enough".to_owned())).await.unwrap();
        bench.until_state(&id, TaskState::Canceled).await;
    }
}

/// A call that is repeated under the same name runs once.
#[tokio::test]
async fn a_call_with_a_name_is_made_once() {
    let bench = Bench::start().await;
    let client = bench.client(Wire::Stateless, User::plain()).await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let mut call = request("greet", json!({ "who": "Ada" }));
        let mut meta = RequestMetaObject::new();
        meta.insert("urn:monas:mcp:call".to_owned(), json!("the one"));
        call.meta = Some(meta);
        let result = client.call_tool(call).await.unwrap();
        ids.push(envelope(&result).1["id"].clone());
    }
    assert_eq!(ids[0], ids[1]);
    assert_eq!(bench.all().await.len(), 1);
}
