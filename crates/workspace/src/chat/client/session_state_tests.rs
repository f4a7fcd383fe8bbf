//! A client with messages, cuts and refusals.

use serde_json::{Value, json};

use super::ChatEvent;
use super::session_state::{Outgoing, SessionState, Step};

fn outgoing(id: &str) -> Outgoing {
    let message = json!({ "id": id, "type": "user_command", "payload": { "command": id } });
    Outgoing::new(id.to_owned(), message, None)
}

fn message(id: &str, kind: &str, payload: &Value, cursor: &str) -> Value {
    json!({
        "id": id, "type": kind, "payload": payload,
        "metadata": { "session_id": "one", "cursor": cursor },
    })
}

fn event(name: &str, data: &Value, cursor: &str) -> Value {
    let payload = json!({ "event": name, "data": data });
    message("e", "system_event", &payload, cursor)
}

/// A client with a connection whose session was restored.
fn live() -> SessionState {
    let mut state = SessionState::new("one".to_owned(), None);
    state.connected();
    restore(&mut state);
    state
}

fn restore(state: &mut SessionState) -> Step {
    state.take(&event("session_restored", &json!({ "waiting": [] }), "0.0"))
}

/// The ids of what is sent, without pings.
fn sent(step: &Step) -> Vec<&str> {
    let commands = step.frames.iter().filter(|it| it["type"] != "ping");
    commands.filter_map(|it| it["id"].as_str()).collect()
}

fn ping(step: &Step) -> String {
    let ping = step.frames.iter().find(|it| it["type"] == "ping").unwrap();
    ping["id"].as_str().unwrap().to_owned()
}

fn told(step: &Step) -> Vec<String> {
    let told = step.events.iter().map(|it| match it {
        ChatEvent::Message(it) => it.id.clone(),
        ChatEvent::Taken { id } => format!("taken {id}"),
        ChatEvent::Refused { id, code, .. } => format!("{code} {id}"),
        other => format!("{other:?}"),
    });
    told.collect()
}

#[test]
fn what_is_said_without_a_connection_is_sent_after_the_session_is_restored() {
    let mut state = SessionState::new("one".to_owned(), None);
    assert!(state.say(outgoing("a")).frames.is_empty());
    assert!(state.say(outgoing("b")).frames.is_empty());
    let step = state.connected();
    assert_eq!(step.frames[0]["type"], "restore_session");
    assert_eq!(step.frames.len(), 1);
    let step = restore(&mut state);
    assert_eq!(sent(&step), ["a"]);
    // The second goes when the server has the first.
    let step = state.take(&event(
        "pong",
        &json!({ "in_reply_to": ping(&step) }),
        "0.0",
    ));
    assert_eq!(
        (told(&step), sent(&step)),
        (vec!["taken a".to_owned()], vec!["b"])
    );
}

#[test]
fn a_message_is_told_once_and_the_cursor_of_what_passes_does_not_count() {
    let mut state = live();
    let said = message("m", "user_command", &json!({ "command": "x" }), "4.0");
    assert_eq!(told(&state.take(&said)), ["m"]);
    assert!(state.take(&said).events.is_empty());
    // The answer to a ping overtakes messages of its cursor.
    state.take(&event("pong", &json!({ "in_reply_to": "x" }), "9.0"));
    state.lost();
    let step = state.connected();
    assert_eq!(step.frames[0]["payload"]["cursor"], "4.0");
}

#[test]
fn a_message_that_the_server_had_taken_is_not_sent_again_after_a_cut() {
    let mut state = live();
    assert_eq!(sent(&state.say(outgoing("a"))), ["a"]);
    state.say(outgoing("b"));
    state.lost();
    state.connected();
    let step = state.take(&message("a", "user_command", &json!({}), "5.0"));
    assert_eq!(told(&step), ["a", "taken a"]);
    assert_eq!(sent(&restore(&mut state)), ["b"]);
    state.lost();
    state.connected();
    // It was cut off: the same id again.
    assert_eq!(sent(&restore(&mut state)), ["b"]);
}

#[test]
fn a_refusal_for_a_moment_keeps_the_order() {
    let mut state = live();
    let first = state.say(outgoing("a"));
    state.say(outgoing("b"));
    let limited = json!({ "code": "rate_limited", "in_reply_to": "a", "message": "later" });
    let step = state.take(&event("error", &limited, "0.0"));
    assert!(step.pause && step.events.is_empty() && step.frames.is_empty());
    // The ping behind it says nothing any more.
    let pong = json!({ "in_reply_to": ping(&first) });
    assert_eq!(state.take(&event("pong", &pong, "0.0")), Step::default());
    let step = state.go_on();
    assert_eq!(sent(&step), ["a"]);
    // Of a ping that is refused for a moment, the message before it was taken.
    let limited = json!({ "code": "rate_limited", "in_reply_to": ping(&step) });
    let step = state.take(&event("error", &limited, "0.0"));
    assert_eq!(
        (told(&step), sent(&step)),
        (vec!["taken a".to_owned()], vec!["b"])
    );
}

#[test]
fn a_refusal_for_good_is_told_and_the_next_message_goes() {
    let mut state = live();
    state.say(outgoing("a"));
    state.say(outgoing("b"));
    let wrong = json!({ "code": "invalid", "in_reply_to": "a", "message": "no" });
    let step = state.take(&event("error", &wrong, "0.0"));
    assert_eq!(
        (told(&step), sent(&step)),
        (vec!["invalid a".to_owned()], vec!["b"])
    );
}

#[test]
fn an_answer_that_was_taken_before_a_cut_is_not_refused_after_it() {
    let mut state = live();
    let answer = json!({ "id": "a", "type": "approval_response" });
    let answer = Outgoing::new("a".to_owned(), answer, Some("question".to_owned()));
    state.say(answer);
    state.lost();
    state.connected();
    assert_eq!(sent(&restore(&mut state)), ["a"]);
    let gone = json!({ "code": "not_found", "in_reply_to": "a", "message": "no approval" });
    assert_eq!(
        told(&state.take(&event("error", &gone, "0.0"))),
        ["taken a"]
    );
}

#[test]
fn a_restore_that_is_refused_for_a_moment_is_asked_for_again() {
    let mut state = SessionState::new("one".to_owned(), None);
    let step = state.connected();
    let limited = json!({ "code": "rate_limited", "in_reply_to": step.frames[0]["id"] });
    assert!(state.take(&event("error", &limited, "0.0")).pause);
    assert_eq!(state.go_on().frames[0]["type"], "restore_session");
}

#[test]
fn the_decision_of_one_answer_does_not_settle_another_one() {
    let answer = |id: &str, decision: &str| {
        let payload = json!({ "request_id": "q", "decision": decision });
        let message = json!({ "id": id, "type": "approval_response", "payload": payload });
        Outgoing::new(id.to_owned(), message, Some("q".to_owned()))
    };
    let mut state = live();
    let first = state.say(answer("yes", "approve"));
    state.say(answer("wrong", "perhaps"));
    // The first is known to be taken by its ping, so the second is on its way when the decision is told.
    let pong = event("pong", &json!({ "in_reply_to": ping(&first) }), "0.0");
    assert_eq!(told(&state.take(&pong)), ["taken yes"]);
    let data = json!({ "request_id": "q", "decision": "approve" });
    let decided = event("approval_decided", &data, "0.1");
    assert_eq!(told(&state.take(&decided)), ["e"]);
    let data = json!({ "code": "invalid", "message": "no such decision", "in_reply_to": "wrong" });
    let refused = event("error", &data, "0.0");
    assert_eq!(told(&state.take(&refused)), ["invalid wrong"]);
}
