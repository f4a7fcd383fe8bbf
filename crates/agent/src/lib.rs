//! Agents: each has a private state, a law of its own, and pure steps that decide what it does.
//!
//! An agent is what its journal adds up to. Everything that reaches it is an [`Event`]; [`step`], a pure function of its
//! [`Context`], its [`Law`] and the event, says what changes and what is to be done about it. What is done comes back as
//! events. Nothing outside writes the state: one task owns it while the agent is awake, and while it sleeps it is in the
//! store alone. A change of its law is an event with a reason, too.
//!
//! ```
//! use agent::{Population, Parts, Profile, TABLES};
//! use skill::Registry;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), agent::Error> {
//! let population = Population::new(Parts::new(store::Store::memory(TABLES)));
//! let mut profile = Profile::new("scout", "Scout");
//! profile.objectives = vec!["find things".to_owned()];
//! let scout = population.admit(profile.clone(), &Registry::new()).await?;
//! assert_eq!(scout.status().await?.state, agent::State::Idle);
//!
//! // Another name makes no other agent.
//! profile.id = "ranger".to_owned();
//! assert!(matches!(population.admit(profile, &Registry::new()).await, Err(agent::Error::Twin { .. })));
//! # population.close().await;
//! # Ok(()) }
//! ```
//!
//! It is served as an [`Agent`], which runs its skills: the handle goes into the [`Options`].
//!
//! # Layout
//!
//! What you use:
//! - `manifest`: an agent, as a file describes it
//! - `population`, `handle`: many agents, and a handle on one; `twin`: what tells them apart
//! - `law`: the rules, their kinds, how they are shown and changed; `offer`: what an edited manifest would change
//! - `revision`: proposals to change a law, and their tests on recorded episodes
//! - `mode`: named sets of instructions and skills of one agent
//! - `message`: what agents write to each other, and boards
//! - `skills`: what every agent can do
//! - `plan`: what is planned for the requests under way
//! - `why`: answers that cite events
//! - `reading`: the journal in words, the state at an event, what a model was shown
//! - `telling`: a conversation as its caller is told of it, from the journal
//!
//! The pure part:
//! - `event`, `effect`: events and effects; `id`: the ids of requests and effects
//! - `answer`: answers of people in their own words; `text`: comparisons of texts that rules need
//! - `conversation`: what was said last; `queue`: the order of requests; `share`: tables that callers share
//! - `step`: what follows from an event; `context`: what the changes add up to; `approval`: what a person agrees to
//! - `prompt`: everything that a model sees
//!
//! Around it:
//! - `served`: an agent as the task server calls it; `call`: how calls of skills are run
//! - `actor`: the one task that owns a state; `journal`: how it is kept
//! - `turn`: what is done in the world for a request; `gate`: where calls wait for a person
//! - `waiting`: what waits for a person, and how it is answered by its id
//! - `keeping`: what callers have an agent remember and forget
//! - `board`: letters that agents share
//! - `delegate`: tasks that agents begin at their own server
//! - `limits`: what is bounded, and by how much

mod actor;
mod answer;
pub mod approval;
mod board;
mod call;
mod context;
mod conversation;
mod delegate;
mod effect;
mod error;
mod event;
mod forgetting;
mod gate;
mod handle;
mod id;
mod journal;
mod keeping;
pub mod law;
pub mod limits;
mod manifest;
pub mod message;
mod mode;
mod offer;
mod plan;
mod population;
mod portrait;
mod prompt;
mod queue;
mod reading;
mod revision;
mod served;
mod share;
mod skills;
mod step;
mod telling;
mod text;
mod turn;
mod twin;
mod waiting;
mod why;

pub use approval::{Approval, ApprovalState, Decision, Grant, Remember};
pub use board::{Board, BoardError, Boards};
pub use call::Hook;
pub use context::{Ability, Change, Context, Goal, Identity, Outcome, Stage, State};
pub use error::{Error, KeepError};
pub use event::{
    Asking, Call, CallFacts, Candidate, Effect, EffectId, End, Event, EventKind, FurtherCall,
    Intent, MemoryOutcome, MemoryResult, Outgoing, Recollection, Request, StoredItem, TurnAnswer,
    TurnId, Verdict,
};
pub use handle::{AgentHandle, Status, Version};
pub use journal::{Checked, Record, TABLES};
pub use keeping::{Imported, MemoryInput, Stored};
pub use law::{Edit, Law, Origin, Refused};
pub use manifest::{Access, Manifest, ManifestError, MemoryAccess, SkillNeeds};
pub use message::{InvalidLetter, Letter};
pub use mode::{AGENT_EXTENSION, ChosenMode, MODE, Mode};
pub use plan::{Plan, PlanStep, StepState};
pub use population::{Parts, Population, Profile};
pub use portrait::{Endings, Noted, Peer, Portrait, ProcedureUse, SkillUse};
pub use reading::{JournalFollow, ShownPrompt};
pub use revision::{Figures, ProposalState, ProposalView, ProposedLaw, Test};
pub use served::{Agent, AlreadyStarted, CreateError, OnClose, Options};
pub use skills::{YES_OR_NO, ask_agent};
pub use step::{AgentState, Step, step};
pub use telling::{Moment, MomentKind, Owner, PlannedCall, Telling, Watch, Watched};
pub use turn::{DEPTH, NOTE, OWN, PERSON, PRIORITY, principal};
pub use waiting::WaitingQuestion;
pub use why::{Because, Explanation};
