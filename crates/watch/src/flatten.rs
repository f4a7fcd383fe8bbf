//! From the journal of an agent to facts. A record alone does not say which skill a result belongs to, how long a task has
//! taken, or whether a target was named by a person: [`Flattener`] keeps what is needed for that, within bounds, and is part of
//! what the watcher writes down.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::enrich::secrets::Secrets;
use crate::enrich::signs::Signs;
use crate::enrich::text;
use crate::enrich::themes::Themes;
use crate::fact::{Fact, Field};
use crate::record::{Stored, StoredAnswer, StoredChange, StoredEvent, part};
use crate::trail::Trail;
use crate::{Error, packs};

mod calls;
mod people;

/// How many tasks of an agent are followed at the same time.
const TASKS: usize = 128;
/// How many calls under way are known.
const CALLS: usize = 512;
/// How many skills an agent is known to have used.
const USED: usize = 512;
/// How many tasks that have ended are the measure of the next.
const MEASURE: usize = 50;
/// How many of them there must be.
const LEAST: usize = 5;

/// What does not change: rules for secrets, signs, themes.
#[derive(Clone, Debug)]
pub(crate) struct Senses {
    pub(crate) secrets: Secrets,
    signs: Signs,
    themes: Themes,
}

impl Senses {
    pub(crate) fn shipped() -> Result<Self, Error> {
        Ok(Self {
            secrets: Secrets::parse(packs::SECRETS)?,
            signs: Signs::new()?,
            themes: Themes::parse(packs::THEMES)?,
        })
    }
}

/// What is kept of one journal to make facts of its next records.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Flattener {
    agent: String,
    tasks: BTreeMap<String, Trail>,
    calls: BTreeMap<u64, PendingCall>,
    /// Approvals that wait: their task and skill.
    approvals: BTreeMap<u64, (String, String)>,
    /// What the agent says of its skills: whether they change nothing.
    read_only: BTreeMap<String, bool>,
    used: BTreeSet<String>,
    tokens: VecDeque<u64>,
    ms: VecDeque<u64>,
}

/// A call that was given out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct PendingCall {
    task: String,
    skill: String,
    at: i64,
    input: u64,
    words: BTreeSet<u64>,
    similar: bool,
    path: String,
    network: bool,
    fresh: bool,
}

impl Flattener {
    /// For the journal of this agent.
    pub(crate) fn new(agent: &str) -> Self {
        Self {
            agent: agent.to_owned(),
            ..Self::default()
        }
    }

    /// The facts of a record.
    pub(crate) fn take(
        &mut self,
        senses: &Senses,
        stream: &str,
        sequence: u64,
        bytes: &[u8],
    ) -> Result<Vec<Fact>, Error> {
        let stored: Stored<'_> = serde_json::from_slice(bytes)
            .map_err(|error| Error::record(stream, sequence, &error))?;
        let mut work = Work {
            senses,
            stream,
            sequence,
            at: stored.event.at,
            facts: Vec::new(),
            own: self,
        };
        work.record(&stored);
        Ok(work.facts)
    }
}

struct Work<'a> {
    senses: &'a Senses,
    stream: &'a str,
    sequence: u64,
    at: i64,
    facts: Vec<Fact>,
    own: &'a mut Flattener,
}

