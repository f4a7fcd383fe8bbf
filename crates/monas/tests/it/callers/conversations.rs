//! A conversation belongs to its caller: the same `contextId` or session of another is another conversation.

use model::scripted::Turn;
use serde_json::{Value, json};

use super::Callers;

/// What the model was shown of the words of people, without the system part.
fn said_by_users(prompt: &Value) -> Vec<&str> {
    let messages = prompt["messages"].as_array().unwrap().iter();
    let users = messages.filter(|it| it["role"] == "user");
    users.filter_map(|it| it["content"].as_str()).collect()
}

/// Once Bob's prompt had Ada's line as his own earlier message, and hers had his.
#[tokio::test]
async fn a_context_id_that_two_callers_use_is_two_conversations() {
    let callers = Callers::start().await;
    let context = uuid::Uuid::new_v4().to_string();
    callers.replies(Turn::text("I keep it to myself."));
    callers
        .say("ada", &context, "my password is hunter2-zebra")
        .await;
    callers.replies(Turn::text("Hello, Bob."));
    callers
        .say("bob", &context, "write the word pelican everywhere")
        .await;
    let prompt = callers.prompt().to_string();
    assert!(!prompt.contains("zebra"), "{prompt}");

    callers.replies(Turn::text("Good morning, Ada."));
    callers.say("ada", &context, "good morning").await;
    let prompt = callers.prompt();
    let said = said_by_users(&prompt);
    assert!(said.iter().any(|it| it.contains("zebra")), "{said:?}");
    assert!(!prompt.to_string().contains("pelican"), "{prompt}");

    // A session of ACP is the same conversation for the same caller, and another one for another caller.
    for (caller, knows) in [("bob", false), ("ada", true)] {
        callers.replies(Turn::text("Hello."));
        let agents = callers
            .ask(caller, "GET", "/acp/agents", &Value::Null)
            .await;
        let agents = agents["agents"].as_array().unwrap().clone();
        let whole = agents.first().unwrap()["name"].clone();
        let run = json!({ "agent_name": whole, "session_id": context, "mode": "sync",
            "input": [{ "role": "user", "parts": [{ "content_type": "text/plain", "content": "hello again" }] }] });
        let run = callers.ask(caller, "POST", "/acp/runs", &run).await;
        assert_eq!(run["status"], "completed", "{run} {agents:?}");
        let prompt = callers.prompt().to_string();
        assert_eq!(prompt.contains("zebra"), knows, "{caller}: {prompt}");
        assert_eq!(prompt.contains("pelican"), !knows, "{caller}: {prompt}");
        let session = format!("/acp/session/{context}");
        let session = callers.ask(caller, "GET", &session, &Value::Null).await;
        let runs = session["history"].as_array().map(Vec::len);
        assert!(runs.is_some_and(|it| it > 0), "{caller}: {session}");
    }
    callers.monas.stop().await;
}
