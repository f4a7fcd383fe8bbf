//! Calls and their results as facts.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::{CALLS, PendingCall, USED, Work, path_of, task_of};
use crate::enrich::skills::{self, Effects};
use crate::enrich::{files, text};
use crate::fact::{Fact, Field};
use crate::record::{StoredChange, StoredEvent, StoredIntent, StoredPending, StoredRound, part};

impl Work<'_> {
    pub(super) fn able(&mut self, change: &StoredChange<'_>) {
        #[derive(Deserialize)]
        struct Ability {
            id: String,
            read_only: bool,
        }
        let abilities: Vec<Ability> = part(change.abilities).unwrap_or_default();
        let abilities = abilities.into_iter().take(USED);
        self.own.read_only = abilities.map(|it| (it.id, it.read_only)).collect();
    }

    pub(super) fn round(&mut self, change: &StoredChange<'_>) {
        let (Some(task), Some(round)) = (task_of(change), part::<StoredRound<'_>>(change.round))
        else {
            return;
        };
        let calls = round.calls.iter().take(64).map(|it| {
            let input: Value = serde_json::from_str(it.input.get()).unwrap_or_default();
            (it.skill.clone().into_owned(), text::value_hash(&input))
        });
        let calls = calls.collect();
        self.trail(&task).round = calls;
    }

    /// Something is wanted: a call is given out, or something is put into memory.
    pub(super) fn wished(&mut self, change: &StoredChange<'_>) {
        let Some(StoredPending { wish }) = part(change.pending) else {
            return;
        };
        match &*wish.effect {
            "call" => self.given_out(&wish),
            "clarify" => {
                if let Some(task) = wish.turn.as_deref() {
                    let at = self.at;
                    self.trail(task).waits.get_or_insert(at);
                }
            }
            "remember" => {
                let candidates: Value = part(wish.candidates).unwrap_or_default();
                let said = text::in_words(&candidates);
                let task = wish.turn.as_deref().unwrap_or_default().to_owned();
                self.secrets_of(&task, &said, "memory", "");
            }
            _ => {}
        }
    }

    pub(super) fn given_out(&mut self, wish: &StoredIntent<'_>) {
        let task = wish.turn.as_deref().unwrap_or_default().to_owned();
        let skill = wish.skill.as_deref().unwrap_or_default().to_owned();
        let input: Value = part(wish.input).unwrap_or_default();
        let call = self.call(&task, &skill, &input);
        if self.own.calls.len() >= CALLS {
            self.own.calls.pop_first();
        }
        self.own.calls.insert(wish.id, call);
    }

    /// The fact that a call is made.
    pub(super) fn call(&mut self, task: &str, skill: &str, input: &Value) -> PendingCall {
        let own_word = self.own.read_only.get(skill).copied();
        let effects = skills::effects(skill, own_word);
        let said = text::in_words(input);
        let hashed = text::value_hash(input);
        let path = path_of(input).to_owned();
        let command = input["command"].as_str().unwrap_or_default();
        let network = input["network"] == Value::Bool(true);
        let words = text::meaning(&said).into_iter().collect::<BTreeSet<_>>();
        let novel = self.own.used.len() < USED && self.own.used.insert(skill.to_owned());
        let at = self.at;
        let trail = self.trail(task);
        trail.calls += 1;
        let similar = trail.is_similar(text::hash(skill), hashed, words.clone());
        let fresh = effects.changes() && trail.is_new(hashed ^ text::hash(skill));
        let tainted = trail.is_tainted(&said);
        let named = if path.is_empty() {
            trail.names_all(command)
        } else {
            trail.names(&path)
        };
        let calls = trail.calls;
        trail.private |= skills::is_private(skill, &path);
        let mut fact = self
            .of_task("called", task)
            .with(Field::Skill, skill)
            .with(Field::Effects, effects.name())
            .with(Field::InputHash, text::hex(hashed))
            .with(Field::Similar, similar)
            .with(Field::Tainted, tainted)
            .with(Field::Named, named)
            .with(Field::Novel, novel)
            .with(Field::Calls, calls as f64);
        if !path.is_empty() {
            fact.set(Field::Path, path.trim_start_matches("/project/"));
            fact.set(Field::FileKind, files::kind(&path));
        }
        if !command.is_empty() {
            fact.set(Field::Command, command);
            fact.set(Field::Destroys, files::destroys(command));
        }
        let fact = self.text(fact, &said);
        self.facts.push(fact);
        let place = match effects {
            Effects::Write if !path.is_empty() => "file",
            _ => "input",
        };
        self.secrets_of(task, &said, place, &path);
        PendingCall {
            task: task.to_owned(),
            skill: skill.to_owned(),
            at,
            input: hashed,
            words,
            similar,
            path,
            network,
            fresh,
        }
    }

    pub(super) fn done(&mut self, event: &StoredEvent<'_>) {
        let Some(call) = event.effect.and_then(|it| self.own.calls.remove(&it)) else {
            return;
        };
        let output: Value = part(event.output).unwrap_or_default();
        self.gave(&call, &output);
    }

    pub(super) fn gave(&mut self, call: &PendingCall, output: &Value) {
        // A command that ran and did not succeed is a failure for readers of the journal.
        if output["success"] == Value::Bool(false) && output.get("exit_code").is_some() {
            let code = match output["timed_out"] == Value::Bool(true) {
                true => "timed-out".to_owned(),
                false => format!("exit-{}", output["exit_code"]),
            };
            let said = output["output"].as_str().unwrap_or_default().to_owned();
            return self.did_fail(call, &code, &said);
        }
        let said = text::in_words(output);
        let hashed = text::value_hash(output);
        let outside = skills::is_outside(&call.skill, call.network);
        let injection = if outside {
            self.senses.signs.score(&said)
        } else {
            0.0
        };
        self.terms(&call.task, &said);
        let ms = self.at - call.at;
        let key = call.input ^ text::hash(&call.skill).rotate_left(7) ^ hashed.rotate_left(13);
        let at = self.at;
        let trail = self.trail(&call.task);
        if outside {
            trail.untrusted = true;
            trail.injection = trail.injection.max(injection);
            trail.taint(&said);
        }
        trail.epoch += u32::from(call.fresh);
        let cycle = trail.cycle(key, at);
        trail.stale = match trail.is_new(hashed.rotate_left(29)) || call.fresh {
            true => 0,
            false => trail.stale + 1,
        };
        let stale = trail.stale;
        let approved = trail.approved.contains(&call.skill);
        let mut fact = self
            .ended_call("done", call, ms)
            .with(Field::OutputHash, text::hex(hashed))
            .with(
                Field::Shape,
                text::hex(text::shape(&said, &call.words.iter().copied().collect())),
            )
            .with(Field::Empty, text::is_empty(output))
            .with(Field::Untrusted, outside)
            .with(Field::Injection, injection)
            .with(Field::Stale, f64::from(stale))
            .with(Field::Approved, approved);
        if let Some(cycle) = cycle {
            fact.set(Field::Cycle, cycle as f64);
        }
        let fact = self.text(fact, &said);
        let fact = self.themed(fact, &call.task);
        self.facts.push(fact);
        self.secrets_of(&call.task, &said, "output", &call.path);
    }

    pub(super) fn ended_call(&self, kind: &str, call: &PendingCall, ms: i64) -> Fact {
        let own_word = self.own.read_only.get(&call.skill).copied();
        let mut fact = self
            .of_task(kind, &call.task)
            .with(Field::Skill, call.skill.as_str())
            .with(
                Field::Effects,
                skills::effects(&call.skill, own_word).name(),
            )
            .with(Field::InputHash, text::hex(call.input))
            .with(Field::Similar, call.similar)
            .with(Field::Ms, ms.max(0) as f64);
        if !call.path.is_empty() {
            fact.set(Field::Path, call.path.trim_start_matches("/project/"));
            fact.set(Field::FileKind, files::kind(&call.path));
        }
        fact
    }

    pub(super) fn failed(&mut self, event: &StoredEvent<'_>) {
        let Some(call) = event.effect.and_then(|it| self.own.calls.remove(&it)) else {
            return;
        };
        let code = event.code.as_deref().unwrap_or("failed").to_owned();
        let message = event.message.as_deref().unwrap_or_default().to_owned();
        self.did_fail(&call, &code, &message);
    }

    pub(super) fn did_fail(&mut self, call: &PendingCall, code: &str, message: &str) {
        let kind = match code {
            "forbidden" | "refused" | "not-approved" => "refused",
            _ => "failed",
        };
        let ms = self.at - call.at;
        let hashed = text::hash(code) ^ text::hash(message);
        let shape = text::shape(message, &call.words.iter().copied().collect());
        let fact = self
            .ended_call(kind, call, ms)
            .with(Field::Code, code)
            .with(Field::OutputHash, text::hex(hashed))
            .with(Field::Shape, text::hex(shape));
        let fact = self.text(fact, message);
        self.facts.push(fact);
        self.secrets_of(&call.task, message, "output", &call.path);
    }

    /// A call of a thought that was not made.
    pub(super) fn unusable(&mut self, change: &StoredChange<'_>) {
        let (Some(task), Some(number)) = (task_of(change), change.call) else {
            return;
        };
        let outcome: Value = part(change.outcome).unwrap_or_default();
        let Some(code) = outcome["failed"][0].as_str() else {
            return;
        };
        let message = outcome["failed"][1].as_str().unwrap_or_default();
        let round = self
            .own
            .tasks
            .get(&task)
            .and_then(|it| it.round.get(number).cloned());
        let (skill, input) = round.unwrap_or_default();
        let call = PendingCall {
            task,
            skill,
            input,
            at: self.at,
            ..PendingCall::default()
        };
        self.did_fail(&call, code, message);
    }

    /// A caller called a skill by its name: the call and its end in one.
    pub(super) fn called_by_name(&mut self, event: &StoredEvent<'_>) {
        let task = event.turn.as_deref().unwrap_or_default().to_owned();
        let skill = event.skill.as_deref().unwrap_or_default().to_owned();
        let input: Value = part(event.input).unwrap_or_default();
        let caller = event.by.as_deref().unwrap_or_default().to_owned();
        let trail = self.trail(&task);
        // The caller wrote the whole input.
        trail.hear(&text::in_words(&input));
        trail.origin = "user".to_owned();
        trail.caller = caller;
        let call = self.call(&task, &skill, &input);
        let outcome: Value = part(event.outcome).unwrap_or_default();
        match outcome.get("gave") {
            Some(output) => self.gave(&call, output),
            None => {
                let code = outcome["failed"][0].as_str().unwrap_or("failed").to_owned();
                let message = outcome["failed"][1].as_str().unwrap_or_default().to_owned();
                self.did_fail(&call, &code, &message);
            }
        }
        self.own.tasks.remove(&task);
    }
}
