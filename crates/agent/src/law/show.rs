//! A law as people read it, and the difference between two laws.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::Law;
use super::rules::Says as _;

impl Law {
    /// The law in sentences: a title for each kind of rule, below it a line for each rule.
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

    /// The rules that are active for a request, which the model is told of, the most binding first. `offered` says whether
    /// there are skills that begin so. `step` enforces the whole law, so the prompt does not repeat it.
    pub(crate) fn active(&self, request: &str, offered: impl Fn(&str) -> bool) -> Vec<String> {
        let mut lines = self.frozen.safety(&offered);
        let skills = self
            .skill_selection
            .iter()
            .filter(|rule| offered(&rule.skill) && crate::text::has_any(request, &rule.words));
        lines.extend(skills.flat_map(super::rules::Says::says));
        lines.extend(self.clarification.says());
        let agents = self
            .agent_choice
            .iter()
            .filter(|rule| !rule.words.is_empty() && crate::text::has_any(request, &rule.words));
        lines.extend(agents.flat_map(super::rules::Says::says));
        // A request that has the form of a procedure is done by it, without the model; others may be close to it.
        let close = |it: &&super::Procedure| {
            let steps = it.steps.iter().all(|step| offered(&step.skill));
            steps && crate::text::relevance(&it.when, [request]) > 0.0
        };
        let procedures = self.procedures.iter().filter(close);
        lines.extend(procedures.flat_map(super::rules::Says::says));
        lines
    }

    /// The difference to another law: a line for each value, with its place, the old and the new value.
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
