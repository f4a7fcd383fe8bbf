//! A skill, defined once and called by everybody: a skill of A2A, a tool of MCP, an agent of ACP.
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
    // The main of your own program is `monas::app().skill(weather).run()`; this one is its callers, too.
    let server = monas::app().skill(weather).start().await?;
    let url = server.url();

    // A2A: a message that names the skill. What comes of it is a task.
    let agent = Client::discover(url, Default::default()).await?;
    let call = extension::call("m1", "weather", json!({ "city": "Riga" }));
    if let Answer::Task(task) = agent.send_message(call.into()).await?.payload {
        show("A2A", task.artifacts[0].parts[0].as_text());
    }

    // MCP: a tool, for hosts of the newest revision and of the one before.
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    for (wire, hello) in [
        ("MCP 2026-07-28", Discover { preferred_versions }),
        ("MCP 2025-11-25", Initialize),
    ] {
        let transport = StreamableHttpClientTransport::from_uri(format!("{url}/mcp"));
        let host = ().serve_with_lifecycle(transport, hello).await?;
        let call = CallToolRequestParams::new("weather");
        let call = call.with_arguments(rmcp::object!({ "city": "Riga" }));
        let result = host.call_tool(call).await?;
        show(wire, result.content[0].as_text().map(|text| &*text.text));
    }

    // ACP: a run of the agent `weather`. One field of text takes a text.
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

fn show(wire: &str, said: Option<&str>) {
    println!("{wire}: {}", said.unwrap_or("nothing"));
}
