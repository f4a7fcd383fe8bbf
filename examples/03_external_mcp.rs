//! Uses the tools of another MCP server as skills of your agent.
//!
//! You learn how a manifest names a tool server, allows some of its tools and grants them to a skill; which ids the tools
//! get; and that a skill calls them like any other skill (`ctx.call`). Clients of your agent can call them too. The tool
//! server here is this same program, started a second time.
//!
//!     cargo run -p examples --example 03_external_mcp
//!
//! Prints:
//!
//!     skills: plan, maps-distance
//!     maps-distance is the tool "distance"
//!     plan: Riga to Tallinn is 310 km, so 4 hours.
//!     maps-distance: 310
//!     maps-distance: failed, "There is no road from Riga to Reykjavik."

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::process::ExitCode;

use a2a::client::Version;
use a2a::types::Answer;
use agent::Manifest;
use monas::Config;
use monas::config::Data;
use monas::testkit::Kit;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use skill::{Context, Reply, SkillError, SkillInput, extension, skill};

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Way {
    from: String,
    to: String,
}

/// Tells the distance by road, in kilometres.
#[skill(tags = ["maps"], examples = ["How far is it from Riga to Tallinn?"], read_only)]
async fn distance(way: Way) -> Result<u32, SkillError> {
    match (&*way.from, &*way.to) {
        ("Riga", "Tallinn") => Ok(310),
        (from, to) => Err(SkillError::failed(format!(
            "There is no road from {from} to {to}."
        ))),
    }
}

/// Plans a journey. The distance comes from the tool server.
#[skill(tags = ["travel"], examples = ["Plan a journey from Riga to Tallinn"])]
async fn plan(way: Way, ctx: Context) -> Result<String, SkillError> {
    let input = json!({ "from": way.from, "to": way.to });
    let Reply::Done(Value::Number(km)) = ctx.call("maps-distance", input).await? else {
        return Err(SkillError::failed("The tool did not return a number."));
    };
    let hours = km.as_u64().unwrap_or_default().div_ceil(80);
    Ok(format!(
        "{} to {} is {km} km, so {hours} hours.",
        way.from, way.to
    ))
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    // Started with arguments, this program is the tool server: `mcp` serves its one skill on standard input and output.
    if std::env::args().len() > 1 {
        return Ok(monas::app().skill(distance).run());
    }
    tokio::runtime::Runtime::new()?.block_on(travel())?;
    Ok(ExitCode::SUCCESS)
}

async fn travel() -> Result<(), Box<dyn std::error::Error>> {
    let program = std::env::current_exe()?;
    let folder = tempfile::tempdir()?;
    // Usually this is a file, `agents/traveller.toml`. Any MCP server can be named: a program, as here, or a `url`.
    let manifest = Manifest::parse(&format!(
        r#"
        name = "Traveller"
        [grants]
        plan = ["maps-distance"]
        [mcp.maps]
        command = {program:?}
        args = ["mcp", "--log", "error", "--data", {:?}]
        allow = ["distance"]
        "#,
        folder.path()
    ))?;
    let app = monas::app().skill(plan).manifest(manifest);
    let agent = app.agent(&Config::new(Data::Memory)).await?;

    let skills: Vec<_> = agent.skills().iter().map(|skill| &*skill.id).collect();
    println!("skills: {}", skills.join(", "));
    for tool in agent.skills().iter() {
        if let Some(origin) = &tool.origin {
            println!("{} is the tool {origin:?}", tool.id);
        }
    }

    let kit = Kit::start(agent).await?;
    let client = kit.client("rest", Version::V1_0).await?;
    let calls = [
        ("plan", "Tallinn"),
        ("maps-distance", "Tallinn"),
        ("maps-distance", "Reykjavik"),
    ];
    for (number, (skill, to)) in calls.into_iter().enumerate() {
        let input = json!({ "from": "Riga", "to": to });
        let call = extension::call(format!("m-{number}"), skill, input);
        let Answer::Task(task) = client.send_message(call.into()).await?.payload else {
            return Err("expected a task".into());
        };
        let said = task
            .status
            .as_ref()
            .and_then(|status| status.message.as_ref());
        let said = said.and_then(|message| message.parts[0].as_text());
        match extension::output(&task) {
            Some(Value::String(text)) => println!("{skill}: {text}"),
            Some(output) => println!("{skill}: {output}"),
            None => println!("{skill}: failed, {:?}", said.unwrap_or_default()),
        }
    }
    kit.stop().await;
    Ok(())
}
