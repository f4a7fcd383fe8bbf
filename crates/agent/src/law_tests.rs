//! For each kind of rule: changing it, and nothing else, changes what the agent does.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::approval::Decision;
use crate::event::{CallFacts, Effect, EffectId, EventKind, MemoryResult, Outgoing};
use crate::message::{Letter, claim};
use crate::step::tests::{Stepper, answers, calls, heard, wanted};

/// The same story under the default law and under one in which one kind of rule is another.
fn compare<T: PartialEq + std::fmt::Debug>(
    change: impl FnOnce(&mut Law),
    story: impl Fn(&mut Stepper) -> T,
) -> (T, T) {
    let mut other = Law::default();
    change(&mut other);
    meta::check(&other).expect("it may be a law");
    let (by_default, changed) = (
        story(&mut Stepper::under(Law::default())),
        story(&mut Stepper::under(other)),
    );
    assert_ne!(by_default, changed, "the rule changes nothing");
    (by_default, changed)
}

/// A request that is thought about once and leads to these calls.
fn thought(stepper: &mut Stepper, text: &str, planned: &[(&str, Value)]) -> Vec<Outgoing> {
    let out = stepper.hear("one", text);
    let out = stepper.recall(&out);
    stepper.think(&out, "said", planned)
}

/// How each thing of a request would be remembered.
fn remembered(out: &[Outgoing]) -> Vec<(String, bool)> {
    let intents = out.iter().filter_map(|out| match out {
        Outgoing::Do(intent) => match &intent.effect {
            Effect::Remember { candidates } => Some(candidates),
            _ => None,
        },
        _ => None,
    });
    intents
        .flatten()
        .map(|it| (it.text.clone(), it.believe))
        .collect()
}

#[test]
fn update_rules_say_what_is_made_of_what_is_perceived() {
    let ignore = |law: &mut Law| law.update[0].then = Update::Ignore;
    let (before, after) = compare(ignore, |stepper| {
        remembered(&thought(stepper, "it rains", &[]))
    });
    assert_eq!(before, [("it rains".to_owned(), false)]);
    assert!(after.is_empty());
}

#[test]
fn belief_conflict_rules_say_whether_doubt_is_told() {
    let silent = |law: &mut Law| law.belief_conflict.tell = false;
    let (before, after) = compare(silent, |stepper| {
        let out = thought(stepper, "it rains", &[]);
        let effect = wanted(&out, |_| true)[0];
        let against = Some("It is dry.".to_owned());
        let outcomes = vec![MemoryResult {
            record: "1".to_owned(),
            outcome: crate::event::MemoryOutcome::Doubted,
            problem: None,
            against,
            against_record: None,
        }];
        answers(&stepper.perceive(EventKind::Remembered { effect, outcomes }))
    });
    assert!(before[0].contains("It is dry."));
    assert_eq!(after, ["said"]);
}

#[test]
fn belief_conflict_rules_reach_the_layers_of_memory() {
    let mut law = Law::default();
    law.belief_conflict.newer_prevails = 0.0;
    assert_eq!(law.layers().newer_prevails.to_bits(), 0.0_f64.to_bits());
    assert_ne!(law.layers(), Law::default().layers());
}

#[test]
fn memory_rules_say_what_becomes_of_a_candidate() {
    let believe = |law: &mut Law| {
        law.memory.rules[0].condition.sources_allowed = vec![Origin::User];
        law.memory.rules[0].condition.min_confidence = 0.5;
    };
    let (before, after) = compare(believe, |stepper| {
        remembered(&thought(stepper, "it rains", &[]))
    });
    assert_eq!((before[0].1, after[0].1), (false, true));
    let discard = |law: &mut Law| law.memory.rules[1].action = MemoryAction::Discard;
    let (_, after) = compare(discard, |stepper| {
        remembered(&thought(stepper, "it rains", &[]))
    });
    assert!(after.is_empty());
    let relevant = |law: &mut Law| law.memory.rules[1].condition.min_relevance = 0.5;
    let (_, after) = compare(relevant, |stepper| {
        remembered(&thought(stepper, "it rains", &[]))
    });
    assert!(after.is_empty(), "it has nothing to do with a goal");
}

