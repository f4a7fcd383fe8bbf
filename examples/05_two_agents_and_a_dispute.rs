//! Two agents send a third one, the judge, claims that contradict each other.
//!
//! You learn how an agent weighs claims. Its law gives the trust in each sender; the sender is known by the token of the
//! request, not by what the claim says. The judge believes the claim with more support, keeps the other as doubted, and
//! changes its belief when more support arrives.
//!
//!     cargo run -p examples --example 05_two_agents_and_a_dispute

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use a2a::client::{Client, Settings};
use a2a::types::{Answer, Message};
use access::{Callers, Hash};
use agent::message::claim;
use monas::config::Access;
use monas::config::access::{Kind, Scheme};
use monas::testkit::Kit;

/// The judge's trust in each agent, from 0 to 1.
const LAW: &str = r#"
[[agent_choice]]
agent = "scribe"
trust = 0.9

[[agent_choice]]
agent = "ranger"
trust = 1.0
"#;

const JUDGE: &str = r#"
name = "Judge"
objectives = ["know what is so"]
law = "judge.law.toml"

[memory]
readers = ["ada", "scribe", "ranger"]
"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("judge.toml"), JUDGE)?;
    std::fs::write(folder.path().join("judge.law.toml"), LAW)?;
    let mut config = Kit::config();
    config.manifest = Some(folder.path().join("judge.toml"));
    config.access = known(&["ada", "scribe", "ranger"])?;
    let server = monas::app().alive().start_with(&config).await?;
    let ada = Settings::default().bearer(&token("ada"))?;
    let judge = Client::discover(server.url(), ada).await?;

    println!("scribe claims that the bridge is closed");
    claims(server.url(), "scribe", "The bridge is closed.", 0.8).await?;
    ask(&judge, "recall the bridge").await?;

    println!("ranger claims that it is not");
    claims(server.url(), "ranger", "The bridge is not closed.", 0.95).await?;
    ask(&judge, "recall the bridge").await?;

    println!("a person says so, too");
    ask(&judge, "remember that the bridge is not closed").await?;
    ask(&judge, "recall the bridge").await?;
    server.stop().await;
    Ok(())
}

/// Bearer tokens for these callers. Each is a reader of the judge's memory: others would see only what they said themselves.
fn known(names: &[&str]) -> Result<Access, access::Error> {
    let mut callers = Callers::default();
    for name in names {
        callers.add(name, Hash::of(token(name)), &[])?;
    }
    let scheme = Scheme {
        name: "tokens".to_owned(),
        description: String::new(),
        kind: Kind::Bearer(callers),
    };
    Ok(Access {
        schemes: vec![scheme],
        ..Access::open()
    })
}

/// The token of a caller. A real one is long, random and secret.
fn token(name: &str) -> String {
    format!("the token of {name}").replace(' ', "-")
}

/// Sends the judge a claim of an agent, with its confidence.
async fn claims(
    url: &str,
    agent: &str,
    text: &str,
    confidence: f64,
) -> Result<(), Box<dyn std::error::Error>> {
    let settings = Settings::default().bearer(&token(agent))?;
    let judge = Client::discover(url, settings).await?;
    let letter = claim(agent, &format!("{agent}-1"), text, confidence, 0);
    let mut message = Message::user(format!("from-{agent}"), "");
    message.parts = vec![letter.part()];
    send(&judge, message).await
}

async fn ask(judge: &Client, text: &str) -> Result<(), Box<dyn std::error::Error>> {
    let id = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    send(judge, Message::user(format!("m-{}", id.as_nanos()), text)).await
}

async fn send(judge: &Client, message: Message) -> Result<(), Box<dyn std::error::Error>> {
    let Answer::Task(task) = judge.send_message(message.into()).await?.payload else {
        return Err("expected a task".into());
    };
    println!("  judge: {}", task.text().replace('\n', "\n         "));
    Ok(())
}
