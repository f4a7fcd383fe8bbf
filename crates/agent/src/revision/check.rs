//! The limits of proposals about a law: which changes a person has to agree to, and which are not for proposals at all.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::law::{Law, MemoryRule, Origin, Refused, Selection};

/// The values that a proposal may change without a person, if its test is good: how perceptions are weighed, what becomes of
/// contradictions, from when on something is believed, and how much is recalled. Everything else is about approvals,
/// skills, trust, budgets or what the agent does by itself.
const MINOR: &[&str] = &[
    "update.*.confidence",
    "belief_conflict.*",
    "memory.rules.*.*.condition.min_confidence",
    "memory.rules.*.*.condition.min_relevance",
    "memory.layers.*",
    "goal_priority.*.priority",
    "attention.recall",
    "attention.conversation",
    "clarification.min_claim",
];

/// Whether a person has to agree, whatever the test says: a rule is added or removed, or the change is not one of the
/// minor ones.
pub(crate) fn is_major(law: &Law, candidate: &Law) -> bool {
    let (old, new) = (leaves(law), leaves(candidate));
    if old.len() != new.len() {
        return true;
    }
    let differs = |place: &&String| old.get(*place) != new.get(*place);
    let mut places = old.keys().chain(new.keys()).filter(differs);
    places.any(|place| !MINOR.iter().any(|minor| fits(minor, place)))
}

/// Refuses what only a person gives: a skill without approvals, and another agent that may propose.
pub(crate) fn no_new_authority(law: &Law, candidate: &Law) -> Result<(), Refused> {
    let allows = |law: &Law, skill: &str, words: &[String]| {
        let mut rules = law.skill_selection.iter();
        rules.any(|it| it.then == Selection::Allow && it.skill == skill && it.words == words)
    };
    let mut rules = candidate.skill_selection.iter();
    let allowed = rules.find(|it| {
        it.then == Selection::Allow && !allows(law, it.skill.as_str(), it.words.as_slice())
    });
    if let Some(rule) = allowed {
        return Err(Refused::Authority(format!(
            "skill_selection would let {:?} be used without asking",
            rule.skill
        )));
    }
    let amends = |law: &Law, agent: &str| {
        let mut rules = law.agent_choice.iter();
        rules.any(|it| it.amends && it.agent == agent)
    };
    let mut rules = candidate.agent_choice.iter();
    match rules.find(|it| it.amends && !amends(law, it.agent.as_str())) {
        Some(rule) => Err(Refused::Authority(format!(
            "agent_choice would let {:?} propose changes",
            rule.agent
        ))),
        None => Ok(()),
    }
}

fn fits(pattern: &str, place: &str) -> bool {
    let (mut wanted, mut names) = (pattern.split('.'), place.split('.'));
    loop {
        match (wanted.next(), names.next()) {
            (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some(wanted), Some(name)) if wanted == name => {}
            _ => return false,
        }
    }
}

/// The rules of memory by origin, in their order: a rule about several origins is one about each of them, so that a change
/// for one origin, which splits it, is a change of a value.
fn by_origin(rules: &[MemoryRule]) -> Value {
    let mut origins: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for origin in [Origin::User, Origin::Tool, Origin::Agent, Origin::Own] {
        for rule in rules {
            let allowed = &rule.condition.sources_allowed;
            if allowed.is_empty() || allowed.contains(&origin) {
                let mut rule = rule.clone();
                rule.condition.sources_allowed.clear();
                origins.entry(origin.name()).or_default().push(json!(rule));
            }
        }
    }
    json!(origins)
}

fn leaves(law: &Law) -> BTreeMap<String, Value> {
    let mut leaves = BTreeMap::new();
    let mut tree = serde_json::to_value(law).unwrap_or_default();
    tree["memory"]["rules"] = by_origin(&law.memory.rules);
    let mut open = vec![(String::new(), tree)];
    while let Some((place, value)) = open.pop() {
        let inside = |name: &str| match place.as_str() {
            "" => name.to_owned(),
            place => format!("{place}.{name}"),
        };
        match value {
            Value::Object(members) => {
                open.extend(members.into_iter().map(|(name, it)| (inside(&name), it)));
            }
            Value::Array(items) => {
                let items = items.into_iter().enumerate();
                open.extend(items.map(|(at, it)| (inside(&at.to_string()), it)));
            }
            leaf => drop(leaves.insert(place, leaf)),
        }
    }
    leaves
}
