//! An agent that thinks with a language model, played by a script.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use a2a::service::Service as _;
use a2a::types::{Event as Payload, Part, TaskState};
use agent::Law;
use futures_util::StreamExt as _;
use model::scripted::{Failure, Scripted, Turn};
use model::{Deltas, Message, Model, Request};
use serde_json::json;

use crate::support::{World, approve, call, output, said, state, status};

#[tokio::test]
async fn it_calls_skills_and_says_what_came_of_them() {
    let model = Scripted::new([
        Turn::new()
            .reason("Two people.")
            .call("greet", json!({ "who": "Ada" }))
            .call("greet", json!({ "who": "Bob" })),
        Turn::text("I greeted both."),
    ]);
    let world = World::new();
    let bench = world
        .begin_with(Law::default(), Some(Arc::new(model.clone())))
        .await;
    let task = bench.say("greet Ada and Bob").await;
    assert_eq!(
        (state(&task), output(&task).as_str()),
        (TaskState::Completed, "I greeted both.")
    );
    let requests = model.requests();
    assert_eq!(requests.len(), 2);
    let results = requests[1]
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Result(result) => Some(result.content.as_str()),
            _ => None,
        });
    assert_eq!(results.collect::<Vec<_>>(), ["Hello, Ada!", "Hello, Bob!"]);
    let system = requests[0].system.as_deref().unwrap();
    assert!(
        system.contains("You are Scout.") && system.contains("keep the notes of the team"),
        "{system}"
    );
}

#[tokio::test]
async fn it_knows_the_conversation_so_far() {
    let model = Scripted::new([Turn::text("Hello."), Turn::text("Again?")]);
    let world = World::new();
    let bench = world
        .begin_with(Law::default(), Some(Arc::new(model.clone())))
        .await;
    bench.say("hello").await;
    bench.say("hello again").await;
    let said: Vec<String> = model.requests()[1]
        .messages
        .iter()
        // What memory holds is quoted beside the conversation.
        .filter(|it| !matches!(it, model::Message::Quoted(_)))
        .map(|it| format!("{it:?}"))
        .collect();
    assert_eq!(said.len(), 3);
    assert!(
        said[0].contains("hello") && said[1].contains("Hello.") && said[2].contains("hello again")
    );
}

#[tokio::test]
async fn what_a_model_wants_waits_for_a_person_and_goes_on_after_a_kill() {
    let world = World::new();
    let model = Scripted::new([Turn::calls(
        "write-note",
        json!({ "path": "a.md", "content": "milk" }),
    )]);
    let bench = world
        .begin_with(Law::default(), Some(Arc::new(model)))
        .await;
    let task = bench.say("put milk into a.md").await;
    assert_eq!(state(&task), TaskState::InputRequired, "{}", status(&task));
    bench.killed().await;

    let model = Scripted::new([Turn::text("It is written.")]);
    let bench = world
        .begin_with(Law::default(), Some(Arc::new(model.clone())))
        .await;
    let task = bench.answer(&task, approve()).await;
    assert_eq!(
        (state(&task), output(&task).as_str()),
        (TaskState::Completed, "It is written.")
    );
    assert_eq!(world.notes.written.lock().unwrap().len(), 1);
    assert_eq!(
        model.requests().len(),
        1,
        "what it had thought is not thought again"
    );
}

#[tokio::test]
async fn one_that_loops_is_stopped_by_its_limits() {
    let greet = || Turn::calls("greet", json!({ "who": "Ada" }));
    let model = Scripted::new(std::iter::repeat_with(greet).take(50));
    let mut law = Law::default();
    law.decomposition.max_rounds = 3;
    let world = World::new();
    let bench = world.begin_with(law, Some(Arc::new(model.clone()))).await;
    let task = bench.say("greet Ada forever").await;
    assert_eq!(state(&task), TaskState::Failed);
    assert!(status(&task).contains("3 rounds"), "{}", status(&task));
    assert_eq!(model.left(), 47);
}

#[tokio::test]
async fn a_model_that_fails_is_said_to() {
    let model = Scripted::new([Turn::fails(Failure::Auth)]);
    let world = World::new();
    let bench = world
        .begin_with(Law::default(), Some(Arc::new(model)))
        .await;
    let task = bench.say("write a poem about the sea").await;
    assert_eq!(state(&task), TaskState::Failed);
    assert!(
        status(&task).contains("could not think"),
        "{}",
        status(&task)
    );
}

#[tokio::test]
async fn what_a_model_makes_up_is_asked_about() {
    let world = World::new();
    let model = Scripted::new([
        Turn::calls(
            "write-note",
            json!({ "path": "b.md", "content": "Bob likes tea" }),
        ),
        Turn::text("Then not."),
    ]);
    let bench = world
        .begin_with(Law::default(), Some(Arc::new(model)))
        .await;
    let task = bench.say("hello").await;
    assert_eq!(state(&task), TaskState::InputRequired);
    assert!(
        status(&task).contains("not said by you"),
        "{}",
        status(&task)
    );
    let task = bench.answer(&task, json!({ "decision": "no" })).await;
    assert_eq!(state(&task), TaskState::Canceled);
    assert!(status(&task).contains("Then not."), "{}", status(&task));
}