#[test]
fn goal_priority_rules_say_what_comes_first() {
    let rain = |law: &mut Law| {
        let rule = PriorityRule {
            from: Vec::new(),
            words: vec!["rain".to_owned()],
            priority: 99,
        };
        law.goal_priority.insert(0, rule);
    };
    let (before, after) = compare(rain, |stepper| {
        stepper.perceive(EventKind::Paused);
        stepper.hear("one", "look");
        stepper.hear("two", "rain");
        let queue = stepper.state.context().queue();
        queue
            .iter()
            .map(|(id, _)| (*id).to_owned())
            .collect::<Vec<_>>()
    });
    assert_eq!(
        (before, after),
        (
            vec!["one".to_owned(), "two".to_owned()],
            vec!["two".to_owned(), "one".to_owned()]
        )
    );
}

#[test]
fn goal_conflict_rules_say_what_is_done_against_a_goal() {
    let rule = |then| ConflictRule {
        goal: vec!["notes".to_owned()],
        request: vec!["burn".to_owned()],
        then,
    };
    let story = |stepper: &mut Stepper| {
        let out = stepper.hear("one", "burn them");
        (
            answers(&out),
            wanted(&out, |it| matches!(it, Effect::Clarify { .. })).len(),
        )
    };
    let refuse = |law: &mut Law| law.goal_conflict = vec![rule(OnConflict::Refuse)];
    let (_, (said, _)) = compare(refuse, story);
    assert!(said[0].contains("keep the notes of the team"));
    let ask = |law: &mut Law| law.goal_conflict = vec![rule(OnConflict::Ask)];
    let (_, (said, asked)) = compare(ask, story);
    assert_eq!((said.len(), asked), (0, 1));
}

#[test]
fn skill_selection_rules_say_which_skills_are_used() {
    let rule = |then| SkillRule {
        skill: "look".to_owned(),
        words: Vec::new(),
        then,
    };
    let story = |stepper: &mut Stepper| calls(&thought(stepper, "look", &[("look", json!({}))]));
    let forbid = |law: &mut Law| law.skill_selection = vec![rule(Selection::Forbid)];
    let (before, after) = compare(forbid, story);
    assert_eq!((before, after), (vec!["look".to_owned()], vec![]));
    let ask = |law: &mut Law| law.skill_selection = vec![rule(Selection::Ask)];
    compare(ask, |stepper| {
        let wants = EventKind::Wanted {
            turn: "one".into(),
            place: String::new(),
            conversation: "talk".to_owned(),
            skill: "look".to_owned(),
            input: json!({}),
            marked: false,
            by: "ada".to_owned(),
            shown: String::new(),
            facts: Default::default(),
        };
        stepper.perceive(wants);
        stepper.state.context().pending().len()
    });
}

fn claimed(stepper: &mut Stepper, sure: f64) -> Vec<Outgoing> {
    let letter: Letter = claim("ranger", "1", "it rains", sure, 0);
    let EventKind::Heard(mut request) = heard("one", Origin::Agent, "it rains") else {
        unreachable!("a request is heard");
    };
    request.from = "ranger".to_owned();
    request.letter = Some(letter);
    stepper.perceive(EventKind::Heard(request))
}

#[test]
fn agent_choice_rules_say_which_agents_are_believed_and_asked() {
    let trust = |law: &mut Law| {
        let words = vec!["weather".to_owned()];
        law.agent_choice = vec![AgentRule {
            agent: "ranger".to_owned(),
            words,
            trust: 1.0,
            amends: false,
        }];
    };
    let (before, after) = compare(trust, |stepper| remembered(&claimed(stepper, 0.9)));
    assert_eq!(
        (before[0].1, after[0].1),
        (false, true),
        "who is trusted is believed"
    );
    let mut law = Law::default();
    assert_eq!(choose(&law, "how is the weather?"), None);
    trust(&mut law);
    assert_eq!(
        choose(&law, "how is the weather?").as_deref(),
        Some("ranger")
    );
}

