//! The outcome of a message: an answer, a task, an end.

use a2a::error::Error;
use a2a::server::Interrupted;
use a2a::service::{Call, Service as _};
use a2a::types::*;
use futures_util::StreamExt as _;

use super::support::{
    Bench, Script, at_once, config, follow_up, in_memory, message, said, state, task,
};

#[tokio::test]
async fn a_message_can_be_all_of_the_answer() {
    let bench = Bench::start().await;
    let Answer::Message(answer) = bench
        .send(bench.request(message("echo:hello")))
        .await
        .unwrap()
    else {
        panic!("not a message");
    };
    assert_eq!(answer.parts, [Part::text("hello")]);
    assert_eq!(answer.role, Role::Agent);
    assert!(
        answer.context_id.starts_with("agent-20"),
        "{}",
        answer.context_id
    );
    assert!(answer.task_id.is_empty());
    assert!(!answer.message_id.is_empty());
}

#[tokio::test]
async fn a_caller_that_always_wants_a_task_gets_one_completed_with_the_message() {
    let bench = Bench::start().await;
    let call = || Call {
        always_task: true,
        ..bench.call()
    };
    let request = bench.request(message("echo:hello"));
    let sent = bench.server.send_message(call(), request).await.unwrap();
    let done = task(sent.payload);
    assert_eq!(
        (state(&done), &*said(&done)),
        (TaskState::Completed, "hello")
    );
    assert_eq!(bench.get(&done.id).await.unwrap(), done);
    // A follower can fold the events into the task.
    let request = bench.request(message("echo:hello"));
    let events = bench.server.send_streaming_message(call(), request).await;
    let portions: Vec<_> = events.unwrap().collect().await;
    let mut folded = Task::default();
    for event in portions.into_iter().flat_map(Result::unwrap) {
        event.apply_to(&mut folded);
    }
    assert_eq!(folded, bench.get(&folded.id).await.unwrap());
}

#[tokio::test]
async fn a_call_waits_until_the_task_rests() {
    let bench = Bench::start().await;
    let done = bench.task("working artifact:x done").await;
    assert_eq!(state(&done), TaskState::Completed);
    assert_eq!(done.generation, 4);
    assert_eq!(done.artifacts[0].parts, [Part::text("x")]);
    // A2A 3.4: what the caller said belongs to the task.
    assert_eq!(done.history[0].task_id, done.id);
    assert_eq!(done.history[0].context_id, done.context_id);
    assert_eq!(bench.get(&done.id).await.unwrap(), done);
    assert_eq!(
        state(&bench.task("ask:which?").await),
        TaskState::InputRequired
    );
    assert_eq!(
        state(&bench.task("auth for-ever").await),
        TaskState::AuthRequired
    );
}

#[tokio::test]
async fn a_call_that_returns_at_once_gets_the_task_as_soon_as_it_exists() {
    let bench = Bench::start().await;
    let begun = bench.task_at_once("working wait done").await;
    assert_eq!(state(&begun), TaskState::Working);
    bench.script.gate.add_permits(1);
    let events = bench
        .subscribe(&begun.id, Some(2))
        .await
        .unwrap()
        .rest()
        .await;
    assert_eq!(events, ["3 Completed"]);
}

#[tokio::test]
async fn what_an_agent_does_without_waiting_is_one_commit() {
    let bench = Bench::start().await;
    let before = bench.store.stats().commits;
    bench.task("working artifact:x done").await;
    assert_eq!(bench.store.stats().commits - before, 1);
}

#[tokio::test]
async fn an_agent_that_returns_has_completed_its_task() {
    let bench = Bench::start().await;
    assert_eq!(state(&bench.task("working").await), TaskState::Completed);
}

#[tokio::test]
async fn failures_and_crashes_end_the_task() {
    let bench = Bench::start().await;
    let failed = bench.task("working fail:no-disk").await;
    assert_eq!(
        (state(&failed), &*said(&failed)),
        (TaskState::Failed, "no-disk")
    );
    let failed = bench.task("fail:at-once").await;
    assert_eq!(
        (state(&failed), &*said(&failed)),
        (TaskState::Failed, "at-once")
    );
    let crashed = bench.task("working panic").await;
    assert_eq!(
        (state(&crashed), &*said(&crashed)),
        (TaskState::Failed, "the agent crashed")
    );
    let rejected = bench.task("reject:never").await;
    assert_eq!(
        (state(&rejected), &*said(&rejected)),
        (TaskState::Rejected, "never")
    );
}

#[tokio::test]
async fn an_agent_without_an_answer_is_an_error() {
    let bench = Bench::start().await;
    let answer = bench.send(bench.request(message("nothing"))).await;
    assert!(
        matches!(answer, Err(Error::InvalidAgentResponse(_))),
        "{answer:?}"
    );
}

#[tokio::test]
async fn an_answer_goes_on_with_the_task() {
    let bench = Bench::start().await;
    let asked = bench.task("ask:which?").await;
    assert_eq!(said(&asked), "which?");
    let done = task(
        bench
            .send(bench.request(follow_up(&asked, "working done")))
            .await
            .unwrap(),
    );
    assert_eq!((&done.id, &done.context_id), (&asked.id, &asked.context_id));
    assert_eq!(state(&done), TaskState::Completed);
    let texts: Vec<_> = done
        .history
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(Part::as_text)
        .collect();
    assert_eq!(texts, ["ask:which?", "which?", "working done"]);
}

