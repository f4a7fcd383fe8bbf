//! `cargo xtask bench memory`: how well our server finds evidence, next to plain BM25, by a harness that is given.
//!
//! The harness and its questions are not part of the project. It stores conversations over HTTP, asks, and counts the
//! turns among the first hits that the questions' authors named as evidence. Our own questions
//! (`conformance/memory/questions`) are measured in the same run, by the bench `evaluate` of the crate.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::flags::Flags;
use super::server::{Data, Server, free_port};
use crate::error::{Doing, Error, Result};
use crate::process;

/// The options of this bench.
struct Options {
    /// The folder of the harness.
    data: PathBuf,
    /// The Python that runs it.
    python: String,
    /// The weights of MiniLM: a folder or an archive that `monas models pull` takes.
    weights: Option<PathBuf>,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Options> {
        let (mut data, mut python, mut weights) = (None, "python3".to_owned(), None);
        let mut flags = Flags::new(words);
        while let Some(flag) = flags.advance() {
            match flag {
                "--data" => data = Some(PathBuf::from(flags.value()?)),
                "--python" => python = flags.value()?.to_owned(),
                "--weights" => weights = Some(PathBuf::from(flags.value()?)),
                _ => return Err(flags.unknown()),
            }
        }
        let data = data.ok_or_else(|| {
            Error::Usage("bench memory needs --data DIR, the folder of its harness".to_owned())
        })?;
        Ok(Options {
            data,
            python,
            weights,
        })
    }

    /// The harness with these arguments, on each set of questions that lies there.
    fn harness(&self, root: &Path, questions: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.python);
        command.current_dir(&self.data);
        command.arg(root.join("conformance/memory/settled.py"));
        // Nothing is written where the harness lies.
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command.arg("--data").arg(questions).args(arguments);
        command
    }
}

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let options = Options::parse(words)?;
    let kind = match options.weights {
        Some(_) => &["--features", "local", "--bin"][..],
        None => &["--bin"],
    };
    let monas = process::build_measured(root, "monas", kind, "monas")?;
    let evaluate = process::build_measured(root, "memory", &["--bench"], "evaluate")?;
    let folder = options.data.join("data");
    let files = fs::read_dir(&folder).doing(|| format!("read {}", folder.display()))?;
    let files = files.filter_map(|file| Some(file.ok()?.path()));
    let mut sets: Vec<PathBuf> = files
        .filter(|it| it.extension().is_some_and(|it| it == "json"))
        .collect();
    sets.sort();
    for questions in sets {
        println!(
            "\n{}\n",
            questions.file_name().unwrap_or_default().to_string_lossy()
        );
        println!("| retriever | group | n | recall@10 | nDCG@10 | ms |\n|---|---|---|---|---|---|");
        let arguments = ["--backend", "bm25", "--dates"];
        let text = process::output(&mut options.harness(root, &questions, &arguments))?;
        print("BM25 with dates", &text)?;
        let plain = ["hybrid", "local", "global"].map(|via| (via, None));
        let meant = options.weights.as_deref();
        let meant = meant.map(|weights| ("hybrid", Some(weights)));
        for (via, weights) in plain.into_iter().chain(meant) {
            let port = free_port()?;
            let data = Data::new(port)?;
            if let Some(weights) = weights {
                let mut pull = Command::new(&monas);
                pull.args(["models", "pull", "all-minilm-l6-v2", "--from"]);
                process::run(pull.arg(weights).arg("--data").arg(&data.path))?;
            }
            let mut command = Command::new(&monas);
            command
                .args(["serve", "--open", "--listen"])
                .arg(format!("127.0.0.1:{port}"));
            command.arg("--data").arg(&data.path);
            let server = Server::start(command, port, "", Some(data))?;
            let arguments = ["--backend", "http", "--base", &server.url, "--via", via];
            let mut harness = options.harness(root, &questions, &arguments);
            if weights.is_some() {
                harness.env("MONAS_EMBEDS", "1");
            }
            let text = process::output(&mut harness)?;
            let with = weights.map_or("", |_| " with MiniLM");
            print(&format!("ours, {via}{with}"), &text)?;
        }
    }
    println!("\nour own questions\n");
    let ours = root.join("conformance/memory/questions");
    let files = fs::read_dir(&ours).doing(|| format!("read {}", ours.display()))?;
    let mut files: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    files.sort();
    process::run(Command::new(evaluate).args(&files))
}

/// A row for each group of a report.
fn print(name: &str, report: &str) -> Result<()> {
    let unread = |_| Error::Answer(format!("the harness printed no report: {report}"));
    let report: Value = serde_json::from_str(report).map_err(unread)?;
    let groups = report["groups"].as_object().into_iter().flatten();
    for (group, figures) in groups {
        let (n, recall, quality) = (&figures["n"], &figures["recall@10"], &figures["ndcg@10"]);
        let time = &report["query_ms"];
        println!("| {name} | {group} | {n} | {recall} | {quality} | {time} |");
    }
    Ok(())
}
