//! A skill is written once and can be called over three protocols: as a skill of A2A, as a tool of MCP, as an agent of
//! ACP.
//!
//! You learn the `#[skill]` macro: a function, the type of its input, a description, tags and examples. From these follow
//! the input's JSON schema, its validation, and the description in each protocol. Then the program calls the skill as a
//! client of each protocol would.
//!
//!     cargo run -p examples --example 02_a_skill
//!
//! Prints:
//!
//!     A2A: It rains in Riga.
//!     MCP 2026-07-28: It rains in Riga.
//!     MCP 2025-11-25: It rains in Riga.
//!     ACP: It rains in Riga.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use a2a::client::Client;
use a2a::types::Answer;
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::ClientLifecycleMode::{Discover, Initialize};
use rmcp::service::ClientServiceExt as _;
use rmcp::transport::StreamableHttpClientTransport;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use skill::{SkillError, SkillInput, extension, skill};

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Place {
    /// The city, in any language.
    city: String,
}

/// Tells the weather of a city.
#[skill(tags = ["weather"], examples = ["What is the weather in Riga?"])]
async fn weather(place: Place) -> Result<String, SkillError> {
    Ok(format!("It rains in {}.", place.city))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // In your own program `main` is `monas::app().skill(weather).run()`. Here the clients are in the same program.
    let server = monas::app().skill(weather).start().await?;
    let url = server.url();

    // A2A: a message that names the skill. The reply is a task.
    let agent = Client::discover(url, Default::default()).await?;
    let call = extension::call("m1", "weather", json!({ "city": "Riga" }));
    if let Answer::Task(task) = agent.send_message(call.into()).await?.payload {
        show("A2A", task.artifacts[0].parts[0].as_text());
    }

    // MCP: a tool, in the newest revision and in the one before.
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    for (protocol, handshake) in [
        ("MCP 2026-07-28", Discover { preferred_versions }),
        ("MCP 2025-11-25", Initialize),
    ] {
        let transport = StreamableHttpClientTransport::from_uri(format!("{url}/mcp"));
        let host = ().serve_with_lifecycle(transport, handshake).await?;
        let call = CallToolRequestParams::new("weather");
        let call = call.with_arguments(rmcp::object!({ "city": "Riga" }));
        let result = host.call_tool(call).await?;
        show(
            protocol,
            result.content[0].as_text().map(|text| &*text.text),
        );
    }

    // ACP: a run of the agent `weather`. Since its input has a single text field, plain text is enough.
    let run = json!({ "agent_name": "weather", "input": [{ "parts": [{ "content": "Riga" }] }] });
    let sent = reqwest::Client::new()
        .post(format!("{url}/acp/runs"))
        .json(&run)
        .send();
    let run: Value = sent.await?.json().await?;
    show("ACP", run["output"][0]["parts"][0]["content"].as_str());

    server.stop().await;
    Ok(())
}

fn show(protocol: &str, output: Option<&str>) {
    println!("{protocol}: {}", output.unwrap_or("no output"));
}
