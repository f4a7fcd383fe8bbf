//! What happens to a task, told as what happens to a run.
//!
//! A2A tells of states and of artifacts; ACP tells of a run that begins, of messages that grow, and of an end. The
//! teller knows the task as far as it was told, so that every event of a run has the run as it was then.

use a2a::event::Event as Happened;
use a2a::types::{Artifact, Event as Payload, Message as A2aMessage, Task, TaskState};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::content;
use crate::error::Error;
use crate::limits::{MAX_EVENT_BYTES, MAX_EVENTS};
use crate::run;
use crate::types::{Event, Message, Run, RunStatus};

/// Tells what happens to one run.
#[derive(Debug)]
pub(crate) struct Teller {
    /// What the agent as a whole is called.
    whole: String,
    /// The task as far as it was told.
    task: Task,
    phase: Phase,
    /// The message that grows, and the artifact it is of.
    open: Option<(String, Message)>,
    told: Vec<Event>,
}

/// How much of a run was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing.
    New,
    /// That it is there. That it is worked on was not told, or not since it waited.
    Resting,
    /// That it is worked on.
    Working,
}

impl Teller {
    /// Tells a run from its beginning.
    pub(crate) fn new(whole: &str) -> Self {
        Self {
            whole: whole.to_owned(),
            task: Task::default(),
            phase: Phase::New,
            open: None,
            told: Vec::new(),
        }
    }

    /// Tells a run from where it is resumed: that it was created is no news.
    pub(crate) fn resumed(whole: &str) -> Self {
        Self {
            phase: Phase::Resting,
            ..Self::new(whole)
        }
    }

    /// What is to be told when this happens.
    pub(crate) fn take(&mut self, event: &Happened) -> Vec<Event> {
        let known = self.task.artifacts.len();
        let payload = &event.response().payload;
        if matches!(
            payload,
            Payload::StatusUpdate(_) | Payload::ArtifactUpdate(_)
        ) {
            // Whatever came of it, it was worked on before.
            self.works();
        }
        event.apply_to(&mut self.task);
        match payload {
            Payload::Task(task) => self.seen(known, task),
            Payload::StatusUpdate(update) => {
                let status = update.status.as_ref();
                let said = status.and_then(|status| status.message.as_ref());
                self.stands(said);
            }
            Payload::ArtifactUpdate(update) => {
                if let Some(artifact) = &update.artifact {
                    self.grow(artifact, update.append);
                    if update.last_chunk {
                        self.close();
                    }
                }
            }
            Payload::Message(_) | Payload::Unset => {}
        }
        std::mem::take(&mut self.told)
    }

    /// The whole task: as it begins, as it is resumed, or in the place of events that are no more.
    fn seen(&mut self, known: usize, task: &Task) {
        if self.phase == Phase::New {
            self.phase = Phase::Resting;
            let mut run = self.run(RunStatus::Created);
            run.output.clear();
            self.told.push(Event::RunCreated { run });
        } else if known == 0 && run::state(task) == TaskState::Working {
            // What it made before it was resumed is no news, either.
            return self.works();
        }
        for artifact in task.artifacts.iter().skip(known) {
            self.works();
            self.grow(artifact, false);
            self.close();
        }
        let said = run::said(task).cloned();
        self.stands(said.as_ref());
    }

    /// The task stands differently, or says something.
    fn stands(&mut self, said: Option<&A2aMessage>) {
        let state = run::state(&self.task);
        match state {
            TaskState::Unspecified | TaskState::Submitted => return,
            _ => self.works(),
        }
        match (state, said) {
            (TaskState::Working, Some(said)) => {
                let generic = run::progress(said);
                self.told.push(Event::Generic { generic });
            }
            (TaskState::Completed, Some(said)) => {
                self.close();
                let parts = said.parts.iter();
                let parts = parts.map(|part| content::from_a2a(part, None)).collect();
                self.begin(String::new());
                self.add(parts);
                self.close();
            }
            _ => {}
        }
        if !state.is_terminal() && !state.is_interrupted() {
            return;
        }
        self.close();
        let run = Box::new(run::of(&self.task, &self.whole));
        self.phase = Phase::Resting;
        self.told.push(match run.status {
            RunStatus::Awaiting => Event::RunAwaiting { run },
            RunStatus::Cancelled => Event::RunCancelled { run },
            RunStatus::Failed => Event::RunFailed { run },
            _ => Event::RunCompleted { run },
        });
    }

    /// The run is worked on. A task that is done at once never says so.
    fn works(&mut self) {
        if self.phase == Phase::Resting {
            self.phase = Phase::Working;
            let run = self.run(RunStatus::InProgress);
            self.told.push(Event::RunInProgress { run });
        }
    }

    /// The run, at a moment at which it stood so.
    fn run(&self, status: RunStatus) -> Box<Run> {
        Box::new(Run {
            status,
            await_request: None,
            error: None,
            finished_at: None,
            ..run::of(&self.task, &self.whole)
        })
    }

    /// Parts of an artifact: of the message that is open, or of a new one.
    fn grow(&mut self, artifact: &Artifact, append: bool) {
        let id = &artifact.artifact_id;
        let continues = matches!(&self.open, Some((open, _)) if append && open == id);
        if !continues {
            self.close();
            self.begin(id.clone());
        }
        self.add(content::artifact_parts(artifact).collect());
    }

    fn begin(&mut self, artifact: String) {
        let message = Message {
            role: run::role(run::agent_name(&self.task, &self.whole)),
            parts: Vec::new(),
            created_at: run::stamp(&self.task),
            completed_at: None,
        };
        self.told.push(Event::MessageCreated {
            message: message.clone(),
        });
        self.open = Some((artifact, message));
    }

    fn add(&mut self, parts: Vec<crate::types::Part>) {
        for part in parts {
            if let Some((_, message)) = &mut self.open {
                message.parts.push(part.clone());
            }
            self.told.push(Event::MessagePart { part });
        }
    }

    /// The message that grew is finished.
    fn close(&mut self) {
        if let Some((_, mut message)) = self.open.take() {
            message.completed_at = run::stamp(&self.task);
            self.told.push(Event::MessageCompleted { message });
        }
    }
}

/// All that happened to a run up to some moment, if it is not too much.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Log {
    events: Vec<Box<RawValue>>,
    #[serde(skip)]
    bytes: usize,
    #[serde(skip)]
    generation: u64,
}

impl Log {
    /// Whether it reaches to this generation of the task.
    pub(crate) fn reaches(&self, generation: u64) -> bool {
        self.generation >= generation
    }

    pub(crate) fn take(&mut self, teller: &mut Teller, event: &Happened) -> Result<(), Error> {
        self.generation = event.cursor().unwrap_or(self.generation);
        for told in teller.take(event) {
            let written = to_raw_value(&told).expect("events are always written");
            self.bytes += written.get().len();
            self.events.push(written);
        }
        if self.events.len() > MAX_EVENTS || self.bytes > MAX_EVENT_BYTES {
            let why = format!(
                "more than {MAX_EVENTS} events, or {MAX_EVENT_BYTES} bytes of them, happened to this run"
            );
            return Err(Error::TooMuch(why));
        }
        Ok(())
    }
}
