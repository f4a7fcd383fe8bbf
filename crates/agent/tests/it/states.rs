//! The state of an agent as it is kept: folded, replayed, made again; and nothing outside can write it.

use a2a::types::TaskState;
use agent::{AgentState, Edit, Refused};
use serde_json::json;

use crate::support::{World, approve, output, state};

fn bytes(state: &AgentState) -> Vec<u8> {
    serde_json::to_vec(state).unwrap()
}

#[tokio::test]
async fn a_restart_is_the_fold_of_what_was_recorded_bit_for_bit() {
    let world = World::new();
    let bench = world.begin().await;
    // Enough for wholes to be written down in between.
    for number in 0..60 {
        bench.say(&format!("greet Ada {number}")).await;
    }
    let waiting = bench.say("note x in y").await;
    let (before, event) = bench.handle.state().await.unwrap();
    bench.killed().await;

    let bench = world.begin().await;
    let (woken, last) = bench.handle.state().await.unwrap();
    assert_eq!((bytes(&woken), last), (bytes(&before), event));
    let (replayed, last) = bench.handle.replay().await.unwrap();
    assert_eq!((bytes(&replayed), last), (bytes(&before), event));
    let checked = bench.handle.check().await.unwrap();
    assert_eq!((checked.steps, checked.differs), (event, None));
    let done = bench.answer(&waiting, approve()).await;
    assert_eq!(output(&done), "wrote y");
}

#[tokio::test]
async fn a_turn_that_a_kill_cut_is_finished_by_the_next_process() {
    let world = World::new();
    let bench = world.begin().await;
    bench.handle.pause().await.unwrap();
    let asked = bench.say("greet Ada");
    let id = async {
        loop {
            let status = bench.handle.status().await.unwrap();
            if let Some((id, _)) = status.queue.first() {
                break id.clone();
            }
            tokio::task::yield_now().await;
        }
    };
    let id = tokio::select! { id = id => id, _ = asked => unreachable!("it is paused") };
    bench.killed().await;

    let bench = world.begin().await;
    bench.handle.resume().await.unwrap();
    let task = loop {
        let task = bench.task(&id).await;
        if state(&task) == TaskState::Completed {
            break task;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(output(&task), "Hello, Ada!");
}

#[tokio::test]
async fn every_law_is_kept_and_a_refused_change_is_known() {
    let world = World::new();
    let bench = world.begin().await;
    let edit = |change: &str, justification: &str| Edit {
        target: "attention".to_owned(),
        change: json!(change),
        justification: justification.to_owned(),
    };
    let law = bench
        .handle
        .amend(edit("recall = 0", "it is too slow"), "ada")
        .await
        .unwrap();
    assert_eq!(law.attention.recall, 0);
    let refused = bench.handle.amend(edit("recall = 9", ""), "ada").await;
    assert_eq!(refused.unwrap_err(), Refused::Unjustified.into());
    bench.killed().await;

    let bench = world.begin().await;
    let laws = bench.handle.laws().await.unwrap();
    let versions: Vec<_> = laws
        .iter()
        .map(|it| (it.by.as_str(), it.why.as_str()))
        .collect();
    assert_eq!(
        versions,
        [("birth", "it was born with it"), ("ada", "it is too slow")]
    );
    assert_eq!(laws[1].hash, bench.handle.law().await.unwrap().hash());
    assert_eq!(laws[0].law.diff(&laws[1].law), ["attention.recall: 6 -> 0"]);
}

/// What can be done with a handle on an agent is this list. Nothing on it hands out or takes in a state.
#[test]
fn there_is_no_way_in_but_events() {
    let source = include_str!("../../src/handle.rs");
    let mut methods: Vec<&str> = source
        .lines()
        .filter_map(|line| {
            let line = line.trim_start();
            let rest = line
                .strip_prefix("pub async fn ")
                .or_else(|| line.strip_prefix("pub fn "))?;
            rest.split(['(', '<']).next()
        })
        .collect();
    methods.sort_unstable();
    let expected = [
        "check", "history", "id", "law", "laws", "pause", "replay", "resume", "revoke", "skills",
        "sleep", "state", "status", "thinks", "why", "why_last",
    ];
    assert_eq!(methods, expected);
    assert!(
        !source.contains("&mut self"),
        "nothing of it changes anything"
    );
    let context = include_str!("../../src/context.rs");
    let exposed = context
        .lines()
        .filter(|line| line.trim_start().starts_with("pub fn") && line.contains("&mut"));
    assert_eq!(exposed.count(), 0);
}

#[test]
fn code_outside_of_the_crate_cannot_write_the_state() {
    compile_errors::check("tests/refused", &["agent"]);
}
