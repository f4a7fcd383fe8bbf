//! Many agents: asleep and awake, and no two the same.

use std::sync::Arc;
use std::time::Duration;

use agent::{Edit, Error, Law, Parts, Population, Profile, Refused, State, TABLES};
use model::Model;
use schemars::JsonSchema;
use serde::Deserialize;
use skill::{Registry, SkillError, SkillInput, skill};
use store::Store;

use crate::support::{World, output};

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Look {
    /// Where to.
    at: String,
}

/// Looks at something.
#[skill(tags = ["test"], examples = ["look at {at}"], read_only)]
async fn look(input: Look) -> Result<String, SkillError> {
    Ok(input.at)
}

fn profile(id: &str, objective: &str) -> Profile {
    let mut profile = Profile::new(id, id.to_uppercase());
    profile.objectives = vec![objective.to_owned()];
    profile
}

fn population() -> Population {
    Population::new(Parts::new(Store::memory(TABLES)))
}

#[tokio::test]
async fn a_server_that_was_stopped_is_released() {
    let model: Arc<dyn Model> = Arc::new(model::rules::Rules::default());
    let released = Arc::downgrade(&model);
    let bench = World::new().begin_with(Law::default(), Some(model)).await;
    bench.say("greet Ada").await;
    bench.killed().await;
    assert!(released.upgrade().is_none(), "a part of the server is kept");
}

#[tokio::test]
async fn an_agent_that_is_another_again_is_refused() {
    let population = population();
    let none = Registry::new();
    population
        .admit(profile("scout", "find things"), &none)
        .await
        .unwrap();
    let mut twin = profile("ranger", " Find, THINGS. ");
    twin.description = "Quite another one, in other words.".to_owned();
    let refused = population.admit(twin.clone(), &none).await.unwrap_err();
    let Error::Twin {
        twin: named, mode, ..
    } = &refused
    else {
        unreachable!("it is a twin: {refused}");
    };
    assert_eq!((named.as_str(), mode.as_str()), ("scout", "ranger"));
    let said = refused.to_string();
    assert!(
        said.contains("another objective, law or set of skills"),
        "{said}"
    );

    population
        .admit(profile("ranger", "guard things"), &none)
        .await
        .unwrap();
    let mut lawful = twin.clone();
    lawful.id = "judge".to_owned();
    lawful.law.attention.turns = 2;
    population.admit(lawful, &none).await.unwrap();
    let mut able = twin.clone();
    able.id = "able".to_owned();
    population
        .admit(able, &Registry::new().with(look).unwrap())
        .await
        .unwrap();
    let mut seeing = twin;
    seeing.id = "seeing".to_owned();
    seeing.views = vec!["library".to_owned()];
    population.admit(seeing, &none).await.unwrap();
    assert_eq!(
        population.ids(),
        ["able", "judge", "ranger", "scout", "seeing"]
    );
}

/// It went wrong: one memory of the two with something in it was enough, so that a twin of any agent in use was let in.
#[tokio::test]
async fn an_empty_memory_makes_no_other_agent_and_one_with_something_in_it_does() {
    let store = Store::memory(&[memory::TABLES, TABLES].concat());
    let memory = memory::Memory::open(store.clone(), memory::Options::default());
    let population = Population::new(Parts::new(store).memory(memory.clone()));
    let none = Registry::new();
    let scout = profile("scout", "find things");
    population.admit(scout, &none).await.unwrap();
    let note = |text: &str| memory::Content::text(text);
    let remembers = memory.space("scout").unwrap();
    remembers
        .observe(note("The bridge is closed."))
        .await
        .unwrap();
    let ranger = profile("ranger", "find things");
    let refused = population.admit(ranger.clone(), &none).await.unwrap_err();
    assert!(matches!(refused, Error::Twin { .. }), "{refused}");
    let remembers = memory.space("ranger").unwrap();
    remembers.observe(note("The road is open.")).await.unwrap();
    population.admit(ranger, &none).await.unwrap();
    let third = profile("third", "find things");
    assert!(population.admit(third, &none).await.is_err());
    population.close().await;
    memory.close().await;
}

