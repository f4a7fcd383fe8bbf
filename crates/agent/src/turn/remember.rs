//! Candidates that are worth it are put into memory, each thing with its reason.

use access::Permission;
use memory::{Content, Error, Handle, Keep, Reason};
use skill::Context;

use crate::event::{Candidate, EffectId, EventKind, MemoryOutcome, MemoryResult};
use crate::keeping::contradicted;

pub(super) async fn remember(
    space: Option<&Handle>,
    effect: EffectId,
    candidates: Vec<Candidate>,
    ctx: &Context,
    again: bool,
) -> EventKind {
    // A caller that may not change what the agent remembers leaves nothing in it by talking, either.
    let outcomes = match space.filter(|_| ctx.caller().may(Permission::Remember)) {
        Some(space) => {
            // All at once: memory writes what comes together in one commit.
            let keeping = candidates
                .into_iter()
                .map(|it| one_of(space, it, ctx, again));
            futures_util::future::join_all(keeping).await
        }
        None => Vec::new(),
    };
    EventKind::Remembered { effect, outcomes }
}

async fn one_of(space: &Handle, candidate: Candidate, ctx: &Context, again: bool) -> MemoryResult {
    if again && is_there(space, &candidate.text, &ctx.task_id()).await {
        return kept("", MemoryOutcome::Known);
    }
    one(space, candidate, ctx)
        .await
        .unwrap_or_else(|error| MemoryResult {
            problem: Some(error.to_string()),
            ..kept("", MemoryOutcome::Refused)
        })
}

/// Whether it was written down before the process ended.
async fn is_there(space: &Handle, text: &str, task: &str) -> bool {
    let same =
        space.records(|it| it.content.task.as_deref() == Some(task) && it.content.text == text);
    same.await.is_ok_and(|same| !same.is_empty())
}

async fn one(space: &Handle, candidate: Candidate, ctx: &Context) -> Result<MemoryResult, Error> {
    let mut content = Content::text(candidate.text);
    content.kind = "conversation".to_owned();
    content.task = Some(ctx.task_id());
    content.source = Some(candidate.source.clone());
    // What is said and found for a caller belongs to that caller, also where all callers see it today. Through other agents
    // it belongs to the person at the start of their chain.
    content.owner = Some(ctx.caller().person().name().to_owned());
    content.public = candidate.public;
    if !candidate.believe {
        let id = space.observe(content).await?;
        return Ok(kept(id.as_str(), MemoryOutcome::Observed));
    }
    let reason = Reason::new(
        candidate.source,
        candidate.confidence,
        candidate.context,
        candidate.why,
    );
    let reason = reason.map_err(|lacking| Error::Input {
        what: "the reason".to_owned(),
        problem: lacking.to_string(),
    })?;
    let keep = Keep {
        content,
        ..Keep::belief("", reason)
    };
    let outcome = space.keep(keep).await?;
    let contradicted = contradicted(space, &outcome).await;
    let (against_record, against) = contradicted
        .into_iter()
        .next()
        .map(|(record, text)| (record.to_string(), text))
        .unzip();
    Ok(MemoryResult {
        against,
        against_record,
        ..kept(outcome.id().as_str(), MemoryOutcome::from(&outcome))
    })
}

fn kept(record: &str, outcome: MemoryOutcome) -> MemoryResult {
    MemoryResult {
        record: record.to_owned(),
        outcome,
        problem: None,
        against: None,
        against_record: None,
    }
}
