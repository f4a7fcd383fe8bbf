//! Rules as people write them: what is accepted, what is refused and how, and how a rule is tried.

use expect_test::{Expect, expect};
use watch::{Author, PACKS, Response, Rules, Severity, shipped_rules, test_rules};

const EXAMPLES: &str = "monas: { examples: { match: [{ kind: called, skill: a }], not_match: [{ kind: done, skill: a }] } }";

fn check(text: &str, expected: &Expect) {
    let said = match Rules::parse("mine", Author::Operator, text) {
        Ok(rules) => format!("{} rules", rules.len()),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&said);
}

#[test]
fn the_shipped_rules_are_loaded_with_their_examples() {
    let rules = shipped_rules().unwrap();
    assert!(rules.len() >= 25, "{}", rules.len());
    for (pack, _) in PACKS {
        assert!(rules.iter().any(|it| it.pack == *pack), "{pack}");
    }
    for rule in rules.iter() {
        assert!(
            rule.response <= Response::Ask && !rule.description.is_empty(),
            "{}",
            rule.id
        );
        assert!(
            rule.severity < Severity::High || rule.action.is_some(),
            "{}: name the action",
            rule.id
        );
    }
}

#[test]
fn a_rule_without_examples_or_with_wrong_ones_is_refused() {
    check(
        "title: T\nid: t\ndetection: { sel: { kind: called }, condition: sel }",
        &expect![[r#"rule "t": it has no example under monas.examples.match"#]],
    );
    check(
        "title: T\nid: t\ndetection: { sel: { kind: called }, condition: sel }\nmonas: { examples: { match: [{ kind: done }], not_match: [{ kind: done }] } }",
        &expect![[r#"rule "t": example 1 of "match" does not match"#]],
    );
    check(
        "title: T\nid: t\ndetection: { sel: { kind: called }, condition: sel }\nmonas: { examples: { match: [{ kind: called }], not_match: [{ kind: called }] } }",
        &expect![[r#"rule "t": example 1 of "not_match" matches"#]],
    );
}

#[test]
fn what_would_never_match_is_refused() {
    check(
        &format!(
            "title: T\nid: t\ndetection: {{ sel: {{ skil: a }}, condition: sel }}\n{EXAMPLES}"
        )
        .replace("skil: a }, c", "skil: a }, c"),
        &expect![[
            r#"rule "t": there is no field "skil"; there are: kind, agent, task, conversation, caller, origin, skill, effects, untrusted, input_hash, output_hash, shape, epoch, similar, empty, cycle, stale, code, text, bytes, tokens, tokens_ratio, ms, ms_ratio, budget_share, calls, end, path, file_kind, named, command, destroys, target, frozen, secret, secret_hash, place, injection, task_injection, tainted, private, saw_untrusted, approved, doubted, novel, theme, theme_terms, request"#
        ]],
    );
    check(
        &format!(
            "title: T\nid: t\ndetection: {{ sel: {{ kind: called }}, condition: sel and other }}\n{EXAMPLES}"
        ),
        &expect![[r#"rule "t": there is no selection "other""#]],
    );
    check(
        &format!(
            "title: T\nid: t\ncorrelation: {{ type: event_count, rules: [gone], group-by: [agent], timespan: 1m, condition: {{ gte: 2 }} }}\n{EXAMPLES}"
        ),
        &expect![[r#"rule "t": there is no rule "gone" in this file, so it would never match"#]],
    );
    check(
        &format!(
            "title: T\nid: t\ndetection: {{ sel: {{ 'text|base64': a }}, condition: sel }}\n{EXAMPLES}"
        ),
        &expect![[
            r#"rule "t": text|base64: the modifier "base64" is not supported here: use contains, startswith, endswith, re, cased, all, exists, fieldref, gt, gte, lt or lte"#
        ]],
    );
}

#[test]
fn only_the_operator_may_have_an_agent_paused() {
    let text = "title: T\nid: t\ndetection: { sel: { kind: called }, condition: sel }\nmonas: { response: pause, examples: { match: [{ kind: called }], not_match: [{ kind: done }] } }";
    let refused = Rules::parse("x", Author::Shipped, text).unwrap_err();
    assert_eq!(
        refused.to_string(),
        r#"rule "t": only rules of the operator may pause an agent"#
    );
    let rules = Rules::parse("x", Author::Operator, text).unwrap();
    assert_eq!(rules.iter().next().unwrap().response, Response::Pause);
}

#[test]
fn conditions_modifiers_and_wildcards_are_those_of_sigma() {
    for (detection, matching, other) in [
        (
            "{ a: { skill: 'mail-*' }, condition: a }",
            "mail-send",
            "web-mail-send",
        ),
        (
            "{ a: { 'skill|startswith': MAIL }, condition: a }",
            "mail-send",
            "web-mail",
        ),
        (
            "{ a: { 'skill|cased|startswith': Mail }, condition: a }",
            "Mail-send",
            "mail-send",
        ),
        (
            "{ a: { 'skill|contains|all': [ma, se] }, condition: a }",
            "mail-send",
            "mail-read",
        ),
        (
            "{ a: { 'skill|re': '^m.il-' }, condition: a }",
            "mail-x",
            "x-mail",
        ),
        (
            "{ s_a: { skill: x }, s_b: { 'skill|endswith': send }, condition: 1 of s_* and not (s_a and s_b) }",
            "mail-send",
            "y",
        ),
        (
            "{ a: [{ skill: x }, { skill: mail-send }], condition: all of them }",
            "x",
            "z",
        ),
        (
            "{ a: { skill: null }, b: { kind: called }, condition: b and not a }",
            "x",
            "",
        ),
    ] {
        let example = |skill: &str| match skill {
            "" => "{ kind: called }".to_owned(),
            skill => format!("{{ kind: called, skill: {skill} }}"),
        };
        let text = format!(
            "title: T\nid: t\ndetection: {detection}\nmonas: {{ examples: {{ match: [{}], not_match: [{}] }} }}",
            example(matching),
            example(other)
        );
        check(&text, &expect![["1 rules"]]);
    }
}

#[test]
fn correlations_count_values_add_up_and_keep_an_order() {
    let first = "title: B\nname: first\ndetection: { sel: { kind: done }, condition: sel }\n---\n";
    let second =
        "title: C\nname: second\ndetection: { sel: { kind: called }, condition: sel }\n---\n";
    let rule = |correlation: &str, matching: &str, other: &str| {
        let first = if correlation.contains("first") {
            first
        } else {
            ""
        };
        format!(
            "{first}{second}title: T\nid: t\ncorrelation: {correlation}\nmonas: {{ examples: {{ match: [{matching}], not_match: [{other}] }} }}"
        )
    };
    check(
        &rule(
            "{ type: temporal_ordered, rules: [first, second], group-by: [task], timespan: 1m }",
            "[{ kind: done }, { kind: called }]",
            "[{ kind: called }, { kind: done }]",
        ),
        &expect![["1 rules"]],
    );
    check(
        &rule(
            "{ type: temporal, rules: [first, second], group-by: [task], timespan: 1m }",
            "[{ kind: called }, { kind: done }]",
            "[{ kind: done }, { kind: called, after: 90 }]",
        ),
        &expect![["1 rules"]],
    );
    check(
        &rule(
            "{ type: value_sum, rules: [second], group-by: [task], timespan: 1m, condition: { field: tokens, gt: 10 } }",
            "[{ kind: called, tokens: 6, repeat: 2 }]",
            "[{ kind: called, tokens: 5, repeat: 2 }]",
        ),
        &expect![["1 rules"]],
    );
    check(
        &rule(
            "{ type: value_count, rules: [second], group-by: [task], timespan: 1m, condition: { field: skill, gte: 2 } }",
            "[{ kind: called, skill: a }, { kind: called, skill: b }]",
            "[{ kind: called, skill: a, repeat: 5 }]",
        ),
        &expect![["1 rules"]],
    );
}

#[test]
fn a_rule_is_tried_on_a_file_of_records_and_facts() {
    let rule = "title: Wiki\nid: wiki\nlevel: low\ndetection: { sel: { kind: called, skill: wiki-edit }, condition: sel }\nmonas: { examples: { match: [{ kind: called, skill: wiki-edit }], not_match: [{ kind: done }] } }";
    let lines = "{\"kind\":\"called\",\"skill\":\"wiki-edit\"}\n\n{\"kind\":\"done\"}\n{\"kin\":1}\nnothing\n{\"event\":{\"at\":1,\"event\":\"paused\"},\"changes\":[]}";
    let tested = test_rules(rule, lines).unwrap();
    assert_eq!((tested.events, tested.notices.len()), (3, 1));
    assert_eq!(tested.notices[0].0, 1);
    let unread: Vec<u64> = tested.unread.iter().map(|it| it.0).collect();
    assert_eq!(unread, [4, 5]);
}