#[tokio::test]
async fn one_that_sleeps_counts_and_one_that_comes_again_is_itself() {
    let store = Store::memory(TABLES);
    let population = Population::new(Parts::new(store.clone()));
    let none = Registry::new();
    let scout = population
        .admit(profile("scout", "find things"), &none)
        .await
        .unwrap();
    assert_eq!(population.awake(), 0, "nobody has asked it anything");
    assert!(
        population
            .admit(profile("ranger", "find things"), &none)
            .await
            .is_err()
    );
    assert_eq!(scout.status().await.unwrap().state, State::Idle);
    assert_eq!(population.awake(), 1);
    population.close().await;
    assert_eq!(population.awake(), 0);

    let again = Population::new(Parts::new(store));
    let mut other_law = profile("scout", "find things");
    other_law.law.attention.turns = 1;
    let scout = again.admit(other_law, &none).await.unwrap();
    assert_eq!(
        *scout.law().await.unwrap(),
        Law::default(),
        "it goes by its own law, not by a file"
    );
}

#[tokio::test(start_paused = true)]
async fn an_idle_agent_goes_to_sleep_and_wakes_on_a_message() {
    let mut parts = Parts::new(Store::memory(TABLES));
    parts.sleep_after = Duration::from_secs(5);
    let population = Population::new(parts);
    let scout = population
        .admit(profile("scout", "find things"), &Registry::new())
        .await
        .unwrap();
    scout.pause().await.unwrap();
    assert_eq!(population.awake(), 1);
    while population.awake() > 0 {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let status = scout.status().await.unwrap();
    assert!(status.paused, "it wakes as it fell asleep");
    assert_eq!(population.awake(), 1);
}

#[tokio::test]
async fn ten_thousand_that_sleep_are_no_task() {
    let population = population();
    let none = Registry::new();
    let tasks = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let before = tasks();
    for number in 0..10_000 {
        let profile = profile(&format!("agent-{number}"), &format!("count to {number}"));
        population.admit(profile, &none).await.unwrap();
    }
    assert_eq!((population.awake(), tasks()), (0, before));
    let one = population.agent("agent-7000").unwrap();
    assert_eq!(one.status().await.unwrap().state, State::Idle);
    assert_eq!(population.awake(), 1);
    let twin = population
        .admit(profile("late", "count to 9999"), &none)
        .await
        .unwrap_err();
    assert!(twin.to_string().contains("agent-9999"), "{twin}");
}

#[tokio::test]
async fn an_agent_that_wakes_goes_on_where_it_was() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say("note buy milk in todo.md").await;
    bench.handle.sleep().await.unwrap();
    let (state, event) = bench.handle.state().await.unwrap();
    let (replayed, last) = bench.handle.replay().await.unwrap();
    let bytes = |state: &agent::AgentState| serde_json::to_vec(state).unwrap();
    assert_eq!(
        (bytes(&state), event),
        (bytes(&replayed), last),
        "bit for bit"
    );
    let task = bench.answer(&task, crate::support::approve()).await;
    assert_eq!(output(&task), "wrote todo.md");
}

#[tokio::test(start_paused = true)]
async fn that_time_passes_is_not_recorded_and_keeps_no_agent_awake() {
    let mut parts = Parts::new(Store::memory(TABLES));
    parts.sleep_after = Duration::from_secs(60);
    let population = Population::new(parts);
    let scout = profile("scout", "find things");
    let scout = population.admit(scout, &Registry::new()).await.unwrap();
    scout.status().await.unwrap();
    let before = scout.history().await.unwrap().len();
    assert_eq!(population.awake(), 1);
    let mut ticks = 0;
    while population.awake() > 0 {
        population.tick().await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        ticks += 1;
        assert!(ticks < 100, "it never sleeps");
    }
    assert_eq!(scout.history().await.unwrap().len(), before);
    population.close().await;
}

#[tokio::test]
async fn a_change_of_the_law_that_would_make_a_twin_is_refused() {
    let population = population();
    let none = Registry::new();
    let scout = profile("scout", "find things");
    population.admit(scout, &none).await.unwrap();
    let mut other = profile("ranger", "Find things!");
    other.law.attention.turns = 2;
    let ranger = population.admit(other, &none).await.unwrap();
    let edit = |turns: u32| Edit {
        target: "attention.turns".to_owned(),
        change: turns.into(),
        justification: "it is quicker".to_owned(),
    };
    let refused = ranger.amend(edit(4), "ada").await.unwrap_err();
    assert_eq!(refused, Refused::Twin("scout".to_owned()).into());
    assert_eq!(ranger.law().await.unwrap().attention.turns, 2);
    ranger.amend(edit(3), "ada").await.unwrap();

    // What it was is free for another agent; what it is is not.
    let mut third = profile("third", "find things");
    third.law.attention.turns = 3;
    assert!(population.admit(third.clone(), &none).await.is_err());
    third.law.attention.turns = 2;
    population.admit(third, &none).await.unwrap();
    population.close().await;
}