#[tokio::test]
async fn a_message_to_a_busy_task_waits_for_its_turn() {
    let mut config = config();
    config.interrupted = Interrupted::GoesOn;
    let bench = Bench::with(config, in_memory(), Script::new()).await;
    let busy = bench.task_at_once("working wait ask:more?").await;
    let mut request = bench.request(follow_up(&busy, "say:thanks done"));
    request.configuration = Some(at_once());
    task(bench.send(request).await.unwrap());
    bench.script.gate.add_permits(1);
    let events = bench
        .subscribe(&busy.id, Some(2))
        .await
        .unwrap()
        .rest()
        .await;
    assert_eq!(
        events,
        [
            "3 Working",
            "4 InputRequired more?",
            "5 Working",
            "6 Working thanks",
            "7 Completed"
        ]
    );
}

#[tokio::test]
async fn a_message_that_waits_while_the_agent_asks_gets_its_own_answer() {
    let bench = Bench::start().await;
    let busy = bench.task_at_once("working wait ask:more?").await;
    let (said, ()) = tokio::join!(
        bench.send(bench.request(follow_up(&busy, "say:thanks done"))),
        async {
            // The message is on record before the agent goes on.
            while bench.get(&busy.id).await.unwrap().history.len() < 2 {
                tokio::task::yield_now().await;
            }
            bench.script.gate.add_permits(1);
        }
    );
    assert_eq!(state(&task(said.unwrap())), TaskState::Completed);
}

#[tokio::test]
async fn a_finished_task_takes_no_message() {
    let bench = Bench::start().await;
    let done = bench.task("done").await;
    let refused = bench.send(bench.request(follow_up(&done, "again"))).await;
    assert!(
        matches!(refused, Err(Error::UnsupportedOperation(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn ids_must_belong_together() {
    let bench = Bench::start().await;
    let mut unknown = message("done");
    unknown.task_id = "made-up".to_owned();
    let refused = bench.send(bench.request(unknown)).await;
    assert!(
        matches!(refused, Err(Error::TaskNotFound(_))),
        "{refused:?}"
    );
    let asked = bench.task("ask:?").await;
    let mut mismatched = follow_up(&asked, "done");
    mismatched.context_id = "another".to_owned();
    let refused = bench.send(bench.request(mismatched)).await;
    assert!(
        matches!(refused, Err(Error::InvalidParams { .. })),
        "{refused:?}"
    );
    let mut own = message("done");
    own.context_id = "mine".to_owned();
    assert_eq!(
        task(bench.send(bench.request(own)).await.unwrap()).context_id,
        "mine"
    );
}

#[tokio::test]
async fn a_caller_can_insist_on_the_generation_it_saw() {
    let bench = Bench::start().await;
    let asked = bench.task("ask:?").await;
    let mut request = bench.request(follow_up(&asked, "done"));
    request
        .configuration
        .get_or_insert_default()
        .if_generation_match = Some(asked.generation - 1);
    let refused = bench.send(request.clone()).await;
    assert!(
        matches!(refused, Err(Error::TaskGenerationMismatch { found: 2, .. })),
        "{refused:?}"
    );
    request
        .configuration
        .get_or_insert_default()
        .if_generation_match = Some(asked.generation);
    assert_eq!(
        state(&task(bench.send(request).await.unwrap())),
        TaskState::Completed
    );
}

#[tokio::test]
async fn a_caller_can_wait_for_the_next_generation() {
    let bench = Bench::start().await;
    let begun = bench.task_at_once("working wait done").await;
    let request = GetTaskRequest {
        id: begun.id.clone(),
        current_generation: Some(begun.generation),
        ..GetTaskRequest::default()
    };
    let waiting = tokio::spawn(bench.server.get_task(bench.call(), request));
    bench.script.gate.add_permits(1);
    assert_eq!(
        waiting.await.unwrap().unwrap().generation,
        begun.generation + 1
    );
}

#[tokio::test]
async fn history_is_as_long_as_asked_for() {
    let bench = Bench::start().await;
    let asked = bench.task("ask:?").await;
    for (length, expected) in [(None, 1), (Some(0), 0), (Some(1), 1), (Some(9), 1)] {
        let request = GetTaskRequest {
            id: asked.id.clone(),
            history_length: length,
            ..GetTaskRequest::default()
        };
        let found = bench.server.get_task(bench.call(), request).await.unwrap();
        assert_eq!(found.history.len(), expected, "{length:?}");
    }
}

#[tokio::test]
async fn parts_the_agent_does_not_understand_are_refused() {
    let bench = Bench::start().await;
    let mut picture = message("done");
    picture.parts.push(Part {
        content: Content::Url("https://example.com/a.png".to_owned()),
        media_type: "image/png".to_owned(),
        ..Part::default()
    });
    let refused = bench.send(bench.request(picture)).await;
    assert!(
        matches!(refused, Err(Error::ContentTypeNotSupported(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn so_many_messages_wait_for_a_task_and_no_more() {
    let mut config = config();
    config.limits.max_waiting_messages = 2;
    let bench = Bench::with(config, in_memory(), Script::new()).await;
    let busy = bench.task_at_once("working for-ever").await;
    for expected in [true, true, false] {
        let mut request = bench.request(follow_up(&busy, "done"));
        request.configuration = Some(at_once());
        let sent = bench.send(request).await;
        assert_eq!(sent.is_ok(), expected, "{sent:?}");
    }
}
