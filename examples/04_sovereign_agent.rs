//! A sovereign agent: it has a memory, a law that says what it may do, and a journal of its decisions.
//!
//! You learn what `alive()` adds to an agent. It remembers what it is told and uses that in its answers; a skill that
//! changes something waits for the approval of a person, who sees a preview of the change; and the agent explains an action
//! from its journal. No language model is configured, so it follows built-in rules for simple requests.
//!
//!     cargo run -p examples --example 04_sovereign_agent

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use a2a::client::{Client, Version};
use a2a::types::{Answer, Message, Task, TaskState};
use monas::testkit::Kit;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The only folder in which it may read and write files.
    let folder = tempfile::tempdir()?;
    let mut config = Kit::config();
    config.workspace = Some(folder.path().to_owned());
    let server = monas::app().alive().start_with(&config).await?;
    let agent = server.client("capnweb", Version::V1_0).await?;

    say(&agent, "remember that Ada likes coffee", None).await?;
    say(&agent, "what do you know about Ada?", None).await?;

    // A skill that changes files waits for approval, and shows the change.
    let waiting = say(&agent, "create notes.md with hello", None).await?;
    println!(
        "(there is a file: {})",
        folder.path().join("notes.md").exists()
    );
    say(&agent, "yes", Some(&waiting)).await?;
    println!(
        "(there is a file: {})",
        folder.path().join("notes.md").exists()
    );

    // The explanation comes from the journal; its numbers are events that can be looked up.
    let url = format!("{}/api/agent/why?question=notes.md", server.url());
    let why: serde_json::Value = reqwest::get(url).await?.json().await?;
    println!("why?\n{}", why["text"].as_str().unwrap_or_default());
    server.stop().await;
    Ok(())
}

/// Sends a text, as an answer to `about` if given, and prints the reply.
async fn say(
    agent: &Client,
    text: &str,
    about: Option<&Task>,
) -> Result<Task, Box<dyn std::error::Error>> {
    let mut message = Message::user(format!("m-{text}"), text);
    if let Some(task) = about {
        message.task_id.clone_from(&task.id);
        message.context_id.clone_from(&task.context_id);
    }
    let Answer::Task(task) = agent.send_message(message.into()).await?.payload else {
        return Err("expected a task".into());
    };
    let asks = task.state() == TaskState::InputRequired;
    println!(
        "> {text}\n{}{}",
        if asks { "asks: " } else { "" },
        task.text()
    );
    Ok(task)
}