/// The agent proposes a call that the caller did not speak of, of a skill that it may use without an approval.
fn propose(stepper: &mut Stepper) -> EffectId {
    let out = thought(stepper, "go", &[("move", json!({ "to": "the moon" }))]);
    let effect = wanted(&out, |it| matches!(it, Effect::Call { .. }))[0];
    stepper.perceive(EventKind::Wanted {
        turn: "one".into(),
        place: format!("call-{effect}/move#0"),
        conversation: "talk".to_owned(),
        skill: "move".to_owned(),
        input: json!({ "to": "the moon" }),
        marked: false,
        by: "ada".to_owned(),
        shown: String::new(),
        facts: CallFacts {
            changes: true,
            unasked: true,
            ..CallFacts::default()
        },
    });
    effect
}

#[test]
fn clarification_thresholds_say_when_it_asks() {
    let never = |law: &mut Law| law.clarification.min_grounded = 0.0;
    let (before, after) = compare(never, |stepper| {
        propose(stepper);
        stepper.state.context().pending().len()
    });
    assert_eq!((before, after), (1, 0));
    let strict = |law: &mut Law| law.clarification.min_claim = 0.6;
    let (_, after) = compare(strict, |stepper| answers(&claimed(stepper, 0.9)));
    assert!(after[0].contains("what is it based on?"));
}

#[test]
fn what_is_not_meant_is_not_done() {
    let mut stepper = Stepper::under(Law::default());
    let effect = propose(&mut stepper);
    let approval = stepper.state.context().pending()[0].id;
    let why = "no, to the lake".to_owned();
    stepper.perceive(EventKind::Decided {
        approval,
        decision: Decision::Reject(why.clone()),
        by: "ada".to_owned(),
        message: String::new(),
        permission: String::new(),
    });
    let out = stepper.perceive(EventKind::Failed {
        effect,
        code: skill::NOT_APPROVED.to_owned(),
        message: why,
    });
    assert!(calls(&out).is_empty());
    assert_eq!(
        wanted(&out, |it| matches!(it, Effect::Think)).len(),
        1,
        "it thinks again"
    );
}

#[test]
fn decomposition_limits_say_how_far_it_goes() {
    let none = || json!({});
    let few = |law: &mut Law| law.decomposition.max_calls = 1;
    let planned = [("look", none()), ("look", none())];
    let (before, after) = compare(few, |stepper| {
        calls(&thought(stepper, "look", &planned)).len()
    });
    assert_eq!((before, after), (2, 1));
    let serial = |law: &mut Law| law.decomposition.max_parallel = 1;
    let (before, after) = compare(serial, |stepper| {
        calls(&thought(stepper, "look", &planned)).len()
    });
    assert_eq!((before, after), (2, 1));
    let short = |law: &mut Law| law.decomposition.max_rounds = 1;
    let (_, after) = compare(short, |stepper| {
        let out = thought(stepper, "look", &[("look", none())]);
        let effect = wanted(&out, |_| true)[0];
        answers(&stepper.perceive(EventKind::Done {
            effect,
            output: json!("seen"),
        }))
    });
    assert_eq!(
        after,
        ["I stopped after 1 rounds without coming to an end."]
    );
}

