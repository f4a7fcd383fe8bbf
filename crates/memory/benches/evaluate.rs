//! Measures how well recall finds evidence: `cargo bench -p memory --bench evaluate -- FILE...`, with absolute paths.
//!
//! A file is a conversation with its questions (`.txt`, see `conformance/memory`; all of them are put into one memory) or a
//! collection in LoCoMo's form (`.json`). With `--vectors FILE` (lines of JSON: text, vector) it measures with vectors, and
//! also compares with the sum of words, dates and vectors; `--set NAME=VALUE` changes a weight.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use memory::{Content, Memory, Noted, Options, Recall, TABLES, Weights};
use model::Embed;
use serde_json::Value;

struct Turn {
    id: String,
    content: Content,
}

struct Question {
    text: String,
    kind: String,
    evidence: Vec<String>,
}

#[derive(Default)]
struct Conversation {
    turns: Vec<Turn>,
    questions: Vec<Question>,
}

/// An embedder that looks up precomputed vectors.
struct Table {
    vectors: BTreeMap<String, Vec<f32>>,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").finish_non_exhaustive()
    }
}

impl Embed for Table {
    fn name(&self) -> &str {
        "table"
    }

    fn embed(&self, texts: Vec<String>) -> model::Vectors {
        let known = texts.iter().map(|text| {
            self.vectors
                .get(text)
                .cloned()
                .unwrap_or_else(|| vec![0.0; 384])
        });
        let vectors: Vec<_> = known.collect();
        Box::pin(std::future::ready(Ok(vectors)))
    }
}

fn ours(path: &str, text: &str, into: &mut Conversation) {
    let name = path
        .rsplit('/')
        .next()
        .unwrap_or(path)
        .trim_end_matches(".txt");
    let (turns, questions) = text
        .split_once("\n---\n")
        .expect("questions follow after ---");
    let (mut session, mut time) = (String::new(), None);
    for line in turns
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if let Some(begin) = line.strip_prefix("@ ") {
            let (id, when) = begin.split_once(' ').expect("a session has a time");
            session = format!("{name}/{id}");
            time = memory::parse_time(when);
            continue;
        }
        let (number, said) = line.split_once(' ').expect("a turn has a number");
        let (speaker, said) = said.split_once(": ").expect("a turn has a speaker");
        let mut content = Content::text(said);
        content.session = Some(session.clone());
        content.speaker = Some(speaker.to_owned());
        content.occurred = time;
        into.turns.push(Turn {
            id: format!("{session}:{number}"),
            content,
        });
    }
    for line in questions.lines().filter(|line| !line.is_empty()) {
        let mut parts = line.split(" | ");
        let mut part = || parts.next().expect("three parts").to_owned();
        let (text, kind, evidence) = (part(), part(), part());
        let evidence = evidence.split(' ').map(|id| format!("{name}/{id}"));
        into.questions.push(Question {
            text,
            kind,
            evidence: evidence.collect(),
        });
    }
}

/// "1:56 pm on 8 May, 2023".
fn written_time(text: &str) -> Option<i64> {
    let (clock, day) = text.split_once(" on ")?;
    let mut day = day.split([' ', ',']).filter(|it| !it.is_empty());
    let (date, month, year) = (day.next()?, day.next()?, day.next()?);
    let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let month = months.iter().position(|it| month.starts_with(it))? + 1;
    let (hour, rest) = clock.split_once(':')?;
    let (minute, half) = rest.split_once(' ')?;
    let hour = hour.parse::<u32>().ok()? % 12 + if half == "pm" { 12 } else { 0 };
    memory::parse_time(&format!(
        "{year}-{month:02}-{:02}T{hour:02}:{minute}:00Z",
        date.parse::<u32>().ok()?
    ))
}

