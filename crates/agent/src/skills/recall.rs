//! The skill `recall`: what memory holds about a question, and a plain no where it holds nothing.

use access::Principal;
use memory::{Layer, Noted, Recall, Record, overlap};
use schemars::JsonSchema;
use serde::Deserialize;
use skill::{Context, SkillError, SkillInput, skill};

use crate::event::Recollection;
use crate::handle::AgentHandle;
use crate::text;

/// What is said where nothing is known.
const NOTHING: &str = "I know nothing about that.";

/// The least part of the words of a question that a record must have to be an answer.
const LEAST: f64 = 0.34;

/// The least that a record must have of what the best one has.
const OF_BEST: f64 = 0.6;

/// The longest text of a record that is shown, in bytes.
const SHOWN: usize = 500;

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(super) struct RecallInput {
    /// What to look for, in any words; `me` for what is known about the caller, `everything` for all that is held.
    question: String,
    /// At most so many.
    #[serde(default = "few")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
}

fn few() -> usize {
    5
}

/// The skill `recall` of an agent.
pub(super) struct RecallSkill {
    agent: AgentHandle,
}

impl RecallSkill {
    pub(super) fn of(agent: &AgentHandle) -> Self {
        let agent = agent.clone();
        Self { agent }
    }
}

#[skill(
    id = "recall",
    tags = ["memory"],
    examples = ["recall {question}", "what do you know about {question}"],
    permission = "none",
    read_only,
    idempotent,
    replayable
)]
impl RecallSkill {
    /// Looks for what is remembered, and says who it is from and how sure it is. What has nothing to do with the question
    /// is not shown.
    async fn run(&self, input: RecallInput, ctx: Context) -> Result<String, SkillError> {
        let question = input.question.trim().trim_end_matches(['?', '!', '.']);
        match &*question.to_lowercase() {
            "me" | "myself" | "i" => return self.about_caller(&ctx.caller(), input.limit).await,
            "everything" | "all" | "anything" => {
                return self.all(&ctx.caller(), input.limit.max(20)).await;
            }
            _ => {}
        }
        let mut recall = Recall::new(input.question.clone());
        recall.limit = input.limit;
        recall.noted = Noted::Use;
        // What it holds comes first. What was only seen counts where it holds nothing.
        recall.layers = vec![
            Layer::Axiom,
            Layer::Belief,
            Layer::Procedure,
            Layer::Hypothesis,
        ];
        let spaces = self
            .agent
            .population
            .0
            .spaces(&self.agent.id, &ctx.caller());
        let mut related = Vec::new();
        for layers in [recall.layers.clone(), Vec::new()] {
            recall.layers = layers;
            let found = crate::turn::found(&spaces, &recall).await;
            let found = found.map_err(|error| failed(&error))?;
            let caller = AgentHandle::source_of(&ctx.caller());
            let found = found.into_iter().filter(|it| {
                // In a view of another agent's memory the name of that agent follows.
                let source = it.source.split(' ').next().unwrap_or_default();
                source == caller || !is_about_another(&input.question, &it.text, source)
            });
            let (answers, others) = judged(&input.question, found.collect());
            if !answers.is_empty() {
                return Ok(lines(&answers));
            }
            if related.is_empty() {
                related = others;
            }
        }
        Ok(match related.is_empty() {
            true => NOTHING.to_owned(),
            false => format!(
                "I do not know that. What I know besides:\n{}",
                lines(&related)
            ),
        })
    }
}

impl RecallSkill {
    /// What a caller said of itself.
    async fn about_caller(&self, caller: &Principal, limit: usize) -> Result<String, SkillError> {
        let wanted = |record: &Record| {
            record.kept().is_some()
                && AgentHandle::is_said_by(caller, record)
                && (has_word_of(&record.content.text, OWN)
                    || has_word_of(&record.content.text, SHARED))
        };
        let none = "I know nothing about you yet. Tell me something, such as: my name is Ada.";
        self.held(caller, wanted, limit, none).await
    }

    /// All that is held and that a caller sees, the newest first.
    async fn all(&self, caller: &Principal, limit: usize) -> Result<String, SkillError> {
        let none =
            "I remember nothing yet. Tell me something, such as: remember that Ada likes coffee.";
        self.held(caller, |record| record.kept().is_some(), limit, none)
            .await
    }

