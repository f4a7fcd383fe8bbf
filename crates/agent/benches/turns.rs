//! The cost of an agent: `cargo bench -p agent --bench turns`.
//!
//! CPU of a turn of the rules planner, events folded in a second, the time to wake, and bytes of an agent that sleeps.
#![expect(clippy::print_stdout, reason = "it prints what it measures")]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use a2a::server::{Config, Server};
use a2a::service::{Call, Service as _};
use a2a::types::{Message, SendMessageRequest};
use access::Principal;
use agent::{Agent, Manifest, Options};
use agent::{Parts, Population, Profile};
use memory::{Content, Memory};
use schemars::JsonSchema;
use serde::Deserialize;
use skill::{Registry, SkillError, SkillInput, skill};
use store::{Store, Table};

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Greet {
    /// Who is greeted.
    who: String,
}

/// Greets a person.
#[skill(tags = ["demo"], examples = ["greet {who}"], read_only)]
async fn greet(input: Greet) -> Result<String, SkillError> {
    Ok(format!("Hello, {}!", input.who))
}

fn tables() -> Vec<&'static Table> {
    let tables = a2a::server::TABLES
        .iter()
        .chain(memory::TABLES)
        .chain(agent::TABLES);
    tables.copied().collect()
}

/// What this process has used of the processor.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|it| it.parse().ok());
    Duration::from_nanos(nanos.unwrap_or_default())
}

/// The memory of this process that is its own, in bytes.
fn resident() -> i64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm
        .split(' ')
        .nth(1)
        .and_then(|it| it.parse::<i64>().ok());
    pages.unwrap_or_default() * 4096
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    turns().await?;
    sleepers().await
}

async fn turns() -> Result<(), Box<dyn Error>> {
    let store = Store::memory(&tables());
    let memory = Memory::open(store.clone(), memory::Options::default());
    let population = Population::new(Parts::new(store.clone()).memory(memory.clone()));
    let mut profile = Profile::new("scout", "Scout");
    // What is logged would make memory grow beyond what is to be measured.
    profile.law.update.clear();
    let skills = Registry::new().with(greet)?;
    let scout = population.admit(profile, &skills).await?;
    let space = memory.space("scout")?;
    for number in 0..100 {
        space
            .observe(Content::text(format!(
                "Guest {number} likes the colour {number}."
            )))
            .await?;
    }
    let mut options = Options::default();
    options.skills = skills.merge(&scout.skills())?;
    options.handle = Some(scout.clone());
    let agent = Agent::create(Manifest::new("Scout"), options)?;
    let skills = agent.skills().clone();
    let server = Server::start(Config::new(agent.card()), Arc::new(agent), store.clone()).await?;
    let ask = async |number: usize| {
        let message = Message::user(
            format!("message-{number}"),
            format!("greet guest {}", number % 100),
        );
        let request: SendMessageRequest = message.into();
        server
            .send_message(Call::by(Principal::named("ada")), request)
            .await
    };
    // The same through the task server alone, to be taken off: the skill by its name.
    let name = async |number: usize| {
        let input = serde_json::json!({ "who": "Ada" });
        let message = skill::extension::call(format!("named-{number}"), "greet", input);
        let request: SendMessageRequest = message.into();
        server
            .send_message(Call::by(Principal::named("ada")), request)
            .await
    };
    const TURNS: usize = 1250;
    for number in 0..200 {
        ask(number).await?;
        name(number).await?;
    }
    let began = cpu();
    for number in 200..200 + TURNS {
        ask(number).await?;
    }
    let asked = (cpu() - began) / TURNS as u32;
    let began = cpu();
    for number in 200..200 + TURNS {
        name(number).await?;
    }
    let named = (cpu() - began) / TURNS as u32;
    println!(
        "a turn by rules, {} skills, 100 records: {asked:?} of CPU with the task server,",
        skills.len()
    );
    println!(
        "  of which {named:?} is what a skill called by name costs: {:?} for the turn",
        asked.saturating_sub(named)
    );

    let (_, events) = scout.replay().await?;
    let began = Instant::now();
    let (_, events_again) = scout.replay().await?;
    let took = began.elapsed();
    println!(
        "replay: {events} events in {took:?}: {:.0} a second",
        events_again as f64 / took.as_secs_f64()
    );

    let mut slowest = Duration::ZERO;
    for _ in 0..20 {
        scout.sleep().await?;
        while population.awake() > 0 {
            tokio::task::yield_now().await;
        }
        let began = Instant::now();
        scout.status().await?;
        slowest = slowest.max(began.elapsed());
    }
    println!("waking from a snapshot after {events} events: {slowest:?} at most");
    population.close().await;
    server.stop().await;
    Ok(())
}

async fn sleepers() -> Result<(), Box<dyn Error>> {
    const COUNT: i64 = 10_000;
    let folder = std::env::temp_dir().join(format!("agents-{}", std::process::id()));
    let options = store::Options::new(&folder).tables(&tables());
    let store = Store::open(&options.durability(store::Durability::Normal))?;
    let population = Population::new(Parts::new(store.clone()));
    let admit = async |from: i64, to: i64| {
        for number in from..to {
            let mut profile = Profile::new(format!("agent-{number}"), "One of many");
            profile.objectives = vec![format!("count to {number}")];
            population.admit(profile, &Registry::new()).await?;
        }
        Ok::<(), agent::Error>(())
    };
    admit(0, 500).await?;
    let before = resident();
    admit(500, 500 + COUNT).await?;
    println!(
        "{COUNT} that sleep: {} bytes each, {} awake",
        (resident() - before) / COUNT,
        population.awake()
    );
    let one = population.agent("agent-7000")?;
    let began = Instant::now();
    one.status().await?;
    println!("one of them wakes in {:?}", began.elapsed());
    population.close().await;
    store.close().await;
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
