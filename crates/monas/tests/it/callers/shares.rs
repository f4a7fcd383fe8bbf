//! A caller at its limit does not keep another from being served.

use model::scripted::Turn;
use serde_json::{Value, json};

use super::Callers;

fn words(task: &Value) -> String {
    let status = &task["status"]["message"]["parts"];
    let artifacts = &task["artifacts"];
    format!("{status} {artifacts}")
}

/// Once one caller could spend the budget of all, until the next restart.
#[tokio::test]
async fn a_caller_that_has_spent_its_share_of_the_budget_leaves_the_rest() {
    let file = "[model]\nmax_tokens = 1000\ncaller_share = '50%'\n";
    let callers = Callers::start_with(file, |_, _| {}).await;
    callers.replies(Turn::text("Hello, Bob.").usage(600, 10));
    let first = callers.say("bob", "chat", "hello there").await;
    assert!(words(&first).contains("Hello, Bob."), "{first}");
    callers.replies(Turn::text("Hello, Ada.").usage(100, 10));
    let spent = callers.say("bob", "chat", "hello again").await;
    assert!(
        words(&spent).contains("610 of 500 tokens of this caller's share (model.caller_share)"),
        "{spent}"
    );
    let served = callers.say("ada", "chat", "hello there").await;
    assert!(words(&served).contains("Hello, Ada."), "{served}");
    callers.monas.stop().await;
}

/// Once 64 unanswered questions of one caller had every other write refused for a week.
#[tokio::test]
async fn open_questions_of_one_caller_leave_room_for_another() {
    let callers = Callers::start().await;
    let write =
        |path: String| Turn::calls("file-write", json!({ "path": path, "content": "text" }));
    let mut refused = None;
    for number in 0..40 {
        callers.replies(write(format!("bob-{number}.md")));
        let text = format!("write text to bob-{number}.md");
        let asked = callers.say("bob", &format!("chat-{number}"), &text).await;
        if asked["status"]["state"] != "TASK_STATE_INPUT_REQUIRED" {
            refused = Some(asked);
            break;
        }
    }
    // The model is told why its call is refused; the script has no answer to that, so the task ends here.
    let refused = refused.expect("there is a limit for one caller");
    assert!(
        callers
            .prompt()
            .to_string()
            .contains("calls of this caller"),
        "{refused}"
    );
    callers.replies(write("ada.md".to_owned()));
    let asked = callers.say("ada", "chat", "write text to ada.md").await;
    assert_eq!(
        asked["status"]["state"], "TASK_STATE_INPUT_REQUIRED",
        "{asked}"
    );
    callers.monas.stop().await;
}
