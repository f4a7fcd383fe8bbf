//! Changes of a law: where, what, and what is refused.

use serde_json::{Value, json};

use crate::law::{Edit, Law, MemoryAction, Origin, Refused};

fn edit(target: &str, change: Value) -> Edit {
    Edit {
        target: target.to_owned(),
        change,
        justification: "it is better so".to_owned(),
    }
}

/// What a change changes, a line for each value.
fn changed(target: &str, change: Value) -> Vec<String> {
    let law = Law::default();
    let changed = edit(target, change).apply(&law);
    law.diff(&changed.unwrap_or_else(|refused| panic!("{target}: {refused}")))
}

#[test]
fn a_place_has_brackets_or_dots() {
    let expected = ["memory.rules.0.condition.min_confidence: 0.7 -> 0.8"];
    for (target, change) in [
        ("memory.rules[0].condition.min_confidence", json!(0.8)),
        ("memory.rules.0.condition.min_confidence", json!(0.8)),
        ("memory.rules[0].condition.minConfidence", json!("+= 0.1")),
        ("memory.rules[0].condition", json!("minConfidence += 0.1")),
        ("memory_rules[0]", json!("minConfidence += 0.1")),
        ("policy.memory_rules[0]", json!("min_confidence = 0.8")),
        ("memory.rules", json!("[0].condition.min_confidence = 0.8")),
    ] {
        assert_eq!(changed(target, change), expected, "{target}");
    }
    assert_eq!(
        changed("attention.turns", json!("*= 2")),
        ["attention.turns: 4 -> 8"]
    );
    assert_eq!(
        changed(
            "tool_selection_rules",
            json!([{ "skill": "x", "then": "ask" }])
        )
        .len(),
        2
    );
}

#[test]
fn a_rule_that_an_origin_names_is_changed_for_that_origin_alone() {
    // The target and the change of the source document, word for word.
    let law = edit("memory_rules[tool_results]", json!("minConfidence += 0.1"));
    let law = law.apply(&Law::default()).expect("it may");
    let rules = law.memory.rules.iter();
    let rules: Vec<_> = rules
        .map(|it| {
            (
                it.condition.min_confidence,
                it.condition.sources_allowed.clone(),
            )
        })
        .collect();
    use Origin::{Agent, Own, Tool, User};
    assert_eq!(
        rules,
        [
            (0.8, vec![Tool]),
            (0.7, vec![User, Agent, Own]),
            (0.1, vec![User, Tool, Agent, Own]),
        ]
    );
    let update = changed("update_rules[tool_results]", json!("confidence -= 0.1"));
    assert_eq!(update, ["update.1.confidence: 0.5 -> 0.4"]);
}

#[test]
fn rules_are_added_and_removed() {
    let rule = r#"{"condition": {"sourcesAllowed": ["user"]}, "action": "PROMOTE_TO_LONG_TERM"}"#;
    let added = edit("memory.rules", json!(format!("+= {rule}")));
    let law = added.apply(&Law::default()).expect("it may");
    assert_eq!(law.memory.rules.len(), 3);
    assert_eq!(law.memory.rules[2].action, MemoryAction::PromoteToLongTerm);
    let before = edit("memory.rules[0]", json!(format!("+= {rule}")));
    let law = before.apply(&Law::default()).expect("it may");
    assert_eq!(law.memory.rules[0].action, MemoryAction::PromoteToLongTerm);
    let removed = edit("memory.rules[0]", Value::Null)
        .apply(&law)
        .expect("it may");
    assert_eq!(removed, Law::default());
    assert_eq!(
        changed("goal_priority[0].words", json!("-= urgent")),
        [
            r#"goal_priority.0.words.0: "urgent" -> "immediately""#,
            r#"goal_priority.0.words.1: "immediately" ->"#
        ]
    );
    let timer = json!({ "name": "morning", "every": 60, "request": "look" });
    let law = edit("timers", json!([timer]))
        .apply(&Law::default())
        .expect("it may");
    let law = edit("timers[morning].request", json!("tz = 3"))
        .apply(&law)
        .expect("it may");
    assert_eq!(
        law.timers[0].request, "tz = 3",
        "in place of a text, a text is a value"
    );
}

#[test]
fn a_change_that_does_not_fit_is_refused_with_the_place() {
    let refused = |target: &str, change: Value| {
        let refused = edit(target, change).apply(&Law::default());
        refused.expect_err("it does not fit").to_string()
    };
    for (target, change, expected) in [
        (
            "memroy.rules",
            json!([]),
            "the law has no memroy: there are agent_choice, attention",
        ),
        (
            "memory.rules[7]",
            json!(1),
            "the law has no memory.rules.7: there are 2 rules",
        ),
        (
            "timers[noon]",
            json!(1),
            "the law has no timers.noon: no rule has that name",
        ),
        ("attention.turms", json!(1), "unknown field `turms`"),
        (
            "attention.turns",
            json!(0),
            "attention.turns is 0: it must be from 1 to 64",
        ),
        (
            "attention.turns",
            json!("many"),
            "invalid type: string \"many\"",
        ),
        (
            "attention.turns",
            json!(4),
            "attention.turns has this value already",
        ),
        ("attention.turns.x", json!(4), "it is a single value"),
        ("", json!(4), "the law has no \"\""),
        (
            "frozen.axioms",
            json!("+= I may."),
            "frozen.axioms is frozen",
        ),
    ] {
        let said = refused(target, change);
        assert!(said.contains(expected), "{target}: {said}");
    }
    let long = edit(&"x".repeat(3_000), json!(1)).apply(&Law::default());
    assert_eq!(long, Err(Refused::Long(2_000)));
}

#[test]
fn the_forms_of_the_source_document_are_read() {
    let rules = r#"
        "update_rules": [{ "on": "tool", "then": "consider", "confidence": 0.7 }],
        "memory_rules": [{
            "condition": { "minConfidence": 0.7, "minRelevance": 0.2, "sourcesAllowed": ["user", "tool", "agent"] },
            "action": "PROMOTE_TO_LONG_TERM"
        }],
        "tool_selection_rules": [{ "skill": "terminal", "then": "ask" }]"#;
    let plain = Law::parse(&format!("{{{rules}}}")).expect("it is a law");
    assert_eq!(plain.memory.rules.len(), 1);
    assert_eq!(
        plain.memory.rules[0].action,
        MemoryAction::PromoteToLongTerm
    );
    assert_eq!((plain.update.len(), plain.skill_selection.len()), (1, 1));
    let wrapped = Law::parse(&format!("{{\"policy\": {{{rules}}}}}"));
    assert_eq!(wrapped, Ok(plain.clone()));
    let toml = Law::parse(
        "[[policy.memory_rules]]\naction = \"DISCARD\"\ncondition = {}\n[policy.memory.layers]\npromote_uses = 5\n",
    );
    let toml = toml.expect("it is a law");
    assert_eq!(toml.memory.rules[0].action, MemoryAction::Discard);
    assert_eq!(toml.memory.layers.promote_uses, 5);
    let twice = Law::parse(
        "[[memory_rules]]\naction = \"DISCARD\"\ncondition = {}\n[memory]\nrules = []\n",
    );
    assert!(twice.is_err_and(|it| it.to_string().contains("twice")));
    let prose = Law::parse(r#"{"policy": "be careful with tools"}"#);
    assert!(prose.is_err_and(|it| it.to_string().contains("not a table of rules")));
}
