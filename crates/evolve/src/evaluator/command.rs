//! Any command as an evaluator: the candidate's files in place, the command, and what it says.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tools::sandbox::Sandbox;
use tools::terminal::Ended;

use super::bench::{Bench, Output, quoted};
use super::result::{Reading, read};
use super::{Asked, Evaluator};
use crate::candidate::Content;
use crate::component::Component;
use crate::error::Error;
use crate::parameter::Place;
use crate::sample::Sample;

/// The most of a project that is copied for a candidate, in bytes and files.
const BYTES: u64 = 200 << 20;
const FILES: usize = 50_000;

/// Folders that no evaluator needs.
const LEFT_OUT: &[&str] = &[".git", "target", "node_modules", "__pycache__", ".venv"];

/// A command that scores, and what has to hold before.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CommandSettings {
    pub project: PathBuf,
    pub command: Vec<String>,
    /// The same against what a search has not seen. `{seed}` in it becomes the seed.
    pub held_out: Option<Vec<String>>,
    /// Commands that have to succeed, or the candidate is invalid: the project's tests.
    pub must: Vec<Vec<String>>,
    pub reading: Reading,
    pub time: Duration,
}

impl CommandSettings {
    /// A command in a project that writes its result as JSON, with a minute of time.
    pub fn new(project: impl Into<PathBuf>, command: Vec<String>) -> Self {
        Self {
            project: project.into(),
            command,
            held_out: None,
            must: Vec::new(),
            reading: Reading::default(),
            time: Duration::from_secs(60),
        }
    }
}

/// Evaluates by a command in a copy of the project. The search uses one copy and writes each candidate into it; the gate makes
/// a copy for each evaluation.
#[derive(Debug)]
pub struct Commands {
    settings: CommandSettings,
    component: Arc<Component>,
    sandbox: Sandbox,
    folder: PathBuf,
    search: Option<Bench>,
}

impl Commands {
    /// Works below a folder that is its own.
    pub fn new(
        settings: CommandSettings,
        component: Arc<Component>,
        folder: impl Into<PathBuf>,
        sandbox: Sandbox,
    ) -> Self {
        Self {
            settings,
            component,
            sandbox,
            folder: folder.into(),
            search: None,
        }
    }

    fn copy(&self, name: &str) -> Result<Bench, Error> {
        let bench = Bench::open(&self.folder.join(name), self.sandbox.clone())?;
        let mut left = (BYTES, FILES);
        copy(
            &self.settings.project,
            &bench.folder.join("project"),
            &mut left,
        )?;
        Ok(bench)
    }

    /// Puts a candidate into a copy.
    fn place(&self, bench: &Bench, content: &Content) -> Result<(), Error> {
        for (path, text) in self.component.texts(content) {
            bench.write(&format!("project/{path}"), &text)?;
        }
        let mut files: BTreeMap<&str, Value> = BTreeMap::new();
        for (parameter, value) in self.component.parameters.iter().zip(&content.values) {
            let Place::Json { path, pointer } = &parameter.place else {
                continue;
            };
            // From the project itself: a candidate may have changed the copy.
            let json = match files.entry(path) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(json(&self.settings.project.join(path))?),
            };
            let place = json.pointer_mut(pointer).ok_or_else(|| Error::Folder {
                path: self.settings.project.join(path),
                problem: format!("it has no {pointer}"),
            })?;
            *place = parameter.json(value);
        }
        for (path, json) in files {
            bench.write(&format!("project/{path}"), &json.to_string())?;
        }
        Ok(())
    }

    /// The line that runs a command with the values of the parameters and the place of the result.
    fn line(&self, bench: &Bench, command: &[String], asked: &Asked<'_>) -> String {
        let mut line = "cd project && ".to_owned();
        let result = bench.folder.join("result.json").display().to_string();
        let mut variables = vec![
            ("MONAS_RESULT".to_owned(), result.clone()),
            ("MONAS_RESULT_FD".to_owned(), "3".to_owned()),
            ("MONAS_SEED".to_owned(), asked.seed.to_string()),
        ];
        let mut words: Vec<String> = command
            .iter()
            .map(|it| it.replace("{seed}", &asked.seed.to_string()))
            .collect();
        for (parameter, value) in self.component.parameters.iter().zip(&asked.content.values) {
            match &parameter.place {
                Place::Environment(name) => variables.push((name.clone(), parameter.text(value))),
                Place::Argument(name) => words.push(format!("--{name}={}", parameter.text(value))),
                Place::Json { .. } => {}
            }
        }
        // Nothing of the shell reads a name or a value: all are quoted.
        line.push_str("exec env ");
        for (name, value) in variables {
            line.push_str(&quoted(&format!("{name}={value}")));
            line.push(' ');
        }
        line.push_str(
            &words
                .iter()
                .map(|it| quoted(it))
                .collect::<Vec<_>>()
                .join(" "),
        );
        line.push_str(&format!(" 3>{}", quoted(&result)));
        line
    }

    async fn score(
        &self,
        bench: &Bench,
        command: &[String],
        asked: &Asked<'_>,
    ) -> Result<Sample, Error> {
        let began = Instant::now();
        self.place(bench, asked.content)?;
        bench.remove("result.json");
        for must in &self.settings.must {
            let output = bench
                .run(&self.line(bench, must, asked), self.settings.time)
                .await?;
            if let Some(why) = failure(&output, self.settings.time) {
                let mut sample = Sample::invalid(format!("{}: {why}", must.join(" ")));
                sample.seconds = began.elapsed().as_secs_f64();
                return Ok(sample);
            }
        }
        let output = bench
            .run(&self.line(bench, command, asked), self.settings.time)
            .await?;
        let file = bench.read("result.json", 1 << 20).unwrap_or_default();
        let out = String::from_utf8_lossy(&output.out);
        // A runner of tests ends with a failure when one fails: its counts say more.
        let counts = self.settings.reading == Reading::Tests && !output.late;
        let mut sample = match failure(&output, self.settings.time).filter(|_| !counts) {
            Some(why) => Sample::invalid(why),
            None => read(&self.settings.reading, &file, &out),
        };
        if sample.score.is_none() {
            let err = String::from_utf8_lossy(&output.err);
            let text = if err.trim().is_empty() { out } else { err };
            let tail: String = text
                .chars()
                .rev()
                .take(4_096)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect();
            sample.artifacts.insert("output".to_owned(), tail);
        }
        sample.seconds = began.elapsed().as_secs_f64();
        Ok(sample.bounded())
    }

    async fn once(&self, command: &[String], asked: &Asked<'_>) -> Result<Sample, Error> {
        let bench = self.copy("gate")?;
        self.score(&bench, command, asked).await
    }
}

