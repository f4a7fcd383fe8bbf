//! A language model that is configured and gives no answer: what rules can do is done, and the caller is told what to look at.

use std::sync::Arc;

use a2a::types::{Task, TaskState};
use agent::Law;
use model::End;
use model::scripted::{Failure, Scripted, Turn};
use serde_json::json;

use crate::support::{Bench, World, output, state, status};

/// An agent with a model that plays these turns.
async fn bench(turns: impl IntoIterator<Item = Turn>) -> (Bench, Scripted) {
    let model = Scripted::new(turns);
    let world = World::new();
    let thinking = Some(Arc::new(model.clone()) as Arc<dyn model::Model>);
    (world.begin_with(Law::default(), thinking).await, model)
}

/// What a model that fails in this way makes of a request.
async fn with(failure: Failure, said: &str) -> Task {
    let (bench, _) = bench([Turn::fails(failure), Turn::fails(failure)]).await;
    bench.say(said).await
}

#[tokio::test]
async fn what_rules_can_do_is_done_when_the_model_is_away() {
    let greeted = with(Failure::Server, "greet Ada").await;
    assert_eq!(
        state(&greeted),
        TaskState::Completed,
        "{}",
        status(&greeted)
    );
    assert_eq!(output(&greeted), "Hello, Ada!");

    let helped = with(Failure::Auth, "help").await;
    assert_eq!(state(&helped), TaskState::Completed);
    let text = output(&helped);
    assert!(
        text.starts_with("My language model does not answer"),
        "{text}"
    );
    assert!(text.contains("model.key"), "{text}");

    let remembered = with(Failure::Auth, "remember that Ada likes tea").await;
    assert_eq!(output(&remembered), "I will remember: Ada likes tea");
}

#[tokio::test]
async fn what_only_the_model_could_do_fails_with_the_setting_to_look_at() {
    for (failure, setting) in [
        (Failure::Auth, "model.key"),
        (Failure::Refused, "model.name"),
        (Failure::Server, "model.url"),
        (Failure::Malformed, "model.url"),
    ] {
        let task = with(failure, "write a poem about the sea").await;
        assert_eq!(state(&task), TaskState::Failed, "{failure:?}");
        let text = status(&task);
        assert!(text.contains("could not think"), "{text}");
        assert!(text.contains(setting), "{failure:?}: {text}");
    }
}

#[tokio::test]
async fn commands_with_a_slash_do_not_ask_the_model() {
    let (bench, model) = bench([Turn::text("never asked")]).await;
    let task = bench.say("/greet Ada").await;
    assert_eq!(output(&task), "Hello, Ada!");
    let task = bench.say("/help").await;
    assert!(
        output(&task).contains("- greet: Greets a person."),
        "{}",
        output(&task)
    );
    // It went wrong: beside a model it said that none is configured.
    assert!(
        output(&task).starts_with("You can say anything: my language model reads it."),
        "{}",
        output(&task)
    );
    // What names no skill is refused, with what there is; once the model was asked, and the task was done.
    for said in ["/flibber", "/flibber the lights\nnow"] {
        let task = bench.say(said).await;
        assert_eq!(state(&task), TaskState::Rejected, "{}", output(&task));
        assert!(
            output(&task).contains("There is no tool /flibber"),
            "{}",
            output(&task)
        );
    }
    assert_eq!(model.requests().len(), 0);
    // A path is no skill.
    let task = bench.say("/etc/hosts: what is this file for?").await;
    assert_eq!(output(&task), "never asked");
}

#[tokio::test]
async fn results_are_told_when_the_model_fails_after_its_calls() {
    let call = Turn::calls("greet", json!({ "who": "Ada" }));
    let (bench, _) = bench([call, Turn::fails(Failure::Server)]).await;
    let task = bench.say("say hello to Ada").await;
    assert_eq!(
        (state(&task), &*output(&task)),
        (TaskState::Completed, "Hello, Ada!")
    );
}

#[tokio::test]
async fn an_answer_that_is_empty_or_cut_off_says_so() {
    for (turn, expected) in [
        (Turn::text(""), "[The language model gave an empty answer."),
        (
            Turn::text("The sea is").ending(End::Length),
            "The sea is\n\n[The answer is cut off here: it reached the length limit of the model.]",
        ),
        (
            Turn::text("The sea").ending(End::Withheld),
            "The sea\n\n[The model or its provider withheld the rest of the answer.]",
        ),
    ] {
        let (bench, _) = bench([turn]).await;
        let task = bench.say("tell a story of the sea").await;
        assert!(output(&task).starts_with(expected), "{}", output(&task));
    }
}

#[tokio::test]
async fn a_skill_is_found_under_the_name_that_models_write() {
    let world = World::new();
    let note = json!({ "path": "a.md", "content": "milk" });
    let model = Scripted::new([Turn::calls("write_note", note)]);
    let bench = world
        .begin_with(Law::default(), Some(Arc::new(model)))
        .await;
    let task = bench.say("note milk in a.md").await;
    // It is asked about, as every call of that skill is.
    assert_eq!(state(&task), TaskState::InputRequired, "{}", status(&task));
    assert!(status(&task).contains("write-note"), "{}", status(&task));
}
