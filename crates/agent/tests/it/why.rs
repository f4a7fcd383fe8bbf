//! Asked why, an agent answers from its journal, and each answer can be followed.

use std::sync::Arc;

use agent::{Change, EventKind, Record};
use model::scripted::{Scripted, Turn};
use serde_json::json;

use crate::support::{World, approve, said};

/// What a cited event says, to compare a sentence with.
fn evidence(record: &Record) -> String {
    serde_json::to_string(record).unwrap()
}

#[tokio::test]
async fn every_sentence_cites_an_event_that_says_so() {
    let world = World::new();
    let bench = world.begin().await;
    bench.say("remember that milk is sold at the corner").await;
    let task = bench.say("note buy milk in todo.md").await;
    bench.answer(&task, approve()).await;
    let why = bench.handle.why("why did you write-note?").await.unwrap();
    assert!(why.known);
    let history = bench.handle.history().await.unwrap();
    let cited = |at: usize| {
        let because = &why.because[at];
        let record = history.iter().find(|(event, _)| *event == because.event);
        (because.says.as_str(), &record.unwrap().1)
    };
    let last = why.because.len() - 1;
    let (says, record) = cited(0);
    assert_eq!(says, "ada asked: note buy milk in todo.md");
    assert!(
        matches!(&record.event.what, EventKind::Heard(heard) if heard.text == "note buy milk in todo.md")
    );
    for at in 0..=last {
        let (says, record) = cited(at);
        let evidence = evidence(record);
        let claims: &[&str] = match says {
            says if says.starts_with("I recalled") => &["milk is sold at the corner"],
            says if says.starts_with("I decided to call write-note") => {
                &["\"effect\":\"call\"", "write-note", "buy milk"]
            }
            says if says.starts_with("A person had to agree") => {
                &["\"change\":\"asked\"", "write-note"]
            }
            says if says.starts_with("ada approved") => {
                &["\"change\":\"decided\"", "\"by\":\"ada\""]
            }
            says if says.starts_with("It gave: wrote todo.md") => {
                &["\"change\":\"outcome\"", "wrote todo.md"]
            }
            says if says.starts_with("So I said: wrote todo.md") => {
                &["\"change\":\"ended\"", "wrote todo.md"]
            }
            says if says.starts_with("ada asked") => &["\"event\":\"heard\""],
            other => unreachable!("nobody expected {other}"),
        };
        for claim in claims {
            assert!(evidence.contains(claim), "{says}: {evidence}");
        }
    }
    let kinds = [
        "A person had to agree",
        "ada approved",
        "It gave",
        "So I said",
    ];
    for kind in kinds {
        assert!(
            why.because.iter().any(|it| it.says.starts_with(kind)),
            "{}",
            why.text()
        );
    }
}

#[tokio::test]
async fn what_it_cannot_know_is_answered_as_such() {
    let world = World::new();
    let bench = world.begin().await;
    bench.say("greet Ada").await;
    let why = bench
        .handle
        .why("why is the moon made of cheese?")
        .await
        .unwrap();
    assert!(!why.known && why.because.is_empty());
    assert_eq!(
        why.text(),
        "I do not know: nothing in my journal is about that."
    );
}

#[tokio::test]
async fn it_knows_why_its_law_is_what_it_is() {
    let world = World::new();
    let bench = world.begin().await;
    let edit = agent::Edit {
        target: "attention".to_owned(),
        change: serde_json::json!("turns = 1"),
        justification: "one thing at a time".to_owned(),
    };
    bench.handle.amend(edit, "ada").await.unwrap();
    let why = bench.handle.why("why is your law as it is?").await.unwrap();
    let said = &why.because.last().unwrap();
    assert!(said.says.contains("one thing at a time"), "{}", said.says);
    let history = bench.handle.history().await.unwrap();
    let (_, record) = history
        .iter()
        .find(|(event, _)| *event == said.event)
        .unwrap();
    assert!(
        record
            .changes
            .iter()
            .any(|it| matches!(it, Change::Law { why, .. } if why == "one thing at a time"))
    );
}