fn collection(text: &str) -> Vec<Conversation> {
    let all: Vec<Value> = serde_json::from_str(text).expect("JSON");
    let read = |whole: &Value| {
        let conversation = whole.get("conversation").unwrap_or(whole);
        let mut read = Conversation::default();
        for number in 1.. {
            let key = format!("session_{number}");
            let when = &conversation[format!("{key}_date_time")];
            let Some(turns) = conversation[&key].as_array() else {
                if when.is_null() {
                    break;
                }
                continue;
            };
            for turn in turns {
                let text = |key: &str| turn[key].as_str().unwrap_or_default();
                let id = text("dia_id").to_owned();
                let mut said = text("text").to_owned();
                if !text("blip_caption").is_empty() {
                    said = format!("{said} [shares an image: {}]", text("blip_caption"));
                }
                let mut content = Content::text(said);
                content.session = id.split(':').next().map(str::to_owned);
                content.speaker = Some(text("speaker").to_owned());
                content.occurred = when.as_str().and_then(written_time);
                read.turns.push(Turn { id, content });
            }
        }
        for question in whole["qa"].as_array().into_iter().flatten() {
            let evidence = question["evidence"].to_string();
            let ids = evidence.split(['"', ';', ' ', ',', '[', ']']);
            let ids: Vec<String> = ids
                .map(|id| id.replace("D:", "D"))
                .filter(|id| read.turns.iter().any(|turn| turn.id == *id))
                .collect();
            if !ids.is_empty() {
                let kinds = [
                    "?",
                    "multi-hop",
                    "temporal",
                    "open-domain",
                    "single-hop",
                    "adversarial",
                ];
                let kind = question["category"].as_u64().unwrap_or_default() as usize;
                read.questions.push(Question {
                    text: question["question"].as_str().unwrap_or_default().to_owned(),
                    kind: kinds[kind.min(5)].to_owned(),
                    evidence: ids,
                });
            }
        }
        read
    };
    all.iter().map(read).collect()
}

/// The result of a question: its kind, recall@10, and nDCG@10.
type Measured = (String, f64, f64);

/// BM25 alone, as a text index would rank.
fn plain() -> Weights {
    Weights {
        k1: 1.2,
        b: 0.75,
        name: 1.0,
        bigram: 0.0,
        expansion: 0.0,
        date: 0.0,
        after: 0.0,
        before: 0.0,
        further: 0.0,
        reply: 0.0,
        session: 0.0,
        speaker: 0.0,
        asking: 0.0,
        vector: 0.0,
        graph: 0.0,
        recent: 0.0,
        standing: 0.0,
        ..Weights::default()
    }
}

/// The same content with date and speaker in the text, for the baseline.
fn flat(content: &Content) -> Content {
    let date = content
        .occurred
        .map(memory::format_time)
        .unwrap_or_default();
    let date = date.get(..10).and_then(|day| {
        let months = [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ];
        let month = months.get(day.get(5..7)?.parse::<usize>().ok()?.checked_sub(1)?)?;
        Some(format!(
            "{} {month} {}",
            day.get(8..10)?.trim_start_matches('0'),
            day.get(..4)?
        ))
    });
    let speaker = content.speaker.as_deref().unwrap_or_default();
    Content::text(format!(
        "{} {speaker}: {}",
        date.unwrap_or_default(),
        content.text
    ))
}

async fn measure(
    conversations: &[Conversation],
    weights: &Weights,
    embedder: Option<&Arc<dyn Embed>>,
    shape: fn(&Content) -> Content,
) -> Vec<Measured> {
    let mut measured = Vec::new();
    for conversation in conversations {
        let options = Options {
            weights: weights.clone(),
            embedder: embedder.cloned(),
            ..Options::default()
        };
        let memory = Memory::open(store::Store::memory(TABLES), options);
        let space = memory.space("evaluation").expect("a name");
        let contents = conversation
            .turns
            .iter()
            .map(|turn| shape(&turn.content))
            .collect();
        let records = space.observe_all(contents).await.expect("observed");
        let turns = records.into_iter().zip(&conversation.turns);
        let turn: BTreeMap<_, _> = turns.map(|(id, turn)| (id, &turn.id)).collect();
        memory.settled().await;
        for question in &conversation.questions {
            let mut recall = Recall::new(question.text.clone());
            recall.noted = Noted::Look;
            let answer = space.recall(recall).await.expect("answered");
            let hits = answer.hits.iter();
            let found: Vec<bool> = hits
                .map(|hit| question.evidence.contains(turn[&hit.record.id]))
                .collect();
            let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
            let hits = found.iter().filter(|it| **it).count() as f64;
            let ideal: f64 = (0..question.evidence.len().min(10)).map(gain).sum();
            let ranks = found.iter().enumerate().filter(|(_, it)| **it);
            let quality = ranks.map(|(place, _)| gain(place)).sum::<f64>() / ideal;
            measured.push((
                question.kind.clone(),
                hits / question.evidence.len() as f64,
                quality,
            ));
        }
        memory.close().await;
    }
    measured
}