/// Once a single greeting that an agent remembered let it become the same as another.
#[tokio::test]
async fn a_change_that_would_make_a_twin_is_refused_whatever_the_agent_remembers() {
    let world = World::new();
    let store = world.store();
    let memory = memory::Memory::open(store.clone(), memory::Options::default());
    let population = Population::new(Parts::new(store).memory(memory.clone()));
    let none = Registry::new();
    population
        .admit(profile("scout", "find things"), &none)
        .await
        .unwrap();
    let mut other = profile("ranger", "find things");
    other.law.attention.turns = 2;
    let ranger = population.admit(other, &none).await.unwrap();
    let space = memory.space("ranger").unwrap();
    let seen = memory::Content::text("The bridge is open.");
    space.observe(seen).await.unwrap();
    let edit = Edit {
        target: "attention.turns".to_owned(),
        change: 4.into(),
        justification: "it is quicker".to_owned(),
    };
    let refused = ranger.amend(edit, "ada").await.unwrap_err();
    assert_eq!(refused, Refused::Twin("scout".to_owned()).into());
    population.close().await;
    memory.close().await;
}

#[tokio::test]
async fn what_an_edited_manifest_says_is_offered_and_counts_once_it_is_accepted() {
    let world = World::new();
    let store = world.store();
    let memory = || memory::Memory::open(store.clone(), memory::Options::default());
    let none = Registry::new();
    let axioms = |axiom: &str, memory: memory::Memory| {
        let mut profile = profile("scout", "find things");
        profile.law.frozen.axioms = vec![axiom.to_owned()];
        let population = Population::new(Parts::new(store.clone()).memory(memory));
        (population, profile)
    };
    let kept = async |memory: &memory::Memory| {
        let space = memory.space("scout").unwrap();
        let axioms = space.records(|it| it.layer() == memory::Layer::Axiom).await;
        let axioms = axioms.unwrap();
        axioms
            .iter()
            .map(|it| it.content.text.clone())
            .collect::<Vec<_>>()
    };
    let spaces = memory();
    let (population, born) = axioms("The sky is blue.", spaces.clone());
    let scout = population.admit(born, &none).await.unwrap();
    assert_eq!(scout.offered().await.unwrap(), Vec::<String>::new());
    assert_eq!(scout.accept("why not", "ada").await, Err(Error::NoOffer));
    // A change of the law is no reason to offer what the manifest has had all the time.
    let turns = Edit {
        target: "attention.turns".to_owned(),
        change: 2.into(),
        justification: "it is quicker".to_owned(),
    };
    scout.amend(turns, "ada").await.unwrap();
    population.close().await;

    let (population, mut edited) = axioms("The sky is blue.", spaces.clone());
    edited.description = "Looks around.".to_owned();
    let scout = population.admit(edited, &none).await.unwrap();
    assert_eq!(scout.offered().await.unwrap(), Vec::<String>::new());
    let (state, _) = scout.state().await.unwrap();
    assert_eq!(
        state.context().identity().description,
        "Looks around.",
        "as on its card"
    );
    population.close().await;

    let (population, edited) = axioms("The sky is red.", spaces.clone());
    let scout = population.admit(edited.clone(), &none).await.unwrap();
    assert_eq!(
        scout.offered().await.unwrap(),
        [
            "attention.turns: 2 -> 4",
            r#"frozen.axioms.0: "The sky is blue." -> "The sky is red.""#
        ]
    );
    assert_eq!(kept(&spaces).await, ["The sky is blue."]);
    assert_eq!(
        scout.accept(" ", "ada").await,
        Err(Refused::Unjustified.into())
    );
    scout.accept("it is evening", "ada").await.unwrap();
    assert_eq!(
        kept(&spaces).await,
        ["The sky is red."],
        "never two that contradict"
    );
    assert_eq!(
        scout.law().await.unwrap().frozen.axioms,
        ["The sky is red."]
    );
    assert_eq!(scout.offered().await.unwrap(), Vec::<String>::new());
    let laws = scout.laws().await.unwrap();
    assert_eq!((&*laws[2].by, &*laws[2].why), ("ada", "it is evening"));
    population.close().await;

    let (population, edited) = axioms("The sky is red.", spaces.clone());
    let scout = population.admit(edited, &none).await.unwrap();
    assert_eq!(
        scout.offered().await.unwrap(),
        Vec::<String>::new(),
        "also after a restart"
    );
    assert_eq!(kept(&spaces).await, ["The sky is red."]);
    population.close().await;
    spaces.close().await;
}
