//! One gate for change: how a law, a procedure or a piece of code may be replaced by a better one.
//!
//! A *subject* is something that changes by versions; its owner makes the checks that need knowledge of it: type, bounds,
//! frozen parts, no new authority. A proposal to change it then passes a [`Gate`] in this order, and only the gate adopts:
//!
//! ```text
//! proposed -> checked -> trial -> held out -> rate limit -> [approval by a person] -> adopted -> canary -> settled
//! ```
//!
//! It can be refused at each of these stages, be withdrawn, expire, or be rolled back during its canary. [`verdict`] is the
//! only place that says whether a candidate is better: it compares paired measurements and says so when they are too few.
//!
//! Everything here is pure: no I/O, no clock, no random numbers but from a given seed. The owner of a subject records each
//! [`Event`] and the [`Change`]s that follow from it, carries out the [`Effect`]s, and folds the changes to restore a gate
//! after a restart, as an agent does with its own state.
//!
//! ```
//! use revise::{Effect, Event, Gate, Limits, Verdict};
//!
//! let mut gate = Gate::new("hash of version 1");
//! let limits = Limits::default();
//! let proposed = Event::Proposed {
//!     by: "reflector".to_owned(),
//!     candidate: "hash of the candidate".to_owned(),
//!     major: false,
//!     undoes: None,
//!     ordered_by: None,
//! };
//! let step = gate.next(&limits, &proposed).unwrap();
//! step.changes.iter().for_each(|change| gate.apply(change));
//! assert!(matches!(step.effects[..], [Effect::RunTrial { .. }]));
//!
//! let worse = Event::Trialled {
//!     proposal: step.effects[0].proposal().unwrap(),
//!     verdict: Verdict::Worse { objective: "done".to_owned(), by: -0.25 },
//! };
//! let step = gate.next(&limits, &worse).unwrap();
//! step.changes.iter().for_each(|change| gate.apply(change));
//! assert_eq!(gate.version().hash, "hash of version 1");
//! ```
//!
//! Layout:
//! - `gate`: the stages of a proposal, as a pure state machine; `gate/state` is what it folds
//! - `canary`: whether what was adopted does worse than what it replaced
//! - `verdict`, `statistics`: whether a candidate is better
//! - `split`: which episodes a proposal is judged by that its author has not seen

mod canary;
mod gate;
mod split;
mod statistics;
mod verdict;

pub use canary::Fall;
pub use gate::state::{
    Ask, Canary, Closed, Gate, Open, Outcome, ProposalId, Stage, Version, VersionNumber,
};
pub use gate::{Change, Decision, Effect, Event, Limits, Refused, Step};
pub use split::Split;
pub use verdict::{Direction, Evidence, Objective, Pair, Rule, Verdict, verdict};