#[test]
fn attention_says_how_much_is_attended_to() {
    let one = |law: &mut Law| law.attention.turns = 1;
    let (before, after) = compare(one, |stepper| {
        stepper.hear("one", "look");
        stepper.hear("two", "look");
        stepper.state.context().queue().len()
    });
    assert_eq!((before, after), (0, 1));
    let full = |law: &mut Law| law.attention.queue = 0;
    compare(full, |stepper| {
        stepper.perceive(EventKind::Paused);
        stepper.hear("one", "look");
        answers(&stepper.hear("two", "look")).len()
    });
    for queue in 0..4 {
        let mut law = Law::default();
        law.attention.turns = 1;
        law.attention.queue = queue;
        let mut stepper = Stepper::under(law);
        let refused = (0..8).filter(|it| {
            let out = stepper.hear(&format!("turn-{it}"), "look");
            !answers(&out).is_empty()
        });
        let refused: Vec<u32> = refused.collect();
        // One is worked on, as many as the law says wait, and the rest are refused.
        assert_eq!(refused, (1 + queue..8).collect::<Vec<_>>(), "{queue}");
        assert_eq!(stepper.state.context().queue().len(), queue as usize);
    }
    let oblivious = |law: &mut Law| law.attention.recall = 0;
    compare(oblivious, |stepper| {
        wanted(&stepper.hear("one", "look"), |it| {
            matches!(it, Effect::Think)
        })
        .len()
    });
    let poor = |law: &mut Law| law.attention.tokens = 5;
    let (_, after) = compare(poor, |stepper| {
        answers(&thought(stepper, "look", &[("look", json!({}))]))
    });
    assert!(after[0].contains("5 tokens"));
    let hasty = |law: &mut Law| law.attention.approval_seconds = 1;
    compare(hasty, |stepper| {
        stepper.perceive(EventKind::Wanted {
            turn: "one".into(),
            place: String::new(),
            conversation: "talk".to_owned(),
            skill: "write".to_owned(),
            input: json!({}),
            marked: true,
            by: "ada".to_owned(),
            shown: String::new(),
            facts: Default::default(),
        });
        stepper.after(2_000, EventKind::Ticked);
        stepper.state.context().pending().len()
    });
}

#[test]
fn attention_says_how_much_of_a_conversation_is_seen() {
    let short = |law: &mut Law| law.attention.conversation = 0;
    compare(short, |stepper| {
        let out = thought(stepper, "the first", &[]);
        let effect = wanted(&out, |_| true)[0];
        stepper.perceive(EventKind::Remembered {
            effect,
            outcomes: Vec::new(),
        });
        stepper.hear("two", "the second");
        let brief = crate::prompt::brief(&stepper.state, "two").expect("it is open");
        crate::prompt::request(&brief, &skill::Registry::new())
            .messages
            .len()
    });
}

#[test]
fn timers_and_idle_pursuits_say_what_it_does_of_itself() {
    let begun = |out: &[Outgoing]| wanted(out, |it| matches!(it, Effect::Begin { .. })).len();
    let timer = |law: &mut Law| {
        let (name, request) = ("hourly".to_owned(), "look".to_owned());
        law.timers = vec![Timer {
            name,
            every: 3600,
            request,
        }];
    };
    let (before, after) = compare(timer, |stepper| {
        stepper.perceive(EventKind::Ticked);
        let early = begun(&stepper.after(3_000_000, EventKind::Ticked));
        (early, begun(&stepper.after(3_600_000, EventKind::Ticked)))
    });
    assert_eq!((before, after), ((0, 0), (0, 1)));
    timers_stay_on_their_grid();
    let idle = |law: &mut Law| {
        law.idle = Some(Idle {
            after: 60,
            request: "look".to_owned(),
        })
    };
    let (before, after) = compare(idle, |stepper| {
        let first = begun(&stepper.after(61_000, EventKind::Ticked));
        (first, begun(&stepper.after(61_000, EventKind::Ticked)))
    });
    assert_eq!(
        (before, after),
        ((0, 0), (1, 0)),
        "once, until somebody wants something"
    );
}

