//! Vectors for records, made in the background: a write never waits for them.

use std::sync::{Arc, PoisonError};

use model::Embed;
use store::{Batch, Store};
use tokio::sync::{Notify, watch};

use crate::keeper::{Shared, Spaces};
use crate::limits::EMBED_BATCH;
use crate::record::Record;
use crate::tables;

/// The task that gives records their vectors.
#[derive(Debug)]
pub(crate) struct Embedding {
    embedder: Arc<dyn Embed>,
    store: Store,
    spaces: Spaces,
    /// Told when there are new records.
    news: Arc<Notify>,
    stop: Notify,
    /// Whether there is nothing to do.
    idle: watch::Sender<bool>,
}

impl Embedding {
    pub(crate) fn new(
        embedder: Arc<dyn Embed>,
        store: Store,
        spaces: Spaces,
        news: Arc<Notify>,
    ) -> Self {
        Self {
            embedder,
            store,
            spaces,
            news,
            stop: Notify::new(),
            idle: watch::Sender::new(false),
        }
    }

    pub(crate) async fn run(self: Arc<Self>) {
        loop {
            let news = self.news.notified();
            tokio::select! {
                () = self.round() => {}
                () = self.stop.notified() => return,
            }
            self.idle.send_replace(true);
            tokio::select! {
                () = news => self.idle.send_replace(false),
                () = self.stop.notified() => return,
            };
        }
    }

    pub(crate) fn stop(&self) {
        self.stop.notify_one();
    }

    /// Waits until there is nothing to do.
    pub(crate) async fn idle(&self) {
        // News that were told and not yet heard are work, too: hearing them comes first.
        self.idle.send_replace(false);
        self.news.notify_one();
        let mut idle = self.idle.subscribe();
        drop(idle.wait_for(|idle| *idle).await);
    }

    /// Embeds all that has no vector.
    async fn round(&self) {
        let spaces: Vec<(String, Shared)> = {
            let spaces = self.spaces.read().unwrap_or_else(PoisonError::into_inner);
            spaces
                .iter()
                .map(|(name, space)| (name.clone(), Arc::clone(space)))
                .collect()
        };
        for (name, space) in spaces {
            loop {
                let records = space
                    .write()
                    .unwrap_or_else(PoisonError::into_inner)
                    .unembedded(EMBED_BATCH);
                if records.is_empty() {
                    break;
                }
                if let Err(problem) = self.embed(&name, &space, &records).await {
                    tracing::warn!(%problem, space = name, "records are left without vectors");
                    space
                        .write()
                        .unwrap_or_else(PoisonError::into_inner)
                        .embed_again();
                    break;
                }
            }
        }
    }

    async fn embed(
        &self,
        name: &str,
        space: &Shared,
        records: &[Arc<Record>],
    ) -> Result<(), String> {
        let texts = records.iter().map(|record| text(record)).collect();
        let vectors = self
            .embedder
            .embed(texts)
            .await
            .map_err(|it| it.to_string())?;
        if vectors.len() != records.len() {
            return Err("the embedder gave another number of vectors".to_owned());
        }
        let mut batch = Batch::new();
        for (record, vector) in records.iter().zip(&vectors) {
            batch = tables::write_vector(batch, name, self.embedder.name(), &record.id, vector);
        }
        self.store
            .commit(batch)
            .await
            .map_err(|it| it.to_string())?;
        let mut space = space.write().unwrap_or_else(PoisonError::into_inner);
        for (record, vector) in records.iter().zip(&vectors) {
            space.embed(&record.id, vector);
        }
        Ok(())
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
