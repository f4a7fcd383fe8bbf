//! What an agent can do: the typed skill, its registry, its fence, and the agent made of them.
//!
//! A skill is defined once and is the same thing on every wire: a skill of A2A, a tool of MCP, an agent of ACP,
//! a function of a language model. What comes of a call is a task in the one journal, whoever called.
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use skill::{Agent, Context, Manifest, Options, Registry, SkillError, SkillInput, skill};
//!
//! #[derive(Deserialize, JsonSchema, SkillInput)]
//! struct Greet {
//!     /// Who is greeted.
//!     who: String,
//! }
//!
//! /// Greets somebody.
//! #[skill(tags = ["demo"], examples = ["greet Ada"])]
//! async fn greet(input: Greet, _ctx: Context) -> Result<String, SkillError> {
//!     Ok(format!("Hello, {}!", input.who))
//! }
//!
//! let mut options = Options::default();
//! options.skills = Registry::new().with(greet)?;
//! let agent = Agent::create(Manifest::new("Greeter"), options)?;
//! assert_eq!(agent.card().skills[0].id, "greet");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Layout:
//! - [`Skill`], [`Spec`], [`Definition`], [`Registry`]: what a skill is, and skills by id
//! - [`Context`], [`Reply`], [`SkillError`]: what it works with, and what comes of it
//! - `fence`, `desk`, `running`: what stands around it, and how it lives from turn to turn
//! - [`extension`]: how messages name skills, and what tasks say of them
//! - [`Agent`], [`Manifest`]: what is served

mod agent;
mod context;
mod definition;
mod desk;
mod error;
pub mod extension;
mod fence;
mod grants;
mod handler;
mod input;
mod manifest;
mod preview;
mod registry;
pub mod reply;
mod running;
mod skill;
mod spec;

pub use agent::{Agent, AlreadyStarted, CreateError, Mind, Options, Outside};
pub use context::Context;
pub use definition::Definition;
pub use error::{DefinitionError, Fault, SkillError};
pub use fence::{Hook, Outcome};
pub use handler::Handler;
pub use manifest::{Access, Manifest, ManifestError, ToolServer};
pub use registry::Registry;
pub use reply::{Ending, Reply};
pub use skill::{Skill, SkillInput, SkillOutput};
pub use skill_macros::{SkillInput, skill};
pub use spec::{Id, MAX_LABEL, OneOrMore, Spec, Traits, is_label, to_label};

// What the macros write refers to these.
#[doc(hidden)]
pub use {schemars, serde};