/// A timer of 6 s ran each 10 s, because the clock ticked each 5 s and a late tick made the next one late.
fn timers_stay_on_their_grid() {
    let often = Timer {
        name: "often".to_owned(),
        every: 6,
        request: "look".to_owned(),
    };
    let mut stepper = Stepper::under(Law {
        timers: vec![often],
        ..Law::default()
    });
    assert_eq!(
        stepper.state.due(),
        Some(i64::MIN),
        "the first tick starts it"
    );
    stepper.perceive(EventKind::Ticked);
    let start = stepper.state.due().expect("it is due") - 6_000;
    for time in 1..=3 {
        let due = stepper.state.due().expect("it is due");
        assert_eq!(due, start + time * 6_000);
        // The tick is 700 ms late.
        let out = stepper.after(if time == 1 { 6_700 } else { 6_000 }, EventKind::Ticked);
        let effect = wanted(&out, |it| matches!(it, Effect::Begin { .. }))[0];
        assert_eq!(
            stepper.state.due(),
            None,
            "not before the last time has begun"
        );
        stepper.perceive(EventKind::Begun { effect });
    }
}

#[test]
fn procedures_say_how_something_is_done() {
    let known = |law: &mut Law| {
        let input = BTreeMap::from([("to".to_owned(), json!("{place}"))]);
        let told = BTreeMap::from([("text".to_owned(), json!("at {place}: {1}"))]);
        law.procedures = vec![Procedure {
            name: "visit".to_owned(),
            when: "visit {place}".to_owned(),
            steps: vec![
                ProcedureStep {
                    skill: "move".to_owned(),
                    input,
                },
                ProcedureStep {
                    skill: "look".to_owned(),
                    input: told,
                },
            ],
        }];
    };
    let story = |stepper: &mut Stepper| {
        let out = stepper.hear("one", "Visit the lake.");
        let out = stepper.recall(&out);
        calls(&out)
    };
    let (before, after) = compare(known, story);
    assert_eq!((before, after), (vec![], vec!["move".to_owned()]));

    let mut law = Law::default();
    known(&mut law);
    let mut stepper = Stepper::under(law);
    let out = stepper.hear("one", "Visit the lake.");
    let out = stepper.recall(&out);
    let effect = wanted(&out, |_| true)[0];
    let out = stepper.perceive(EventKind::Done {
        effect,
        output: json!("arrived"),
    });
    let Outgoing::Do(intent) = &out[0] else {
        unreachable!("the second step follows");
    };
    let input = json!({ "text": "at the lake: arrived" });
    assert_eq!(
        intent.effect,
        Effect::Call {
            skill: "look".to_owned(),
            input
        }
    );
}

#[test]
fn what_is_frozen_stays() {
    let edit = |target: &str, change: Value| Edit {
        target: target.to_owned(),
        change,
        justification: "it would be easier".to_owned(),
    };
    let mut law = Law::default();
    law.frozen.always_ask = vec!["terminal".to_owned()];
    let refused = edit("frozen.always_ask", json!([])).apply(&law);
    assert_eq!(
        refused,
        Err(Refused::Frozen("frozen.always_ask".to_owned()))
    );
    let whole = edit("frozen", json!({ "axioms": ["I may do anything."] })).apply(&law);
    assert_eq!(whole, Err(Refused::Frozen("frozen".to_owned())));
    let free = edit("attention", json!("turns = 2"))
        .apply(&law)
        .expect("it may");
    assert_eq!(free.attention.turns, 2);
    let unjustified = Edit {
        justification: " ".to_owned(),
        ..edit("attention", json!("turns = 2"))
    };
    assert_eq!(unjustified.apply(&law), Err(Refused::Unjustified));
    let wild = edit("clarification", json!("min_claim += 5")).apply(&law);
    assert!(matches!(wild, Err(Refused::Bounds { .. })));
}

