//! Two agents claim what cannot both be true, and a third has to live with it: it believes each as far as its law
//! says, holds one of the claims in doubt, and changes its mind when there is a reason to. Whose a claim is says the
//! token that comes with it, not the claim.
//!
//!     cargo run -p examples --example 05_two_agents_and_a_dispute

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use a2a::client::{Client, Settings, Version};
use a2a::types::{Answer, Message, Part};
use access::{Callers, Hash, Strangers};
use agent::message::claim;
use monas::config::Access;
use monas::config::access::{Kind, Scheme};
use monas::testkit::Kit;

/// Whom the judge believes, and how far.
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
"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("judge.toml"), JUDGE)?;
    std::fs::write(folder.path().join("judge.law.toml"), LAW)?;
    let mut config = Kit::config();
    config.manifest = Some(folder.path().join("judge.toml"));
    config.access = known(&["scribe", "ranger"])?;
    let server = monas::app().alive().start_with(&config).await?;
    let judge = server.client("jsonrpc", Version::New).await?;

    println!("scribe claims that the bridge is closed");
    claims(server.url(), "scribe", "The bridge is closed.", 0.9).await?;
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

/// Agents that are known by tokens; people need none here.
fn known(agents: &[&str]) -> Result<Access, access::Error> {
    let mut callers = Callers::default();
    for agent in agents {
        callers.add(agent, Hash::of(token(agent)), &[])?;
    }
    let scheme = Scheme {
        name: "tokens".to_owned(),
        description: String::new(),
        kind: Kind::Bearer(callers),
    };
    Ok(Access {
        schemes: vec![scheme],
        strangers: Strangers::Anonymous,
    })
}

/// What an agent shows. A real one is long, random and secret.
fn token(agent: &str) -> String {
    format!("the token of {agent}").replace(' ', "-")
}

/// An agent sends the judge a letter: a claim, and how sure it is.
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
        return Err("it answers with tasks".into());
    };
    let said = task.status.as_ref().and_then(|it| it.message.as_ref());
    let parts = task.artifacts.iter().flat_map(|it| &it.parts);
    let parts = parts.chain(said.into_iter().flat_map(|it| &it.parts));
    let words: Vec<&str> = parts.filter_map(Part::as_text).collect();
    println!("  judge: {}", words.join("\n").replace('\n', "\n         "));
    Ok(())
}
