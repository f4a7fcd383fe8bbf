//! An embedder with its weights in this process: a sentence encoder of MiniLM's kind (BERT, mean of all words).
//!
//! Layout: `bert` is the network, in tensors; this file makes it an [`Embed`].

mod bert;

use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use tokenizers::{Tokenizer, TruncationParams};
use tokio::sync::Semaphore;

use crate::embed::{Embed, Vectors, unit};
use crate::error::Error;
use bert::Bert;

/// How many tokens of a text are read: the length these encoders were trained with.
const MAX_TOKENS: usize = 256;
/// How many texts are embedded between two checks whether the caller has cancelled.
const BATCH: usize = 8;

/// An embedder in this process. It works on one batch at a time, with all cores.
pub struct MiniLm {
    name: String,
    inner: Arc<Inner>,
}

struct Inner {
    tokenizer: Tokenizer,
    bert: Bert,
    turn: Semaphore,
}

impl MiniLm {
    /// Reads the weights of this name from a folder with `config.json`, `tokenizer.json` and `model.safetensors`.
    pub fn open(name: &str, folder: &Path) -> Result<Self, Error> {
        let read = |file: &str| {
            let path = folder.join(file);
            fs::read(&path).map_err(|error| unusable(&path.display(), &error))
        };
        let mut tokenizer = Tokenizer::from_bytes(read("tokenizer.json")?)
            .map_err(|error| unusable(&"tokenizer.json", &error))?;
        let cut = TruncationParams {
            max_length: MAX_TOKENS,
            ..TruncationParams::default()
        };
        tokenizer
            .with_truncation(Some(cut))
            .map_err(|error| unusable(&"tokenizer.json", &error))?
            .with_padding(None);
        let shape = serde_json::from_slice(&read("config.json")?);
        let shape = shape.map_err(|error| unusable(&"config.json", &error))?;
        let bert = Bert::read(&shape, &read("model.safetensors")?)
            .map_err(|error| unusable(&"model.safetensors", &error))?;
        Ok(Self {
            name: format!("local:{name}"),
            inner: Arc::new(Inner {
                tokenizer,
                bert,
                turn: Semaphore::new(1),
            }),
        })
    }
}

fn unusable(file: &dyn fmt::Display, error: &dyn fmt::Display) -> Error {
    Error::Unsupported(format!("{file}: {error}"))
}

impl Inner {
    fn vector(&self, text: &str) -> Result<Vec<f32>, Error> {
        let encoded = self.tokenizer.encode_fast(text, true);
        let encoded = encoded.map_err(|error| Error::Refused(error.to_string()))?;
        let vector = self.bert.mean(encoded.get_ids());
        vector
            .map(unit)
            .map_err(|error| Error::Server(error.to_string()))
    }
}

impl Embed for MiniLm {
    fn name(&self) -> &str {
        &self.name
    }

    fn embed(&self, texts: Vec<String>) -> Vectors {
        let inner = self.inner.clone();
        Box::pin(async move {
            let mut vectors = Vec::with_capacity(texts.len());
            for batch in texts.chunks(BATCH) {
                let turn = inner.turn.acquire().await;
                let turn = turn.map_err(|error| Error::Server(error.to_string()))?;
                let (working, batch) = (inner.clone(), batch.to_vec());
                let worked = tokio::task::spawn_blocking(move || {
                    batch
                        .iter()
                        .map(|text| working.vector(text))
                        .collect::<Result<Vec<_>, _>>()
                });
                let worked = worked
                    .await
                    .map_err(|error| Error::Server(error.to_string()))?;
                vectors.extend(worked?);
                drop(turn);
            }
            Ok(vectors)
        })
    }
}

impl fmt::Debug for MiniLm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MiniLm").field(&self.name).finish()
    }
}
