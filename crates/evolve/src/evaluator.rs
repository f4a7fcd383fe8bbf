//! How candidates are scored: a command in the sandbox of the terminal.
//!
//! - `bench`: the folder that commands work in, and the lines that they write
//! - `command`: any command; `result`: what its output says
//! - `python`: the evaluator of an OpenEvolve folder, kept warm for the search and started anew for the gate

use std::future::Future;

use crate::candidate::Content;
use crate::error::Error;
use crate::sample::Sample;

#[cfg(target_os = "linux")]
pub(crate) mod bench;
#[cfg(target_os = "linux")]
pub(crate) mod command;
#[cfg(target_os = "linux")]
pub(crate) mod python;
#[cfg(target_os = "linux")]
pub(crate) mod result;

/// One evaluation that is asked for.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    pub n: usize,
    pub content: &'a Content,
    /// For what an evaluator draws at random. Equal seeds should give equal scores.
    pub seed: u64,
}

/// Scores candidates. A candidate that fails is a sample that says so; an error means that no candidate can be scored.
pub trait Evaluator: Send {
    /// Gets ready for the search. Called before each evaluation; what it costs is no candidate's.
    fn ready(&mut self) -> impl Future<Output = Result<(), Error>> + Send;

    /// For the search: as quick as can be.
    fn evaluate(&mut self, asked: Asked<'_>) -> impl Future<Output = Result<Sample, Error>> + Send;

    /// For the gate: in a fresh sandbox that shares nothing with anything that a candidate has touched.
    fn evaluate_fresh(
        &mut self,
        asked: Asked<'_>,
    ) -> impl Future<Output = Result<Sample, Error>> + Send;

    /// Against what the search has not seen. None if there is nothing of that kind.
    fn evaluate_held_out(
        &mut self,
        asked: Asked<'_>,
    ) -> impl Future<Output = Result<Option<Sample>, Error>> + Send;
}
