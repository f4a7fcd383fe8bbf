//! An agent asks another one, and does something of itself.

use std::sync::{Arc, Mutex};

use a2a::types::TaskState;
use agent::{Asked, Errand, Household, Others, Profile, Said, ask_agent};
use futures_core::future::BoxFuture;
use serde_json::json;
use skill::{Registry, extension};

use crate::support::{World, output, said, state, status};

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

    fn cancel(&self, agent: &str, task: String) -> BoxFuture<'static, ()> {
        let cancelled = (agent.to_owned(), format!("cancelled {task}"));
        self.asked.lock().unwrap().push(cancelled);
        Box::pin(async {})
    }
}

impl Echoes {
    /// The skill of asking them, for an agent.
    fn asked_by(&self) -> impl FnOnce(&agent::Resident) -> Registry + use<> {
        let others = Arc::new(self.clone());
        move |resident| ask_agent(resident, others)
    }

    /// What was said to them last, once they heard something after `before` times.
    async fn last(&self, before: usize) -> String {
        loop {
            if let Some((_, said)) = self
                .asked
                .lock()
                .unwrap()
                .get(before..)
                .and_then(|it| it.last())
            {
                return said.clone();
            }
            tokio::task::yield_now().await;
        }
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
    let bench = world
        .begin_all(agent::Law::default(), None, echoes.asked_by())
        .await;
    let task = bench.say("ask ranger to write it down").await;
    assert_eq!(state(&task), TaskState::InputRequired);
    assert!(status(&task).contains("ranger asks: May I?"));
    bench.killed().await;

    let bench = world
        .begin_all(agent::Law::default(), None, echoes.asked_by())
        .await;
    let task = bench.answer(&task, json!({ "answer": "yes" })).await;
    assert_eq!(output(&task), "their-task got yes");
    let asked = echoes.asked.lock().unwrap().clone();
    let asked: Vec<&str> = asked.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(asked, ["write it down", "yes"], "nothing is asked twice");
}

#[tokio::test]
async fn to_wait_for_others_takes_no_place_of_work() {
    let world = World::new();
    let echoes = Echoes::default();
    let mut law = agent::Law::default();
    law.attention.turns = 1;
    law.attention.approval_seconds = 60;
    let bench = world.begin_all(law, None, echoes.asked_by()).await;
    let asked = bench.say("ask ranger to write it down").await;
    assert_eq!(state(&asked), TaskState::InputRequired);
    let status = bench.resident.status().await.unwrap();
    assert_eq!(status.state, agent::State::AwaitingApproval);
    let task = bench.say("greet Ada").await;
    assert_eq!(output(&task), "Hello, Ada!");

    // Nobody answers: the task goes on, and the other agent is told.
    world.pass(61);
    bench.household.tick().await;
    let ended = loop {
        let task = bench.task(&asked.id).await;
        if state(&task) == TaskState::Completed {
            break output(&task);
        }
        tokio::task::yield_now().await;
    };
    assert!(ended.contains("nobody answered in time"), "{ended}");
    assert_eq!(echoes.last(1).await, "cancelled their-task");
}

#[tokio::test]
async fn what_nobody_wants_any_more_is_wanted_of_nobody() {
    let world = World::new();
    let echoes = Echoes::default();
    let law = agent::Law::default();
    let bench = world.begin_all(law, None, echoes.asked_by()).await;
    let asked = bench.say("ask ranger to write it down").await;
    bench.cancel(&asked).await;
    assert_eq!(echoes.last(1).await, "cancelled their-task");

    // By itself an agent has nobody to answer for it.
    let mut errand = said("own", "ask ranger to write it down");
    let own = json!({ agent::OWN: true });
    errand.metadata = own.as_object().cloned().map(Into::into);
    let scout = agent::principal("scout");
    let task = bench.send_by(&scout, errand).await;
    assert_eq!(state(&task), TaskState::Completed);
    assert!(
        output(&task).contains("nobody is there"),
        "{}",
        output(&task)
    );
    assert_eq!(echoes.last(3).await, "cancelled their-task");
}

#[tokio::test]
async fn agents_do_not_ask_each_other_for_ever() {
    let world = World::new();
    let echoes = Echoes::default();
    let law = agent::Law::default();
    let bench = world.begin_all(law, None, echoes.asked_by()).await;
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
