//! What a person agrees to before it is done.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a::types::TaskState;
use agent::{Law, State, principal};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use skill::{Context, Registry, Reply, Skill, SkillError, SkillInput, extension};

use crate::support::{World, approve, fresh, output, said, state, status};

const WISH: &str = "note buy milk in todo.md";

#[tokio::test]
async fn nothing_is_done_before_it_is_approved() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    assert_eq!(state(&task), TaskState::InputRequired);
    assert!(
        status(&task).contains("+ buy milk in todo.md"),
        "the preview is shown: {}",
        status(&task)
    );
    assert!(world.notes.written.lock().unwrap().is_empty());
    let asked = bench.handle.status().await.unwrap();
    assert_eq!(
        (asked.state, asked.approvals.len()),
        (State::AwaitingApproval, 1)
    );

    let task = bench.answer(&task, approve()).await;
    assert_eq!(
        (state(&task), output(&task).as_str()),
        (TaskState::Completed, "wrote todo.md")
    );
    assert_eq!(world.notes.written.lock().unwrap().len(), 1);
    assert_eq!(bench.handle.status().await.unwrap().state, State::Idle);
}

#[tokio::test]
async fn a_plain_word_will_do() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    let mut message = said("talk", "yes");
    message.task_id = task.id.clone();
    message.context_id = task.context_id.clone();
    let task = bench.send(message).await;
    assert_eq!(output(&task), "wrote todo.md");
}

