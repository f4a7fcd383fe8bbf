//! What an agent without a language model says about itself, keeps of what people say, and reminds them of.

use std::time::{Duration, Instant};

use a2a::types::{ListTasksRequest, Task, TaskState};
use serde_json::json;

use crate::support::{Bench, World, output, said, state, status};

/// All that a task says.
fn words(task: &Task) -> String {
    format!("{}\n{}", output(task), status(task))
}

#[tokio::test]
async fn a_statement_is_kept_when_the_person_agrees_and_not_otherwise() {
    let world = World::new();
    let bench = world.begin().await;
    let asked = bench.say("my name is Grace").await;
    assert_eq!(state(&asked), TaskState::InputRequired);
    assert!(
        status(&asked).starts_with("Nice to meet you, Grace."),
        "{}",
        status(&asked)
    );
    let kept = bench.send(said("talk", "yes")).await;
    assert_eq!(kept.id, asked.id, "the yes answers the question");
    assert_eq!(output(&kept), "I will remember: my name is Grace");
    let name = output(&bench.say("what is my name?").await);
    assert!(name.starts_with("my name is Grace"), "{name}");
    let known = output(&bench.say("what do you know about me?").await);
    assert!(known.contains("my name is Grace"), "{known}");

    let asked = bench.say("I live in Riga").await;
    let left = bench.answer(&asked, json!({ "answer": "no" })).await;
    assert_eq!(output(&left), "Then I do not keep it.");
    let known = output(&bench.say("what do you know about me?").await);
    assert!(!known.contains("Riga"), "{known}");
}

#[tokio::test]
async fn what_has_nothing_to_do_with_a_question_is_no_answer() {
    let world = World::new();
    let bench = world.begin().await;
    bench.say("remember that Bob likes tea").await;
    bench.say("remember that Ada likes coffee").await;
    for (question, expected) in [
        ("who likes tea?", "Bob likes tea"),
        ("does Ada like coffee?", "Ada likes coffee"),
        ("what do you know about Zed?", "I know nothing about that."),
        (
            "what is the capital of Latvia?",
            "I know nothing about that.",
        ),
        (
            "where does Ada live?",
            "I do not know that. What I know besides:\nAda likes coffee",
        ),
    ] {
        let answer = output(&bench.say(question).await);
        assert!(answer.starts_with(expected), "{question}: {answer}");
        assert!(answer.lines().count() <= 2, "{question}: {answer}");
    }
    // Asked twice, the question itself is no answer, either.
    let again = output(&bench.say("what do you know about Zed?").await);
    assert_eq!(again, "I know nothing about that.");
}

#[tokio::test]
async fn a_caller_forgets_its_own_records_and_not_those_of_others() {
    let world = World::new();
    let bench = world.begin().await;
    bench.say("remember that Ada likes coffee").await;
    let other = bench
        .send_by("bob", said("other", "forget that Ada likes coffee"))
        .await;
    assert_eq!(output(&other), "I hold nothing of yours that says that.");
    let gone = bench.say("forget that Ada likes coffee").await;
    assert_eq!(output(&gone), "I have forgotten:\n- Ada likes coffee");
    let answer = output(&bench.say("what does Ada like?").await);
    assert_eq!(answer, "I know nothing about that.");

    // What is not said in the words of the record is asked about.
    bench.say("remember that Ada likes green tea").await;
    let asked = bench.say("forget green tea").await;
    assert_eq!(state(&asked), TaskState::InputRequired);
    assert!(
        status(&asked).contains("- Ada likes green tea"),
        "{}",
        status(&asked)
    );
    let kept = bench.answer(&asked, json!({ "answer": "no" })).await;
    assert_eq!(output(&kept), "Then I keep it.");
}

