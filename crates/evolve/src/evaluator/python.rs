//! The evaluator of an OpenEvolve folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe;
use tools::sandbox::Sandbox;

use super::bench::{Bench, Lines};
use super::{Asked, Evaluator};
use crate::component::Component;
use crate::error::Error;
use crate::sample::Sample;

/// The program that imports an evaluator and forks for each candidate.
const SHIM: &str = include_str!("shim.py");

/// How long the evaluator may take to be imported.
const IMPORT: Duration = Duration::from_secs(120);

/// How long after the time of a candidate its end is waited for.
const LATE: Duration = Duration::from_secs(3);

/// How the evaluator of a folder is called.
#[derive(Clone, Debug)]
pub(crate) struct PythonSettings {
    /// The program `python3`.
    pub(crate) python: PathBuf,
    pub(crate) evaluator: PathBuf,
    /// An evaluator that the search does not use.
    pub(crate) held_out: Option<PathBuf>,
    pub(crate) cascade: bool,
    pub(crate) thresholds: Vec<f64>,
    /// Metrics that place a program and do not score it.
    pub(crate) dimensions: Vec<String>,
    /// The time of one evaluation.
    pub(crate) time: Duration,
}

/// Evaluates by a Python process that has imported the evaluator already and forks for each candidate. The gate starts
/// another one, in a sandbox of its own, for each.
#[derive(Debug)]
pub(crate) struct Python {
    settings: PythonSettings,
    component: Arc<Component>,
    /// Where the search evaluates. Candidates can write there, so the gate works elsewhere.
    bench: Bench,
    search: PathBuf,
    fresh: PathBuf,
    sandbox: Sandbox,
    worker: Option<Worker>,
}

#[derive(Debug)]
struct Worker {
    lines: Lines,
    requests: pipe::Sender,
    token: String,
}

/// A reply of the program.
#[derive(Debug, Deserialize)]
struct Reply {
    #[serde(default)]
    id: Option<u64>,
    #[serde(flatten)]
    sample: Sample,
}

impl Python {
    /// Works below a folder that is its own.
    pub(crate) fn new(
        settings: PythonSettings,
        component: Arc<Component>,
        folder: &Path,
        sandbox: Sandbox,
    ) -> Result<Self, Error> {
        Ok(Self {
            settings,
            component,
            bench: Bench::open(&folder.join("search"), sandbox.clone())?,
            search: folder.join("search"),
            fresh: folder.join("gate"),
            sandbox,
            worker: None,
        })
    }

    /// The command of the program, which is written anew: a candidate may have changed the one that is there.
    fn arguments(
        &self,
        bench: &Bench,
        evaluator: &Path,
        token: &str,
        with: (&str, Value),
    ) -> Result<Vec<String>, Error> {
        let shim = bench.write("shim.py", SHIM)?;
        let mut told = json!({
            "evaluator": evaluator,
            "work": bench.folder,
            "token": token,
            "cascade": self.settings.cascade,
            "thresholds": self.settings.thresholds,
            "dimensions": self.settings.dimensions,
        });
        if let Value::Object(told) = &mut told {
            told.insert(with.0.to_owned(), with.1);
        }
        Ok(vec![
            self.settings.python.display().to_string(),
            shim.display().to_string(),
            told.to_string(),
        ])
    }

    async fn worker(&mut self) -> Result<&mut Worker, Error> {
        if self.worker.is_none() {
            self.worker = Some(self.start().await?);
        }
        self.worker
            .as_mut()
            .ok_or_else(|| Error::Evaluator("it was not started".to_owned()))
    }

    async fn start(&mut self) -> Result<Worker, Error> {
        let token = uuid::Uuid::new_v4().simple().to_string();
        let queue = self.bench.folder.join("queue");
        let evaluator = self.settings.evaluator.clone();
        let arguments = self.arguments(&self.bench, &evaluator, &token, ("queue", json!(queue)))?;
        let mut lines = Lines::new(self.bench.start(&arguments).await?);
        let ready = tokio::time::timeout(IMPORT, lines.next()).await;
        if !matches!(&ready, Ok(Some(line)) if line.starts_with(&token)) {
            let said = String::from_utf8_lossy(&lines.errors).trim().to_owned();
            lines.end().await;
            return Err(Error::Evaluator(format!(
                "{} cannot be imported: {said}",
                self.settings.evaluator.display()
            )));
        }
        let requests = pipe::OpenOptions::new()
            .open_sender(&queue)
            .map_err(Error::file("open", queue))?;
        Ok(Worker {
            lines,
            requests,
            token,
        })
    }

