//! A law as people read it, and what has changed between two.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::{Law, MemoryAction, OnConflict, Origin, Selection, Update};

impl Law {
    /// The law in sentences, a line for each rule.
    pub fn show(&self) -> String {
        let mut page = String::new();
        for (title, lines) in self.sections() {
            if !lines.is_empty() {
                let _ = writeln!(page, "{title}");
                for line in lines {
                    let _ = writeln!(page, "  - {line}");
                }
            }
        }
        page
    }

    /// The rules that a model is told of: few lines, each short. All of the law stays outside of the prompt.
    pub fn summary(&self) -> Vec<String> {
        let mut lines = self.never();
        lines.extend(self.skills());
        lines.push(self.asks());
        lines.extend(self.known());
        lines
    }

    fn never(&self) -> Vec<String> {
        let never = self
            .frozen
            .never
            .iter()
            .map(|it| format!("never calls {it}*"));
        let always = self.frozen.always_ask.iter();
        let always = always.map(|it| format!("asks before each {it}*"));
        never.chain(always).collect()
    }

    fn skills(&self) -> Vec<String> {
        let skills = self.skill_selection.iter().map(|rule| {
            let words = about(" for ", &rule.words);
            match rule.then {
                Selection::Prefer => format!("prefers {}*{words}", rule.skill),
                Selection::Allow => format!("may use {}*{words}", rule.skill),
                Selection::Ask => format!("asks before {}*{words}", rule.skill),
                Selection::Forbid => format!("does not use {}*{words}", rule.skill),
            }
        });
        skills.collect()
    }

    fn asks(&self) -> String {
        format!(
            "asks before a change of which less than {} was said, and about a claim that is less than {} sure",
            self.clarification.min_grounded, self.clarification.min_claim,
        )
    }

    fn known(&self) -> Vec<String> {
        let procedures = self.procedures.iter().map(|it| {
            let steps: Vec<&str> = it.steps.iter().map(|step| step.skill.as_str()).collect();
            let steps = steps.join(", then ");
            format!("{}: \u{201c}{}\u{201d} is {steps}", it.name, it.when)
        });
        procedures.collect()
    }

    fn sections(&self) -> Vec<(&'static str, Vec<String>)> {
        let update = self.update.iter().map(|rule| {
            let from = match rule.from.as_str() {
                "" => String::new(),
                from => format!(" from {from}*"),
            };
            let words = about(" with ", &rule.words);
            let on = rule.on.name();
            match rule.then {
                Update::Consider => {
                    format!(
                        "what comes from {on}{from}{words} is {} sure",
                        rule.confidence
                    )
                }
                Update::Ignore => format!("what comes from {on}{from}{words} is let pass"),
            }
        });
        let memory = self.memory.rules.iter().map(|rule| {
            let action = match rule.action {
                MemoryAction::PromoteToLongTerm => "becomes a belief",
                MemoryAction::KeepEphemeral => "is logged",
                MemoryAction::Discard => "is not remembered",
            };
            let condition = &rule.condition;
            let (sure, relevant) = (condition.min_confidence, condition.min_relevance);
            let from = names(&condition.sources_allowed);
            format!("what is at least {sure} sure and {relevant} relevant, from {from}, {action}")
        });
        let conflict = &self.belief_conflict;
        let told = if conflict.tell { "" } else { "not " };
        let beliefs = format!(
            "the belief that yields keeps {} of its confidence; a newer one wins up to {} less sure; it is {told}told",
            conflict.contradiction, conflict.newer_prevails,
        );
        let priority = self.goal_priority.iter().map(|rule| {
            let words = about(" with ", &rule.words);
            format!("from {}{words}: {}", names(&rule.from), rule.priority)
        });
        let against = self.goal_conflict.iter().map(|rule| {
            let then = match rule.then {
                OnConflict::Refuse => "is refused",
                OnConflict::Ask => "is asked about",
                OnConflict::Allow => "goes first",
            };
            let (request, goal) = (rule.request.join(" or "), rule.goal.join(" or "));
            format!("{request} against a goal of {goal} {then}")
        });
        let agents = self.agent_choice.iter().map(|rule| {
            let words = about(", asked about ", &rule.words);
            format!("{} is believed {}{words}", rule.agent, rule.trust)
        });
        let attention = &self.attention;
        let limits = &self.decomposition;
        vec![
            ("Axioms", self.frozen.axioms.clone()),
            ("Never, whatever is asked", self.never()),
            ("What it makes of what it perceives", update.collect()),
            ("Beliefs that contradict each other", vec![beliefs]),
            ("Memory", memory.collect()),
            ("Goals that go first", priority.collect()),
            ("Requests against goals", against.collect()),
            ("Skills", self.skills()),
            ("Other agents", agents.collect()),
            ("When it asks", vec![self.asks()]),
            (
                "How far it goes",
                vec![format!(
                    "{} thoughts and {} calls for a request, {} at a time",
                    limits.max_rounds, limits.max_calls, limits.max_parallel,
                )],
            ),
            (
                "What it attends to",
                vec![format!(
                    "{} requests at a time, {} more may wait; {} memories, {} lines of conversation, {} tokens; {} s for a person to \
                     answer",
                    attention.turns,
                    attention.queue,
                    attention.recall,
                    attention.conversation,
                    attention.tokens,
                    attention.approval_seconds,
                )],
            ),
            (
                "By the clock",
                self.timers
                    .iter()
                    .map(|it| format!("{}: every {} s: {}", it.name, it.every, it.request))
                    .collect(),
            ),
            (
                "When idle",
                self.idle
                    .iter()
                    .map(|it| format!("after {} s: {}", it.after, it.request))
                    .collect(),
            ),
            ("Procedures", self.known()),
        ]
    }

    /// What is different in another law: a line for each value, with the place, what it was and what it is.
    pub fn diff(&self, other: &Self) -> Vec<String> {
        let leaves = |law: &Self| {
            let mut leaves = BTreeMap::new();
            flatten(
                "",
                &serde_json::to_value(law).unwrap_or_default(),
                &mut leaves,
            );
            leaves
        };
        let (old, new) = (leaves(self), leaves(other));
        let mut lines = Vec::new();
        for (place, value) in &old {
            match new.get(place) {
                Some(now) if now == value => {}
                Some(now) => lines.push(format!("{place}: {value} -> {now}")),
                None => lines.push(format!("{place}: {value} ->")),
            }
        }
        let added = new.iter().filter(|(place, _)| !old.contains_key(*place));
        lines.extend(added.map(|(place, value)| format!("{place}: -> {value}")));
        lines
    }
}

/// What words a rule is about, after a word of ours; nothing if it is about all.
fn about(before: &str, words: &[String]) -> String {
    match words.is_empty() {
        true => String::new(),
        false => format!("{before}{}", words.join(" or ")),
    }
}

/// Where something may come from, in words.
fn names(origins: &[Origin]) -> String {
    let names: Vec<&str> = origins.iter().map(|it| it.name()).collect();
    match names.is_empty() {
        true => "anybody".to_owned(),
        false => names.join(", "),
    }
}

fn flatten(place: &str, value: &Value, leaves: &mut BTreeMap<String, String>) {
    let inside = |name: &str| match place {
        "" => name.to_owned(),
        place => format!("{place}.{name}"),
    };
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                flatten(&inside(name), value, leaves);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                flatten(&inside(&at.to_string()), value, leaves);
            }
        }
        leaf => {
            leaves.insert(place.to_owned(), leaf.to_string());
        }
    }
}
