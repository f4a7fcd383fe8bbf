//! Messages of the chat as events: pieces, interrupts, results between runs.

use agent::State;

use super::*;
use crate::chat::{Cursor, Metadata, Priority, Source};

fn message(kind: MessageType, id: &str, task: &str, payload: Value) -> Envelope {
    Envelope {
        id: id.to_owned(),
        kind,
        timestamp: String::new(),
        source: Source::Agent,
        payload,
        metadata: Metadata {
            session_id: "s".to_owned(),
            agent_state: State::Executing,
            priority: Priority::Normal,
            task_id: Some(task.to_owned()),
            cursor: Cursor::default(),
        },
    }
}

fn thought(id: &str, part: &str, content: &str, partial: bool) -> Envelope {
    let mut payload = json!({ "action_type": "reasoning", "content": content, "part": part });
    if partial {
        payload["partial"] = true.into();
    }
    message(MessageType::AgentAction, id, "t", payload)
}

fn call(task: &str, input: &Value) -> Envelope {
    let calls = json!([{ "id": format!("{task}.1.0"), "tool": "file-write", "parameters": input }]);
    let payload = json!({ "action_type": "tool_call", "tool_calls": calls });
    message(MessageType::AgentAction, "c", task, payload)
}

fn system(task: &str, event: &str, data: &Value) -> Envelope {
    let payload = json!({ "event": event, "data": data });
    message(MessageType::SystemEvent, "e", task, payload)
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|it| words(&it["type"])).collect()
}

#[test]
fn pieces_of_a_thought_are_deltas_and_reasoning_is_told_once() {
    let mut translator = Translator::new("a", "s");
    translator.follow("t");
    let mut events = translator.take(&thought("x", REASONING, "First", true));
    events.extend(translator.take(&thought("x", REASONING, "First this", true)));
    let mut text = thought("x", TEXT, "Done ", true);
    text.payload["reasoning"] = "First this.".into();
    events.extend(translator.take(&text));
    // The recorded message of the reasoning has an id of its own.
    events.extend(translator.take(&thought("y", REASONING, "First this.", false)));
    let answer = json!({ "action_type": "response", "content": "Done well" });
    events.extend(translator.take(&message(MessageType::AgentAction, "x", "t", answer)));
    let told = |kind: &str| -> String {
        let of = events.iter().filter(|it| it["type"] == kind);
        of.map(|it| words(&it["delta"])).collect()
    };
    assert_eq!(told("REASONING_MESSAGE_CONTENT"), "First this.");
    let count = |kind: &str| kinds(&events).iter().filter(|it| **it == kind).count();
    assert_eq!(count("REASONING_START"), 1, "{events:#?}");
    assert_eq!(count("REASONING_END"), 1);
    assert!(
        told("TEXT_MESSAGE_CONTENT").ends_with("Done well"),
        "{events:#?}"
    );
    assert_eq!(count("TEXT_MESSAGE_START"), count("TEXT_MESSAGE_END"));
}

#[test]
fn an_approval_ends_the_run_and_its_answer_goes_on_under_the_same_call() {
    let mut translator = Translator::new("a", "s");
    translator.follow("t");
    let input = json!({ "path": "a.md" });
    let events = translator.take(&call("t", &input));
    assert_eq!(
        kinds(&events),
        ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"]
    );
    assert_eq!(translator.outcome(), None);
    let details = json!({ "path": "a.md", "preview": "+a", "expires": "2030-01-01T00:00:00Z" });
    let payload = json!({ "action": "file-write", "description": "Call it", "details": details });
    let asked = message(MessageType::ApprovalRequest, "q", "t", payload);
    translator.take(&asked);
    let Some(Outcome::Interrupt(interrupts)) = translator.outcome() else {
        panic!("it goes on");
    };
    assert_eq!(interrupts[0]["id"], "q");
    assert_eq!(interrupts[0]["toolCallId"], "t.1.0");
    assert_eq!(interrupts[0]["expiresAt"], "2030-01-01T00:00:00Z");

    // The next run reads the session, in which the call is known.
    let mut translator = Translator::new("a", "s");
    translator.recall(&call("t", &input));
    translator.recall(&asked);
    translator.answered("q");
    translator.follow("t");
    assert_eq!(translator.outcome(), None);
    let result = json!({ "tool": "file-write", "call_id": "t.1.0", "output": "written" });
    let result = message(MessageType::ToolResult, "r", "t", result);
    let events = translator.take(&result);
    assert_eq!(events[0]["toolCallId"], "t.1.0");
    assert_eq!(events[0]["content"], "written");
    translator.take(&system("t", "task_completed", &json!({})));
    assert_eq!(translator.outcome(), Some(Outcome::Success));
}

#[test]
fn a_result_that_came_between_two_runs_is_told_by_the_second() {
    let mut translator = Translator::new("a", "s");
    translator.recall(&call("t", &json!({})));
    let result = json!({ "tool": "file-write", "call_id": "t.1.0", "output": "written" });
    translator.recall(&message(MessageType::ToolResult, "r", "t", result));
    translator.follow("t");
    let open = BTreeSet::from(["t.1.0".to_owned()]);
    let events = translator.begin("run", &Value::Null, &open);
    assert_eq!(
        kinds(&events),
        ["RUN_STARTED", "STATE_SNAPSHOT", "TOOL_CALL_RESULT"]
    );
    let events = translator.begin("run", &json!([1]), &BTreeSet::new());
    assert_eq!(kinds(&events), ["RUN_STARTED"]);
}

#[test]
fn other_tasks_of_the_session_are_left_out() {
    let mut translator = Translator::new("a", "s");
    translator.follow("t");
    assert!(translator.take(&call("other", &json!({}))).is_empty());
    let ended = system("other", "task_failed", &json!({ "message": "no" }));
    assert!(translator.take(&ended).is_empty());
    assert_eq!(translator.outcome(), None);
    let ended = system("t", "task_failed", &json!({ "message": "no" }));
    translator.take(&ended);
    let failed = Outcome::Error("task_failed".to_owned(), "no".to_owned());
    assert_eq!(translator.outcome(), Some(failed.clone()));
    let events = translator.end("run", &Value::Null, failed);
    assert_eq!(kinds(&events), ["RUN_ERROR"]);
}
