//! Language models and embedders behind two small traits.
//!
//! A [`Model`] answers a [`Request`] with a stream of deltas; an [`Embed`] turns texts into vectors. Callers do not
//! know what is behind the trait: a provider over the network, weights in this process, rules, or the script of a test.
//! Retries, time limits and budgets are [`layer`]s around any of them.
//!
//! Layout:
//! - [`Model`], [`Request`], [`Deltas`], [`Reply`]: the request, the stream and the whole reply
//! - [`Embed`]: vectors of texts
//! - [`Error`]: why there is no reply
//! - [`layer`]: retry, time limit, budget
//! - [`rules`]: understands direct requests without a language model
//! - `provider` (feature `providers`): OpenAI and compatible servers, Anthropic, Gemini, Ollama
//! - `local` (feature `local`): an embedder with its weights in this process
//! - `scripted` (feature `scripted`): a model and an embedder for tests

mod embed;
mod error;
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
pub use request::{AssistantMessage, Call, CallResult, Message, Quotation, Request, Tool};
