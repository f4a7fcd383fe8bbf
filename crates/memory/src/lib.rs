//! Layered, justified memory: a log of everything, and little that is held to be true, each for a reason.
//!
//! Whatever is seen is an [observation](Handle::observe). What is to last is [kept](Handle::keep), and that takes a
//! [`Reason`]: where it comes from, how sure it is, what it answers and why it matters. What says the same as something
//! known confirms it instead of being added; what was recalled and comes back as the agent's own words is an echo; what
//! contradicts something puts one of the two in doubt. By [`Rules`], which are data, records rise with use and
//! confirmation and fade without. [Recall](Handle::recall) finds evidence and says why it thinks it is some.
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
//! What you use:
//! - `memory`: opening, spaces, handles and what they allow
//! - `record`, `layer`, `reason`: what is held, how firmly, and why
//! - `rules`: how records move between layers
//! - `recall`: questions and answers; `audit`, `view`, `export`: other ways to look
//!
//! What is behind it, in the order a write takes:
//! - `keeper`: the one who writes, a group at a time; `tables`: how records lie in the store
//! - `decide`: what becomes of a write; `claim`: what says the same, and what contradicts
//! - `space`: what is held in memory; `index`, `graph`, `recall/vectors`: what is derived from it
//! - `afterwards`: what is made of records in the background: `embedding`, vectors; `reading`, what a model finds
//! - `recall/rank`: what answers a question best; `recall/weights`: what counts for how much
//! - `text`: words, stems, dates; `limits`: what is bounded, and by how much

mod afterwards;
mod audit;
mod claim;
#[cfg(test)]
#[path = "claim_tests.rs"]
mod claim_tests;
mod decide;
#[cfg(test)]
#[path = "decide_tests.rs"]
mod decide_tests;
mod embedding;
mod error;
pub mod export;
mod graph;
mod index;
mod keeper;
mod layer;
pub mod limits;
mod memory;
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

pub use audit::Audit;
pub use claim::{Claim, Conflict, conflict};
pub use decide::{Keep, Outcome};
pub use error::Error;
pub use graph::{EntityKind, Node};
pub use layer::{Lasting, Layer};
pub use memory::{Access, Handle, Memory, Options};
pub use reason::{Draft, Lacking, Reason};
pub use recall::{Answer, Hit, Link, Mode, Noted, Recall, Relation, Sign, Weights};
pub use record::{Certainty, Content, Kept, Record, RecordId, Standing, Support, Tombstone, Usage};
pub use rules::Rules;
pub use tables::TABLES;
pub use text::date::{Millis, format as format_time, parse as parse_time};
pub use view::{Context, Picture};
