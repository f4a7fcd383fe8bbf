//! The skill `undo`, which takes back a change of an agent and needs an approval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill::{Context, SkillError, SkillInput, skill};

use crate::files::on_disk;
use crate::history::History;
use crate::observer::DeedKind;

/// The skill `undo`, bound to the history of a project. It needs an approval; its preview is the diff back.
#[derive(Clone, Debug)]
pub struct Undo(History);

/// The input of the skill `undo`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct UndoInput {
    /// The id of the change; the last one if it is left out.
    pub change: Option<String>,
    /// The state of the file that was shown.
    pub seen: Option<String>,
}

/// The output of the skill `undo`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct UndoOutput {
    /// The outcome in a sentence.
    pub says: String,
    /// The file, below /project.
    pub path: String,
    /// What became of it: created, modified, deleted or moved.
    pub operation: String,
    /// The change that was taken back.
    pub undone: String,
    /// The change that this is: undo takes it back, too.
    pub change: String,
}

impl Undo {
    pub fn new(history: History) -> Self {
        Self(history)
    }
}

#[skill(
    name = "Undo a change",
    id = "undo",
    permission = "write_files",
    tags = ["files", "workspace"],
    examples = ["undo", "undo the last change"],
    approval,
    destructive
)]
impl Undo {
    /// Takes back a change that an agent made to a file, the last one or one by its id, if its place in the file is unchanged
    /// since.
    async fn run(&self, input: UndoInput, ctx: Context) -> Result<UndoOutput, SkillError> {
        let history = self.0.clone();
        let by = ctx.caller().to_string();
        let undone = on_disk("undo", move || {
            let change = match input.change {
                Some(change) => change,
                None => history.last()?.id,
            };
            let undone = history.undo(&by, &change, input.seen.as_deref())?;
            Ok(UndoOutput {
                says: format!("{} is as it was before the change.", undone.path),
                path: undone.path.to_string(),
                operation: undone.operation.to_owned(),
                undone: undone.change,
                change: undone.id,
            })
        });
        let undone = undone.await?;
        self.0.project().tell(&ctx, DeedKind::Wrote, &undone.path);
        Ok(undone)
    }

    /// Which change, and the state of its file now.
    async fn bind(&self, input: UndoInput) -> Result<Option<Value>, SkillError> {
        let history = self.0.clone();
        let bound = on_disk("undo", move || {
            let change = match input.change {
                Some(change) => change,
                None => history.last()?.id,
            };
            let (_, now) = history.preview(&change)?;
            let seen = input.seen.unwrap_or(now);
            Ok(json!({ "change": change, "seen": seen }))
        });
        bound.await.map(Some)
    }

    async fn preview(&self, input: UndoInput) -> Result<Option<String>, SkillError> {
        let history = self.0.clone();
        let shown = on_disk("undo", move || {
            let change = match input.change {
                Some(change) => change,
                None => history.last()?.id,
            };
            history.preview(&change).map(|(shown, _)| shown)
        });
        shown.await.map(Some)
    }
}
