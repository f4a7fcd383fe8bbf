//! Layered memory: a log of observations, and few lasting records, each with a reason.
//!
//! Everything that is seen is logged as an [observation](Handle::observe). To [keep](Handle::keep) a record in the long term
//! takes a [`Reason`]: its source, its confidence, the question it answers, and why it is worth keeping. A record that says
//! the same as a known one confirms it and is not added; the agent's own repetition of a recalled record is an echo and is
//! not kept; of two records that contradict each other one becomes uncertain. By [`Rules`], which are data, records are
//! promoted by use and confirmation, and fade without. [Recall](Handle::recall) finds records for a question and says by
//! which signs each was found.
//!
//! ```
//! use memory::{Content, Keep, Memory, Outcome, Reason, Recall, TABLES};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), memory::Error> {
//! let store = store::Store::memory(TABLES);
//! let memory = Memory::open(store, memory::Options::default());
//! let space = memory.space("scout")?;
//!
//! let mut content = Content::text("I had two espressos before the call.");
//! content.speaker = Some("Ada".to_owned());
//! space.observe(content).await?;
//!
//! let reason = Reason::new("user:ada", 0.9, "what does Ada drink?", "she said so herself")?;
//! let kept = space.keep(Keep::belief("Ada likes coffee.", reason)).await?;
//! let reason = Reason::new("user:bob", 0.8, "what to offer Ada?", "he works with her")?;
//! let again = space.keep(Keep::belief("As I said, Ada likes coffee", reason)).await?;
//! assert_eq!(again, Outcome::Corroborated(kept.id().clone()));
//!
//! let answer = space.recall(Recall::new("Does Ada like coffee?")).await?;
//! let hit = &answer.hits[0];
//! assert_eq!(hit.record.content.text, "Ada likes coffee.");
//! assert_eq!(hit.record.kept().unwrap().reason.source(), "user:ada");
//! # memory.close().await;
//! # Ok(()) }
//! ```
//!
//! # Layout
//!
//! The public side:
//! - `memory`: opening and closing, spaces, handles and their rights
//! - `record`, `layer`, `reason`: what a record is; `viewer`: which caller sees it
//! - `rules`: how records move between layers
//! - `code`: the files of a project, beside the records
//! - `recall`: questions and answers, the cache; `audit`, `view`, `export`, `mirror`: other reads
//!
//! Behind it, in the order of a write:
//! - `writer`: the task that writes, in groups; `tables`: the tables in the store
//! - `decide`: the decision about a write; `claim`: likeness and contradiction of texts
//! - `space`: the records in memory; `index`, `graph`, `recall/vectors`: the indexes derived from them
//! - `background`: work after the commit: `embedding` (vectors) and `reading` (entities found by a model)
//! - `recall/rank`: ranking; `recall/weights`: its weights; `recall/answer`: hits, relations, provenance
//! - `cache`: answers and contexts that are still valid
//! - `text`: words, stems, dates; `limits`: bounds

mod audit;
mod background;
mod cache;
mod claim;
#[cfg(test)]
#[path = "claim_tests.rs"]
mod claim_tests;
mod code;
mod decide;
#[cfg(test)]
#[path = "decide_tests.rs"]
mod decide_tests;
mod embedding;
mod error;
pub mod export;
mod graph;
mod index;
mod layer;
pub mod limits;
mod memory;
mod mirror;
mod reading;
#[cfg(test)]
#[path = "reading_tests.rs"]
mod reading_tests;
mod reason;
mod recall;
mod record;
pub mod rules;
mod space;
mod tables;
mod text;
mod view;
mod viewer;
mod writer;

pub use self::code::{CodeChange, CodeFile, Touch};
pub use audit::Audit;
pub use cache::CacheCounts;
pub use claim::{Claim, Conflict, conflict};
pub use decide::{Keep, Outcome};
pub use error::Error;
pub use graph::{EntityKind, Node};
pub use layer::{Lasting, Layer};
pub use memory::{Access, Handle, Memory, Options, SpaceName};
pub use mirror::{MirrorBatch, Statement};
pub use reason::{Draft, Lacking, Reason};
pub use recall::{Hit, Link, Mode, Noted, Recall, RecallAnswer, Relation, Sign, Weights};
pub use record::{Certainty, Content, Kept, Record, RecordId, Standing, Support, Tombstone, Usage};
pub use rules::{NotAdmitted, Rules};
pub use tables::TABLES;
pub use text::date::{Millis, format as format_time, parse as parse_time};
pub use text::utterance::Utterance;
pub use text::{Overlap, overlap};
pub use view::{Context, Picture};
pub use viewer::{Viewer, caller_of};
