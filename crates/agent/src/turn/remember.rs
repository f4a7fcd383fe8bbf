//! What was found worth it is put into memory, each thing with its reason.

use memory::{Certainty, Content, Error, Handle, Keep, Outcome, Reason};

use crate::event::{Candidate, EffectId, Kept, Perceived};

pub(super) async fn remember(
    space: Option<&Handle>,
    effect: EffectId,
    candidates: Vec<Candidate>,
    task: &str,
    again: bool,
) -> Perceived {
    let mut outcomes = Vec::new();
    if let Some(space) = space {
        for candidate in candidates {
            let text = candidate.text.clone();
            let kept = match again && is_there(space, &text, task).await {
                true => Ok(kept("", "known")),
                false => one(space, candidate, task).await,
            };
            outcomes.push(kept.unwrap_or_else(|error| Kept {
                against: None,
                ..kept_as("", format!("refused: {error}"))
            }));
        }
    }
    Perceived::Remembered { effect, outcomes }
}

/// Whether it was written down before the process ended.
async fn is_there(space: &Handle, text: &str, task: &str) -> bool {
    let same =
        space.records(|it| it.content.task.as_deref() == Some(task) && it.content.text == text);
    same.await.is_ok_and(|same| !same.is_empty())
}

async fn one(space: &Handle, candidate: Candidate, task: &str) -> Result<Kept, Error> {
    let mut content = Content::text(candidate.text);
    content.kind = "conversation".to_owned();
    content.task = Some(task.to_owned());
    content.source = Some(candidate.source.clone());
    if !candidate.believe {
        let id = space.observe(content).await?;
        return Ok(kept(id.as_str(), "observed"));
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
    Ok(Kept {
        against,
        ..kept(outcome.id().as_str(), outcome.name())
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

fn kept(record: &str, outcome: &str) -> Kept {
    kept_as(record, outcome.to_owned())
}

fn kept_as(record: &str, outcome: String) -> Kept {
    Kept {
        record: record.to_owned(),
        outcome,
        against: None,
    }
}
