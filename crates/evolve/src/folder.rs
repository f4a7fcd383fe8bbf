//! Folders in OpenEvolve's shape, run as they are: `initial_program.*`, `evaluator.py` and `config.yaml`.
//!
//! A run writes `openevolve_output` in the folder and nothing else there; its record is in a folder of its own among the
//! data, found again by the program, the evaluator and the seed. `gate` turns what was found into a proposal, which a person
//! approves before the program is replaced.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tools::sandbox::{Sandbox, SandboxKind};

use crate::component::Component;
use crate::error::Error;
use crate::evaluator::python::{Python, PythonSettings};
use crate::journal::FileJournal;
use crate::report::Report;
use crate::run::{Progress, Run};
use crate::search::{Search, Settings};
use crate::source::Source;
use crate::syntax::hex;

mod config;
mod export;
pub(crate) mod gate;

pub use config::FolderConfig;
pub use gate::{FolderGate, Measured, Proposal, canary};

/// How a folder is run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FolderOptions {
    pub folder: PathBuf,
    /// Where the records of runs are kept.
    pub data: PathBuf,
    /// Evaluations of the search; the configuration of the folder if it is left out.
    pub budget: Option<usize>,
    pub seed: Option<u64>,
    /// As many evaluations at random, to compare with.
    pub random: bool,
    /// The program `python3`.
    pub python: PathBuf,
    pub sandbox: Sandbox,
}

impl FolderOptions {
    /// The usual way to run a folder, with these data and this sandbox.
    pub fn new(folder: impl Into<PathBuf>, data: impl Into<PathBuf>, sandbox: Sandbox) -> Self {
        Self {
            folder: folder.into(),
            data: data.into(),
            budget: None,
            seed: None,
            random: true,
            python: PathBuf::from("python3"),
            sandbox,
        }
    }
}

/// A run whose record is among the data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownRun {
    #[serde(default)]
    pub id: String,
    pub folder: PathBuf,
    pub program: String,
    pub seed: u64,
}

/// The runs among these data, by their names.
pub fn runs(data: &Path) -> Result<Vec<KnownRun>, Error> {
    let all = data.join("evolve");
    let mut found = Vec::new();
    if !all.is_dir() {
        return Ok(found);
    }
    for entry in fs::read_dir(&all)
        .map_err(Error::file("list", &all))?
        .filter_map(Result::ok)
    {
        let text = fs::read_to_string(entry.path().join("run.json")).unwrap_or_default();
        if let Ok(run) = serde_json::from_str::<KnownRun>(&text) {
            found.push(KnownRun {
                id: name(&entry.path()),
                ..run
            });
        }
    }
    found.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(found)
}

/// The budget and the seed of a folder that names none.
const BUDGET: usize = 200;
const SEED: u64 = 42;

/// The longest program that is read.
const LONGEST: u64 = 4 << 20;

/// A run of a folder.
#[derive(Debug)]
pub struct FolderRun {
    run: Run<FileJournal, Python>,
    /// Where its record is.
    data: PathBuf,
    folder: PathBuf,
    config: FolderConfig,
    settings: Settings,
    /// The program that was in force when the run began.
    program: PathBuf,
    began: SystemTime,
}

impl FolderRun {
    /// Reads a folder and takes up its run, or begins one.
    pub fn open(options: &FolderOptions) -> Result<Self, Error> {
        let folder = options
            .folder
            .canonicalize()
            .map_err(Error::file("open", &options.folder))?;
        let program = initial_program(&folder)?;
        let evaluator = folder.join("evaluator.py");
        if !evaluator.is_file() {
            return Err(problem(
                &folder,
                "it has no evaluator.py with a function evaluate(program_path)",
            ));
        }
        let config = FolderConfig::read(&folder)?;
        let text = read(&program)?;
        let name = name(&program);
        let mut component =
            Component::of_files(&component_id(&folder), vec![Source::parse(&name, &text)?]);
        component.longest = config.longest.unwrap_or(component.longest).max(text.len());
        let component = Arc::new(component);
        let settings = settings(&config, options);
        let data =
            options
                .data
                .join("evolve")
                .join(run_id(&folder, &evaluator, &text, settings.seed)?);
        fs::create_dir_all(&data).map_err(Error::file("create", &data))?;
        let journal = FileJournal::open(&data.join("events.jsonl"))?;
        let evaluator = evaluator_of(options, &config, &folder, &component, &data.join("work"))?;
        let described =
            serde_json::json!({ "folder": folder, "program": name, "seed": settings.seed });
        write(&data.join("run.json"), &described.to_string())?;
        Ok(Self {
            run: Run::open(component, settings.clone(), journal, evaluator)?,
            data,
            folder,
            config,
            settings,
            program,
            began: SystemTime::now(),
        })
    }

