//! Processor time of an event: `cargo run --release -p watch --example cost`.
#![expect(clippy::print_stdout, reason = "it prints figures")]
#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on ends")]

use std::time::Instant;

use watch::{Author, Rules, Watcher, shipped_rules};

/// A record with a result of this many bytes, as a skill gives it.
fn record(number: u64, bytes: usize) -> [String; 2] {
    let words = "the harbour was quiet and the ferry left at nine with letters for the islands ";
    let text: String = words.chars().cycle().take(bytes).collect();
    let task = format!("task-{}", number / 20);
    let call = 2 * number + 1;
    let thought = serde_json::json!({
        "event": { "at": 1000 * number, "event": "thought", "effect": call - 1, "text": "", "tokens": 900 },
        "changes": [
            { "change": "round", "turn": task, "round": { "text": "", "calls": [{ "id": "c", "skill": "file-read", "input": { "path": format!("book/{number}.txt") } }] }, "tokens": 900 },
            { "change": "wished", "pending": { "wish": { "id": call, "turn": task, "effect": "call", "skill": "file-read", "input": { "path": format!("book/{number}.txt") } }, "given": true, "at": 1 } }
        ]
    });
    let done = serde_json::json!({
        "event": { "at": 1000 * number + 500, "event": "done", "effect": call, "output": { "path": format!("book/{number}.txt"), "content": format!("{number} {text}") } },
        "changes": [{ "change": "settled", "effect": call }]
    });
    [thought.to_string(), done.to_string()]
}

fn rules() -> Rules {
    // Fifty rules: the shipped ones and ones of an operator.
    let mut rules = shipped_rules().unwrap();
    let mut more = String::new();
    for number in rules.len()..50 {
        more.push_str(&format!(
            "---\ntitle: Rule {number}\nid: own-{number}\nlevel: low\ndetection: {{ sel: {{ kind: done, \"text|contains\": [marker-{number}, sign-{number}] }}, condition: sel }}\nmonas: {{ examples: {{ match: [{{ kind: done, text: has marker-{number} }}], not_match: [{{ kind: done, text: nothing }}] }} }}\n"
        ));
    }
    rules.add(Rules::parse("own", Author::Operator, &more).unwrap());
    rules
}

fn main() {
    let rules = rules();
    println!("{} rules", rules.len());
    for bytes in [1024 - 200, 8 * 1024] {
        let count = 20_000_u64;
        let records: Vec<[String; 2]> = (1..=count).map(|it| record(it, bytes)).collect();
        let mut watcher = Watcher::new(rules.clone()).unwrap();
        let (mut thoughts, mut results) = (0.0, 0.0);
        for (number, [thought, done]) in (0..).zip(&records) {
            let began = Instant::now();
            watcher
                .event("agent/scout", 2 * number + 1, thought.as_bytes())
                .unwrap();
            let between = Instant::now();
            watcher
                .event("agent/scout", 2 * number + 2, done.as_bytes())
                .unwrap();
            thoughts += (between - began).as_secs_f64();
            results += between.elapsed().as_secs_f64();
        }
        let us = |seconds: f64| seconds * 1e6 / count as f64;
        println!(
            "result of {bytes} bytes (record of {} bytes): {:.1} us; thought with a call ({} bytes): {:.1} us; state of {} bytes",
            records[0][1].len(),
            us(results),
            records[0][0].len(),
            us(thoughts),
            serde_json::to_vec(watcher.state()).unwrap().len()
        );
    }
}