#[tokio::test]
async fn a_conclusion_of_the_model_is_not_a_statement_of_the_caller() {
    let world = World::new();
    let remember = |text: &str| {
        let reason = json!({ "text": text, "context": "what does Ada like?", "why": "it came up" });
        Turn::calls("remember", reason)
    };
    let model = Scripted::new([
        remember("Ada likes tea"),
        Turn::text("Noted."),
        remember("Ada dislikes coffee"),
        Turn::text("Noted."),
    ]);
    let mut law = Law::default();
    law.clarification.min_grounded = 0.0;
    let bench = world.begin_with(law, Some(Arc::new(model))).await;
    // What begins with "remember that" is kept without the model.
    bench.say("I tell you: Ada likes tea.").await;
    bench.say("Ada sent her cup back.").await;
    let space = bench.memory.space("scout").unwrap();
    let kept = space.records(|it| it.kept().is_some()).await.unwrap();
    let source = |text: &str| {
        let record = kept.iter().find(|it| it.content.text == text).unwrap();
        record.source().map(str::to_owned)
    };
    assert_eq!(source("Ada likes tea").as_deref(), Some("user:ada"));
    assert_eq!(source("Ada dislikes coffee").as_deref(), Some("own"));
}

#[tokio::test]
async fn a_task_that_is_cancelled_is_not_thought_about_any_more() {
    let model = Scripted::new([Turn::fails(Failure::Silence)]);
    let world = World::new();
    let bench = world
        .begin_with(Law::default(), Some(Arc::new(model)))
        .await;
    let asked = bench.say("hello");
    let cancelled = async {
        let id = loop {
            let (state, _) = bench.handle.state().await.unwrap();
            let state = serde_json::to_value(state).unwrap();
            let turns = state["context"]["turns"].as_object().unwrap();
            if let Some(id) = turns.keys().next() {
                break id.clone();
            }
            tokio::task::yield_now().await;
        };
        // The agent works on it before the task is committed.
        let request = a2a::types::GetTaskRequest {
            id: id.clone(),
            ..Default::default()
        };
        while bench
            .server
            .get_task(call(), request.clone())
            .await
            .is_err()
        {
            tokio::task::yield_now().await;
        }
        let task = a2a::types::Task {
            id,
            ..Default::default()
        };
        bench.cancel(&task).await
    };
    let (_, task) = tokio::join!(asked, cancelled);
    assert_eq!(state(&task), TaskState::Canceled);
    loop {
        if bench.handle.status().await.unwrap().working == 0 {
            break;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_is_thought_is_shown_while_it_comes() {
    let (first, second) = ("a".repeat(5_000), "b".repeat(5_000));
    let model = Scripted::new([Turn::new()
        .reason(first.clone())
        .reason(second.clone())
        .say(second.clone())
        .say(first.clone())]);
    let world = World::new();
    let bench = world
        .begin_with(Law::default(), Some(Arc::new(model)))
        .await;
    let request = said("talk", "think").into();
    let mut following = bench
        .server
        .send_streaming_message(call(), request)
        .await
        .unwrap();
    let mut pieces = BTreeMap::<String, Vec<String>>::new();
    while let Some(events) = following.next().await {
        for event in events.unwrap() {
            if let Payload::ArtifactUpdate(update) = &event.response().payload {
                let artifact = update.artifact.as_ref().unwrap();
                let texts = artifact.parts.iter().filter_map(Part::as_text);
                let pieces = pieces.entry(artifact.artifact_id.clone()).or_default();
                pieces.extend(texts.map(str::to_owned));
            }
        }
    }
    let reasoning = &pieces["reasoning"];
    assert_eq!(reasoning.concat(), format!("{first}{second}"));
    assert!(reasoning.len() >= 2, "it comes in pieces");
    assert!(pieces["output"].len() >= 2, "it comes in pieces");
    assert_eq!(
        pieces["output"].concat(),
        format!("{second}{first}"),
        "the answer is sent once"
    );
}

/// A model that panics at its first answer.
#[derive(Debug)]
struct Falls {
    fallen: AtomicBool,
    then: Scripted,
}

impl Model for Falls {
    fn name(&self) -> &str {
        "falls"
    }

    fn reply(&self, request: Request) -> Deltas {
        assert!(self.fallen.swap(true, Ordering::Relaxed), "it falls");
        self.then.reply(request)
    }
}

#[tokio::test]
async fn one_that_crashes_is_itself_again() {
    let model = Falls {
        fallen: AtomicBool::new(false),
        then: Scripted::new([Turn::text("Here again.")]),
    };
    let world = World::new();
    let bench = world
        .begin_with(Law::default(), Some(Arc::new(model)))
        .await;
    let task = bench.say("hello").await;
    assert_eq!(state(&task), TaskState::Failed);
    while bench.handle.status().await.unwrap().working > 0 {
        tokio::task::yield_now().await;
    }
    let task = bench.say("hello").await;
    assert_eq!(output(&task), "Here again.");
    assert_eq!(bench.handle.check().await.unwrap().differs, None);
}

#[tokio::test]
async fn a_question_about_a_request_comes_after_it_for_the_model() {
    let model = Scripted::new([Turn::text("Then I burn them.")]);
    let mut law = Law::default();
    let rules = json!([{ "goal": ["notes"], "request": ["burn"], "then": "ask" }]);
    law.goal_conflict = serde_json::from_value(rules).unwrap();
    let world = World::new();
    let bench = world.begin_with(law, Some(Arc::new(model.clone()))).await;
    let task = bench.say("burn the notes").await;
    assert_eq!(state(&task), TaskState::InputRequired);
    let task = bench.answer(&task, json!({ "answer": "yes please" })).await;
    assert_eq!(output(&task), "Then I burn them.");
    let shown = format!("{:?}", model.requests()[0].messages);
    let places = ["burn the notes", "Do you mean it?", "yes please"].map(|it| shown.find(it));
    assert!(places[0].is_some() && places.is_sorted(), "{shown}");
}