    pub fn search(&self) -> &Search {
        self.run.search()
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn config(&self) -> &FolderConfig {
        &self.config
    }

    /// The name of the run: that of its folder among the data.
    pub fn id(&self) -> String {
        name(&self.data)
    }

    pub fn output(&self) -> PathBuf {
        self.folder.join("openevolve_output")
    }

    /// Does the next thing. At each checkpoint and at the end the output is written.
    pub async fn advance(&mut self) -> Result<Progress, Error> {
        let progress = self.run.advance().await?;
        let search = self.run.search();
        let due = match &progress {
            Progress::Evaluated { n } => {
                let every = self.config.checkpoint.max(1);
                *n > 0
                    && search.evaluations().is_multiple_of(every)
                    && search.random_evaluations() == 0
            }
            Progress::Stopped { .. } => true,
        };
        if let Some(first) = search.entries().first()
            && first.fitness().score().is_none()
            && matches!(progress, Progress::Stopped { .. })
        {
            let why = first.samples.last().and_then(|it| it.reason.clone());
            return Err(Error::Initial(
                why.unwrap_or_else(|| "it was not evaluated".to_owned()),
            ));
        }
        if due {
            export::write(search, &self.output(), &self.program, self.began)?;
        }
        Ok(progress)
    }

    /// Runs to the end, telling what happens, and hands the best candidate to the gate.
    pub async fn finish(
        &mut self,
        mut tell: impl FnMut(&Search, &Progress),
    ) -> Result<Report, Error> {
        loop {
            let progress = self.advance().await?;
            tell(self.run.search(), &progress);
            if matches!(progress, Progress::Stopped { .. }) {
                break;
            }
        }
        let proposal = gate::propose(&mut self.run, &self.data, &self.program).await?;
        let report = Report::new(self.run.search(), &self.settings, proposal);
        let text = serde_json::to_string_pretty(&report).unwrap_or_default();
        write(&self.data.join("report.json"), &text)?;
        Ok(report)
    }
}

fn evaluator_of(
    options: &FolderOptions,
    config: &FolderConfig,
    folder: &Path,
    component: &Arc<Component>,
    work: &Path,
) -> Result<Python, Error> {
    let python = PythonSettings {
        python: interpreter(&options.python)?,
        held_out: Some(folder.join("held_out.py")).filter(|it| it.is_file()),
        evaluator: folder.join("evaluator.py"),
        cascade: config.cascade,
        thresholds: config.thresholds.clone(),
        dimensions: config.dimensions.clone(),
        time: config.time,
    };
    Python::new(
        python,
        Arc::clone(component),
        work,
        fit(&options.sandbox, folder)?,
    )
}

/// The interpreter itself: what is called `python3` may be a script that chooses one, by files that the sandbox hides.
fn interpreter(python: &Path) -> Result<PathBuf, Error> {
    let asked = Command::new(python)
        .args(["-c", "import sys; print(sys.executable)"])
        .output();
    let output = asked.map_err(Error::file("start", python))?;
    let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    match output.status.success() && path.is_absolute() {
        true => Ok(path),
        false => Err(problem(
            python,
            "it is no Python: it does not say where its interpreter is",
        )),
    }
}

fn settings(config: &FolderConfig, options: &FolderOptions) -> Settings {
    let budget = options.budget.or(config.iterations).unwrap_or(BUDGET);
    let mut settings = Settings::new(options.seed.or(config.seed).unwrap_or(SEED), budget);
    settings.random = if options.random { budget } else { 0 };
    settings.patience = config.patience;
    settings.target = config.target;
    settings
}

/// bubblewrap covers `/tmp`, so a folder below it needs the other kind.
fn fit(sandbox: &Sandbox, folder: &Path) -> Result<Sandbox, Error> {
    let mut sandbox = sandbox.clone();
    if sandbox.kind == SandboxKind::Bubblewrap && folder.starts_with("/tmp") {
        let path = sandbox
            .environment
            .iter()
            .find(|it| it.0 == "PATH")
            .map(|it| it.1.clone());
        if !SandboxKind::available(path.as_deref()).contains(&SandboxKind::Landlock) {
            return Err(problem(
                folder,
                "the sandbox hides /tmp: move the folder elsewhere",
            ));
        }
        sandbox.kind = SandboxKind::Landlock;
    }
    Ok(sandbox)
}

fn initial_program(folder: &Path) -> Result<PathBuf, Error> {
    let entries = fs::read_dir(folder).map_err(Error::file("list", folder))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|it| Some(it.ok()?.path()))
        .filter(|it| it.file_stem().is_some_and(|it| it == "initial_program") && it.is_file())
        .collect();
    found.sort();
    match found.len() {
        0 => Err(problem(folder, "it has no file initial_program.*")),
        1 => Ok(found.remove(0)),
        _ => Err(problem(
            folder,
            "it has several files initial_program.*: keep one",
        )),
    }
}

fn problem(path: &Path, problem: &str) -> Error {
    Error::Folder {
        path: path.to_owned(),
        problem: problem.to_owned(),
    }
}

fn read(path: &Path) -> Result<String, Error> {
    let length = fs::metadata(path).map_err(Error::file("read", path))?.len();
    if length > LONGEST {
        return Err(problem(path, "it is longer than 4 MiB"));
    }
    fs::read_to_string(path).map_err(Error::file("read", path))
}

/// Replaces a file, so that a reader sees the old text or the new one.
fn write(path: &Path, text: &str) -> Result<(), Error> {
    let part = path.with_extension("part");
    let written = fs::write(&part, text).and_then(|()| fs::rename(&part, path));
    written.map_err(Error::file("write", path))
}

fn name(path: &Path) -> String {
    path.file_name()
        .map(|it| it.display().to_string())
        .unwrap_or_default()
}

/// The name of the folder with a hash of its path: two folders of one name are two components.
fn component_id(folder: &Path) -> String {
    let hash = hex(&Sha256::digest(folder.display().to_string()));
    let short: String = hash.chars().take(6).collect();
    format!("{}-{short}", name(folder))
}

/// The same for the same program, evaluator and seed, so that the command given again goes on with the run.
fn run_id(folder: &Path, evaluator: &Path, program: &str, seed: u64) -> Result<String, Error> {
    let mut hash = Sha256::new();
    hash.update(program);
    hash.update(read(evaluator)?);
    hash.update(seed.to_le_bytes());
    let hash = hex(&hash.finalize());
    let short: String = hash.chars().take(8).collect();
    Ok(format!("{}-{short}", component_id(folder)))
}

fn seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO)
        .as_secs_f64()
}
