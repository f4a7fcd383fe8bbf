//! The skills `remind` and `reminders`. A reminder is a task of the caller's, in the conversation in which it was asked for: it
//! works until its moment and then says what it is about. So it is in the list of tasks, survives a restart, reaches those
//! who follow the task or have a webhook, and is cancelled as every task is.

use std::time::Duration;

use chrono::{DateTime, Local, NaiveDateTime, TimeZone as _};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use skill::{Context, Registry, SkillError, SkillInput, skill};

use crate::delegate::Waiting;
use crate::handle::AgentHandle;
use crate::limits;
use crate::text;

mod when;
#[cfg(test)]
#[path = "remind/when_tests.rs"]
mod when_tests;

use when::{When, parse, split};

/// The id of the skill whose tasks are reminders.
const REMIND: &str = "remind";

/// A clock may be set, and a computer may sleep: no wait is longer than this.
const LOOK: Duration = Duration::from_secs(30);

/// The skills `remind` and `reminders` of an agent.
pub(super) fn of(agent: &AgentHandle) -> Registry {
    let remind = Remind {
        agent: agent.clone(),
    };
    let reminders = Reminders {
        agent: agent.clone(),
    };
    Registry::new()
        .with(remind)
        .and_then(|skills| skills.with(reminders))
        .expect("their ids are two")
}

#[derive(Deserialize, JsonSchema, SkillInput)]
struct RemindInput {
    /// What to be reminded of; the moment may be in it, as in `drink water in 10 minutes`.
    text: String,
    /// The moment: `in 10 minutes`, `tomorrow at 9`, or a date and time as in RFC 3339.
    #[serde(default)]
    when: Option<String>,
    /// Whether this call itself waits for the moment. Otherwise a task of its own does, in the same conversation.
    #[serde(default)]
    wait: bool,
}

struct Remind {
    agent: AgentHandle,
}

#[skill(
    tags = ["time"],
    examples = ["remind me in 10 minutes to drink water", "remind me to call Ada tomorrow at 9"],
    own_state,
    replayable
)]
impl Remind {
    /// Reminds the caller of something at a moment: begins a task in the conversation that says so when it is time.
    async fn run(&self, input: RemindInput, ctx: Context) -> Result<String, SkillError> {
        let now = self.agent.now();
        let (what, at) = match input.when.as_deref().map(str::trim) {
            Some(given) if !given.is_empty() => {
                let at = parse(given, local(now).naive_local());
                let at = at.ok_or_else(|| unreadable(given))?;
                (input.text.trim().to_owned(), Some(at))
            }
            _ => split(&input.text, local(now).naive_local()),
        };
        if at.is_none() && is_repeated(&what) {
            let why =
                "I remind once, and not again and again: name one moment, such as tomorrow at 8";
            return Err(SkillError::coded("time", why));
        }
        let at = match at {
            Some(at) => at,
            None => asked(&ctx, &what, local(now).naive_local()).await?,
        };
        let at = millis(at, now);
        if input.wait {
            return self.wait(&what, at, &ctx).await;
        }
        if at <= now {
            return Err(SkillError::coded("time", "that moment is over"));
        }
        let waiting = self.agent.reminders(&ctx.caller()).await?.len();
        if waiting >= limits::REMINDERS {
            let why = format!("{waiting} reminders wait already, which is the most");
            return Err(SkillError::coded("too-many", why));
        }
        let moment = stamp(at);
        let input = json!({ "text": what, "when": moment, "wait": true });
        let begin = self.agent.begin_for(&ctx, REMIND, input);
        ctx.once("reminder", begin).await?;
        Ok(format!(
            "I will remind you {}: {}",
            shown(at, now),
            named(&what)
        ))
    }
}

impl Remind {
    /// Waits for the moment, and says what it is about.
    async fn wait(&self, what: &str, at: i64, ctx: &Context) -> Result<String, SkillError> {
        let about = format!(
            "A reminder {}: {}",
            shown(at, self.agent.now()),
            named(what)
        );
        ctx.progress(0.0, None, about).await?;
        let moment = async {
            loop {
                let left = at.saturating_sub(self.agent.now());
                let Ok(left @ 1..) = u64::try_from(left) else {
                    return;
                };
                tokio::time::sleep(Duration::from_millis(left).min(LOOK)).await;
            }
        };
        // A caller who cancels it is not kept waiting for the time that a skill has to come to an end.
        let cancelled = ctx.cancelled();
        let comes = ctx.waiting(async {
            tokio::select! {
                () = moment => true,
                () = cancelled.cancelled() => false,
            }
        });
        match comes.await {
            true => Ok(format!("Reminder: {}", named(what))),
            false => Err(SkillError::Cancelled),
        }
    }
}

/// Whether a text is a moment and nothing else.
pub(super) fn is_moment(text: &str) -> bool {
    let text = text.trim();
    // A moment has few words; anything longer is not looked at.
    text.len() <= 64 && parse(text, DateTime::UNIX_EPOCH.naive_utc()).is_some()
}

/// Whether a text asks to be reminded again and again: `every day at 8 to stretch`.
fn is_repeated(what: &str) -> bool {
    const AGAIN: [&str; 6] = ["every", "each", "daily", "weekly", "monthly", "hourly"];
    let plain = text::plain(what);
    let mut ends = plain
        .split(' ')
        .take(1)
        .chain(plain.split(' ').rev().take(3));
    ends.any(|it| AGAIN.contains(&it))
}

