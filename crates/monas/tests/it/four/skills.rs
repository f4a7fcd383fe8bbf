//! Skills that stream, ask, fail and wait.

use agent::{Agent, Manifest, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill::reply::text_artifact;
use skill::{Context, Registry, SkillError, SkillInput, skill};

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Trip {
    to: String,
}

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Approval {
    approved: bool,
}

#[derive(Serialize, JsonSchema)]
struct Booked {
    seat: String,
}

/// Books a trip, once it is approved.
#[skill(tags = ["travel"], examples = ["book a trip to Riga"])]
async fn book(trip: Trip, ctx: Context) -> Result<Booked, SkillError> {
    let to = trip.to;
    ctx.progress(1.0, Some(2.0), "looking for a seat").await?;
    let Approval { approved } = ctx.ask(format!("Go to {to}?")).await?;
    if !approved {
        return Err(SkillError::Refused(format!("Nobody goes to {to}.")));
    }
    ctx.progress(2.0, Some(2.0), "booking it").await?;
    let ticket = text_artifact("ticket.txt", format!("seat 7A to {to}"));
    ctx.artifact(ticket).await?;
    Ok(Booked {
        seat: "7A".to_owned(),
    })
}

/// Fails.
#[skill(tags = ["travel"], examples = ["go on strike"])]
async fn strike(trip: Trip, ctx: Context) -> Result<Booked, SkillError> {
    ctx.progress(1.0, None, "asking around").await?;
    let why = format!("Nobody drives to {} today.", trip.to);
    Err(SkillError::coded("strike", why))
}

/// Waits until it is cancelled.
#[skill(tags = ["travel"], examples = ["wait for the train"])]
async fn wait(_trip: Trip, ctx: Context) -> Result<Booked, SkillError> {
    ctx.progress(1.0, None, "waiting").await?;
    ctx.cancelled().cancelled().await;
    Err(SkillError::Cancelled)
}

pub(super) fn agent() -> Agent {
    let skills = Registry::new().with(book).unwrap();
    let skills = skills.with(strike).unwrap().with(wait).unwrap();
    let mut options = Options::default();
    options.skills = skills;
    Agent::create(Manifest::new("Travel Agent"), options).unwrap()
}
