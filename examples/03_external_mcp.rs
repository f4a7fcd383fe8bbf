//! Tools of another MCP server as skills of your agent: listed, granted, and called from every wire.
//!
//!     cargo run -p examples --example 03_external_mcp
//!
//! Prints:
//!
//!     skills: plan, maps-distance
//!     maps-distance is "distance" there
//!     plan: Riga to Tallinn is 310 km, so 4 hours.
//!     maps-distance: 310
//!     maps-distance: failed, "There is no road from Riga to Reykjavik."

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::process::ExitCode;

use a2a::client::Version;
use a2a::types::Answer;
use monas::Config;
use monas::config::Data;
use monas::testkit::Kit;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use skill::{Context, Manifest, Reply, SkillError, SkillInput, extension, skill};

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Way {
    from: String,
    to: String,
}

/// Tells how far it is by road, in kilometres.
#[skill(tags = ["maps"], examples = ["How far is it from Riga to Tallinn?"], read_only)]
async fn distance(way: Way) -> Result<u32, SkillError> {
    match (&*way.from, &*way.to) {
        ("Riga", "Tallinn") => Ok(310),
        (from, to) => Err(SkillError::failed(format!(
            "There is no road from {from} to {to}."
        ))),
    }
}

/// Plans a journey, with a map that is another server's.
#[skill(tags = ["travel"], examples = ["Plan a journey from Riga to Tallinn"])]
async fn plan(way: Way, ctx: Context) -> Result<String, SkillError> {
    let asked = json!({ "from": way.from, "to": way.to });
    let Reply::Done(Value::Number(far)) = ctx.call("maps-distance", asked).await? else {
        return Err(SkillError::failed("The map says something else."));
    };
    let hours = far.as_u64().unwrap_or_default().div_ceil(80);
    Ok(format!(
        "{} to {} is {far} km, so {hours} hours.",
        way.from, way.to
    ))
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    // With arguments this program is the other server: `mcp` serves its one tool on standard input and output.
    if std::env::args().len() > 1 {
        return Ok(monas::app().skill(distance).run());
    }
    tokio::runtime::Runtime::new()?.block_on(travel())?;
    Ok(ExitCode::SUCCESS)
}

async fn travel() -> Result<(), Box<dyn std::error::Error>> {
    let program = std::env::current_exe()?;
    let folder = tempfile::tempdir()?;
    // As `agents/traveller.toml` would say it. Any MCP server will do: a program like this one, or a `url`.
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
            println!("{} is {origin:?} there", tool.id);
        }
    }

    let kit = Kit::start(agent).await?;
    let client = kit.client("rest", Version::New).await?;
    let calls = [
        ("plan", "Tallinn"),
        ("maps-distance", "Tallinn"),
        ("maps-distance", "Reykjavik"),
    ];
    for (number, (skill, to)) in calls.into_iter().enumerate() {
        let input = json!({ "from": "Riga", "to": to });
        let call = extension::call(format!("m-{number}"), skill, input);
        let Answer::Task(task) = client.send_message(call.into()).await?.payload else {
            return Err("a skill is a task".into());
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