/// Asks when.
async fn asked(ctx: &Context, what: &str, now: NaiveDateTime) -> Result<When, SkillError> {
    let form = json!({
        "type": "object",
        "properties": { "when": { "type": "string", "description": "In 10 minutes, tomorrow at 9, ..." } },
        "required": ["when"],
    });
    let question = format!(
        "When shall I remind you of it: {}? Answer with a time, such as: in 10 minutes, or tomorrow at 9.",
        named(what)
    );
    let said = ctx.ask_for(form, question).await?;
    let said = said["when"].as_str().unwrap_or_default();
    parse(said, now).ok_or_else(|| unreadable(said))
}

fn unreadable(given: &str) -> SkillError {
    let given = text::bounded(given, 100);
    let why = format!(
        "{given:?} is no time that I understand: say \"in 10 minutes\", \"tomorrow at 9\" or \"2026-11-20 at 9:00\""
    );
    SkillError::coded("time", why)
}

fn named(what: &str) -> &str {
    match what {
        "" => "the time is up",
        what => what,
    }
}

fn local(now: i64) -> DateTime<Local> {
    let at = Local.timestamp_millis_opt(now).single();
    at.unwrap_or_else(|| DateTime::UNIX_EPOCH.with_timezone(&Local))
}

/// A moment in milliseconds since 1970. A time that the clock on the wall skips is the one an hour later.
fn millis(when: When, now: i64) -> i64 {
    match when {
        When::Exact(at) => at,
        When::After(span) => now.saturating_add(span.num_milliseconds()),
        When::At(at) => {
            let skipped = || {
                Local
                    .from_local_datetime(&(at + chrono::TimeDelta::hours(1)))
                    .earliest()
            };
            let found = Local.from_local_datetime(&at).earliest().or_else(skipped);
            found.map_or(now, |it| it.timestamp_millis())
        }
    }
}

fn stamp(at: i64) -> String {
    local(at).to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

/// A moment as it is told: the time, with the day if it is not today.
fn shown(at: i64, now: i64) -> String {
    let (at, now) = (local(at), local(now));
    match at.date_naive() == now.date_naive() {
        true => at.format("at %H:%M").to_string(),
        false => at.format("on %A %-d %B %Y at %H:%M").to_string(),
    }
}

/// The date and time of day, with the zone, as a sentence.
pub(super) fn clock(now: i64) -> String {
    local(now)
        .format("It is %H:%M on %A, %-d %B %Y (UTC%:z).")
        .to_string()
}

#[derive(Deserialize, JsonSchema, SkillInput)]
struct RemindersInput {
    /// Whether to cancel them.
    #[serde(default)]
    cancel: bool,
    /// Only those with these words.
    #[serde(default)]
    text: Option<String>,
}

struct Reminders {
    agent: AgentHandle,
}

#[skill(
    tags = ["time"],
    examples = ["what reminders do I have?"],
    own_state,
    idempotent,
    replayable
)]
impl Reminders {
    /// Lists the caller's reminders that wait for their moment, or cancels them.
    async fn run(&self, input: RemindersInput, ctx: Context) -> Result<String, SkillError> {
        let caller = ctx.caller();
        let mut waiting = self.agent.reminders(&caller).await?;
        if let Some(wanted) = &input.text {
            let words = text::plain(wanted);
            waiting.retain(|it| text::plain(&it.about()).contains(&words));
        }
        if waiting.is_empty() {
            return Ok("There are no reminders that wait.".to_owned());
        }
        let lines: Vec<String> = waiting
            .iter()
            .map(|it| format!("- {}", it.about()))
            .collect();
        if !input.cancel {
            return Ok(lines.join("\n"));
        }
        if waiting.len() > 1 && input.text.is_none() {
            let question = format!("Shall I cancel all of these?\n{}\n", lines.join("\n"));
            if !super::agrees(&ctx, question).await? {
                return Ok("Then they stay.".to_owned());
            }
        }
        for reminder in &waiting {
            self.agent.cancel_reminder(&caller, &reminder.task).await;
        }
        Ok(format!("I have cancelled:\n{}", lines.join("\n")))
    }
}

impl AgentHandle {
    fn now(&self) -> i64 {
        (self.population.0.parts.clock)()
    }

    /// The reminders of a caller that wait.
    async fn reminders(&self, caller: &access::Principal) -> Result<Vec<Waiting>, SkillError> {
        let tasks = &self.population.0.tasks;
        let waiting = tasks.waiting(&self.id, caller, REMIND).await;
        waiting.map_err(|error| SkillError::coded("task", error.to_string()))
    }

    /// Begins a task of a skill for the caller of a call, in the same conversation. Gives its id.
    async fn begin_for(
        &self,
        ctx: &Context,
        skill: &str,
        input: Value,
    ) -> Result<String, SkillError> {
        let tasks = &self.population.0.tasks;
        let begun = tasks.begin_for(&self.id, ctx, skill, input).await;
        begun.map_err(|error| SkillError::coded("task", error.to_string()))
    }

    async fn cancel_reminder(&self, caller: &access::Principal, task: &str) {
        let tasks = &self.population.0.tasks;
        tasks.cancel_for(&self.id, caller, task).await;
    }
}

impl Waiting {
    /// When it is due, and what it is about.
    fn about(&self) -> String {
        let text = |name: &str| {
            self.input
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let at = DateTime::parse_from_rfc3339(text("when"));
        let at = at.map_or_else(
            |_| String::new(),
            |at| {
                at.with_timezone(&Local)
                    .format("%A %-d %B at %H:%M: ")
                    .to_string()
            },
        );
        format!("{at}{}", named(text("text")))
    }
}
