//! The first sentences of `conformance/talk`, said to a server without a language model.
//!
//! Each is said to a server of its own, in its own conversation; the patterns of its line judge the answer. Of the half that
//! is kept apart only the counts are printed, so that rules are not written for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::StreamExt as _;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::agent;
use crate::support::http::{Client, Version};
use crate::support::server::{Running, config};

/// The least part of good answers in each half.
const LEAST: f64 = 0.85;

/// How many servers run at a time.
const TOGETHER: usize = 4;

/// How long an answer may take.
const TIME: Duration = Duration::from_secs(60);

/// What is wrong as an answer to every sentence: raw JSON, and faults of ours.
const WRONG: &str = r#"^\s*[\{\[]\s*["\{\[\}\]]|internal error|panicked"#;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Half {
    Tuned,
    Kept,
}

#[derive(Debug, Deserialize)]
struct Sentence {
    id: String,
    half: Half,
    #[serde(default)]
    before: Vec<String>,
    say: String,
    good: String,
    #[serde(default)]
    wrong: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Good,
    /// Neither good nor wrong.
    Missed,
    Wrong,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/talk")
}

fn sentences() -> Vec<Sentence> {
    let text = fs::read_to_string(folder().join("sentences.jsonl")).unwrap();
    let lines = text.lines().filter(|it| !it.trim().is_empty());
    lines.map(|it| serde_json::from_str(it).unwrap()).collect()
}

fn pattern(text: &str) -> Regex {
    let mut pattern = RegexBuilder::new(text);
    pattern.case_insensitive(true).dot_matches_new_line(true);
    pattern.build().unwrap()
}

impl Sentence {
    fn judge(&self, answer: &str) -> Verdict {
        let wrong = self.wrong.as_deref().map(pattern);
        if pattern(WRONG).is_match(answer) || wrong.is_some_and(|it| it.is_match(answer)) {
            return Verdict::Wrong;
        }
        match pattern(&self.good).is_match(answer) {
            true => Verdict::Good,
            false => Verdict::Missed,
        }
    }
}

/// Files of the workspace, copied.
fn workspace(to: &Path) {
    fs::create_dir_all(to.join("src")).unwrap();
    for name in ["WELCOME.md", "notes.md", "shopping.md", "src/main.rs"] {
        fs::copy(folder().join("project").join(name), to.join(name)).unwrap();
    }
}

/// A conversation with a server.
struct Chat {
    client: Client,
    context: String,
    /// The task that waits for an answer.
    task: String,
}

impl Chat {
    async fn with(server: &Running, context: &str) -> Self {
        Self {
            client: server.client(Version::One).await,
            context: context.to_owned(),
            task: String::new(),
        }
    }

    /// Says something, and gives all texts of the answer.
    async fn say(&mut self, text: &str) -> String {
        let message = json!({
            "messageId": uuid::Uuid::new_v4().to_string(),
            "role": "ROLE_USER",
            "contextId": self.context,
            "taskId": std::mem::take(&mut self.task),
            "parts": [{ "text": text }],
        });
        let sent = json!({ "message": message });
        let reply = agent::call(&mut self.client, "SendMessage", sent).await;
        let result = &reply["result"];
        let Some(task) = result.get("task") else {
            return texts(&result["message"]["parts"]);
        };
        let status = &task["status"];
        if status["state"] == "TASK_STATE_INPUT_REQUIRED" {
            task["id"].as_str().unwrap().clone_into(&mut self.task);
        }
        let artifacts = task["artifacts"].as_array().into_iter().flatten();
        let mut said: Vec<String> = artifacts.map(|it| texts(&it["parts"])).collect();
        said.push(texts(&status["message"]["parts"]));
        said.retain(|it| !it.is_empty());
        said.join("\n")
    }
}

/// The texts of parts; data is written as it is.
fn texts(parts: &Value) -> String {
    let parts = parts.as_array().into_iter().flatten();
    let texts = parts.map(|part| match part["text"].as_str() {
        Some(text) => text.to_owned(),
        None => part["data"].to_string(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The answer to a sentence, of a server that has heard nothing but what was said before it.
async fn answer(sentence: &Sentence) -> String {
    let folder = TempDir::new().unwrap();
    workspace(&folder.path().join("workspace"));
    let mut config = config();
    config.workspace = Some(folder.path().join("workspace"));
    let server = Running::living(&config).await;
    let mut chat = Chat::with(&server, &format!("talk-{}", sentence.id)).await;
    let said = async {
        for before in &sentence.before {
            chat.say(before).await;
        }
        chat.say(&sentence.say).await
    };
    let answer = tokio::time::timeout(TIME, said).await;
    drop(chat);
    server.stop().await;
    answer.unwrap_or_else(|_| "no answer in time".to_owned())
}

/// An Ollama with one model, as far as it is asked for what it has.
async fn ollama() -> (String, tokio::task::JoinHandle<()>) {
    let tags = || async { json!({ "models": [{ "name": "gemma3:4b" }] }).to_string() };
    let routes = axum::Router::new().route("/api/tags", axum::routing::get(tags));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    (url, serving)
}

#[tokio::test]
async fn a_local_ollama_is_found_and_offered_and_not_used() {
    let (url, serving) = ollama().await;
    let mut config = config();
    config.models.ollama = Some(url);
    let server = Running::living(&config).await;
    let mut chat = Chat::with(&server, "ollama").await;
    let offered = async {
        loop {
            let answer = chat.say("can I use ollama?").await;
            if answer.contains("ollama:gemma3:4b") {
                return answer;
            }
            // It is looked for while the server starts.
            tokio::task::yield_now().await;
        }
    };
    let answer = tokio::time::timeout(TIME, offered).await.unwrap();
    assert!(
        answer.contains("No language model is configured"),
        "{answer}"
    );
    drop(chat);
    server.stop().await;
    serving.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn most_first_sentences_are_answered_well_and_none_wrongly() {
    let sentences = sentences();
    assert_eq!(sentences.len(), 150);
    let judged = futures_util::stream::iter(&sentences).map(|sentence| async move {
        let answer = answer(sentence).await;
        (sentence, sentence.judge(&answer), answer)
    });
    let judged: Vec<_> = judged.buffered(TOGETHER).collect().await;
    let mut failed = Vec::new();
    for half in [Half::Tuned, Half::Kept] {
        let of_half: Vec<_> = judged.iter().filter(|(it, ..)| it.half == half).collect();
        let count = |verdict| of_half.iter().filter(|it| it.1 == verdict).count();
        let (good, wrong) = (count(Verdict::Good), count(Verdict::Wrong));
        println!("{half:?}: {good} good, {wrong} wrong, of {}", of_half.len());
        if wrong > 0 || (good as f64) < LEAST * of_half.len() as f64 {
            failed.push(half);
        }
        let shown = of_half
            .iter()
            .filter(|it| it.1 != Verdict::Good && half == Half::Tuned);
        for (sentence, verdict, answer) in shown {
            println!(
                "{verdict:?} {}: {}\n    {answer}",
                sentence.id, sentence.say
            );
        }
    }
    assert!(
        failed.is_empty(),
        "{failed:?}: fewer than 85 % good, or one wrong"
    );
}
