//! Translates the events of a task into the events of a run.

use a2a::event::Event as TaskEvent;
use a2a::types::{Artifact, Event as Payload, Message as A2aMessage, Task, TaskState};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::content;
use crate::error::Error;
use crate::limits::{MAX_EVENT_BYTES, MAX_EVENTS};
use crate::run;
use crate::types::{Event, Message, Run, RunStatus};

/// Translates the events of one task into events of its run, in order.
///
/// The two protocols tell different things. A2A sends states and artifacts; a state change may carry the final message,
/// and a task may end without ever having been `WORKING`. ACP sends a run that is created, in progress and ended, and
/// between them messages that are created, grow by parts and are completed. So the translator keeps:
/// - `task`, the fold of all events so far: every `run.*` event of ACP holds the whole run as it was then;
/// - `phase`, which of the `run.*` events were sent: `run.in-progress` is sent before anything else that happens to the
///   run, also if the task never says that it works, and again after it waited for input;
/// - `open`, the message that is growing: parts of the same artifact are added to it, anything else completes it first.
///
/// An event must be folded into `task` before its translation is written, and after `run.in-progress` is written; the
/// other order would show a run in progress with its own end. A translator lives as long as one stream. For a stream
/// that resumes a run it begins with [`resumed`](Self::resumed), which leaves out `run.created` and the artifacts from
/// before. It never ends a stream itself: [`Event::ends_streams`] says which event is the last.
#[derive(Debug)]
pub(crate) struct EventTranslator {
    /// The name of the agent as a whole.
    whole: String,
    /// The task after the events so far.
    task: Task,
    phase: Phase,
    /// The message that is growing, and the id of its artifact.
    open: Option<(String, Message)>,
    out: Vec<Event>,
}

/// Which events of the run were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    New,
    /// `run.created`, but not `run.in-progress`, or not since the run waited for input.
    Resting,
    Working,
}

impl EventTranslator {
    /// For a stream from the beginning of a run.
    pub(crate) fn new(whole: &str) -> Self {
        Self {
            whole: whole.to_owned(),
            task: Task::default(),
            phase: Phase::New,
            open: None,
            out: Vec::new(),
        }
    }

    /// For a stream that resumes a run: `run.created` is not sent.
    pub(crate) fn resumed(whole: &str) -> Self {
        Self {
            phase: Phase::Resting,
            ..Self::new(whole)
        }
    }

    /// The events of the run for one event of the task.
    pub(crate) fn take(&mut self, event: &TaskEvent) -> Vec<Event> {
        let known = self.task.artifacts.len();
        let payload = &event.response().payload;
        if matches!(
            payload,
            Payload::StatusUpdate(_) | Payload::ArtifactUpdate(_)
        ) {
            // An update means that work had begun, also if it reports the end.
            self.in_progress();
        }
        event.apply_to(&mut self.task);
        match payload {
            Payload::Task(task) => self.snapshot(known, task),
            Payload::StatusUpdate(update) => {
                let status = update.status.as_ref();
                let said = status.and_then(|status| status.message.as_ref());
                self.status(said);
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
        std::mem::take(&mut self.out)
    }

    /// A snapshot of the task: the first event of a stream, or a replacement for events that the journal has dropped.
    /// `known` is how many artifacts were translated before it.
    fn snapshot(&mut self, known: usize, task: &Task) {
        if self.phase == Phase::New {
            self.phase = Phase::Resting;
            let mut run = self.run(RunStatus::Created);
            run.output.clear();
            self.out.push(Event::RunCreated { run });
        } else if known == 0 && task.state() == TaskState::Working {
            // A resumed stream leaves out the artifacts from before.
            return self.in_progress();
        }
        for artifact in task.artifacts.iter().skip(known) {
            self.in_progress();
            self.grow(artifact, false);
            self.close();
        }
        let said = run::said(task).cloned();
        self.status(said.as_ref());
    }

    /// The state of the task changed, or a message came with it.
    fn status(&mut self, said: Option<&A2aMessage>) {
        let state = self.task.state();
        match state {
            TaskState::Unspecified | TaskState::Submitted => return,
            _ => self.in_progress(),
        }
        match (state, said) {
            (TaskState::Working, Some(said)) => {
                let generic = run::progress(said);
                self.out.push(Event::Generic { generic });
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
        if !state.is_settled() {
            return;
        }
        self.close();
        let run = Box::new(run::of(&self.task, &self.whole));
        self.phase = Phase::Resting;
        self.out.push(match run.status {
            RunStatus::Awaiting => Event::RunAwaiting { run },
            RunStatus::Cancelled => Event::RunCancelled { run },
            RunStatus::Failed => Event::RunFailed { run },
            _ => Event::RunCompleted { run },
        });
    }

    /// Sends `run.in-progress`, unless it was sent already. A task that is done at once never reports that it works.
    fn in_progress(&mut self) {
        if self.phase == Phase::Resting {
            self.phase = Phase::Working;
            let run = self.run(RunStatus::InProgress);
            self.out.push(Event::RunInProgress { run });
        }
    }

    /// The run with this status, without what belongs to its end.
    fn run(&self, status: RunStatus) -> Box<Run> {
        Box::new(Run {
            status,
            await_request: None,
            error: None,
            finished_at: None,
            ..run::of(&self.task, &self.whole)
        })
    }

    /// Adds the parts of an artifact to the open message if they continue it, else to a new message.
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
        self.out.push(Event::MessageCreated {
            message: message.clone(),
        });
        self.open = Some((artifact, message));
    }

    fn add(&mut self, parts: Vec<crate::types::Part>) {
        for part in parts {
            if let Some((_, message)) = &mut self.open {
                message.parts.push(part.clone());
            }
            self.out.push(Event::MessagePart { part });
        }
    }

    /// Completes the open message, if there is one.
    fn close(&mut self) {
        if let Some((_, mut message)) = self.open.take() {
            message.completed_at = run::stamp(&self.task);
            self.out.push(Event::MessageCompleted { message });
        }
    }
}

/// The reply of `listRunEvents`: the events of a run up to a generation of its task, within limits.
#[derive(Debug, Default, Serialize)]
pub(crate) struct EventLog {
    events: Vec<Box<RawValue>>,
    #[serde(skip)]
    bytes: usize,
    #[serde(skip)]
    generation: u64,
}

impl EventLog {
    /// Whether the events up to this generation are in it.
    pub(crate) fn reaches(&self, generation: u64) -> bool {
        self.generation >= generation
    }

    pub(crate) fn take(
        &mut self,
        translator: &mut EventTranslator,
        event: &TaskEvent,
    ) -> Result<(), Error> {
        self.generation = event.cursor().unwrap_or(self.generation);
        for out in translator.take(event) {
            let written = to_raw_value(&out).expect("events are always written");
            self.bytes += written.get().len();
            self.events.push(written);
        }
        if self.events.len() > MAX_EVENTS || self.bytes > MAX_EVENT_BYTES {
            let why = format!(
                "the run has more than {MAX_EVENTS} events or {MAX_EVENT_BYTES} bytes of events; follow the task over A2A"
            );
            return Err(Error::TooMuch(why));
        }
        Ok(())
    }
}
