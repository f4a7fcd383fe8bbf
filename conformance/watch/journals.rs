//! The frozen journals in the form in which an agent stores them. Tests and benches include this file by its path.
#![allow(dead_code, reason = "each test that includes it uses a part of it")]
#![allow(
    clippy::needless_pass_by_value,
    reason = "records are written as literals"
)]

use serde_json::{Value, json};

/// A frozen journal.
#[derive(Debug)]
pub(crate) struct Journal {
    pub(crate) name: String,
    pub(crate) kind: String,
    /// The types of alerts of which one must be told; empty: none above `info`.
    pub(crate) expect: Vec<String>,
    /// Whether it is of the half that rules were not tuned with.
    pub(crate) apart: bool,
    /// The records, from sequence 1.
    pub(crate) records: Vec<String>,
}

/// All frozen journals.
pub(crate) fn all() -> Vec<Journal> {
    include_str!("journals.jsonl")
        .lines()
        .map(journal)
        .collect()
}

/// The text in which they are frozen.
pub(crate) fn frozen() -> &'static str {
    include_str!("journals.jsonl")
}

fn journal(line: &str) -> Journal {
    let form: Value = serde_json::from_str(line).expect("a frozen line is JSON");
    let text = |name: &str| form[name].as_str().unwrap_or_default().to_owned();
    let mut writer = Writer::new(&text("name"));
    for step in form["steps"].as_array().into_iter().flatten() {
        writer.step(step);
    }
    let expect = form["expect"].as_array().into_iter().flatten();
    Journal {
        name: text("name"),
        kind: text("kind"),
        expect: expect
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        apart: form["half"] == "apart",
        records: writer.records,
    }
}

/// Writes records as the steps of an agent do.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) records: Vec<String>,
    name: String,
    at: i64,
    /// The next number of an effect.
    effect: u64,
    tasks: u64,
    task: String,
    proposals: u64,
}

/// Skills of these words change nothing, by the word of the agent.
const READ_ONLY: &[&str] = &[
    "file-read",
    "file-list",
    "file-search",
    "recall",
    "web-fetch",
    "web-search",
    "browser-open",
    "browser-text",
    "calendar-list",
    "crm-find",
    "mail-read",
    "build-status",
    "parcel-track",
    "http-check",
    "mail-verify",
    "pdf-text",
    "translate",
    "wiki-page",
];

impl Writer {
    pub(crate) fn new(name: &str) -> Self {
        let mut writer = Self {
            records: Vec::new(),
            name: name.to_owned(),
            at: 1_790_000_000_000,
            effect: 1,
            tasks: 0,
            task: String::new(),
            proposals: 0,
        };
        let abilities: Vec<Value> = READ_ONLY
            .iter()
            .map(|id| json!({ "id": id, "read_only": true, "replayable": true, "approval": false, "elsewhere": false }))
            .chain(["file-write", "file-edit", "file-delete", "terminal-run"].iter().map(
                |id| json!({ "id": id, "read_only": false, "replayable": false, "approval": true, "elsewhere": false }),
            ))
            .collect();
        let able = json!([{ "change": "able", "abilities": abilities }]);
        writer.record(json!({ "event": "enabled", "abilities": abilities }), able);
        writer
    }

    pub(crate) fn step(&mut self, step: &Value) {
        match step[0].as_str().unwrap_or_default() {
            "ask" => self.ask(step[1].as_str().unwrap_or_default()),
            "do" => self.call(step),
            "say" => self.say(step),
            "wait" => self.at += step[1].as_i64().unwrap_or_default(),
            "propose" => self.propose(step),
            "tested" => self.tested(),
            "ruled" => self.ruled(step),
            other => panic!("{}: unknown step {other:?}", self.name),
        }
    }

    fn record(&mut self, mut event: Value, changes: Value) {
        event["at"] = self.at.into();
        let record = json!({ "event": event, "changes": changes });
        self.records.push(with_secrets(&record.to_string()));
    }

    fn wish(&mut self, rest: Value) -> (u64, Value) {
        let id = self.effect;
        self.effect += 1;
        let mut wish = json!({ "id": id, "turn": self.task });
        for (name, value) in rest.as_object().into_iter().flatten() {
            wish[name] = value.clone();
        }
        (
            id,
            json!({ "change": "wished", "pending": { "wish": wish, "given": true, "at": self.at } }),
        )
    }

