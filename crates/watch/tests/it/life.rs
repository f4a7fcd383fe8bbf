//! What becomes of alerts: few messages, digests, people's judgements, restarts, bounds.

use serde_json::{Value, json};
use watch::{AlertState, Change, Fact, Field, Judgement, Notice, Severity, State, Watcher};

use crate::journals::{self, Writer};

fn interrupts(notices: &[Notice]) -> usize {
    let counts = notices.iter().filter(|it| match it {
        Notice::Alert { interrupts, .. } => *interrupts,
        Notice::Digest { .. } => true,
    });
    counts.count()
}

fn follow(watcher: &mut Watcher, records: &[String]) -> Vec<Notice> {
    let mut notices = Vec::new();
    for (sequence, record) in (1..).zip(records) {
        notices.extend(
            watcher
                .event("agent/scout", sequence, record.as_bytes())
                .unwrap(),
        );
    }
    notices
}

/// An agent that calls the same skill with the same result until its rounds are used up, again and again.
fn stuck(events: usize) -> Vec<String> {
    let mut writer = Writer::new("stuck");
    while writer.records.len() < events {
        writer.ask("find out how the limit is set");
        for _ in 0..8 {
            writer.step(&json!(["do", "file-search", { "query": "limit" }, { "matches": [] }]));
        }
        writer.step(&json!(["say", "I stopped after 8 rounds.", { "end": "failed" }]));
    }
    writer.records
}

#[test]
fn a_stuck_agent_of_ten_thousand_events_gives_three_messages_at_most() {
    let mut watcher = Watcher::shipped().unwrap();
    let records = stuck(10_000);
    let notices = follow(&mut watcher, &records);
    let told = interrupts(&notices);
    assert!((1..=3).contains(&told), "{told}: {notices:?}");
    let alerts = watcher.alerts();
    let alert = alerts.iter().find(|it| it.alert_type == "loop").unwrap();
    assert!(alert.count > 1000 && alert.events.len() <= 16, "{alert:?}");
    assert_eq!(alert.state, AlertState::Repeated);
}

#[test]
fn a_restart_loses_no_alert_and_tells_none_twice() {
    let journal = journals::all()
        .into_iter()
        .find(|it| it.name == "exact-loop-tuning-0")
        .unwrap();
    let whole = follow(&mut Watcher::shipped().unwrap(), &journal.records);
    for cut in 0..journal.records.len() {
        let mut watcher = Watcher::shipped().unwrap();
        let mut notices = follow(&mut watcher, &journal.records[..cut]);
        let written = serde_json::to_string(watcher.state()).unwrap();
        let state: State = serde_json::from_str(&written).unwrap();
        let mut watcher = Watcher::shipped().unwrap().with_state(state);
        assert_eq!(watcher.cursor("agent/scout"), cut as u64);
        // All is delivered again, as after a kill.
        notices.extend(follow(&mut watcher, &journal.records));
        assert_eq!(notices, whole, "after event {cut}");
    }
}

#[test]
fn many_alerts_become_a_digest_and_critical_ones_do_not() {
    let mut watcher = Watcher::shipped().unwrap();
    let mut notices = Vec::new();
    for number in 0..20_u64 {
        let fact = Fact::new("agent/scout", number + 1, 1000 * number as i64)
            .with(Field::Kind, "secret")
            .with(Field::Agent, "scout")
            .with(Field::Task, "t")
            .with(Field::Secret, "github-token")
            .with(Field::SecretHash, number.to_string())
            .with(Field::Place, "output");
        notices.extend(watcher.fact(&fact));
    }
    assert_eq!(interrupts(&notices), 6);
    let later = watcher.pass(3_700_000);
    let digests: Vec<_> = later
        .iter()
        .filter_map(|it| match it {
            Notice::Digest { alerts, .. } => Some(alerts.len()),
            Notice::Alert { .. } => None,
        })
        .collect();
    assert_eq!(digests.len(), 1);
    assert!(digests[0] >= 14, "{digests:?}");
}

#[test]
fn a_quiet_alert_is_resolved_and_opens_anew() {
    let mut watcher = Watcher::shipped().unwrap();
    let broken = |at: i64, sequence: u64| {
        Fact::new("agent/scout", sequence, at)
            .with(Field::Kind, "broken")
            .with(Field::Agent, "scout")
    };
    let first = watcher.fact(&broken(1000, 1));
    assert!(matches!(
        &first[..],
        [Notice::Alert {
            change: Change::Opened,
            ..
        }]
    ));
    let quiet = watcher.pass(1000 + 31 * 60_000);
    assert!(
        matches!(
            &quiet[..],
            [Notice::Alert {
                change: Change::Resolved,
                ..
            }]
        ),
        "{quiet:?}"
    );
    let again = watcher.fact(&broken(40 * 60_000, 2));
    assert!(
        matches!(
            &again[..],
            [Notice::Alert {
                change: Change::Opened,
                ..
            }]
        ),
        "{again:?}"
    );
    assert_eq!(watcher.alerts().len(), 2);
}

