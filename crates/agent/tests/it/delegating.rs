//! An agent asks another one, and does something of itself.

use std::sync::{Arc, Mutex};

use a2a::types::TaskState;
use agent::{Asked, Errand, Household, Others, Profile, Said, ask_agent};
use futures_core::future::BoxFuture;
use serde_json::json;
use skill::{Registry, extension};

use crate::support::{World, output, state, status};

/// Other agents, as far as a test goes: they say what they were asked.
#[derive(Clone, Default)]
struct Echoes {
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

impl Others for Echoes {
    fn names(&self) -> Vec<String> {
        vec!["ranger".to_owned(), "scribe".to_owned()]
    }

    fn ask(&self, agent: &str, asked: Asked) -> BoxFuture<'static, Result<Said, String>> {
        let Asked { text, task, .. } = asked;
        self.asked
            .lock()
            .unwrap()
            .push((agent.to_owned(), text.clone()));
        let said = match (&*text, &task) {
            ("write it down", None) => Said::Question {
                text: "May I?".to_owned(),
                task: "their-task".to_owned(),
            },
            (answer, Some(task)) => Said::Answer(format!("{task} got {answer}")),
            (text, None) => Said::Answer(format!("{agent} heard: {text}")),
        };
        Box::pin(async move { Ok(said) })
    }
}

impl Errand for Echoes {
    fn begin(&self, agent: &str, request: String) -> BoxFuture<'static, Result<(), String>> {
        self.asked.lock().unwrap().push((agent.to_owned(), request));
        Box::pin(async { Ok(()) })
    }

    fn resume(&self, _agent: &str, _task: String) -> BoxFuture<'static, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test]
async fn whom_it_asks_is_said_or_chosen_by_its_law() {
    let mut law = agent::Law::default();
    let rules = json!([{ "agent": "scribe", "words": ["letter"] }]);
    law.agent_choice = serde_json::from_value(rules).unwrap();
    let echoes = Echoes::default();
    let others = Arc::new(echoes.clone());
    let with = move |resident: &agent::Resident| ask_agent(resident, others);
    let world = World::new();
    let bench = world.begin_all(law, None, with).await;
    let task = bench.say("ask ranger to look around").await;
    assert_eq!(output(&task), "ranger heard: look around");
    let task = bench
        .call("ask-agent", json!({ "request": "write a letter" }))
        .await;
    assert_eq!(output(&task), "scribe heard: write a letter");
    let task = bench.call("ask-agent", json!({ "request": "sing" })).await;
    assert_eq!(
        extension::failure_code(&task).as_deref(),
        Some("which-agent")
    );
}

#[tokio::test]
async fn what_another_agent_asks_is_asked_here_and_survives_a_restart() {
    let world = World::new();
    let echoes = Echoes::default();
    let others = || {
        let others = Arc::new(echoes.clone());
        move |resident: &agent::Resident| ask_agent(resident, others)
    };
    let bench = world.begin_all(agent::Law::default(), None, others()).await;
    let task = bench.say("ask ranger to write it down").await;
    assert_eq!(state(&task), TaskState::InputRequired);
    assert!(status(&task).contains("ranger asks: May I?"));
    bench.killed().await;

    let bench = world.begin_all(agent::Law::default(), None, others()).await;
    let task = bench.answer(&task, json!({ "answer": "yes" })).await;
    assert_eq!(output(&task), "their-task got yes");
    let asked = echoes.asked.lock().unwrap().clone();
    let asked: Vec<&str> = asked.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(asked, ["write it down", "yes"], "nothing is asked twice");
}

#[tokio::test]
async fn what_it_does_by_the_clock_begins_like_any_request() {
    let world = World::new();
    let echoes = Echoes::default();
    let parts = world.parts(world.store()).errand(Arc::new(echoes.clone()));
    let household = Household::new(parts);
    let mut profile = Profile::new("scout", "Scout");
    let timers = json!([{ "name": "hourly", "every": 3600, "request": "look around" }]);
    profile.law.timers = serde_json::from_value(timers).unwrap();
    let scout = household.admit(profile, &Registry::new()).await.unwrap();
    scout.status().await.unwrap();
    household.tick().await;
    // It has noticed when it answers.
    scout.status().await.unwrap();
    world.pass(3601);
    household.tick().await;
    while echoes.asked.lock().unwrap().is_empty() {
        scout.status().await.unwrap();
        tokio::task::yield_now().await;
    }
    let asked = echoes.asked.lock().unwrap().clone();
    assert_eq!(asked, [("scout".to_owned(), "look around".to_owned())]);
}
