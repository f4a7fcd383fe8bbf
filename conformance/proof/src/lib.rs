//! Shows that every wire does the same.
//!
//! A [scenario] is a short text: who does what, one step a line. It is [run](mod@run) against a server of
//! its own over any [wire], and what its clients see is a [trace]. Traces of two wires must be equal,
//! but for what a wire has no place for, and that is a [table](projection).
//!
//! ```
//! let text = r#"
//! alice: start "work, wait, text hello, done" -> t1
//! bob: subscribe t1 -> s1
//! agent: go t1
//! bob: read s1
//! "#;
//! let scenario: proof::Scenario = text.parse()?;
//! assert_eq!(scenario.to_string(), text.trim_start());
//! # Ok::<(), proof::scenario::Error>(())
//! ```
//!
//! Layout:
//! - [`scenario`]: the language, read and printed
//! - [`agent`]: what answers: a script in each message, and gates where it waits for the scenario
//! - [`world`], [`wire`]: a server of its own, and the ten ways to it
//! - [`mod@run`]: steps performed, over one wire or over several
//! - [`trace`], [`projection`]: what was seen, and what a wire cannot show
//! - [`verdict`]: two traces compared, and a difference as a person wants to read it
//! - [`random`]: randomly generated scenarios

pub mod agent;
pub mod projection;
pub mod random;
pub mod run;
pub mod scenario;
pub mod trace;
pub mod verdict;
pub mod wire;
pub mod world;

pub use run::{Plan, run};
pub use scenario::Scenario;
pub use trace::Trace;
pub use wire::Wire;
pub use world::World;