#[tokio::test]
async fn it_tells_about_itself_from_its_state_and_its_journal() {
    let world = World::new();
    let bench = world.begin().await;
    bench.say("greet Ada").await;
    for (question, expected) in [
        ("why did you do that?", "greet"),
        ("who are you?", "I am Scout, an agent"),
        (
            "what have you been doing?",
            "You said \"greet Ada\"; I used greet.",
        ),
        ("what is your law?", "I ask before I use write-note."),
        (
            "do you ask before you write?",
            "Yes: I show what I would do, and ask, before I use write-note.",
        ),
        (
            "what are you working on?",
            "there is no request but this one",
        ),
        ("how do I connect a language model?", "model.name"),
        ("pause", "monas pause"),
        ("what time is it?", "(UTC"),
        ("undo", "I cannot undo"),
        ("thanks!", "You are welcome."),
    ] {
        let task = bench.say(question).await;
        assert!(
            output(&task).contains(expected),
            "{question}: {}",
            words(&task)
        );
    }
}

/// It went wrong: "I'm Grace" was rewritten as "i am Grace", which the person had not said, and so was kept as the agent's word.
#[tokio::test]
async fn a_statement_is_kept_in_the_words_of_the_person_and_as_theirs() {
    let world = World::new();
    let bench = world.begin().await;
    bench.say("I'm Grace").await;
    let kept = bench.say("yes").await;
    assert_eq!(output(&kept), "I will remember: I'm Grace");
    let space = bench.memory.space("scout").unwrap();
    let held = space.records(|it| it.kept().is_some()).await.unwrap();
    let mut found = held.iter().filter(|it| it.content.text == "I'm Grace");
    assert_eq!(
        found.next().and_then(|it| it.source().map(str::to_owned)),
        Some("user:ada".to_owned())
    );
}

/// The tasks of reminders that are under way.
async fn waiting(bench: &Bench) -> Vec<Task> {
    let request = ListTasksRequest {
        status: TaskState::Working,
        ..ListTasksRequest::default()
    };
    bench.list(request).await.tasks
}

#[tokio::test]
async fn a_reminder_is_a_task_of_the_conversation_that_says_so_in_time_also_after_a_kill() {
    let world = World::new();
    let bench = world.begin().await;
    let set = bench.say("remind me in 1 second to drink water").await;
    assert!(
        output(&set).starts_with("I will remind you"),
        "{}",
        words(&set)
    );
    assert!(output(&set).ends_with(": drink water"), "{}", words(&set));
    let reminders = waiting(&bench).await;
    assert_eq!(reminders.len(), 1);
    assert_eq!(reminders[0].context_id, "talk");
    let listed = output(&bench.say("what reminders do I have?").await);
    assert!(listed.ends_with(": drink water"), "{listed}");
    bench.killed().await;

    let bench = world.begin().await;
    world.pass(5);
    let due = bench
        .until_state(&reminders[0].id, TaskState::Completed)
        .await;
    assert_eq!(output(&due), "Reminder: drink water");
    let listed = output(&bench.say("what reminders do I have?").await);
    assert_eq!(listed, "There are no reminders that wait.");
}

#[tokio::test]
async fn a_reminder_is_cancelled_and_one_without_a_time_is_asked_about() {
    let world = World::new();
    let bench = world.begin().await;
    let asked = bench.say("remind me to buy bread").await;
    assert_eq!(state(&asked), TaskState::InputRequired);
    assert!(status(&asked).starts_with("When"), "{}", status(&asked));
    // Said in the conversation, without the id of the task.
    let set = bench.say("in 2 hours").await;
    assert_eq!(set.id, asked.id, "{}", words(&set));
    assert!(output(&set).ends_with(": buy bread"), "{}", words(&set));
    let begun = Instant::now();
    let cancelled = output(&bench.say("cancel the reminder").await);
    assert!(cancelled.starts_with("I have cancelled:"), "{cancelled}");
    // It went wrong: the reminder slept through the time that a cancelled task has to end.
    assert!(begun.elapsed() < Duration::from_secs(4), "{begun:?}");
    assert_eq!(waiting(&bench).await.len(), 0);

    let again = bench.say("remind me every day at 8 to stretch").await;
    assert_eq!(state(&again), TaskState::Failed);
    assert!(words(&again).contains("I remind once"), "{}", words(&again));

    let failed = bench
        .call("remind", json!({ "text": "x", "when": "someday" }))
        .await;
    assert_eq!(state(&failed), TaskState::Failed);
    assert!(
        status(&failed).contains("no time that I understand"),
        "{}",
        status(&failed)
    );
}