fn json(path: &Path) -> Result<Value, Error> {
    let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
    serde_json::from_str(&text).map_err(|it| Error::Folder {
        path: path.to_owned(),
        problem: it.to_string(),
    })
}

fn failure(output: &Output, time: Duration) -> Option<String> {
    match output.ended {
        _ if output.late => Some(format!("its time of {} s was over", time.as_secs_f64())),
        Some(Ended::Exited(0)) => None,
        Some(Ended::TooManyProcesses(most)) => Some(format!("it had more than {most} processes")),
        Some(ended) => Some(format!("it ended with exit code {}", ended.code())),
        None => Some("it did not end".to_owned()),
    }
}

fn copy(from: &Path, to: &Path, left: &mut (u64, usize)) -> Result<(), Error> {
    fs::create_dir_all(to).map_err(Error::file("create", to))?;
    for entry in fs::read_dir(from).map_err(Error::file("list", from))? {
        let entry = entry.map_err(Error::file("list", from))?;
        let (path, name) = (entry.path(), entry.file_name());
        let kind = entry.file_type().map_err(Error::file("read", &path))?;
        if kind.is_dir() {
            if !LEFT_OUT.iter().any(|it| name == *it) {
                copy(&path, &to.join(name), left)?;
            }
        } else if kind.is_file() {
            let size = entry.metadata().map_err(Error::file("read", &path))?.len();
            let (Some(bytes), Some(files)) = (left.0.checked_sub(size), left.1.checked_sub(1))
            else {
                return Err(Error::Folder {
                    path: from.to_owned(),
                    problem: "the project is larger than 200 MiB or 50,000 files, which is the most that is copied".to_owned(),
                });
            };
            *left = (bytes, files);
            fs::copy(&path, to.join(name)).map_err(Error::file("copy", &path))?;
        }
    }
    Ok(())
}

impl Evaluator for Commands {
    async fn ready(&mut self) -> Result<(), Error> {
        if self.search.is_none() {
            self.search = Some(self.copy("search")?);
        }
        Ok(())
    }

    async fn evaluate(&mut self, asked: Asked<'_>) -> Result<Sample, Error> {
        let bench = match self.search.take() {
            Some(bench) => bench,
            None => self.copy("search")?,
        };
        // What a candidate left may be in the way of the next: then a new copy is made.
        let bench = match self.place(&bench, asked.content) {
            Ok(()) => bench,
            Err(_) => self.copy("search")?,
        };
        let sample = self.score(&bench, &self.settings.command, &asked).await;
        self.search = Some(bench);
        sample
    }

    async fn evaluate_fresh(&mut self, asked: Asked<'_>) -> Result<Sample, Error> {
        self.once(&self.settings.command, &asked).await
    }

    async fn evaluate_held_out(&mut self, asked: Asked<'_>) -> Result<Option<Sample>, Error> {
        match &self.settings.held_out {
            Some(command) => self.once(command, &asked).await.map(Some),
            None => Ok(None),
        }
    }
}
