//! An embedder by words alone: texts that share words are near.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::sync::Mutex;
use std::sync::PoisonError;

use crate::embed::{Embed, Vectors, unit};
use crate::error::Error;

/// An embedder without weights, for tests: each word counts in one dimension. Every run gives the same vectors.
#[derive(Debug)]
pub struct Words {
    dimensions: usize,
    fails: Mutex<Option<Error>>,
}

impl Words {
    /// An embedder of this many dimensions.
    ///
    /// # Panics
    ///
    /// Panics for zero dimensions.
    pub fn new(dimensions: usize) -> Self {
        assert!(dimensions > 0, "a vector has a dimension");
        Self {
            dimensions,
            fails: Mutex::default(),
        }
    }

    /// Sets the error of every request from now on; `None` for none.
    pub fn fail(&self, error: Option<Error>) {
        *self.fails.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.dimensions];
        let words = text.split(|c: char| !c.is_alphanumeric());
        for word in words.filter(|word| !word.is_empty()) {
            let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(word.to_lowercase());
            vector[(hash % self.dimensions as u64) as usize] += 1.0;
        }
        unit(vector)
    }
}

impl Embed for Words {
    fn name(&self) -> &str {
        "scripted:words"
    }

    fn embed(&self, texts: Vec<String>) -> Vectors {
        let failed = self.fails.lock().unwrap_or_else(PoisonError::into_inner);
        let vectors = match &*failed {
            Some(error) => Err(error.clone()),
            None => Ok(texts.iter().map(|text| self.vector(text)).collect()),
        };
        Box::pin(std::future::ready(vectors))
    }
}
