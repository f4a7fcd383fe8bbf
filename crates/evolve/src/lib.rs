//! Finds better versions of a part of a project, by search against a command that scores. No model is needed.
//!
//! A [`Component`] is what may change: blocks of files between `EVOLVE-BLOCK` markers, or declared [`Parameter`]s. A candidate
//! is a parent and an [`Edit`], known by a hash in which comments and layout do not count, so that nothing is scored twice and
//! an edit that changes nothing costs nothing. An [`Evaluator`] scores it in the sandbox of the terminal; what is invalid is
//! never better than what is valid. A [`Search`] decides which candidate is next; it is the fold of the run's [`Event`]s and
//! draws from its seed alone, so that a [`Run`] which was killed goes on as if nothing had been.
//!
//! What a search finds is a proposal and never a write: `folder::FolderGate` measures it anew in fresh sandboxes, on seeds and
//! on inputs that the search has not seen, and a person approves it before the project changes.
//!
//! ```
//! use std::sync::Arc;
//!
//! use evolve::{Component, Event, Next, Sample, Search, Settings, Source};
//!
//! let source = Source::parse("model.py", "# EVOLVE-BLOCK-START\nrate = 0.5\n# EVOLVE-BLOCK-END\n")?;
//! let component = Arc::new(Component::of_files("model", vec![source]));
//! let mut search = Search::new(component, Settings::new(7, 60));
//! let stopped = loop {
//!     let event = match search.next() {
//!         Next::Propose(event) => event,
//!         Next::Evaluate(n) => {
//!             // A real evaluator runs a command; this one likes rates near 2.
//!             let content = search.content(n).unwrap();
//!             let rate: Option<f64> = content.blocks[0].trim().strip_prefix("rate = ").and_then(|it| it.parse().ok());
//!             let score = rate.map(|it| -(it - 2.0).abs());
//!             Event::Ended { n, sample: Sample { score, ..Sample::default() } }
//!         }
//!         Next::Stop(why) => break why,
//!     };
//!     search.apply(&event);
//! };
//! assert!(stopped.contains("budget"));
//! let best = &search.entries()[search.best()];
//! assert!(best.fitness().score() > Some(-0.2));
//! # Ok::<(), evolve::Error>(())
//! ```
//!
//! Layout:
//! - `component`, `source`, `parameter`, `candidate`: what may change, and what it may become; `syntax`: its trees
//! - `operator`: where candidates come from; `bandit`: which operator is asked
//! - `search`: the next candidate; `event`, `sample`: what it is decided from. All of these are pure
//! - `journal`, `run`: the record of a run, and what carries it out
//! - `evaluator`: commands that score (on Linux)
//! - `folder`: folders in OpenEvolve's shape, their output and their gate (on Linux); `report`: what was found

mod bandit;
mod candidate;
mod component;
mod error;
mod evaluator;
mod event;
#[cfg(target_os = "linux")]
pub mod folder;
mod journal;
mod operator;
mod parameter;
mod random;
#[cfg(target_os = "linux")]
mod report;
mod run;
mod sample;
mod search;
mod source;
mod syntax;

pub use candidate::{Content, Edit, Replacement, Unfit};
pub use component::Component;
pub use error::Error;
#[cfg(target_os = "linux")]
pub use evaluator::command::{CommandSettings, Commands};
#[cfg(target_os = "linux")]
pub use evaluator::result::Reading;
pub use evaluator::{Asked, Evaluator};
pub use event::{Event, Purpose};
pub use journal::{FileJournal, Journal};
pub use operator::Operator;
pub use parameter::{Domain, Parameter, Place, Scale, Value};
#[cfg(target_os = "linux")]
pub use report::Report;
pub use run::{Progress, Run};
pub use sample::{Fitness, Sample};
pub use search::{Entry, Next, Search, Settings};
pub use source::Source;
pub use syntax::Language;
