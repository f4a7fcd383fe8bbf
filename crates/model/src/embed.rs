//! The embedder: texts to vectors.

use std::fmt;
use std::sync::Arc;

use futures_core::future::BoxFuture;

use crate::error::Error;

/// The vectors of texts, in their order. Work begins at the first poll; dropping cancels it.
pub type Vectors = BoxFuture<'static, Result<Vec<Vec<f32>>, Error>>;

/// Turns texts into vectors that are near to each other where the texts mean nearly the same.
///
/// Vectors have a length of one, so that the cosine of two is their product; an empty text may be
/// zero everywhere. All vectors of one embedder have the same number of dimensions.
pub trait Embed: fmt::Debug + Send + Sync + 'static {
    /// The name, with its origin before a colon: `local:all-minilm-l6-v2`. Vectors can be compared only if their
    /// embedders have the same name.
    fn name(&self) -> &str;

    /// One vector for each text, in the same order.
    fn embed(&self, texts: Vec<String>) -> Vectors;
}

impl<E: Embed + ?Sized> Embed for Arc<E> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn embed(&self, texts: Vec<String>) -> Vectors {
        (**self).embed(texts)
    }
}

/// The vector scaled to length one; a zero vector is returned unchanged.
pub fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length.is_normal() {
        vector.iter_mut().for_each(|x| *x /= length);
    }
    vector
}

/// The cosine of two vectors of length one: 1 for the same direction, 0 for unrelated ones.
///
/// # Panics
///
/// Panics if the numbers of dimensions differ: the vectors come from two embedders.
pub fn cosine(one: &[f32], other: &[f32]) -> f32 {
    assert_eq!(one.len(), other.len(), "vectors of two embedders");
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}