    async fn held(
        &self,
        caller: &Principal,
        wanted: impl Fn(&Record) -> bool,
        limit: usize,
        none: &str,
    ) -> Result<String, SkillError> {
        let space = self.agent.memory(caller);
        let space = space.map_err(|error| SkillError::coded("memory", error.to_string()))?;
        let axiom = |record: &Record| record.layer() == Layer::Axiom;
        let records = space
            .records(|it| wanted(it) && !axiom(it) && it.echo.is_none())
            .await;
        let records = records.map_err(|error| failed(&error))?;
        if records.is_empty() {
            return Ok(none.to_owned());
        }
        let shown = records.iter().rev().take(limit).map(|record| {
            let text = text::bounded(&record.content.text, SHOWN);
            let source = record.source().unwrap_or("unknown");
            format!("{text} ({} from {source})", record.layer().name())
        });
        let mut shown: Vec<String> = shown.collect();
        if records.len() > shown.len() {
            shown.push(format!("… and {} more.", records.len() - shown.len()));
        }
        Ok(shown.join("\n"))
    }
}

/// Words of a text about its speaker alone, and those about its speaker and others.
const OWN: &[&str] = &["i", "my", "me", "mine", "myself"];
const SHARED: &[&str] = &["we", "our", "us"];

fn has_word_of(text: &str, words: &[&str]) -> bool {
    let plain = text::plain(text);
    plain.split(' ').any(|word| words.contains(&word))
}

/// Whether what another caller said of themselves is asked of somebody else: "my name is Ada" is no answer to what the name of
/// the one who asks is, nor to what the name of Zed is. It is one to "what is Ada's PIN?", and where no person is named.
fn is_about_another(question: &str, text: &str, source: &str) -> bool {
    if !has_word_of(text, OWN) {
        return false;
    }
    let speaker = source.rsplit(':').next().unwrap_or_default();
    let names = |word: &&str| {
        let mut letters = word.chars();
        letters.next().is_some_and(char::is_uppercase) && letters.any(char::is_lowercase)
    };
    let words = question.split(|it: char| !it.is_alphanumeric());
    let mut others = words.skip(1).filter(names).peekable();
    let named = others.peek().is_some();
    has_word_of(question, OWN) || named && !others.any(|it| it.eq_ignore_ascii_case(speaker))
}

/// The records that answer a question, and those that are only about something it names.
///
/// Ranking always finds what is closest, also where nothing is close. So a record must have enough of the words of the
/// question, and one of those that are no names; where the question has names, one of these as well.
fn judged(question: &str, found: Vec<Recollection>) -> (Vec<Recollection>, Vec<Recollection>) {
    let part = |it: &memory::Overlap| it.shared as f64 / it.asked.max(1) as f64;
    let found: Vec<_> = found
        .into_iter()
        // What a tool gave as data is no answer to a person.
        .filter(|it| !it.text.trim_start().starts_with(['{', '[']))
        .map(|it| (overlap(question, &it.text), it))
        .filter(|(it, _)| it.asked == 0 || it.names == 0 || it.shared_names > 0)
        .collect();
    let best = found.iter().map(|(it, _)| part(it)).fold(0.0, f64::max);
    let (mut answers, mut related) = (Vec::new(), Vec::new());
    for (it, record) in found {
        let words = it.asked - it.names;
        let says = words == 0 || it.shared > it.shared_names;
        let enough = part(&it) >= LEAST && part(&it) >= best * OF_BEST;
        match it.asked == 0 || says && enough {
            true => answers.push(record),
            false if it.shared_names > 0 => related.push(record),
            false => {}
        }
    }
    (answers, related)
}

fn lines(found: &[Recollection]) -> String {
    let lines = found.iter().map(|found| {
        let sure = found
            .confidence
            .map_or_else(String::new, |it| format!(", {it:.2} sure"));
        let doubt = if found.doubted { ", in doubt" } else { "" };
        format!(
            "{} ({} from {}{sure}{doubt})",
            text::bounded(&found.text, SHOWN),
            found.layer.name(),
            found.source
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn failed(error: &memory::Error) -> SkillError {
    SkillError::coded("memory", error.to_string())
}

#[cfg(test)]
mod tests {
    use super::is_about_another;

    #[test]
    fn what_one_caller_said_of_itself_is_no_answer_about_another() {
        let told = |question: &str, text: &str| !is_about_another(question, text, "user:ada");
        assert!(!told("what is my name?", "my name is Ada"));
        assert!(!told("what is the PIN of Zed", "my PIN is 4711"));
        assert!(told("what is Ada's PIN?", "my PIN is 4711"));
        assert!(told("recall PIN", "my PIN is 4711"));
        assert!(told("what did we decide?", "we decided to wait"));
        assert!(told("where is my book?", "Zed has the book"));
    }
}
