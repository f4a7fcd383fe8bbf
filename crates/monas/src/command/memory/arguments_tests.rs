//! The requests of command lines, parsed.

use serde_json::json;

use super::Action;
use super::arguments::{definition, read};
use crate::config::{Config, Data};

fn asked(line: &[&str]) -> super::MemoryCommand {
    let matches = definition(&[]).try_get_matches_from(line).unwrap();
    let (name, matches) = matches.subcommand().unwrap();
    read(name, matches, Config::new(Data::Memory), &|_| None).unwrap()
}

#[test]
fn an_addition_without_a_reason_is_an_observation() {
    let asked = asked(&[
        "memory",
        "add",
        "Bob was here",
        "--speaker",
        "Ada",
        "--for",
        "scout",
    ]);
    let body = json!({ "content": "Bob was here", "type": "", "metadata": { "speaker": "Ada" } });
    assert_eq!(asked.action, Action::Add(body));
    assert_eq!(asked.options.agent.as_deref(), Some("scout"));
}

#[test]
fn a_part_of_a_reason_asks_for_the_others_by_their_flags() {
    let part = ["memory", "add", "Bob is tall", "--why", "it was asked"];
    let matches = definition(&[]).try_get_matches_from(part).unwrap();
    let (name, matches) = matches.subcommand().unwrap();
    let refused = read(name, matches, Config::new(Data::Memory), &|_| None).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("add --source, --confidence, --context"),
        "{refused}"
    );
    let whole = "--source user:ada --confidence 0.9 --context who?";
    let asked = asked(&[&part[..], &whole.split(' ').collect::<Vec<_>>()].concat());
    let Action::Add(body) = asked.action else {
        panic!("it adds");
    };
    let reason = json!({ "source": "user:ada", "confidence": 0.9, "context": "who?", "why": "it was asked" });
    assert_eq!(body["reason"], reason);
}

#[test]
fn questions_have_a_mode_and_a_limit() {
    let asked = asked(&[
        "memory",
        "query",
        "where is Bob?",
        "--mode",
        "local",
        "-n",
        "3",
        "-o",
        "json",
    ]);
    let body = json!({ "query": "where is Bob?", "mode": "local", "top_k": 3 });
    assert_eq!(
        (asked.action, asked.options.json),
        (Action::Query(body), true)
    );
}