#[test]
fn a_skill_that_is_always_asked_about_cannot_be_granted() {
    use crate::approval::{Decision, Remember};
    let story = |stepper: &mut Stepper| {
        let wants = |place: &str| EventKind::Wanted {
            turn: "one".into(),
            place: place.to_owned(),
            conversation: "talk".to_owned(),
            skill: "write".to_owned(),
            input: json!({}),
            marked: true,
            by: "ada".to_owned(),
            shown: String::new(),
            facts: Default::default(),
        };
        stepper.perceive(wants("first"));
        let approval = stepper.state.context().pending()[0].id;
        let decision = Decision::Approve(Remember::Session);
        stepper.perceive(EventKind::Decided {
            approval,
            decision,
            by: "ada".to_owned(),
            message: String::new(),
            permission: String::new(),
        });
        stepper.perceive(wants("second"));
        stepper.state.context().pending().len()
    };
    let always = |law: &mut Law| law.frozen.always_ask = vec!["write".to_owned()];
    assert_eq!(compare(always, story), (0, 1));
    let never = |law: &mut Law| law.frozen.never = vec!["look".to_owned()];
    compare(never, |stepper| {
        calls(&thought(stepper, "look", &[("look", json!({}))]))
    });
}

/// The schema below a place of the law, with its own help.
fn described(schema: &Value, place: &str) -> (Value, String) {
    let mut at = schema.clone();
    let mut help = String::new();
    for name in place.split('.') {
        at = meta::resolved(schema, &at)["properties"][name].clone();
        help = at["description"].as_str().expect(place).replace('\n', " ");
    }
    let at = meta::resolved(schema, &at);
    let at = at
        .get("items")
        .filter(|it| it.get("$ref").is_some())
        .unwrap_or(at);
    (meta::resolved(schema, at).clone(), help)
}

fn fields(kind: &Value) -> Vec<(&str, &Value)> {
    let names = kind["propertyOrdering"].as_array().into_iter().flatten();
    names
        .map(|name| {
            let name = name.as_str().unwrap();
            (name, &kind["properties"][name])
        })
        .collect()
}

/// The fields of a kind with their help, bounds and choices; those of a value inside a field follow it, with a dot.
fn rows(schema: &Value, kind: &Value) -> Vec<(String, Value, String)> {
    let mut rows = Vec::new();
    for (name, field) in fields(kind) {
        let inside = meta::resolved(schema, field);
        let inside = inside.get("items").unwrap_or(inside);
        let inside = meta::resolved(schema, inside);
        rows.push((name.to_owned(), field.clone(), about(field, inside)));
        let inner = rows_of(schema, inside, name);
        rows.extend(inner);
    }
    rows
}

fn rows_of(schema: &Value, kind: &Value, outer: &str) -> Vec<(String, Value, String)> {
    let inner = rows(schema, kind).into_iter();
    inner
        .map(|(name, field, about)| (format!("{outer}.{name}"), field, about))
        .collect()
}

/// The help of a field, its bounds, and the words it may have.
fn about(field: &Value, kind: &Value) -> String {
    let help = field["description"].as_str().unwrap_or_default();
    let mut about = help.replace('\n', " ");
    match (&field["minimum"], &field["maximum"]) {
        (least, Value::Number(most)) => about += &format!(" From {least} to {most}."),
        (Value::Number(least), _) if least.as_u64() > Some(0) => {
            about += &format!(" At least {least}.");
        }
        _ => {}
    }
    let choices = kind["oneOf"].as_array().into_iter().flatten();
    let choices: Vec<&str> = choices.filter_map(|it| it["const"].as_str()).collect();
    if !choices.is_empty() {
        about += &format!(" One of {}.", choices.join(", "));
    }
    about
}

/// The places of all kinds, in the order of the list.
fn places(schema: &Value) -> Vec<String> {
    let kinds = fields(schema).into_iter().flat_map(|(kind, _)| match kind {
        "memory" => vec!["memory.rules".to_owned(), "memory.layers".to_owned()],
        kind => vec![kind.to_owned()],
    });
    kinds.collect()
}

