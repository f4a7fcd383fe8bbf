//! From the best candidate of a run to the program of its folder: measured anew, decided by the one gate for change, and
//! written after a person has approved.
//!
//! The record of a folder's gate is a file beside the records of its runs: what was proposed, the changes of the gate, and
//! which version was written. A version is recorded as adopted first and written then; if the process ends between the two,
//! the next one that opens the gate writes it.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use revise::{
    Change, Decision, Direction, Effect, Event, Evidence, Gate, Limits, Objective, Outcome, Pair,
    Rule, Verdict, VersionNumber, verdict,
};
use serde::{Deserialize, Serialize};
use similar::TextDiff;
use tools::{Project, ProjectPath};

use super::{FolderOptions, read};
use crate::candidate::Content;
use crate::component::Component;
use crate::error::Error;
use crate::evaluator::{Asked, Evaluator};
use crate::journal::Journal;
use crate::random::Random;
use crate::run::Run;
use crate::sample::Sample;
use crate::search::Search;
use crate::source::Source;

/// How many pairs of evaluations a trial has, and after how many without any difference the rest is known.
const PAIRS: usize = 8;
const EQUAL: usize = 3;

/// How many evaluations of the written program follow an adoption.
const CANARY: usize = 5;

/// What the gate knows of the fall of a score that is noise, as a share of the score.
const TOLERANCE: f64 = 0.05;

/// The author of what a search has found.
const AUTHOR: &str = "evolve";

/// A candidate that waits for a person, or waited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Proposal {
    /// Its number in this folder, from 1.
    pub number: u64,
    pub hash: String,
    /// The whole text of the program in force, and of the proposed one.
    pub before: String,
    pub after: String,
    /// Fresh evaluations of both, on the same seeds.
    pub trial: Measured,
    /// The same on what the search has not seen.
    pub held_out: Option<Measured>,
    /// Whether the folder has an evaluator for that. Without one other seeds of the same evaluator take its place.
    pub has_held_out: bool,
    /// How many candidates were evaluated to find it, and the best score of as many at random.
    pub evaluations: usize,
    pub at_random: Option<f64>,
}

/// Two programs, measured in fresh sandboxes on the same seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Scores in pairs; none for an evaluation that was invalid.
    pub baseline: Vec<Option<f64>>,
    pub candidate: Vec<Option<f64>>,
    pub verdict: Verdict,
}

impl Proposal {
    /// The change as a unified diff.
    pub fn diff(&self, name: &str) -> String {
        let diff = TextDiff::from_lines(self.before.as_str(), self.after.as_str());
        diff.unified_diff()
            .header(&format!("a/{name}"), &format!("b/{name}"))
            .to_string()
    }
}

/// A line of the record.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Begun { hash: String, text: String },
    Text { hash: String, text: String },
    Changes(Vec<Change>),
    Proposal(Box<Proposal>),
    Written(VersionNumber),
}

/// The gate of a folder's program, restored from its record. One process at a time holds it.
#[derive(Debug)]
pub struct FolderGate {
    path: PathBuf,
    file: File,
    program: PathBuf,
    gate: Gate,
    texts: BTreeMap<String, String>,
    proposals: Vec<Proposal>,
    written: VersionNumber,
}

impl FolderGate {
    /// The gate of a folder. None if no run of the folder has ended with a proposal.
    pub fn find(folder: &Path, data: &Path) -> Result<Option<Self>, Error> {
        let folder = folder.canonicalize().map_err(Error::file("open", folder))?;
        let path = place(&folder, data);
        match path.is_file() {
            true => Self::open(&path, &super::initial_program(&folder)?, None).map(Some),
            false => Ok(None),
        }
    }

