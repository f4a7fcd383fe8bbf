//! An agent asks another one, and does something of itself.

use a2a::types::TaskState;
use agent::{AgentHandle, EventKind, Origin, ask_agent};
use serde_json::json;
use skill::{Registry, extension};

use crate::support::{Echoes, World, output, said, state, status};

/// The skill of asking the others, for an agent.
fn asks(handle: &AgentHandle) -> Registry {
    ask_agent(handle, vec!["ranger".to_owned(), "scribe".to_owned()])
}

/// Waits until so many tasks of the others have ended.
async fn ended(echoes: &Echoes, count: usize) {
    while echoes.ended.lock().unwrap().len() < count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_agent_to_ask_is_named_or_chosen_by_the_law() {
    let mut law = agent::Law::default();
    let rules = json!([{ "agent": "scribe", "words": ["letter"] }]);
    law.agent_choice = serde_json::from_value(rules).unwrap();
    let world = World::new();
    let bench = world.begin_all(law, None, asks).await;
    let task = bench.say("ask ranger to look around").await;
    assert_eq!(output(&task), "ranger heard: look around");
    let task = bench
        .call("ask-agent", json!({ "request": "write a letter" }))
        .await;
    let answer: serde_json::Value = serde_json::from_str(&output(&task)).unwrap();
    assert_eq!(answer["says"], "scribe heard: write a letter");
    assert_eq!(answer["agent"], "scribe");
    let task = bench.call("ask-agent", json!({ "request": "sing" })).await;
    assert_eq!(
        extension::failure_code(&task).as_deref(),
        Some("which-agent")
    );
}

#[tokio::test]
async fn what_another_agent_asks_is_asked_here_and_survives_a_restart() {
    let world = World::new();
    let bench = world.begin_all(agent::Law::default(), None, asks).await;
    let task = bench.say("ask ranger to write it down").await;
    assert_eq!(state(&task), TaskState::InputRequired);
    assert!(status(&task).contains("ranger asks: May I?"));
    bench.killed().await;

    let bench = world.begin_all(agent::Law::default(), None, asks).await;
    let task = bench.answer(&task, json!({ "answer": "yes" })).await;
    assert_eq!(output(&task), "their task got yes");
    let asked = world.echoes.asked.lock().unwrap().clone();
    let asked: Vec<&str> = asked.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(asked, ["write it down", "yes"], "nothing is asked twice");
}

#[tokio::test]
async fn to_wait_for_others_takes_no_place_of_work() {
    let world = World::new();
    let mut law = agent::Law::default();
    law.attention.turns = 1;
    law.attention.approval_seconds = 60;
    let bench = world.begin_all(law, None, asks).await;
    let asked = bench.say("ask ranger to write it down").await;
    assert_eq!(state(&asked), TaskState::InputRequired);
    let status = bench.handle.status().await.unwrap();
    assert_eq!(status.state, agent::State::AwaitingApproval);
    let task = bench.say("greet Ada").await;
    assert_eq!(output(&task), "Hello, Ada!");

    // Without an answer the task goes on, and the task of the other agent is cancelled.
    world.pass(61);
    bench.population.tick().await;
    let said = loop {
        let task = bench.task(&asked.id).await;
        if state(&task) == TaskState::Rejected {
            break output(&task);
        }
        tokio::task::yield_now().await;
    };
    assert!(said.contains("was not answered in time"), "{said}");
    ended(&world.echoes, 1).await;
}

#[tokio::test]
async fn a_cancelled_delegation_cancels_its_task() {
    let world = World::new();
    let law = agent::Law::default();
    let bench = world.begin_all(law, None, asks).await;
    let asked = bench.say("ask ranger to write it down").await;
    bench.cancel(&asked).await;
    ended(&world.echoes, 1).await;

    // What an agent does by itself has no caller to answer questions.
    let mut own_task = said("own", "ask ranger to write it down");
    let own = json!({ agent::OWN: true });
    own_task.metadata = own.as_object().cloned().map(Into::into);
    let scout = agent::principal("scout");
    let task = bench.send_by(&scout, own_task).await;
    assert_eq!(state(&task), TaskState::Rejected);
    assert!(
        output(&task).contains("no caller to answer"),
        "{}",
        output(&task)
    );
    ended(&world.echoes, 2).await;
}

#[tokio::test]
async fn agents_do_not_ask_each_other_for_ever() {
    let world = World::new();
    let law = agent::Law::default();
    let bench = world.begin_all(law, None, asks).await;
    let mut request = said("talk", "ask ranger to look around");
    let deep = json!({ agent::DEPTH: 4 });
    request.metadata = deep.as_object().cloned().map(Into::into);
    let task = bench
        .send_by(&agent::principal("ranger"), request.clone())
        .await;
    assert!(
        output(&task).contains("have asked each other"),
        "{}",
        output(&task)
    );
    // Only agents of the server say how deep it is.
    request.message_id.push('2');
    let task = bench.send(request).await;
    assert_eq!(output(&task), "ranger heard: look around");
}

#[tokio::test]
async fn what_it_does_by_the_clock_begins_like_any_request() {
    let world = World::new();
    let mut law = agent::Law::default();
    let timers = json!([{ "name": "hourly", "every": 3600, "request": "look around" }]);
    law.timers = serde_json::from_value(timers).unwrap();
    let bench = world.begin_with(law, None).await;
    bench.handle.status().await.unwrap();
    bench.population.tick().await;
    // It has noticed when it answers.
    bench.handle.status().await.unwrap();
    world.pass(3601);
    bench.population.tick().await;
    loop {
        let history = bench.handle.history().await.unwrap();
        let own = history.iter().any(|(_, record)| {
            matches!(&record.event.what, EventKind::Heard(heard)
                if heard.origin == Origin::Own && heard.text == "look around")
        });
        if own {
            break;
        }
        tokio::task::yield_now().await;
    }
}