/// A value as TOML writes it in a line. Fields that have their default are left out.
fn toml(schema: &Value, kind: &Value, value: &Value) -> String {
    let kind = meta::resolved(schema, kind);
    match value {
        Value::Object(members) => {
            let listed = fields(kind).into_iter().map(|(name, _)| name);
            let other = members.keys().map(String::as_str);
            let names = match listed.len() {
                0 => other.collect::<Vec<_>>(),
                _ => listed.collect(),
            };
            let written = names.into_iter().filter_map(|name| {
                let (field, value) = (&kind["properties"][name], members.get(name)?);
                let left_out = field.get("default") == Some(value);
                (!left_out).then(|| format!("{name} = {}", toml(schema, field, value)))
            });
            format!("{{ {} }}", written.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            let items = items.iter().map(|it| toml(schema, &kind["items"], it));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        value => value.to_string(),
    }
}

/// `default.toml`, made of the list.
fn default_file() -> String {
    let schema = Law::schema();
    let default = serde_json::to_value(Law::default()).unwrap();
    let mut file = "# The law of an agent that says nothing else: every kind of rule with its default, or with an example\n\
                    # behind a hash where the default is none. Written by `UPDATE_EXPECT=1 cargo test -p agent law`.\n"
        .to_owned();
    for place in places(&schema) {
        let (kind, help) = described(&schema, &place);
        file += &format!("\n# {help}\n");
        for (name, _, about) in rows(&schema, &kind) {
            file += &format!("# {name}: {about}\n");
        }
        let value = &default
            .pointer(&format!("/{}", place.replace('.', "/")))
            .unwrap();
        let (rules, header, hash) = match value {
            Value::Array(rules) if rules.is_empty() => (
                vec![kind["examples"][0].clone()],
                format!("[[{place}]]"),
                "# ",
            ),
            Value::Array(rules) => (rules.clone(), format!("[[{place}]]"), ""),
            Value::Null => (
                vec![kind["examples"][0].clone()],
                format!("[{place}]"),
                "# ",
            ),
            table => (vec![(*table).clone()], format!("[{place}]"), ""),
        };
        let is_list = header.starts_with("[[");
        for (at, rule) in rules.iter().enumerate() {
            if at > 0 {
                file.push('\n');
            }
            file += &format!("{hash}{header}\n");
            let members = rule.as_object().unwrap();
            let mut names: Vec<&str> = fields(&kind).into_iter().map(|(name, _)| name).collect();
            if names.is_empty() {
                // `belief_conflict` says these two.
                let said = ["contradiction", "newer_prevails"];
                names = members.keys().map(String::as_str).collect();
                names.retain(|name| !said.contains(name));
            }
            for name in names {
                let field = &kind["properties"][name];
                let Some(value) = members.get(name) else {
                    continue;
                };
                if is_list && field.get("default") == Some(value) {
                    continue;
                }
                file += &format!("{hash}{name} = {}\n", toml(&schema, field, value));
            }
        }
    }
    file
}

#[test]
fn the_default_file_says_what_the_default_is() {
    expect_test::expect_file!["law/default.toml"].assert_eq(&default_file());
    let file = Law::parse(Law::default_file()).expect("it is a law");
    assert_eq!(Law::default().diff(&file), Vec::<String>::new());
    assert_eq!(file.hash(), Law::default().hash());
}

#[test]
fn the_examples_of_the_default_file_are_rules() {
    let uncommented = Law::default_file().lines().map(|line| {
        let rule = line.strip_prefix("# ").filter(|rule| {
            rule.starts_with('[')
                || rule
                    .split_once(" = ")
                    .is_some_and(|(name, _)| !name.contains(' '))
        });
        rule.unwrap_or(line)
    });
    let law = Law::parse(&uncommented.collect::<Vec<_>>().join("\n")).expect("it is a law");
    assert_eq!((law.timers.len(), law.procedures.len()), (1, 1));
    assert!(law.idle.is_some());
}

#[test]
fn the_documented_table_is_the_list() {
    let schema = Law::schema();
    let default = serde_json::to_value(Law::default()).unwrap();
    let mut table = "| rule | default | says |\n|---|---|---|\n".to_owned();
    for place in places(&schema) {
        let (kind, help) = described(&schema, &place);
        table += &format!("| **`{place}`** | | {help} |\n");
        for (name, field, about) in rows(&schema, &kind) {
            let at = default.pointer(&format!("/{}/{name}", place.replace('.', "/")));
            let value = at.or(field.get("default"));
            let value = value.map_or(String::new(), |it| {
                format!("`{}`", toml(&schema, &field, it))
            });
            table += &format!("| `{name}` | {value} | {about} |\n");
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agent.md");
    let document = std::fs::read_to_string(path).unwrap();
    assert!(
        document.contains(&table),
        "docs/agent.md needs this table:\n{table}"
    );
}

#[test]
fn values_out_of_bounds_are_refused_with_their_place_and_bounds() {
    let refused = |text: &str| Law::parse(text).unwrap_err().to_string();
    for (text, expected) in [
        (
            "[attention]\nturns = 0",
            "attention.turns is 0: it must be from 1 to 64",
        ),
        (
            "[clarification]\nmin_claim = 1.5",
            "clarification.min_claim is 1.5: it must be from 0 to 1",
        ),
        (
            "[clarification]\nmin_claim = nan",
            "clarification.min_claim is not a number: it must be a number",
        ),
        (
            "[[goal_priority]]\npriority = 101",
            "goal_priority.0.priority is 101: it must be from 0 to 100",
        ),
        (
            "[[timers]]\nname = \"x\"\nevery = 0\nrequest = \"y\"",
            "timers.0.every is 0: it must be at least 1",
        ),
        (
            "[[memory.rules]]\naction = \"discard\"\ncondition = { min_relevance = -1.0 }",
            "memory.rules.0.condition.min_relevance is -1.0: it must be from 0 to 1",
        ),
    ] {
        assert_eq!(refused(text), expected);
    }
    let axioms = |axioms: Vec<String>| {
        refused(&serde_json::json!({ "frozen": { "axioms": axioms } }).to_string())
    };
    assert_eq!(
        axioms(vec!["x".repeat(1_001)]),
        "frozen.axioms.0 is 1001 bytes long: it may have 1000 bytes"
    );
    assert_eq!(
        axioms(vec!["x".to_owned(); 65]),
        "frozen.axioms is 65 axioms long: it may have 64 axioms"
    );
    assert_eq!(
        axioms(vec!["x".repeat(900); 9]),
        "frozen.axioms is 8100 bytes long: it may have 8000 bytes"
    );
    let many = "[[timers]]\nname = \"x\"\nevery = 1\nrequest = \"y\"\n".repeat(201);
    assert_eq!(
        refused(&many),
        "timers is 201 rules long: it may have 200 rules"
    );
}

#[test]
fn the_forms_of_the_source_document_are_accepted() {
    let law = Law::parse(
        r#"{
            "update_rules": [{ "on": "tool", "then": "consider", "confidence": 0.7 }],
            "memory": { "memory_rules": [{
                "condition": { "minConfidence": 0.7, "minRelevance": 0.2, "sourcesAllowed": ["user", "tool"] },
                "action": "PROMOTE_TO_LONG_TERM"
            }] },
            "tool_selection_rules": [{ "skill": "terminal", "then": "ask" }]
        }"#,
    );
    let law = law.expect("it is a law");
    assert_eq!(law.memory.rules[0].action, MemoryAction::PromoteToLongTerm);
    let unknown = Law::parse("[memroy]\n");
    assert!(unknown.is_err_and(|refused| refused.to_string().contains("memroy")));
}

#[test]
fn a_law_can_be_read_and_compared() {
    let mut law = Law::default();
    law.frozen.axioms = vec!["Never claim to be a person.".to_owned()];
    law.skill_selection = vec![SkillRule {
        skill: "terminal".to_owned(),
        words: Vec::new(),
        then: Selection::Ask,
    }];
    let page = law.show();
    assert!(
        page.contains("Never claim to be a person.") && page.contains("asks before terminal*"),
        "{page}"
    );
    law.attention.turns = 2;
    let diff = Law::default().diff(&law);
    assert!(
        diff.contains(&"attention.turns: 4 -> 2".to_owned()),
        "{diff:?}"
    );
    assert_ne!(law.hash(), Law::default().hash());
}