impl Work<'_> {
    fn record(&mut self, stored: &Stored<'_>) {
        let event = &stored.event;
        match &*event.event {
            "heard" => self.heard(event),
            "thought" => self.thought(event, &stored.changes),
            "done" => self.done(event),
            "failed" => self.failed(event),
            "called" | "did" => self.called_by_name(event),
            "decided" => self.decided(event),
            "answered" | "clarified" => self.answered(event),
            "proposed" => self.proposed(event),
            "remembered" => self.remembered(event),
            "rolled-back" => self.rolled_back(event),
            "paused" => self.plain("paused", ""),
            "broken" => self.plain("broken", event.problem.as_deref().unwrap_or_default()),
            _ => {}
        }
        for change in &stored.changes {
            self.change(change, event);
        }
    }

    fn fact(&self, kind: &str) -> Fact {
        Fact::new(self.stream, self.sequence, self.at)
            .with(Field::Kind, kind)
            .with(Field::Agent, self.own.agent.as_str())
    }

    /// A fact about a task, with what is known of it.
    fn of_task(&self, kind: &str, task: &str) -> Fact {
        let mut fact = self.fact(kind).with(Field::Task, task);
        if let Some(trail) = self.own.tasks.get(task) {
            fact.set(Field::Caller, trail.caller.as_str());
            fact.set(Field::Conversation, trail.conversation.as_str());
            fact.set(Field::Origin, trail.origin.as_str());
            fact.set(Field::Request, trail.request.as_str());
            fact.set(Field::Epoch, f64::from(trail.epoch));
            fact.set(Field::TaskInjection, trail.injection);
            fact.set(Field::SawUntrusted, trail.untrusted);
            fact.set(Field::Private, trail.private);
        }
        fact
    }

    fn plain(&mut self, kind: &str, said: &str) {
        let fact = self
            .fact(kind)
            .with(Field::Text, self.senses.secrets.redact(said));
        self.facts.push(fact);
    }

    fn trail(&mut self, task: &str) -> &mut Trail {
        if !self.own.tasks.contains_key(task) && self.own.tasks.len() >= TASKS {
            // The one that began first: its end was not seen.
            let oldest = self
                .own
                .tasks
                .iter()
                .min_by_key(|it| it.1.began)
                .map(|it| it.0.clone());
            oldest.and_then(|it| self.own.tasks.remove(&it));
        }
        let at = self.at;
        self.own
            .tasks
            .entry(task.to_owned())
            .or_insert_with(|| Trail::begin(at))
    }

    fn heard(&mut self, event: &StoredEvent<'_>) {
        let task = event.turn.as_deref().unwrap_or_default();
        let said = event.text.as_deref().unwrap_or_default();
        let from = event.from.as_deref().unwrap_or_default();
        let caller = event
            .caller
            .as_deref()
            .filter(|it| !it.is_empty())
            .unwrap_or(from)
            .to_owned();
        let conversation = event.conversation.as_deref().unwrap_or_default().to_owned();
        let origin = event.origin.as_deref().unwrap_or("user").to_owned();
        let outside = origin == "agent";
        let injection = if outside {
            self.senses.signs.score(said)
        } else {
            0.0
        };
        let request = text::hex(text::hash(&said.to_lowercase()));
        let trail = self.trail(task);
        trail.caller = caller;
        trail.conversation = conversation;
        trail.origin = origin;
        trail.request = request;
        // An agent's words are no person's: what it names is not named by people, and not tainted either.
        trail.hear(said);
        trail.injection = injection;
        self.terms(task, said);
        let fact = self.of_task("heard", task);
        let fact = self
            .text(fact, said)
            .with(Field::Injection, injection)
            .with(Field::Untrusted, outside);
        let fact = self.themed(fact, task);
        self.facts.push(fact);
    }

    fn text(&self, fact: Fact, said: &str) -> Fact {
        fact.with(Field::Bytes, said.len() as f64)
            .with(Field::Text, text::bounded(said.to_owned()))
    }

    fn terms(&mut self, task: &str, said: &str) {
        if let Some(trail) = self.own.tasks.get_mut(task) {
            self.senses.themes.terms(said, |term| {
                trail.terms.insert(term);
            });
        }
    }

    fn themed(&self, mut fact: Fact, task: &str) -> Fact {
        let trail = self.own.tasks.get(task);
        if let Some((theme, terms)) = trail.and_then(|it| self.senses.themes.best(&it.terms)) {
            fact.set(Field::Theme, theme);
            fact.set(Field::ThemeTerms, terms as f64);
        }
        fact
    }

    fn thought(&mut self, event: &StoredEvent<'_>, changes: &[StoredChange<'_>]) {
        let round = changes.iter().find(|it| it.change == "round");
        let Some(task) = round.and_then(task_of) else {
            return;
        };
        let said = event.text.as_deref().unwrap_or_default();
        let tokens = event.tokens.unwrap_or_default();
        self.trail(&task).tokens += tokens;
        self.terms(&task, said);
        let fact = self
            .of_task("thought", &task)
            .with(Field::Tokens, tokens as f64);
        let fact = self.text(fact, said);
        let fact = self.themed(fact, &task);
        self.facts.push(fact);
        self.secrets_of(&task, said, "said", "");
    }

    fn change(&mut self, change: &StoredChange<'_>, event: &StoredEvent<'_>) {
        match &*change.change {
            "able" => self.able(change),
            "round" => self.round(change),
            "wished" => self.wished(change),
            "outcome" if !matches!(&*event.event, "done" | "failed") => self.unusable(change),
            "asked" => self.asked(change),
            "questioned" => self.waits(change),
            "granted" => self.granted(change),
            "law" => self.plain("law", ""),
            "gate" => self.gate(change),
            "ended" => self.ended(change),
            _ => {}
        }
    }

    fn ended(&mut self, change: &StoredChange<'_>) {
        let Some(task) = task_of(change) else {
            return;
        };
        let answer: Option<StoredAnswer<'_>> = part(change.answer);
        let fact = self.of_task("ended", &task);
        let Some(trail) = self.own.tasks.remove(&task) else {
            return;
        };
        self.own.calls.retain(|_, it| it.task != task);
        let ms = u64::try_from(self.at - trail.began - trail.waited).unwrap_or_default();
        let mut fact = fact
            .with(Field::Tokens, trail.tokens as f64)
            .with(Field::Ms, ms as f64)
            .with(Field::Calls, trail.calls as f64);
        if let Some(answer) = &answer {
            fact.set(Field::End, &*answer.end);
            fact.set(Field::Text, text::bounded(answer.text.clone().into_owned()));
        }
        if let Some(median) = median(&self.own.tokens) {
            fact.set(Field::TokensRatio, trail.tokens as f64 / median.max(1.0));
        }
        if let Some(median) = median(&self.own.ms) {
            fact.set(Field::MsRatio, ms as f64 / median.max(1.0));
        }
        measure(&mut self.own.tokens, trail.tokens);
        measure(&mut self.own.ms, ms);
        self.facts.push(fact);
    }

    /// A fact for each credential in a text.
    fn secrets_of(&mut self, task: &str, said: &str, place: &str, path: &str) {
        for leak in self.senses.secrets.find(said) {
            let mut fact = self
                .of_task("secret", task)
                .with(Field::Secret, leak.rule)
                .with(Field::SecretHash, text::hex(leak.hash))
                .with(Field::Place, place);
            if !path.is_empty() {
                fact.set(Field::Path, path.trim_start_matches("/project/"));
            }
            if let Some(skill) = self.facts.last().map(|it| it.text(Field::Skill).to_owned()) {
                fact.set(Field::Skill, skill);
            }
            self.facts.push(fact);
        }
    }
}

/// The task of a change: its id, or the turn with all that it holds.
fn task_of(change: &StoredChange<'_>) -> Option<String> {
    part::<String>(change.turn)
}

fn path_of(input: &Value) -> &str {
    let names = ["path", "file", "from", "target"];
    let mut paths = names.iter().filter_map(|it| input[*it].as_str());
    let is_path = |it: &&str| !it.is_empty() && !it.contains("://");
    paths.find(is_path).unwrap_or_default()
}

fn median(values: &VecDeque<u64>) -> Option<f64> {
    if values.len() < LEAST {
        return None;
    }
    let mut sorted: Vec<u64> = values.iter().copied().collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).map(|it| *it as f64)
}

fn measure(values: &mut VecDeque<u64>, value: u64) {
    if values.len() >= MEASURE {
        values.pop_front();
    }
    values.push_back(value);
}
