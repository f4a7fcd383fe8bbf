//! The skills by which callers and models read the boards of a server and add to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill::{Context, Registry, SkillError, SkillInput, skill};

use crate::board::{Board, BoardError, Boards};
use crate::handle::AgentHandle;
use crate::law::Origin;
use crate::message::Body;
use crate::text;

/// How many letters are read at once, at most.
const LETTERS: usize = 50;

/// The skills `board-read` and `board-post` of an agent.
pub(super) fn of(agent: &AgentHandle) -> Registry {
    let boards = Boards::open(agent.population.0.parts.store.clone());
    let read = Registry::new().with(BoardRead {
        boards: boards.clone(),
    });
    let post = BoardPost {
        agent: agent.clone(),
        boards,
    };
    read.and_then(|skills| skills.with(post))
        .expect("their ids are two")
}

#[derive(Deserialize, JsonSchema, SkillInput)]
struct ReadInput {
    /// The name of the board.
    board: String,
    /// Begin after this place.
    #[serde(default)]
    after: u64,
}

struct BoardRead {
    boards: Boards,
}

#[skill(
    id = "board-read",
    name = "Read a board",
    tags = ["agents"],
    examples = ["read the board {board}"],
    permission = "none",
    read_only,
    idempotent,
    replayable
)]
impl BoardRead {
    /// Reads the letters on a board that agents share, each with its writer.
    async fn run(&self, input: ReadInput) -> Result<String, SkillError> {
        let board = open(&self.boards, &input.board)?;
        let letters = board.read(input.after, LETTERS).await.map_err(failed)?;
        if letters.is_empty() {
            return Ok(format!("There is no letter on the board {}.", input.board));
        }
        let lines = letters.iter().map(|(place, letter)| {
            let words = letter.text().split_whitespace().collect::<Vec<_>>();
            let words = text::bounded(&words.join(" "), 500);
            format!("{place}. {}: {words}", letter.provenance.writer())
        });
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }
}

#[derive(Deserialize, JsonSchema, SkillInput)]
struct PostInput {
    /// The name of the board.
    board: String,
    /// What the letter claims.
    text: String,
    /// How sure it is, from 0 to 1.
    #[serde(default = "sure")]
    #[schemars(range(min = 0.0, max = 1.0))]
    confidence: f64,
}

fn sure() -> f64 {
    0.9
}

#[derive(Serialize, JsonSchema)]
struct Posted {
    /// In a sentence.
    says: String,
    /// The place of the letter on the board.
    place: u64,
}

struct BoardPost {
    agent: AgentHandle,
    boards: Boards,
}

#[skill(
    id = "board-post",
    name = "Add to a board",
    tags = ["agents"],
    examples = ["post {text} on the board {board}"],
    permission = "remember",
    own_state
)]
impl BoardPost {
    /// Adds a claim to a board that agents share. It cannot be taken back.
    async fn run(&self, input: PostInput, ctx: Context) -> Result<Posted, SkillError> {
        let board = open(&self.boards, &input.board)?;
        let body = Body::Claim {
            text: input.text,
            confidence: input.confidence,
            public: true,
        };
        let (writer, caller) = self.writer(&ctx).await?;
        let letter = board.letter(&writer, caller, body);
        let letter = letter.map_err(|it| SkillError::coded("letter", it.to_string()))?;
        let place = board.post(&letter).await.map_err(failed)?;
        Ok(Posted {
            says: format!("It is letter {place} on the board {}.", input.board),
            place,
        })
    }
}

impl BoardPost {
    /// The writer, and the caller for whom it writes: this agent in a request that it thinks about, or else the caller who
    /// calls the skill by its name.
    async fn writer(&self, ctx: &Context) -> Result<(String, Option<String>), SkillError> {
        let task = ctx.task_id();
        let heard = self.agent.look(move |state, _| {
            let turn = state.context().turns.get(task.as_str())?;
            Some((turn.heard.origin, turn.heard.person().to_owned()))
        });
        if let Some((origin, caller)) = heard.await? {
            let caller = (origin != Origin::Own).then_some(caller);
            return Ok((self.agent.id().to_owned(), caller));
        }
        let source = AgentHandle::source_of(&ctx.caller());
        let writer = source.strip_prefix("agent:").unwrap_or(&source);
        Ok((writer.to_owned(), None))
    }
}

fn open(boards: &Boards, name: &str) -> Result<Board, SkillError> {
    boards.board(name).map_err(failed)
}

#[expect(clippy::needless_pass_by_value, reason = "it is for map_err")]
fn failed(error: BoardError) -> SkillError {
    SkillError::coded("board", error.to_string())
}
