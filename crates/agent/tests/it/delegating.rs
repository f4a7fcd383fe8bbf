//! An agent asks another one, and does something of itself.

use std::sync::{Arc, Mutex};

use agent::{Errand, Household, Others, Profile, ask_agent};
use futures_core::future::BoxFuture;
use serde_json::json;
use skill::{Registry, extension};

use crate::support::{World, output};

/// Other agents, as far as a test goes: they say what they were asked.
#[derive(Clone, Default)]
struct Echoes {
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

impl Others for Echoes {
    fn names(&self) -> Vec<String> {
        vec!["ranger".to_owned(), "scribe".to_owned()]
    }

    fn ask(&self, agent: &str, request: String) -> BoxFuture<'static, Result<String, String>> {
        let said = format!("{agent} heard: {request}");
        self.asked.lock().unwrap().push((agent.to_owned(), request));
        Box::pin(async move { Ok(said) })
    }
}

impl Errand for Echoes {
    fn begin(&self, agent: &str, request: String) -> BoxFuture<'static, Result<(), String>> {
        self.asked.lock().unwrap().push((agent.to_owned(), request));
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
