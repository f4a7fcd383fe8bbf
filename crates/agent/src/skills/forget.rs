//! The skill `forget`: gives up records of the caller's own.

use std::sync::Arc;

use memory::{Record, overlap};
use schemars::JsonSchema;
use serde::Deserialize;
use skill::{Context, SkillError, SkillInput, skill};

use crate::error::KeepError;
use crate::handle::AgentHandle;
use crate::law::Origin;
use crate::text;

/// The most records that are forgotten at once, unless it is everything.
const MOST: usize = 10;

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(super) struct ForgetInput {
    /// What to forget, in the words in which it was told; `everything` for all that the caller has told.
    text: String,
}

/// The skill `forget` of an agent.
pub(super) struct Forget {
    agent: AgentHandle,
}

impl Forget {
    pub(super) fn of(agent: &AgentHandle) -> Self {
        let agent = agent.clone();
        Self { agent }
    }
}

#[skill(
    tags = ["memory"],
    examples = ["forget that {text}"],
    permission = "remember",
    own_state,
    destructive,
    idempotent,
    replayable
)]
impl Forget {
    /// Forgets for good what the caller has told. Records of others stay. Unless the caller asked for it in the words of one
    /// record, the caller is shown the records and asked first.
    async fn run(&self, input: ForgetInput, ctx: Context) -> Result<String, SkillError> {
        let wanted = input.text.trim();
        let wanted = wanted.strip_prefix("that ").unwrap_or(wanted);
        let wanted = wanted.trim_end_matches(['.', '!']);
        let everything = matches!(&*wanted.to_lowercase(), "everything" | "all");
        let found = self.found(wanted, everything, &ctx).await?;
        if found.is_empty() {
            return Ok("I hold nothing of yours that says that.".to_owned());
        }
        if found.len() > MOST && !everything {
            return Ok(format!(
                "That fits {} records. Say it in the words of one of them.",
                found.len()
            ));
        }
        let mut texts: Vec<&str> = found.iter().map(|it| &*it.content.text).collect();
        texts.dedup();
        let list = || {
            let lines = texts
                .iter()
                .take(MOST)
                .map(|it| format!("- {}", text::bounded(it, 200)));
            let mut lines: Vec<String> = lines.collect();
            if texts.len() > MOST {
                lines.push(format!("… and {} more", texts.len() - MOST));
            }
            lines.join("\n")
        };
        let plain = texts.len() == 1 && text::plain(texts[0]) == text::plain(wanted);
        let asks = !(plain && self.is_said(texts[0], &ctx).await?);
        if asks {
            let question = format!("Shall I forget this for good?\n{}\n", list());
            if !super::agrees(&ctx, question).await? {
                return Ok("Then I keep it.".to_owned());
            }
        }
        let why = format!("{} asked to forget it", ctx.caller());
        let copies = self.copies(&texts, &ctx).await?;
        for record in found.iter().chain(&copies) {
            let caller = ctx.caller();
            let forgotten = self.agent.forget_record(&caller, &record.id, &why).await;
            // One that is gone already, after a restart or with another, need not be forgotten.
            if let Err(error) = forgotten
                && self.holds(record, &ctx).await
            {
                return Err(failed(&error));
            }
        }
        let redacted = self.agent.redact(&found, &ctx.task_id()).await;
        redacted.map_err(|error| failed(&error.into()))?;
        Ok(format!("I have forgotten:\n{}", list()))
    }
}

impl Forget {
    /// The caller's own records that say something.
    async fn found(
        &self,
        wanted: &str,
        everything: bool,
        ctx: &Context,
    ) -> Result<Vec<Arc<Record>>, SkillError> {
        let caller = ctx.caller();
        let space = self.agent.memory(&caller).map_err(|error| failed(&error))?;
        let plain = text::plain(wanted);
        let says = |record: &Record| {
            let text = &record.content.text;
            let all = overlap(wanted, text);
            text::plain(text) == plain || all.asked > 0 && all.shared == all.asked
        };
        // The words in which it was asked to be forgotten, and to be remembered, are requests.
        let told =
            |record: &Record| record.kept().is_some() || text::plain(&record.content.text) == plain;
        let records = space
            .records(|it| {
                AgentHandle::is_said_by(&caller, it) && told(it) && (everything || says(it))
            })
            .await;
        records.map_err(|error| SkillError::coded("memory", error.to_string()))
    }

    /// What was only seen of the caller's and says one of these texts: requests to remember it, questions about it, results
    /// of skills.
    async fn copies(&self, texts: &[&str], ctx: &Context) -> Result<Vec<Arc<Record>>, SkillError> {
        let caller = ctx.caller();
        let space = self.agent.memory(&caller).map_err(|error| failed(&error))?;
        let person = caller.person();
        let own = |record: &Record| record.owner() == Some(person.name());
        let says = |record: &Record| {
            let mut texts = texts.iter();
            texts.any(|it| text::says(&record.content.text, it))
        };
        let records = space
            .records(|it| it.kept().is_none() && own(it) && says(it))
            .await;
        records.map_err(|error| SkillError::coded("memory", error.to_string()))
    }

    async fn holds(&self, record: &Record, ctx: &Context) -> bool {
        match self.agent.memory(&ctx.caller()) {
            Ok(space) => space.get(&record.id).await.ok().flatten().is_some(),
            Err(_) => false,
        }
    }

    /// Whether a person said this text in the request, or calls the skill by its name.
    async fn is_said(&self, said: &str, ctx: &Context) -> Result<bool, SkillError> {
        let (task, said) = (ctx.task_id(), said.to_owned());
        let found = self.agent.look(move |state, _| {
            let heard = &state.context().turns.get(task.as_str())?.heard;
            Some(heard.origin == Origin::User && text::says(&heard.text, &said))
        });
        Ok(found.await?.unwrap_or(true))
    }
}

fn failed(error: &KeepError) -> SkillError {
    SkillError::coded("memory", format!("could not {error}"))
}
