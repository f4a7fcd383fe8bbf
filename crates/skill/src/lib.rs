//! Skills: their definition, their input and reply, and the context they work with.
//!
//! A skill is defined once and is the same thing on every wire: a skill of A2A, a tool of MCP, an agent of ACP,
//! a function of a language model. This crate knows nothing of servers, tasks and journals: the crate `agent` runs
//! calls, behind the trait [`Call`].
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use skill::{Context, Registry, SkillError, SkillInput, skill};
//!
//! #[derive(Deserialize, JsonSchema, SkillInput)]
//! struct Greet {
//!     /// The name of the person to greet.
//!     who: String,
//! }
//!
//! /// Greets a person.
//! #[skill(tags = ["demo"], examples = ["greet Ada"])]
//! async fn greet(input: Greet, _ctx: Context) -> Result<String, SkillError> {
//!     Ok(format!("Hello, {}!", input.who))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let skills = Registry::new().with(greet)?;
//! let call = skill::MemoryCall::new(skills);
//! let output = call.output("greet", serde_json::json!({ "who": "Ada" })).await?;
//! assert_eq!(output, "Hello, Ada!");
//! # Ok(()) }
//! ```
//!
//! Layout:
//! - [`Skill`], [`Spec`], [`Definition`], [`Registry`]: what a skill is, and skills by id
//! - [`Context`], [`Reply`], [`SkillError`]: what it works with, and what it gives back
//! - [`Grants`]: which skills and which model a skill may use
//! - [`Call`]: what runs it; [`MemoryCall`] is one for tests
//! - [`extension`]: how messages name skills, and what tasks say of them
//! - [`ToolServer`]: a server of tools, as a file describes it

mod call;
mod context;
mod definition;
mod error;
pub mod extension;
mod grants;
mod handler;
mod input;
mod memory_call;
mod preview;
mod registry;
pub mod reply;
mod skill;
mod spec;
mod tool_server;
mod visible;

pub use access::Permission;
pub use call::{Call, QuestionAnswer, WaitGuard};
pub use context::Context;
pub use definition::{Definition, check_caller, faults_of};
pub use error::{DefinitionError, FORBIDDEN, Fault, NOT_APPROVED, SkillError, UNCHANGED};
pub use grants::Grants;
pub use handler::Handler;
pub use memory_call::MemoryCall;
pub use registry::{Entry, Registry};
pub use reply::{Chunk, Ending, Outcome, Reply};
pub use skill::{Skill, SkillInput, SkillOutput};
pub use skill_macros::SkillInput;
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use skill::{Context, Skill as _, SkillError, SkillInput, skill};
///
/// #[derive(Deserialize, JsonSchema, SkillInput)]
/// struct Sum {
///     numbers: Vec<f64>,
/// }
///
/// /// Adds numbers.
/// #[skill(tags = ["math"], examples = ["What is 1 + 2?"], read_only, idempotent)]
/// async fn add_up(input: Sum, _ctx: Context) -> Result<f64, SkillError> {
///     Ok(input.numbers.iter().sum())
/// }
///
/// assert_eq!(add_up::SPEC.id.as_str(), "add-up");
/// assert_eq!(add_up::SPEC.name, "Add up");
///
/// struct Discount {
///     percent: f64,
/// }
///
/// #[skill(tags = ["math"], examples = ["What do these cost today?"])]
/// impl Discount {
///     /// Adds prices and takes the discount off.
///     async fn run(&self, input: Sum, _ctx: Context) -> Result<f64, SkillError> {
///         Ok(input.numbers.iter().sum::<f64>() * (1.0 - self.percent / 100.0))
///     }
/// }
///
/// assert_eq!(Discount::SPEC.id.as_str(), "discount");
/// ```
pub use skill_macros::skill;
pub use spec::{Id, MAX_LABEL, Needs, OneOrMore, Spec, Traits, is_label, to_label};
pub use tool_server::{ToolEnterprise, ToolServer, ToolServerFault, ToolSignIn};
pub use visible::visible;

// What the macros write refers to these.
#[doc(hidden)]
pub use {schemars, serde, serde_json::Value};
