//! The embedder: what makes vectors of texts.

use std::fmt;
use std::sync::Arc;

use futures_core::future::BoxFuture;

use crate::error::Error;

/// Vectors of texts, in the order of the texts. Nothing is done before it is polled; to drop it is to cancel.
pub type Vectors = BoxFuture<'static, Result<Vec<Vec<f32>>, Error>>;

/// Something that makes vectors of texts, near to each other where the texts mean nearly the same.
///
/// Vectors have a length of one, so that the cosine of two is their product; a text that says nothing may be
/// zero everywhere. All vectors of one embedder have the same number of dimensions.
pub trait Embed: fmt::Debug + Send + Sync + 'static {
    /// What it is called, where it comes from before a colon: `local:all-minilm-l6-v2`. Vectors can be
    /// compared with each other if their embedders have the same name.
    fn name(&self) -> &str;

    /// A vector for each text.
    fn embed(&self, texts: Vec<String>) -> Vectors;
}

/// A shared embedder is one.
impl<E: Embed + ?Sized> Embed for Arc<E> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn embed(&self, texts: Vec<String>) -> Vectors {
        (**self).embed(texts)
    }
}

/// The vector of the same direction with a length of one; one that has no direction is left as it is.
pub fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length.is_normal() {
        vector.iter_mut().for_each(|x| *x /= length);
    }
    vector
}

/// How near two vectors of length one are: 1 is the same direction, 0 none at all.
///
/// # Panics
///
/// Panics if they have not the same number of dimensions, which means that they are of two embedders.
pub fn cosine(one: &[f32], other: &[f32]) -> f32 {
    assert_eq!(one.len(), other.len(), "vectors of two embedders");
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}