    fn open(path: &Path, program: &Path, begin: Option<(&str, &str)>) -> Result<Self, Error> {
        let opened = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path);
        let mut file = opened.map_err(Error::file("open", path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Busy(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(Error::file("lock", path)(source)),
        }
        let mut text = String::new();
        file.read_to_string(&mut text)
            .map_err(Error::file("read", path))?;
        let whole = text.rfind('\n').map_or(0, |it| it + 1);
        file.set_len(whole as u64)
            .map_err(Error::file("mend", path))?;
        let mut gate = Self {
            path: path.to_owned(),
            file,
            program: program.to_owned(),
            gate: Gate::default(),
            texts: BTreeMap::new(),
            proposals: Vec::new(),
            written: VersionNumber(1),
        };
        for (number, line) in text.get(..whole).unwrap_or_default().lines().enumerate() {
            let line = serde_json::from_str(line).map_err(|it| Error::Record {
                path: path.to_owned(),
                line: number + 1,
                problem: it.to_string(),
            })?;
            gate.fold(line);
        }
        if let Some((hash, text)) = begin.filter(|_| whole == 0) {
            gate.record(Line::Begun {
                hash: hash.to_owned(),
                text: text.to_owned(),
            })?;
        }
        gate.finish_writing()?;
        Ok(gate)
    }

    fn fold(&mut self, line: Line) {
        match line {
            Line::Begun { hash, text } => {
                self.gate = Gate::new(&hash);
                self.texts.insert(hash, text);
            }
            Line::Text { hash, text } => {
                self.texts.insert(hash, text);
            }
            Line::Changes(changes) => changes.iter().for_each(|it| self.gate.apply(it)),
            Line::Proposal(proposal) => {
                self.proposals.retain(|it| it.number != proposal.number);
                self.proposals.push(*proposal);
            }
            Line::Written(version) => self.written = version,
        }
    }

    fn record(&mut self, line: Line) -> Result<(), Error> {
        let unwritable = |it: serde_json::Error| Error::file("write", &self.path)(it.into());
        let mut text = serde_json::to_string(&line).map_err(unwritable)?;
        text.push('\n');
        let written = self
            .file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.sync_data());
        written.map_err(Error::file("write", &self.path))?;
        self.fold(line);
        Ok(())
    }

    /// Asks the gate, and records what it decides.
    fn tell(&mut self, event: &Event) -> Result<Vec<Effect>, Error> {
        let limits = self.limits();
        let step = self
            .gate
            .next(&limits, event)
            .map_err(|it| Error::Refused(it.to_string()))?;
        self.record(Line::Changes(step.changes))?;
        Ok(step.effects)
    }

    fn limits(&self) -> Limits {
        let before = self
            .proposals
            .last()
            .map(|it| it.trial.baseline.iter().flatten());
        let size = before
            .into_iter()
            .flatten()
            .fold(0.0_f64, |most, it| most.max(it.abs()));
        Limits {
            every: 1,
            canary: CANARY,
            tolerance: TOLERANCE * size,
        }
    }

    /// The gate itself: versions, the open proposal, those that have ended.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// All proposals with what was measured, oldest first.
    pub fn proposals(&self) -> &[Proposal] {
        &self.proposals
    }

    /// The proposal that waits for a person.
    pub fn waiting(&self) -> Option<&Proposal> {
        let open = self
            .gate
            .open()
            .filter(|it| it.stage == revise::Stage::Approval)?;
        self.proposals.iter().find(|it| it.number == open.id.0)
    }

    /// The name of the program's file.
    pub fn program(&self) -> String {
        super::name(&self.program)
    }

    fn open_id(&self) -> Result<revise::ProposalId, Error> {
        let open = self.gate.open().map(|it| it.id);
        open.ok_or_else(|| Error::Refused("no proposal waits: run the search first".to_owned()))
    }

    /// A person approves: the version is adopted, then written in the place of the program, unless the program was changed
    /// since the proposal was measured.
    pub fn approve(&mut self, by: &str) -> Result<VersionNumber, Error> {
        let proposal = self.open_id()?;
        let now = read(&self.program)?;
        let waiting = self
            .waiting()
            .ok_or_else(|| Error::Refused(format!("{proposal} does not wait for a person")))?;
        if waiting.before != now {
            return Err(Error::Refused(format!(
                "{} was changed since {proposal} was measured: run the search again",
                self.program.display()
            )));
        }
        self.tell(&Event::Decided {
            proposal,
            by: by.to_owned(),
            decision: Decision::Approve,
        })?;
        self.finish_writing()?;
        Ok(self.gate.version().number)
    }