#[tokio::test]
async fn what_is_rejected_is_not_done() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    let answer = json!({ "decision": "reject", "why": "not today" });
    let task = bench.answer(&task, answer).await;
    assert_eq!(state(&task), TaskState::Canceled);
    assert!(output(&task).contains("not today"), "{}", output(&task));
    assert!(world.notes.written.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_is_modified_is_done_as_modified() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    let wrong = json!({ "decision": "modify", "input": r#"{"path":1}"# });
    let task = bench.answer(&task, wrong).await;
    assert_eq!(
        state(&task),
        TaskState::InputRequired,
        "it is asked again: {}",
        status(&task)
    );
    let edited =
        json!({ "decision": "modify", "input": r#"{"path":"a.md","content":"oat milk"}"# });
    let task = bench.answer(&task, edited).await;
    assert_eq!(output(&task), "wrote a.md");
    let written = world.notes.written.lock().unwrap().clone();
    assert_eq!(written, [("a.md".to_owned(), "oat milk".to_owned())]);
}

#[tokio::test]
async fn a_caller_that_names_the_skill_passes_the_same_gate() {
    let world = World::new();
    let bench = world.begin().await;
    let input = json!({ "path": "x", "content": "y" });
    let task = bench.call("write-note", input).await;
    assert_eq!(state(&task), TaskState::InputRequired);
    assert!(world.notes.written.lock().unwrap().is_empty());
    let task = bench.answer(&task, approve()).await;
    assert_eq!(output(&task), "wrote x");
}

#[tokio::test]
async fn a_grant_counts_for_a_conversation_or_for_a_beginning() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    bench.answer(&task, json!({ "decision": "session" })).await;
    let task = bench.say("note buy bread in todo.md").await;
    assert_eq!(
        output(&task),
        "wrote todo.md",
        "in the same conversation it is not asked again"
    );
    let elsewhere = bench.send(said("other", "note x in log/a.md")).await;
    assert_eq!(state(&elsewhere), TaskState::InputRequired);
    let by_prefix = json!({ "decision": "approve", "field": "path", "prefix": "log/" });
    bench.answer(&elsewhere, by_prefix).await;
    let task = bench.send(said("third", "note x in log/b.md")).await;
    assert_eq!(output(&task), "wrote log/b.md");
    let task = bench.send(said("third", "note x in log/../b.md")).await;
    assert_eq!(
        state(&task),
        TaskState::InputRequired,
        "a path that climbs out is asked about"
    );
}

#[tokio::test]
async fn once_is_once() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    bench.answer(&task, approve()).await;
    let again = bench.say(WISH).await;
    assert_eq!(state(&again), TaskState::InputRequired);
}

#[tokio::test]
async fn a_question_survives_the_end_of_the_process() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    let before = bench.handle.status().await.unwrap().approvals;
    bench.killed().await;

    let bench = world.begin().await;
    let asked = bench.handle.status().await.unwrap();
    assert_eq!(
        (asked.state, asked.approvals),
        (State::AwaitingApproval, before)
    );
    assert!(world.notes.written.lock().unwrap().is_empty());
    let task = bench.answer(&task, approve()).await;
    assert_eq!(
        (state(&task), output(&task).as_str()),
        (TaskState::Completed, "wrote todo.md")
    );
    assert_eq!(world.notes.written.lock().unwrap().len(), 1);
    assert_eq!(bench.handle.check().await.unwrap().differs, None);
}

#[tokio::test]
async fn a_call_without_a_decision_in_time_is_not_made() {
    let world = World::new();
    let mut law = Law::default();
    law.attention.approval_seconds = 60;
    let bench = world.begin_with(law, None).await;
    let task = bench.say(WISH).await;
    world.pass(61);
    let task = bench.answer(&task, approve()).await;
    assert!(
        output(&task).contains("no decision in time"),
        "{}",
        output(&task)
    );
    assert!(world.notes.written.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_cancelled_task_withdraws_its_question() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    let task = bench.cancel(&task).await;
    assert_eq!(state(&task), TaskState::Canceled);
    loop {
        let status = bench.handle.status().await.unwrap();
        if status.approvals.is_empty() && status.working == 0 {
            break;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_question_is_a_form_that_every_protocol_can_show() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    let question = extension::question(&task).unwrap();
    let fields = question.schema["properties"].as_object().unwrap();
    assert!(fields.values().all(|field| field["type"] == "string"));
}

#[tokio::test]
async fn an_approval_of_one_caller_does_not_count_for_another() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    bench.answer(&task, json!({ "decision": "session" })).await;
    let again = bench.say(WISH).await;
    assert_eq!(state(&again), TaskState::Completed, "{}", status(&again));
    let other = bench.send_by("bob", said("talk", WISH)).await;
    assert_eq!(state(&other), TaskState::InputRequired);
    assert_eq!(world.notes.written.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn what_has_changed_since_it_was_shown_is_shown_again() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    *world.notes.beside.lock().unwrap() = ", over what is there".to_owned();
    let task = bench.answer(&task, approve()).await;
    assert_eq!(state(&task), TaskState::InputRequired);
    let asked = status(&task);
    assert!(asked.contains("changed meanwhile"), "{asked}");
    assert!(asked.contains("over what is there"), "{asked}");
    assert!(world.notes.written.lock().unwrap().is_empty());
    let task = bench.answer(&task, approve()).await;
    assert_eq!(output(&task), "wrote todo.md");
}

#[tokio::test]
async fn what_is_too_long_to_be_shown_is_not_agreed_to() {
    let world = World::new();
    let bench = world.begin().await;
    *world.notes.beside.lock().unwrap() = "x".repeat(200_000);
    let task = bench.say(WISH).await;
    assert_ne!(state(&task), TaskState::InputRequired);
    assert!(world.notes.written.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_task_of_the_agent_itself_waits_for_no_approval() {
    let world = World::new();
    let bench = world.begin().await;
    let mut own_task = said("own", WISH);
    let own = json!({ agent::OWN: true });
    own_task.metadata = own.as_object().cloned().map(Into::into);
    let task = bench
        .send_by(&agent::principal("scout"), own_task.clone())
        .await;
    assert_ne!(state(&task), TaskState::InputRequired);
    assert!(
        output(&task).contains("no person can approve"),
        "{}",
        output(&task)
    );
    // Another caller who says so is asked like any other.
    own_task.message_id.push('2');
    let task = bench.send_by("mallory", own_task).await;
    assert_eq!(state(&task), TaskState::InputRequired);
    assert!(world.notes.written.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_task_does_not_wait_for_longer_than_a_decision_would_count() {
    let world = World::new();
    let mut law = Law::default();
    law.attention.approval_seconds = 60;
    let bench = world.begin_with(law, None).await;
    let said = bench.say(WISH).await;
    let note = json!({ "path": "a.md", "content": "milk" });
    let called = bench.call("write-note", note).await;
    world.pass(61);
    bench.population.tick().await;
    for (task, end) in [(said, TaskState::Rejected), (called, TaskState::Rejected)] {
        let task = loop {
            let task = bench.task(&task.id).await;
            if !matches!(state(&task), TaskState::InputRequired | TaskState::Working) {
                break task;
            }
            tokio::task::yield_now().await;
        };
        assert_eq!(state(&task), end);
        let said = output(&task);
        assert!(said.contains("no decision in time"), "{said}");
    }
    assert_eq!(bench.handle.status().await.unwrap().state, State::Idle);
    assert!(world.notes.written.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_task_that_is_taken_up_early_asks_once_more() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    bench.server.resume(&task.id.as_str().into()).await.unwrap();
    let again = loop {
        let again = bench.task(&task.id).await;
        if again.generation > task.generation && state(&again) == TaskState::InputRequired {
            break again;
        }
        tokio::task::yield_now().await;
    };
    let task = bench.answer(&again, approve()).await;
    assert_eq!(output(&task), "wrote todo.md");
    assert_eq!(world.notes.written.lock().unwrap().len(), 1);
    assert!(bench.server.resume(&"no-such-task".into()).await.is_err());
}

#[tokio::test]
async fn a_call_that_had_not_begun_is_begun_after_a_restart() {
    let world = World::new();
    let bench = world.begin().await;
    let note = json!({ "path": "a.md", "content": "milk" });
    let task = bench.call("write-note", note).await;
    assert_eq!(state(&task), TaskState::InputRequired);
    bench.killed().await;
    let bench = world.begin().await;
    let task = bench.answer(&task, approve()).await;
    assert_eq!(output(&task), "wrote a.md");
    assert_eq!(world.notes.written.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn people_say_yes_in_many_ways_and_programs_need_not_write_json_as_text() {
    let world = World::new();
    let bench = world.begin().await;
    for word in ["Yes.", "OK", "approve!"] {
        let task = bench.say(WISH).await;
        let mut message = said("talk", word);
        message.task_id.clone_from(&task.id);
        let task = bench.send(message).await;
        assert_eq!(output(&task), "wrote todo.md", "{word}");
    }
    let task = bench.say(WISH).await;
    let input = json!({ "path": "a.md", "content": "oat milk" });
    let answer = json!({ "decision": "modify", "input": input });
    let task = bench.answer(&task, answer).await;
    assert_eq!(output(&task), "wrote a.md");
}

#[tokio::test]
async fn a_prefix_is_of_what_is_asked_about() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    let other = json!({ "decision": "approve", "prefix": "notes/" });
    let task = bench.answer(&task, other).await;
    assert_eq!(state(&task), TaskState::InputRequired);
    let asked = status(&task);
    assert!(
        asked.contains("nothing in the input begins with"),
        "{asked}"
    );
    let within = json!({ "decision": "approve", "prefix": "todo" });
    let task = bench.answer(&task, within).await;
    assert_eq!(state(&task), TaskState::InputRequired);
    assert!(
        status(&task).contains("ends inside a path segment"),
        "{}",
        status(&task)
    );
    let fits = json!({ "decision": "approve", "prefix": "todo.md" });
    let task = bench.answer(&task, fits).await;
    assert_eq!(output(&task), "wrote todo.md");
    let grants = bench.handle.status().await.unwrap().grants;
    let prefix = grants[0].prefix.clone();
    assert_eq!(prefix, Some(("path".to_owned(), "todo.md".to_owned())));
}

#[tokio::test]
async fn what_is_approved_during_a_pause_is_done_after_it() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    bench.handle.pause().await.unwrap();
    let answered = bench.answer(&task, approve());
    tokio::pin!(answered);
    let early = tokio::time::timeout(Duration::from_millis(100), &mut answered).await;
    assert!(early.is_err(), "nothing is done during a pause");
    assert!(world.notes.written.lock().unwrap().is_empty());
    bench.handle.resume().await.unwrap();
    assert_eq!(output(&answered.await), "wrote todo.md");
}

#[tokio::test]
async fn a_caller_that_speaks_for_others_approves_one_call_only() {
    let world = World::new();
    let bench = world.begin().await;
    let ranger = principal("ranger");
    for _ in 0..2 {
        let task = bench.send_by(&ranger, said("talk", WISH)).await;
        assert_eq!(state(&task), TaskState::InputRequired);
        assert!(!status(&task).contains("session"), "{}", status(&task));
        let answer = extension::answer(fresh(), &task, Some(json!({ "decision": "session" })));
        let task = bench.send_by(&ranger, answer).await;
        assert_eq!(state(&task), TaskState::InputRequired);
        let answer = extension::answer(fresh(), &task, Some(approve()));
        let task = bench.send_by(&ranger, answer).await;
        assert_eq!(output(&task), "wrote todo.md");
    }
    assert!(bench.handle.status().await.unwrap().grants.is_empty());
}

#[tokio::test]
async fn another_input_is_not_taken_for_granted() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    let input = json!({ "path": "a.md", "content": "oat milk" });
    let meant = json!({ "decision": "Yes.", "input": input });
    let task = bench.answer(&task, meant).await;
    assert_eq!(state(&task), TaskState::InputRequired);
    assert!(status(&task).contains("say modify"), "{}", status(&task));
    let modified = json!({ "decision": "Modify", "input": input });
    let task = bench.answer(&task, modified).await;
    assert_eq!(output(&task), "wrote a.md");
    let why = bench.handle.why(&task.id).await.unwrap().text();
    assert!(why.contains("ada approved it with another input"), "{why}");
}

#[tokio::test]
async fn the_plans_of_an_agent_are_part_of_its_state() {
    let procedure = json!([{ "name": "log", "when": "log {text}", "steps": [
        { "skill": "write-note", "input": { "path": "log.md", "content": "{text}" } },
        { "skill": "greet", "input": { "who": "Ada" } },
    ] }]);
    let law = Law {
        procedures: serde_json::from_value(procedure).unwrap(),
        ..Law::default()
    };
    let world = World::new();
    let bench = world.begin_with(law, None).await;
    let task = bench.say("log that it rains").await;
    let plans = json!(bench.handle.status().await.unwrap().plans);
    let turn = &task.id;
    let expected = json!([{
        "turn": turn, "goal": "log that it rains", "stage": "acting", "procedure": "log",
        "steps": [{ "skill": "write-note", "state": "running" }, { "skill": "greet", "state": "planned" }],
    }]);
    assert_eq!(plans, expected);
    bench.answer(&task, approve()).await;
    assert_eq!(bench.handle.status().await.unwrap().plans, []);
}

#[tokio::test]
async fn a_prefix_ends_at_a_border_and_a_grant_has_an_end() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say("note x in notes/a.md").await;
    let prefix = json!({ "decision": "approve", "prefix": "notes" });
    let task = bench.answer(&task, prefix).await;
    assert_eq!(output(&task), "wrote notes/a.md");
    let task = bench.say("note x in notes/b.md").await;
    assert_eq!(output(&task), "wrote notes/b.md");
    for other in ["notes-secret/c.md", "notes2.md", "notes.md"] {
        let task = bench.say(&format!("note x in {other}")).await;
        assert_eq!(state(&task), TaskState::InputRequired, "{other}");
    }
    world.pass(31 * 24 * 3600);
    let task = bench.say("note x in notes/c.md").await;
    assert_eq!(
        state(&task),
        TaskState::InputRequired,
        "the grant has ended"
    );
}

#[tokio::test]
async fn people_answer_in_their_own_words() {
    let world = World::new();
    let bench = world.begin().await;
    let reply = async |task: &a2a::types::Task, text: &str| {
        let mut message = said("talk", text);
        message.task_id.clone_from(&task.id);
        bench.send(message).await
    };
    for words in ["yes please", "sure, go ahead", "ok, do it", "Sounds good!"] {
        let task = bench.say(WISH).await;
        assert_eq!(
            output(&reply(&task, words).await),
            "wrote todo.md",
            "{words}"
        );
    }
    let task = bench.say(WISH).await;
    assert!(
        status(&task).contains("for example: modify {"),
        "{}",
        status(&task)
    );
    let task = reply(&task, "yes, but not into that file").await;
    assert_eq!(state(&task), TaskState::InputRequired, "that is no yes");
    assert!(
        status(&task).contains("not understood: answer yes or no"),
        "{}",
        status(&task)
    );
    let task = reply(&task, "modify oat milk").await;
    assert_eq!(output(&task), "wrote todo.md");
    let task = bench.say(WISH).await;
    // It went wrong: the broken JSON was written into the file as its text.
    let task = reply(&task, r#"modify {"path":"b.md""#).await;
    assert_eq!(state(&task), TaskState::InputRequired);
    assert!(status(&task).contains("not JSON"), "{}", status(&task));
    let task = reply(&task, r#"modify {"path":"b.md"}"#).await;
    assert_eq!(output(&task), "wrote b.md");
    let written = world.notes.written.lock().unwrap().clone();
    assert_eq!(written[4], ("todo.md".to_owned(), "oat milk".to_owned()));
    assert_eq!(written[5].0, "b.md");
    let task = bench.say(WISH).await;
    let task = reply(&task, "no, because I like it").await;
    assert_eq!(
        (state(&task), &*status(&task)),
        (TaskState::Canceled, "because I like it")
    );
}

#[tokio::test]
async fn a_message_of_the_conversation_answers_if_it_reads_as_an_answer() {
    let world = World::new();
    let bench = world.begin().await;
    let asked = bench.say(WISH).await;
    let other = bench.say("greet Ada").await;
    assert_eq!(output(&other), "Hello, Ada!");
    assert_ne!(other.id, asked.id, "a new request");
    let waiting = bench.task(&asked.id).await;
    assert_eq!(
        state(&waiting),
        TaskState::InputRequired,
        "the question goes on waiting"
    );
    let foreign = bench.send_by("bob", said("talk", "yes")).await;
    assert_ne!(foreign.id, asked.id, "nobody answers for another caller");
    let done = bench.say("yes please").await;
    assert_eq!((&done.id, &*output(&done)), (&asked.id, "wrote todo.md"));
}

/// It went wrong: with two questions in a conversation, "yes" was taken as a request that nothing understood.
#[tokio::test]
async fn an_answer_that_could_be_one_to_two_questions_is_told_so_and_answers_none() {
    let world = World::new();
    let bench = world.begin().await;
    let one = bench.say("note tea in one.md").await;
    let two = bench.say("note milk in two.md").await;
    let unclear = bench.say("yes please").await;
    assert_eq!(state(&unclear), TaskState::Rejected);
    let told = status(&unclear);
    assert!(
        told.contains("2 questions wait in this conversation"),
        "{told}"
    );
    for (task, path) in [(&one, "one.md"), (&two, "two.md")] {
        assert!(
            told.contains(&format!("task {}: May I call write-note", task.id)),
            "{told}"
        );
        assert!(told.contains(path), "{told}");
    }
    assert!(world.notes.written.lock().unwrap().is_empty());
    let done = bench.answer(&one, approve()).await;
    assert_eq!(output(&done), "wrote one.md");
    // With one question left, it is clear again.
    let done = bench.say("yes please").await;
    assert_eq!(
        (done.id, world.notes.written.lock().unwrap().len()),
        (two.id, 2)
    );
}

/// It went wrong: an offer to remember something that was left without an answer made every later yes unclear.
#[tokio::test]
async fn offers_that_are_left_unanswered_stand_in_the_way_of_no_answer() {
    let world = World::new();
    let bench = world.begin().await;
    let first = bench.say("my name is Ada").await;
    let second = bench.say("I live in Riga").await;
    assert_eq!(
        [state(&first), state(&second)],
        [TaskState::InputRequired; 2]
    );
    let call = bench.say("note tea in one.md").await;
    let done = bench.say("yes").await;
    assert_eq!((&done.id, &*output(&done)), (&call.id, "wrote one.md"));
    let kept = bench.say("yes please").await;
    assert_eq!(kept.id, second.id, "the offer that was made last");
    assert!(
        output(&kept).contains("I live in Riga"),
        "{}",
        output(&kept)
    );
    let kept = bench.say("yes").await;
    assert_eq!(kept.id, first.id);
}

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Entry {
    /// What is written.
    text: String,
    /// What is written over.
    #[serde(default)]
    over: Option<String>,
}

/// A skill that writes over something, bound to what was there when it was shown. The process ends while it is called for
/// the first time, before it writes.
#[derive(Clone, Default)]
struct Page {
    there: Arc<Mutex<String>>,
    begun: Arc<AtomicUsize>,
}

impl Skill for Page {
    const SPEC: skill::Spec = {
        let mut traits = skill::Traits::new();
        traits.approval = true;
        traits.replayable = true;
        skill::Spec::new(
            skill::Id::new("write-page"),
            "Write page",
            "Writes a page.",
            skill::OneOrMore::new(&["pages"]),
            skill::OneOrMore::new(&["page {text}"]),
        )
        .with(traits)
    };
    type Input = Entry;
    type Output = String;

    async fn run(&self, input: Entry, _ctx: Context) -> Result<Reply<String>, SkillError> {
        if self.begun.fetch_add(1, Ordering::SeqCst) == 0 {
            std::future::pending::<()>().await;
        }
        let mut there = self.there.lock().unwrap();
        if input.over.as_deref() != Some(&there) {
            return Err(SkillError::coded(
                "changed",
                "the page is not as it was shown",
            ));
        }
        *there = input.text;
        Ok(Reply::Done("written".to_owned()))
    }

    async fn bind(&self, input: Entry) -> Result<Option<Value>, SkillError> {
        let over = self.there.lock().unwrap().clone();
        Ok(Some(json!({ "text": input.text, "over": over })))
    }
}

/// A kill between the decision, which is recorded, and the act: after the restart the act is done as it was agreed to, or,
/// if what was shown has changed meanwhile, not at all.
#[tokio::test]
async fn what_was_agreed_to_before_a_kill_is_done_after_it_only_if_nothing_has_changed() {
    for changed in [false, true] {
        let page = Page::default();
        let world = World::new();
        let begin = async || {
            let skills = Registry::new().with(page.clone()).unwrap();
            world.begin_all(Law::default(), None, |_| skills).await
        };
        let bench = begin().await;
        let asked = bench.call("write-page", json!({ "text": "new" })).await;
        assert_eq!(
            state(&asked),
            TaskState::InputRequired,
            "{}",
            status(&asked)
        );
        let answer = extension::answer(fresh(), &asked, Some(approve()));
        bench.send_at_once(answer).await;
        while page.begun.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let history = bench.handle.history().await.unwrap();
        let decided = history
            .iter()
            .any(|(_, record)| matches!(record.event.what, agent::EventKind::Decided { .. }));
        assert!(decided, "the decision is recorded");
        bench.killed().await;
        if changed {
            "other words".clone_into(&mut page.there.lock().unwrap());
        }

        let bench = begin().await;
        let task = loop {
            let task = bench.task(&asked.id).await;
            if state(&task).is_terminal() {
                break task;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        let there = page.there.lock().unwrap().clone();
        let expected = match changed {
            true => (TaskState::Failed, "other words"),
            false => (TaskState::Completed, "new"),
        };
        assert_eq!((state(&task), &*there), expected, "{}", status(&task));
    }
}
