//! Recalls the records that are relevant to a request.

use memory::{Certainty, Error, Handle, Hit, Recall};

use crate::event::{EffectId, EventKind, Recollection};

pub(super) async fn recall(
    spaces: &[Handle],
    effect: EffectId,
    question: String,
    limit: u32,
) -> EventKind {
    if question.trim().is_empty() {
        let found = Vec::new();
        return EventKind::Recalled { effect, found };
    }
    let mut recall = Recall::new(question);
    recall.limit = limit as usize;
    match found(spaces, &recall).await {
        Ok(found) => EventKind::Recalled { effect, found },
        Err(error) => EventKind::Failed {
            effect,
            code: "memory".to_owned(),
            message: error.to_string(),
        },
    }
}

/// What these spaces have to say to a question, the best first.
pub(crate) async fn found(spaces: &[Handle], recall: &Recall) -> Result<Vec<Recollection>, Error> {
    let mut all: Vec<(f32, Recollection)> = Vec::new();
    for (place, space) in spaces.iter().enumerate() {
        let answer = space.recall(recall.clone()).await?;
        all.extend(answer.hits.iter().map(|hit| {
            let mut found = one(hit);
            if place > 0 {
                found.source = format!("{} in {}", found.source, space.name());
            }
            (hit.relevance, found)
        }));
    }
    if spaces.len() > 1 {
        // What is as relevant stays in the order of the spaces.
        all.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        all.truncate(recall.limit);
    }
    Ok(all.into_iter().map(|(_, found)| found).collect())
}

/// A hit with where it comes from.
fn one(hit: &Hit) -> Recollection {
    let record = &hit.record;
    Recollection {
        record: record.id.to_string(),
        text: crate::text::bounded(&record.content.text, crate::limits::LINE),
        source: record.source().unwrap_or("unknown").to_owned(),
        layer: record.layer(),
        confidence: hit.confidence,
        doubted: record
            .kept()
            .is_some_and(|kept| matches!(kept.certainty, Certainty::Uncertain { .. })),
    }
}