    pub fn reject(&mut self, by: &str, reason: &str) -> Result<(), Error> {
        let proposal = self.open_id()?;
        self.tell(&Event::Decided {
            proposal,
            by: by.to_owned(),
            decision: Decision::Reject {
                reason: reason.to_owned(),
            },
        })?;
        Ok(())
    }

    /// A person puts an older version in force again, at once: the one before, if none is named.
    pub fn rollback(&mut self, to: Option<u64>, by: &str) -> Result<VersionNumber, Error> {
        let now = self.gate.version().clone();
        let before = || {
            let versions = self.gate.versions().iter().rev();
            let mut older = versions.filter(|it| it.hash != now.hash);
            older.next().map(|it| it.number)
        };
        let to = match to {
            Some(number) => VersionNumber(number),
            None => {
                before().ok_or_else(|| Error::Refused("there is no version before".to_owned()))?
            }
        };
        let known = self.texts.get(&now.hash);
        if known.is_some_and(|known| read(&self.program).is_ok_and(|it| it != *known)) {
            return Err(Error::Refused(format!(
                "{} was changed since {} was written: take that change back first",
                self.program.display(),
                now.number
            )));
        }
        self.tell(&Event::Restored {
            to,
            by: by.to_owned(),
        })?;
        self.finish_writing()?;
        Ok(self.gate.version().number)
    }

    /// Hears how the written program does. After a fall the version before is written again.
    pub fn scored(&mut self, score: f64) -> Result<(), Error> {
        self.tell(&Event::Scored { score })?;
        self.finish_writing()
    }

    /// Writes the version in force, if that is still to be done and the file is as the version before left it.
    fn finish_writing(&mut self) -> Result<(), Error> {
        let version = self.gate.version().clone();
        if version.number <= self.written {
            return Ok(());
        }
        let text = self.texts.get(&version.hash).cloned();
        let before = self
            .gate
            .find(self.written)
            .and_then(|it| self.texts.get(&it.hash))
            .cloned();
        if let Some(text) = text {
            let now = read(&self.program)?;
            if now != text {
                if before.is_some_and(|it| it != now) {
                    return Err(Error::Refused(format!(
                        "{} was changed by another hand, so {} is not written over it",
                        self.program.display(),
                        version.number
                    )));
                }
                self.replace(&text)?;
            }
        }
        self.record(Line::Written(version.number))
    }

    fn replace(&self, text: &str) -> Result<(), Error> {
        let failed =
            |it: tools::Error| Error::Refused(format!("write {}: {it}", self.program.display()));
        let folder = self.program.parent().unwrap_or(Path::new("."));
        let project = Project::open(folder).map_err(failed)?;
        let path = ProjectPath::parse(&super::name(&self.program)).map_err(failed)?;
        project.write(&path, text, None).map_err(failed)?;
        Ok(())
    }
}

fn place(folder: &Path, data: &Path) -> PathBuf {
    data.join("evolve")
        .join(format!("gate-{}.jsonl", super::component_id(folder)))
}