    pub(crate) fn ask(&mut self, text: &str) {
        self.at += 1500;
        self.tasks += 1;
        self.task = format!("task-{}-{}", self.name, self.tasks);
        let heard = json!({
            "turn": self.task, "conversation": "talk", "caller": "ada", "origin": "user", "from": "ada", "text": text,
            "message": format!("m{}", self.tasks), "may_raise": true
        });
        let turn = json!({
            "heard": heard, "priority": 60, "ceiling": 100, "order": self.effect, "began": self.at, "stage": "queued", "found": [],
            "rounds": [], "tokens": 0, "procedure": null, "answer": null, "asides": []
        });
        let (recall, wished) =
            self.wish(json!({ "effect": "recall", "question": text, "limit": 6 }));
        let mut event = heard;
        event["event"] = "heard".into();
        let task = self.task.clone();
        self.record(
            event,
            json!([{ "change": "opened", "turn": turn }, { "change": "stage", "turn": task, "stage": "recalling" }, wished]),
        );
        self.at += 20;
        let (_, wished) = self.wish(json!({ "effect": "think" }));
        self.record(
            json!({ "event": "recalled", "effect": recall, "found": [] }),
            json!([{ "change": "settled", "effect": recall }, { "change": "found", "turn": task, "found": [] }, wished]),
        );
    }

    fn call(&mut self, step: &Value) {
        let (skill, input, output, more) = (&step[1], &step[2], &step[3], &step[4]);
        let task = self.task.clone();
        let thought = self.effect - 1;
        let tokens = more["tokens"].as_u64().unwrap_or(900);
        self.at += 1200;
        let text = more["text"].as_str().unwrap_or_default();
        let planned = json!({ "id": "call-0", "skill": skill, "input": input, "effect": null, "outcome": null });
        let round = json!({ "change": "round", "turn": task, "round": { "text": text, "thoughts": [], "calls": [planned] }, "tokens": tokens });
        let event = json!({
            "event": "thought", "effect": thought, "text": text, "calls": [{ "id": "call-0", "skill": skill, "input": input }], "tokens": tokens
        });
        let settled = json!({ "change": "settled", "effect": thought });
        let failed = output.get("!").cloned();
        if more["unusable"] == true {
            let outcome = json!({ "change": "outcome", "turn": task, "call": 0, "outcome": { "failed": failed } });
            let (_, wished) = self.wish(json!({ "effect": "think" }));
            return self.record(event, json!([settled, round, outcome, wished]));
        }
        let (call, wished) = self.wish(json!({ "effect": "call", "skill": skill, "input": input }));
        let calling = json!({ "change": "calling", "turn": task, "call": 0, "effect": call });
        self.record(event, json!([settled, round, wished, calling]));
        let rejected = more["rejected"].as_str();
        if more["approved"] == true || rejected.is_some() {
            self.person(
                skill,
                input,
                rejected,
                more["person"].as_i64().unwrap_or(4000),
            );
        }
        self.at += more["ms"].as_i64().unwrap_or(250);
        let failed = rejected.map(|why| json!(["not-approved", why])).or(failed);
        let (event, outcome) = match failed {
            Some(failed) => (
                json!({ "event": "failed", "effect": call, "code": failed[0], "message": failed[1] }),
                json!({ "failed": failed }),
            ),
            None => (
                json!({ "event": "done", "effect": call, "output": output }),
                json!({ "gave": output }),
            ),
        };
        let (_, wished) = self.wish(json!({ "effect": "think" }));
        self.record(
            event,
            json!([{ "change": "settled", "effect": call }, { "change": "outcome", "turn": task, "call": 0, "outcome": outcome }, wished]),
        );
    }