/// The mean of differences with its 95 % bootstrap interval.
fn interval(differences: &[f64]) -> (f64, f64, f64) {
    let mean = |sum: f64| sum / differences.len() as f64;
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        differences[(state % differences.len() as u64) as usize]
    };
    let mut means: Vec<f64> = (0..2000)
        .map(|_| mean((0..differences.len()).map(|_| draw()).sum()))
        .collect();
    means.sort_by(f64::total_cmp);
    (mean(differences.iter().sum()), means[50], means[1949])
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut conversations = Vec::new();
    let mut together = Conversation::default();
    let mut weights = serde_json::to_value(Weights::default()).expect("weights");
    let mut embedder: Option<Arc<dyn Embed>> = None;
    // `cargo bench` adds `--bench`.
    let mut arguments = std::env::args().skip(1).filter(|it| it != "--bench");
    while let Some(argument) = arguments.next() {
        let read = |path: &str| std::fs::read_to_string(path).expect("the file is there");
        if argument == "--vectors" {
            let text = read(&arguments.next().expect("a file"));
            let lines = text
                .lines()
                .map(|line| serde_json::from_str(line).expect("JSON"));
            let vectors = lines.collect();
            embedder = Some(Arc::new(Table { vectors }));
        } else if argument == "--set" {
            let setting = arguments.next().expect("a weight");
            let (name, value) = setting.split_once('=').expect("NAME=VALUE");
            assert!(weights.get(name).is_some(), "no weight {name}");
            weights[name] = serde_json::from_str(value).expect("a number");
        } else if argument.ends_with(".json") {
            conversations.extend(collection(&read(&argument)));
        } else {
            ours(&argument, &read(&argument), &mut together);
        }
    }
    if !together.turns.is_empty() {
        conversations.push(together);
    }
    let weights: Weights = serde_json::from_value(weights).expect("weights");
    let own = measure(&conversations, &weights, embedder.as_ref(), Content::clone).await;
    let base = measure(&conversations, &plain(), None, flat).await;
    report("BM25", &base, &own);
    if embedder.is_some() {
        let fused = Weights {
            date: weights.date,
            vector: weights.vector,
            ..plain()
        };
        let base = measure(&conversations, &fused, embedder.as_ref(), Content::clone).await;
        report("fusion", &base, &own);
    }
}

/// Kinds of questions that need more than one hit.
const HARD: [&str; 2] = ["multi-hop", "open-domain"];

/// Prints the gain over a baseline, by kind of question.
#[expect(clippy::print_stdout, reason = "it is a report")]
fn report(name: &str, base: &[Measured], own: &[Measured]) {
    println!(
        "| kind | n | recall@10 {name} | ours | nDCG@10 {name} | ours | gain in recall (95 %) |"
    );
    println!("|---|---|---|---|---|---|---|");
    let kinds: std::collections::BTreeSet<&str> = own.iter().map(|(kind, ..)| &**kind).collect();
    let hard = HARD.iter().all(|kind| kinds.contains(kind));
    let pools = ["all", "hard"].into_iter().take(1 + usize::from(hard));
    for kind in pools.chain(kinds) {
        let pairs = base.iter().zip(own).filter(|(_, own)| match kind {
            "all" => true,
            "hard" => HARD.contains(&&*own.0),
            _ => own.0 == kind,
        });
        let pairs: Vec<_> = pairs.collect();
        let count = pairs.len();
        let mean = |value: fn(&(&Measured, &Measured)) -> f64| {
            pairs.iter().map(value).sum::<f64>() / count as f64
        };
        let differences: Vec<f64> = pairs.iter().map(|(base, own)| own.1 - base.1).collect();
        let (gain, low, high) = interval(&differences);
        println!(
            "| {kind} | {count} | {:.3} | {:.3} | {:.3} | {:.3} | {gain:+.3} ({low:+.3} to {high:+.3}) |",
            mean(|it| it.0.1),
            mean(|it| it.1.1),
            mean(|it| it.0.2),
            mean(|it| it.1.2),
        );
    }
}
