//! Vectors for records.

use std::fmt;
use std::sync::{Arc, PoisonError};

use model::Embed;

use crate::afterwards::Work;
use crate::keeper::Shared;
use crate::limits::EMBED_BATCH;
use crate::record::{Record, RecordId};
use crate::space::Derived;

/// Gives records their vectors.
pub(crate) struct Embedding {
    pub(crate) embedder: Arc<dyn Embed>,
}

impl Work for Embedding {
    async fn some(&self, space: &Shared) -> Result<Vec<(RecordId, Derived)>, String> {
        let records = space
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .unembedded(EMBED_BATCH);
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let texts = records.iter().map(|record| text(record)).collect();
        let vectors = self.embedder.embed(texts).await;
        let vectors = vectors.map_err(|problem| problem.to_string())?;
        if vectors.len() != records.len() {
            return Err("the embedder gave another number of vectors".to_owned());
        }
        let vectors = records.iter().zip(vectors).map(|(record, vector)| {
            let vector = Derived::Vector(self.embedder.name().to_owned(), vector);
            (record.id.clone(), vector)
        });
        Ok(vectors.collect())
    }

    fn again(&self, space: &Shared) {
        let mut space = space.write().unwrap_or_else(PoisonError::into_inner);
        space.embed_again();
    }
}

impl fmt::Debug for Embedding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "vectors of {}", self.embedder.name())
    }
}

/// What is embedded of a record: who says what.
fn text(record: &Record) -> String {
    let text = &record.content.text;
    match &record.content.speaker {
        Some(speaker) => format!("{speaker}: {text}"),
        None => text.clone(),
    }
}