    /// A person is asked about a call and decides.
    fn person(&mut self, skill: &Value, input: &Value, rejected: Option<&str>, takes: i64) {
        let approval = self.effect;
        self.effect += 1;
        let task = self.task.clone();
        let uuid = format!("00000000-0000-4000-8000-{approval:012}");
        let asked = json!({
            "id": approval, "uuid": uuid, "by": "ada", "turn": task, "place": "call/0", "conversation": "talk", "skill": skill,
            "input": input, "at": self.at, "until": self.at + 604_800_000, "standing": "pending", "digest": "d", "shown": "s"
        });
        self.record(
            json!({
                "event": "wanted", "turn": task, "place": "call/0", "conversation": "talk", "skill": skill, "input": input,
                "marked": true, "by": "ada", "shown": "s", "facts": { "changes": true, "approval": uuid }
            }),
            json!([{ "change": "asked", "approval": asked }]),
        );
        self.at += takes;
        let (decision, standing) = match rejected {
            Some(why) => (json!({ "reject": why }), json!({ "rejected": why })),
            None => (json!({ "approve": "once" }), json!({ "approved": input })),
        };
        self.record(
            json!({ "event": "decided", "approval": approval, "decision": decision, "by": "ada", "message": "m", "permission": "approve" }),
            json!([{ "change": "decided", "approval": approval, "standing": standing, "by": "ada" }]),
        );
    }

    fn say(&mut self, step: &Value) {
        let (text, more) = (&step[1], &step[2]);
        let task = self.task.clone();
        let thought = self.effect - 1;
        let tokens = more["tokens"].as_u64().unwrap_or(300);
        let end = more["end"].as_str().unwrap_or("answered");
        self.at += 1100;
        let answer = json!({ "text": text, "end": end });
        self.record(
            json!({ "event": "thought", "effect": thought, "text": text, "tokens": tokens }),
            json!([
                { "change": "settled", "effect": thought },
                { "change": "round", "turn": task, "round": { "text": text, "thoughts": [], "calls": [] }, "tokens": tokens },
                { "change": "concluded", "turn": task, "answer": answer },
                { "change": "ended", "turn": task, "answer": answer },
                { "change": "gate", "step": { "scored": 1.0 } }
            ]),
        );
    }

    fn propose(&mut self, step: &Value) {
        self.at += 3000;
        self.proposals += 1;
        let edit = json!({ "target": step[1], "change": step[2], "justification": step[3] });
        let mut event = json!({ "event": "proposed", "edit": edit, "by": step[4] });
        let mut changes = json!([]);
        if let Some(refused) = step[5].as_str() {
            event["refused"] = refused.into();
            changes =
                json!([{ "change": "law-kept", "why": refused, "by": step[4], "edit": edit }]);
        }
        self.record(event, changes);
    }

    fn tested(&mut self) {
        self.at += 9000;
        self.record(
            json!({ "event": "retested", "proposal": self.proposals }),
            json!([]),
        );
    }

    fn ruled(&mut self, step: &Value) {
        self.at += 60_000;
        let event = json!({ "event": "ruled", "proposal": self.proposals, "by": step[1], "approve": step[2], "reason": "" });
        self.record(event, json!([]));
    }
}

/// A record with its secrets: `{{kind:seed}}` becomes a text of the form that such credentials have.
fn with_secrets(record: &str) -> String {
    let mut text = String::new();
    let mut rest = record;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else {
            break;
        };
        text.push_str(before);
        text.push_str(&secret(name));
        rest = after;
    }
    text + rest
}

fn secret(name: &str) -> String {
    let (kind, seed) = name
        .split_once(':')
        .expect("a secret has a kind and a seed");
    let mut state: u64 = seed.parse().expect("a seed is a number");
    let mut draw = |alphabet: &str, count: usize| -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        let next = |state: &mut u64| {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            letters[(*state >> 33) as usize % letters.len()]
        };
        (0..count).map(|_| next(&mut state)).collect()
    };
    let word = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    match kind {
        "aws" => format!("AKIA{}", draw("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
        "github" => format!("ghp_{}", draw(word, 36)),
        "openai" => format!("sk-proj-{}", draw(word, 48)),
        "private-key" => format!(
            "-----BEGIN RSA {}-----\\n{}\\n-----END RSA {}-----",
            "PRIVATE KEY",
            draw(word, 96),
            "PRIVATE KEY"
        ),
        "postgres" => format!("postgres://svc:{}@db.internal:5432/main", draw(word, 18)),
        "slack" => format!("xoxb-{}-{}", draw("0123456789", 12), draw(word, 24)),
        "stripe" => format!("sk_live_{}", draw(word, 24)),
        "google" => format!("AIza{}", draw(word, 35)),
        "jwt" => format!(
            "eyJ{}.eyJ{}.{}",
            draw(word, 30),
            draw(word, 60),
            draw(word, 43)
        ),
        "gitlab" => format!("glpat-{}", draw(word, 20)),
        other => panic!("unknown kind of secret {other:?}"),
    }
}