/// Hands the best candidate of an ended run to the gate: it is measured anew against the program in force, in fresh sandboxes
/// and on seeds that the search did not use. Returns what the gate makes of it; none if the run found nothing better.
pub(super) async fn propose<J: Journal, E: Evaluator>(
    run: &mut Run<J, E>,
    data: &Path,
    program: &Path,
) -> Result<Option<(Proposal, Option<Outcome>)>, Error> {
    let search = run.search();
    let best = search.best();
    let (Some(before), Some(after)) = (Candidate::of(search, 0), Candidate::of(search, best))
    else {
        return Ok(None);
    };
    if best == 0 {
        return Ok(None);
    }
    let (evaluations, at_random) = (search.evaluations(), search.best_at_random());
    let folder = program.parent().unwrap_or(Path::new("."));
    let all = data.parent().and_then(Path::parent).unwrap_or(data);
    let mut gate = FolderGate::open(
        &place(folder, all),
        program,
        Some((&before.hash, &before.text)),
    )?;
    if let Some(known) = gate.known(&before, &after) {
        return Ok(Some(known));
    }
    gate.enter(&before, &after)?;
    let id = gate.open_id()?;

    let trial = measure(
        run.evaluator(),
        &before.content,
        &after.content,
        id.0,
        false,
    )
    .await?;
    let mut proposal = Proposal {
        number: id.0,
        hash: after.hash.clone(),
        before: before.text.clone(),
        after: after.text.clone(),
        trial: trial.clone(),
        held_out: None,
        has_held_out: false,
        evaluations,
        at_random,
    };
    gate.record(Line::Proposal(Box::new(proposal.clone())))?;
    for score in trial.baseline.iter().flatten() {
        gate.tell(&Event::Scored { score: *score })?;
    }
    let effects = gate.tell(&Event::Trialled {
        proposal: id,
        verdict: trial.verdict,
    })?;
    if effects
        .iter()
        .any(|it| matches!(it, Effect::RunHeldOut { .. }))
    {
        let asked = Asked {
            n: 0,
            content: &before.content,
            seed: 0,
        };
        proposal.has_held_out = run.evaluator().evaluate_held_out(asked).await?.is_some();
        let held_out = measure(
            run.evaluator(),
            &before.content,
            &after.content,
            id.0,
            proposal.has_held_out,
        )
        .await?;
        proposal.held_out = Some(held_out.clone());
        gate.record(Line::Proposal(Box::new(proposal.clone())))?;
        gate.tell(&Event::HeldOut {
            proposal: id,
            verdict: held_out.verdict,
        })?;
    }
    let outcome = gate.outcome(id.0);
    Ok(Some((proposal, outcome)))
}

/// A candidate as the gate knows it.
struct Candidate {
    hash: String,
    text: String,
    content: Content,
}

impl Candidate {
    fn of(search: &Search, n: usize) -> Option<Self> {
        let content = search.content(n)?;
        let text = search.component().texts(&content).into_iter().next()?.1;
        Some(Self {
            hash: search.entries().get(n)?.hash.clone(),
            text,
            content,
        })
    }
}

impl FolderGate {
    /// How a proposal ended; none while it is under way.
    pub fn outcome(&self, number: u64) -> Option<Outcome> {
        let closed = self.gate.closed().find(|it| it.proposal.id.0 == number);
        closed.map(|it| it.outcome.clone())
    }

    /// The proposal of this candidate, if the gate has measured it already against the same program.
    fn known(&self, before: &Candidate, after: &Candidate) -> Option<(Proposal, Option<Outcome>)> {
        let same = |it: &&Proposal| it.hash == after.hash && it.before == before.text;
        let proposal = self.proposals.iter().rev().find(same)?;
        let waits = self
            .waiting()
            .is_some_and(|it| it.number == proposal.number);
        let outcome = self.outcome(proposal.number);
        (waits || outcome.is_some()).then(|| (proposal.clone(), outcome))
    }

    /// Opens a proposal. One that still waits is withdrawn: this one comes from a later search.
    fn enter(&mut self, before: &Candidate, after: &Candidate) -> Result<(), Error> {
        if let Some(open) = self.gate.open() {
            let proposal = open.id;
            self.tell(&Event::Withdrawn {
                proposal,
                by: AUTHOR.to_owned(),
            })?;
        }
        for candidate in [before, after] {
            self.record(Line::Text {
                hash: candidate.hash.clone(),
                text: candidate.text.clone(),
            })?;
        }
        if self.gate.version().hash != before.hash {
            self.tell(&Event::Replaced {
                hash: before.hash.clone(),
                by: "the owner of the folder".to_owned(),
            })?;
            self.record(Line::Written(self.gate.version().number))?;
        }
        self.tell(&Event::Proposed {
            by: AUTHOR.to_owned(),
            candidate: after.hash.clone(),
            // A program is never replaced without a person.
            major: true,
            undoes: None,
            ordered_by: None,
        })?;
        Ok(())
    }
}