    /// Writes the program of a candidate where the evaluator reads it.
    fn place(&self, bench: &Bench, asked: &Asked<'_>) -> Result<PathBuf, Error> {
        let texts = self.component.texts(asked.content);
        let (path, text) = texts
            .first()
            .ok_or_else(|| Error::Evaluator("the component has no file".to_owned()))?;
        let ending = Path::new(path)
            .extension()
            .map(|it| format!(".{}", it.display()));
        let name = format!("candidate-{}{}", asked.n, ending.unwrap_or_default());
        bench.write(&name, text)
    }

    fn request(&self, asked: &Asked<'_>, program: &Path) -> Value {
        json!({
            "id": asked.n,
            "program": program,
            "seed": asked.seed,
            "timeout": self.settings.time.as_secs_f64(),
        })
    }

    async fn answer(&mut self, request: &Value) -> Result<Option<Sample>, Error> {
        let time = self.settings.time + LATE;
        let worker = self.worker().await?;
        if worker
            .requests
            .write_all(format!("{request}\n").as_bytes())
            .await
            .is_err()
        {
            return Ok(None);
        }
        let token = worker.token.clone();
        let read = async {
            while let Some(line) = worker.lines.next().await {
                if let Some(sample) = reply(&line, &token, request) {
                    return Some(sample);
                }
            }
            None
        };
        Ok(tokio::time::timeout(time, read).await.ok().flatten())
    }

    /// One evaluation in a sandbox of its own.
    async fn once(&mut self, evaluator: &Path, asked: &Asked<'_>) -> Result<Sample, Error> {
        let bench = Bench::open(&self.fresh, self.sandbox.clone())?;
        let program = self.place(&bench, asked)?;
        let request = self.request(asked, &program);
        let token = uuid::Uuid::new_v4().simple().to_string();
        let arguments = self.arguments(&bench, evaluator, &token, ("request", request.clone()))?;
        let mut lines = Lines::new(bench.start(&arguments).await?);
        let read = tokio::time::timeout(self.settings.time + IMPORT, lines.next()).await;
        let sample = match read
            .ok()
            .flatten()
            .and_then(|it| reply(&it, &token, &request))
        {
            Some(sample) => sample,
            None => Sample::invalid(format!(
                "the evaluator gave no result: {}",
                String::from_utf8_lossy(&lines.errors).trim()
            )),
        };
        lines.end().await;
        Ok(sample)
    }
}

fn reply(line: &str, token: &str, request: &Value) -> Option<Sample> {
    let said = line.strip_prefix(token)?.trim();
    let reply: Reply = serde_json::from_str(said).ok()?;
    (reply.id == request.get("id")?.as_u64()).then(|| reply.sample.bounded())
}

impl Evaluator for Python {
    async fn ready(&mut self) -> Result<(), Error> {
        self.worker().await.map(|_| ())
    }

    async fn evaluate(&mut self, asked: Asked<'_>) -> Result<Sample, Error> {
        let program = self.place(&self.bench, &asked)?;
        let request = self.request(&asked, &program);
        let answered = self.answer(&request).await?;
        let sample = match answered {
            Some(sample) => sample,
            None => {
                if let Some(worker) = self.worker.take() {
                    worker.lines.end().await;
                }
                // Nothing that a candidate left is in the way of the next process.
                self.bench = Bench::open(&self.search, self.sandbox.clone())?;
                Sample::invalid(
                    "it ended the process that evaluates, or could not be ended in time",
                )
            }
        };
        if let Some(name) = program.file_name().and_then(|it| it.to_str()) {
            self.bench.remove(name);
        }
        Ok(sample)
    }

    async fn evaluate_fresh(&mut self, asked: Asked<'_>) -> Result<Sample, Error> {
        let evaluator = self.settings.evaluator.clone();
        self.once(&evaluator, &asked).await
    }

    async fn evaluate_held_out(&mut self, asked: Asked<'_>) -> Result<Option<Sample>, Error> {
        match self.settings.held_out.clone() {
            Some(evaluator) => self.once(&evaluator, &asked).await.map(Some),
            None => Ok(None),
        }
    }
}