#[tokio::test]
async fn what_others_called_by_name_is_known_too() {
    let world = World::new();
    let bench = world.begin().await;
    let note = json!({ "path": "shopping.md", "content": "milk" });
    let task = bench.call("write-note", note).await;
    bench.answer(&task, approve()).await;
    for question in [task.id.as_str(), "why is there shopping?", "write-note"] {
        let why = bench.handle.why(question).await.unwrap();
        let says: Vec<&str> = why.because.iter().map(|it| it.says.as_str()).collect();
        assert!(
            says[0].starts_with("ada called write-note with"),
            "{question}: {says:?}"
        );
        assert!(says.contains(&"ada approved it."), "{question}: {says:?}");
        assert_eq!(says.last(), Some(&"It gave: wrote shopping.md"));
    }
    let history = bench.handle.history().await.unwrap();
    let called =
        |it: &EventKind| matches!(it, EventKind::Called { skill, .. } if skill == "write-note");
    assert!(history.iter().any(|(_, record)| called(&record.event.what)));
}

/// It went wrong: only the words of a request led to it, not those of what was done for it.
#[tokio::test]
async fn an_act_is_found_by_what_was_done_and_said() {
    let world = World::new();
    let note = json!({ "path": "groceries.md", "content": "apples" });
    let model = Scripted::new([
        Turn::calls("write-note", note),
        Turn::text("It is on the list for Saturday."),
        Turn::text("Fine."),
    ]);
    let bench = world
        .begin_with(agent::Law::default(), Some(Arc::new(model)))
        .await;
    let task = bench.say("do as always").await;
    bench.answer(&task, approve()).await;
    bench.say("something else").await;
    for question in ["why is there groceries?", "why the list for Saturday?"] {
        let why = bench.handle.why(question).await.unwrap().text();
        assert!(why.contains("ada asked: do as always"), "{question}: {why}");
        assert!(why.contains("ada approved it."), "{question}: {why}");
    }
}

#[tokio::test]
async fn the_last_act_of_a_conversation_is_explained_to_its_caller() {
    let world = World::new();
    let bench = world.begin().await;
    let why = bench.handle.why_last("ada", "talk").await.unwrap();
    assert!(!why.known);
    let task = bench.say("note buy milk in todo.md").await;
    bench.answer(&task, approve()).await;
    bench.say("flibber").await;
    bench.send(said("other", "greet Bob")).await;
    let told = bench.handle.why_last("ada", "talk").await.unwrap().text();
    for says in [
        "You asked: note buy milk",
        "You approved it.",
        "It gave: wrote",
    ] {
        assert!(told.contains(says), "{told}");
    }
    assert!(!told.contains("Bob"), "{told}");
    let eve = bench.handle.why_last("eve", "talk").await.unwrap();
    assert!(!eve.known, "{}", eve.text());
    // Without a conversation it is the last act of all.
    let told = bench
        .handle
        .why("why did you do that?")
        .await
        .unwrap()
        .text();
    assert!(told.contains("greet Bob"), "{told}");
}

/// It went wrong: the words that every question has made it a question about another request, and outputs were told as JSON.
#[tokio::test]
async fn a_question_that_names_nothing_is_about_the_last_act_and_is_told_in_words() {
    let world = World::new();
    let bench = world.begin().await;
    bench.say("what can you do?").await;
    let task = bench.say("note buy milk in todo.md").await;
    bench.answer(&task, approve()).await;
    for question in ["what did you do today?", "why did you do that?"] {
        let why = bench.handle.why(question).await.unwrap();
        let text = why.text();
        assert!(text.contains("note buy milk in todo.md"), "{text}");
        assert!(!text.contains("what can you do?"), "{text}");
        assert!(!text.contains('{'), "{text}");
        assert!(
            text.contains("I decided to call write-note with "),
            "{text}"
        );
    }
    // Words that are in all questions make no two of them the same.
    let why = bench.handle.why("what can you say of the moon?").await;
    assert!(!why.unwrap().known);
}
