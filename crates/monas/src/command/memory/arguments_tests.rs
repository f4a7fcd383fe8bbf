//! What command lines ask for.

use serde_json::json;

use super::Action;
use super::arguments::{definition, read};
use crate::config::{Config, Data};

fn asked(line: &[&str]) -> super::MemoryCommand {
    let matches = definition(&[]).try_get_matches_from(line).unwrap();
    let (name, matches) = matches.subcommand().unwrap();
    read(name, matches, Config::new(Data::Memory), &|_| None)
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
fn a_part_of_a_reason_asks_for_a_belief_and_leaves_it_to_memory_to_say_what_is_missing() {
    let asked = asked(&[
        "memory",
        "add",
        "Bob is tall",
        "--why",
        "it was asked",
        "--source",
        "user:ada",
    ]);
    let Action::Add(body) = asked.action else {
        panic!("it adds");
    };
    let reason =
        json!({ "source": "user:ada", "confidence": null, "context": null, "why": "it was asked" });
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
