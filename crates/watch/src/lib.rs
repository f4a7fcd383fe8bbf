//! A watchdog: it follows the journals of agents and tells people of patterns that they should know of, once, with the events
//! that show them.
//!
//! The bytes of a record become *facts* (`fact`, `flatten`): flat, with a closed list of fields. *Rules* are Sigma's detections
//! and correlations over facts (`rule`), in packs that are part of the program (`packs`) and in files of the operator; each has
//! examples that are run when it is loaded. What matches becomes an *alert* with a life (`alert`), and people are told of
//! changes of it (`watcher`). Nothing here performs I/O or reads a clock.
//!
//! ```
//! use watch::{Author, Field, Fact, Rules, Watcher};
//!
//! let rules = Rules::parse("mine", Author::Operator, r#"
//! title: The wiki was edited by {caller}
//! id: wiki-edited
//! level: low
//! detection: { sel: { kind: called, skill|startswith: wiki- }, condition: sel }
//! monas:
//!   examples:
//!     match: [{ kind: called, skill: wiki-edit }]
//!     not_match: [{ kind: called, skill: file-edit }]
//! "#)?;
//! let mut watcher = Watcher::new(rules)?;
//! let fact = Fact::new("agent/scout", 1, 0).with(Field::Kind, "called").with(Field::Skill, "wiki-edit");
//! assert_eq!(watcher.fact(&fact).len(), 1);
//! # Ok::<(), watch::Error>(())
//! ```

pub mod alert;
mod enrich;
mod error;
mod fact;
mod flatten;
mod packs;
mod record;
mod rule;
mod template;
mod test_file;
mod trail;
mod watcher;
mod window;

pub use alert::{Alert, AlertState, Change, DigestLine, Judgement, Notice};
pub use enrich::secrets::{Leak, Secrets};
pub use error::Error;
pub use fact::{Fact, Field, Scalar};
pub use packs::{PACKS, rules as shipped_rules};
pub use rule::{Author, Response, Rule, Rules, Severity};
pub use test_file::{Tested, test_rules};
pub use watcher::{RuleCounts, State, Watcher};
pub use window::GROUPS;