/// Evaluates the program that an approval has written, as it stands in its folder. Returns whether it did worse than the one
/// before, which is then written again.
pub async fn canary(options: &FolderOptions) -> Result<bool, Error> {
    let folder = options
        .folder
        .canonicalize()
        .map_err(Error::file("open", &options.folder))?;
    let program = super::initial_program(&folder)?;
    let Some(mut gate) = FolderGate::find(&folder, &options.data)? else {
        return Ok(false);
    };
    let written = gate.gate.version().hash.clone();
    let source = Source::parse(&super::name(&program), &read(&program)?)?;
    let component = Arc::new(Component::of_files("canary", vec![source]));
    let content = component.content();
    let config = super::FolderConfig::read(&folder)?;
    let work = options
        .data
        .join("evolve")
        .join(format!("canary-{}", super::component_id(&folder)));
    let mut evaluator = super::evaluator_of(options, &config, &folder, &component, &work)?;
    let mut random = Random::at(0xCA7A, gate.gate.episodes());
    while gate.gate.canary().is_some() {
        let sample = fresh(&mut evaluator, &content, random.next() >> 33, false).await?;
        // An invalid version is as far below the one before as can be said.
        let least = gate
            .proposals
            .last()
            .and_then(|it| it.trial.baseline.iter().flatten().copied().reduce(f64::min));
        let score = sample
            .score
            .unwrap_or_else(|| least.map_or(0.0, |it| it - it.abs().max(1.0)));
        gate.scored(score)?;
    }
    Ok(gate.gate.version().hash != written)
}

/// Evaluates both programs in pairs, each pair on one seed. Each proposal draws seeds of its own.
async fn measure<E: Evaluator>(
    evaluator: &mut E,
    before: &Content,
    after: &Content,
    proposal: u64,
    held_out: bool,
) -> Result<Measured, Error> {
    let mut pairs: Vec<(Sample, Sample)> = Vec::new();
    let mut random = Random::at(0x6A7E_0000 + proposal, u64::from(held_out));
    while pairs.len() < PAIRS {
        let seed = random.next() >> 33;
        let one = fresh(evaluator, before, seed, held_out).await?;
        let two = fresh(evaluator, after, seed, held_out).await?;
        pairs.push((one, two));
        let same = |pair: &[(Sample, Sample)]| matches!(pair, [a, b] if a.0.score == b.0.score && a.1.score == b.1.score);
        if pairs.len() == EQUAL
            && pairs.windows(2).all(same)
            && let Some(last) = pairs.last().cloned()
        {
            // Scores without noise: more evaluations would only say the same.
            pairs.resize(PAIRS, last);
        }
    }
    let objective = Objective {
        name: "score".to_owned(),
        better: Direction::Higher,
        tolerance: 0.0,
    };
    let number = |it: &Sample| vec![it.score.unwrap_or(f64::NAN)];
    let rule = Rule {
        level: 0.01,
        seed: proposal,
        ..Rule::default()
    };
    let evidence = Evidence {
        pairs: pairs
            .iter()
            .map(|(one, two)| Pair {
                baseline: number(one),
                candidate: number(two),
            })
            .collect(),
        ..Evidence::default()
    };
    Ok(Measured {
        verdict: verdict(&rule, &[objective], &evidence),
        baseline: pairs.iter().map(|it| it.0.score).collect(),
        candidate: pairs.iter().map(|it| it.1.score).collect(),
    })
}

async fn fresh<E: Evaluator>(
    evaluator: &mut E,
    content: &Content,
    seed: u64,
    held_out: bool,
) -> Result<Sample, Error> {
    let asked = Asked {
        n: 0,
        content,
        seed,
    };
    if held_out && let Some(sample) = evaluator.evaluate_held_out(asked.clone()).await? {
        return Ok(sample);
    }
    evaluator.evaluate_fresh(asked).await
}
