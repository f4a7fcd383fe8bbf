//! What has to do with a request is called to mind.

use memory::{Handle, Recall};

use crate::event::{EffectId, Found, Perceived};

pub(super) async fn recall(
    space: Option<Handle>,
    effect: EffectId,
    question: String,
    limit: u32,
) -> Perceived {
    let nothing = Perceived::Recalled {
        effect,
        found: Vec::new(),
    };
    let Some(space) = space.filter(|_| !question.trim().is_empty()) else {
        return nothing;
    };
    let mut recall = Recall::new(question);
    recall.limit = limit as usize;
    match space.recall(recall).await {
        Ok(answer) => {
            let found = answer.hits.iter().map(found);
            Perceived::Recalled {
                effect,
                found: found.collect(),
            }
        }
        Err(error) => Perceived::Failed {
            effect,
            code: "memory".to_owned(),
            message: error.to_string(),
        },
    }
}

/// A hit with where it comes from.
pub(crate) fn found(hit: &memory::Hit) -> Found {
    let record = &hit.record;
    Found {
        record: record.id.to_string(),
        text: crate::text::bounded(&record.content.text, crate::limits::LINE),
        source: record.source().unwrap_or("unknown").to_owned(),
        layer: format!("{:?}", record.layer()).to_lowercase(),
        confidence: hit.confidence,
        doubted: record.kept().is_some_and(|kept| !kept.certain()),
    }
}