#[test]
fn the_word_of_a_person_holds_until_it_is_worse() {
    let mut watcher = Watcher::shipped().unwrap();
    let fact = |sequence: u64, kind: &str, injection: f64| {
        Fact::new("agent/scout", sequence, 1000 * sequence as i64)
            .with(Field::Kind, kind)
            .with(Field::Agent, "scout")
            .with(Field::Skill, "mail-send")
            .with(Field::Effects, "send")
            .with(Field::Untrusted, true)
            .with(Field::Injection, injection)
            .with(Field::TaskInjection, injection)
            .with(Field::Tainted, kind == "called")
    };
    watcher.fact(&fact(1, "done", 0.9));
    let id = watcher.alerts()[0].alert_id.clone();
    let acknowledged = watcher.judge(&id, &Judgement::Acknowledge, "ada").unwrap();
    assert_eq!(
        (acknowledged.state, acknowledged.by.as_str()),
        (AlertState::Acknowledged, "ada")
    );
    assert!(watcher.fact(&fact(2, "done", 0.9)).is_empty());
    // The order was followed: that is another matter.
    let raised = watcher.fact(&fact(3, "called", 0.9));
    assert!(
        matches!(
            &raised[..],
            [Notice::Alert {
                change: Change::Raised,
                ..
            }]
        ),
        "{raised:?}"
    );
    let alert = watcher.alert(&id).unwrap();
    assert_eq!(
        (alert.severity, alert.state, alert.count),
        (Severity::High, AlertState::Repeated, 3)
    );
    assert!(alert.action_required());
}

#[test]
fn a_rule_with_mostly_false_alarms_is_proposed_for_silence() {
    let mut watcher = Watcher::shipped().unwrap();
    for number in 1..=12_u64 {
        let fact = Fact::new("agent/scout", number, 1000 * number as i64)
            .with(Field::Kind, "secret")
            .with(Field::Agent, "scout")
            .with(Field::Skill, "wiki-page")
            .with(Field::Secret, "github-token")
            .with(Field::SecretHash, number.to_string())
            .with(Field::Place, "output");
        watcher.fact(&fact);
        assert_eq!(watcher.silence("secret-output"), None);
        let id = watcher.alerts()[0].alert_id.clone();
        if number <= 9 {
            watcher.judge(&id, &Judgement::FalseAlarm, "ada");
        }
    }
    let id = watcher.alerts()[0].alert_id.clone();
    watcher.judge(&id, &Judgement::Acknowledge, "ada");
    let draft = watcher.silence("secret-output").unwrap();
    assert!(draft.contains("skill: wiki-page"), "{draft}");
    assert_eq!(watcher.counts("secret-output").false_alarms, 9);
}

#[test]
fn an_alert_has_no_credential_and_no_quoted_text() {
    for journal in journals::all() {
        let mut watcher = Watcher::shipped().unwrap();
        follow(&mut watcher, &journal.records);
        for alert in watcher.alerts() {
            let written = serde_json::to_string(alert).unwrap();
            let secrets = watch::Secrets::parse(include_str!("../../packs/secrets.toml")).unwrap();
            assert_eq!(secrets.find(&written), [], "{written}");
            for quoted in [
                "previous instructions",
                "disregard the user",
                "Forget what you were told",
            ] {
                assert!(!written.contains(quoted), "{written}");
            }
            assert!(
                !alert.events.is_empty()
                    && alert.events.iter().all(|it| it.starts_with("agent/scout#")),
                "{written}"
            );
        }
    }
}

#[test]
fn memory_is_bounded_however_many_groups_there_are() {
    let mut watcher = Watcher::shipped().unwrap();
    for number in 0..60_000_u64 {
        let fact = Fact::new("agent/scout", number + 1, number as i64)
            .with(Field::Kind, "failed")
            .with(Field::Agent, "scout")
            .with(Field::Task, number.to_string())
            .with(Field::Skill, "s")
            .with(Field::InputHash, "h")
            .with(Field::Epoch, 0.0)
            .with(Field::Code, "x");
        watcher.fact(&fact);
    }
    let (groups, dropped) = watcher.groups();
    assert!(groups <= watch::GROUPS && dropped > 0, "{groups} {dropped}");
}

#[test]
fn a_record_of_another_form_is_passed_over_with_the_reason() {
    let mut watcher = Watcher::shipped().unwrap();
    let error = watcher
        .event("agent/scout", 1, b"{\"event\":7}")
        .unwrap_err();
    assert!(
        error.to_string().starts_with("event 1 of agent/scout: "),
        "{error}"
    );
    assert_eq!(watcher.cursor("agent/scout"), 1);
    let unknown: Value = json!({ "event": { "at": 1, "event": "of-a-later-release", "x": [1] }, "changes": [{ "change": "new" }] });
    assert_eq!(
        watcher
            .event("agent/scout", 2, unknown.to_string().as_bytes())
            .unwrap(),
        []
    );
}
