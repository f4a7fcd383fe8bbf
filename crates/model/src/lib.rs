//! Language models and embedders behind two small traits.
//!
//! A [`Model`] answers a [`Request`] with a stream of deltas; an [`Embed`] makes vectors of texts. What they are
//! made of is nobody's business who asks: a provider elsewhere, weights in this process, rules, a test's script.
//! Patience, time limits and budgets are [`layer`]s that can be laid around each of them.
//!
//! Layout:
//! - [`Model`], [`Request`], [`Deltas`], [`Reply`]: what is asked, and what comes of it
//! - [`Embed`]: vectors of texts
//! - [`Error`]: why nothing comes
//! - [`layer`]: asking again, not waiting forever, not spending too much
//! - [`rules`]: what answers without a language model
//! - `provider` (feature `providers`): OpenAI and the like, Anthropic, Gemini, Ollama
//! - `local` (feature `local`): an embedder with its weights in this process
//! - `scripted` (feature `scripted`): what tests use instead

mod embed;
mod error;
#[cfg(feature = "providers")]
pub mod http;
pub mod layer;
pub mod limits;
#[cfg(feature = "local")]
pub mod local;
mod model;
#[cfg(feature = "providers")]
pub mod provider;
mod reply;
mod request;
pub mod rules;
#[cfg(feature = "scripted")]
pub mod scripted;

#[cfg(test)]
mod model_tests;

pub use embed::{Embed, Vectors, cosine, unit};
pub use error::Error;
pub use model::Model;
pub use reply::{Delta, Deltas, End, Reply, Usage};
pub use request::{Call, CallResult, Message, Request, Said, Tool};
