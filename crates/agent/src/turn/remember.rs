//! What was found worth it is put into memory, each thing with its reason.

use memory::{Certainty, Content, Error, Handle, Keep, Outcome, Reason};

use crate::event::{Candidate, EffectId, EventKind, MemoryOutcome, MemoryResult};

pub(super) async fn remember(
    space: Option<&Handle>,
    effect: EffectId,
    candidates: Vec<Candidate>,
    task: &str,
    again: bool,
) -> EventKind {
    let outcomes = match space {
        Some(space) => {
            // All at once: memory writes what comes together in one commit.
            let keeping = candidates
                .into_iter()
                .map(|it| one_of(space, it, task, again));
            futures_util::future::join_all(keeping).await
        }
        None => Vec::new(),
    };
    EventKind::Remembered { effect, outcomes }
}

async fn one_of(space: &Handle, candidate: Candidate, task: &str, again: bool) -> MemoryResult {
    if again && is_there(space, &candidate.text, task).await {
        return kept("", MemoryOutcome::Known);
    }
    one(space, candidate, task)
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

async fn one(space: &Handle, candidate: Candidate, task: &str) -> Result<MemoryResult, Error> {
    let mut content = Content::text(candidate.text);
    content.kind = "conversation".to_owned();
    content.task = Some(task.to_owned());
    content.source = Some(candidate.source.clone());
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
    let against = match &outcome {
        Outcome::Doubted(id) => against(space, id).await,
        _ => None,
    };
    Ok(MemoryResult {
        against,
        ..kept(outcome.id().as_str(), MemoryOutcome::from(&outcome))
    })
}

/// What a doubted belief is contradicted by.
pub(crate) async fn against(space: &Handle, id: &memory::RecordId) -> Option<String> {
    let record = space.get(id).await.ok()??;
    let Certainty::Uncertain { against, .. } = &record.kept()?.certainty else {
        return None;
    };
    let other = space.get(against).await.ok()??;
    Some(other.content.text.clone())
}

fn kept(record: &str, outcome: MemoryOutcome) -> MemoryResult {
    MemoryResult {
        record: record.to_owned(),
        outcome,
        problem: None,
        against: None,
    }
}
