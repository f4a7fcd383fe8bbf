//! Background work that gives records their vectors.
//!
//! The vector of a record is made of its text with the speaker before it. It is stored under the embedder's name; when the
//! configured embedder changes, vectors of the old one are not loaded, and new ones are made for every record.

use std::fmt;
use std::sync::Arc;

use model::Embed;

use crate::background::{Failure, Work};
use crate::limits::EMBED_BATCH;
use crate::record::{Record, RecordId};
use crate::space::Derived;
use crate::writer::Shared;

/// The work of embedding records.
pub(crate) struct Embedding {
    pub(crate) embedder: Arc<dyn Embed>,
}

impl Work for Embedding {
    async fn some(&self, space: &Shared) -> Result<Vec<(RecordId, Derived)>, Failure> {
        let records = space.write().unembedded(EMBED_BATCH);
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let texts = records.iter().map(|record| text(record)).collect();
        let vectors = self.embedder.embed(texts).await?;
        if vectors.len() != records.len() {
            return Err(Failure::Vectors {
                expected: records.len(),
                found: vectors.len(),
            });
        }
        let vectors = records.iter().zip(vectors).map(|(record, vector)| {
            let vector = Derived::Vector(self.embedder.name().to_owned(), vector);
            (record.id.clone(), vector)
        });
        Ok(vectors.collect())
    }

    fn again(&self, space: &Shared) {
        space.write().embed_again();
    }
}

impl fmt::Display for Embedding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "embedding with {}", self.embedder.name())
    }
}

/// The text that is embedded: `speaker: text`.
fn text(record: &Record) -> String {
    let text = &record.content.text;
    match &record.content.speaker {
        Some(speaker) => format!("{speaker}: {text}"),
        None => text.clone(),
    }
}
