//! A real server on a store that commits when it is told to, brought to where its events lead.
//!
//! Every event runs until nothing is left to do: tasks run in one thread, in the same order every time, and time
//! stands still unless it is moved. So what the world has gone through is what it is.

use std::sync::Arc;
use std::time::Duration;

use a2a::server::{AfterRestart, Config, Server, TABLES};
use a2a::service::{Call as By, Service as _};
use a2a::types::*;
use access::Principal;
use store::{Batch, ManualWriter, Query, Row, Store, StreamId, Value};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::agent_control::{AgentControl, ControlledAgent, Order};
use crate::client::{Answer, Call, CallState, Reader, Request, Start, Way};
use crate::happening::{Action, Bounds, Fault, Waiting};
use crate::rules::{self, Rule};
use crate::sight::{Got, Sight, Status};

/// The server, who calls it, and what was seen of both.
pub(crate) struct World {
    fault: Fault,
    store: Store,
    steps: ManualWriter,
    control: Arc<AgentControl>,
    process: Process,
    /// The id of the task, once the journal has one.
    task: Option<String>,
    calls: Vec<Call>,
    reader: Option<Reader>,
    /// Where the reader was when it was cut off.
    cursor: Option<u64>,
    said: usize,
    messages: usize,
    pub(crate) sight: Sight,
}

/// A process of the server, from its start to its end. Dropping the runtime ends all that runs, wherever it is.
struct Process {
    runtime: Runtime,
    starting: Option<JoinHandle<Result<Server, store::Error>>>,
    server: Option<Server>,
}

impl Process {
    fn begin(control: &Arc<AgentControl>, store: &Store) -> Self {
        let mut builder = Builder::new_current_thread();
        let runtime = builder.enable_time().start_paused(true).build();
        let runtime = runtime.expect("a runtime needs no resource that is scarce");
        let card = AgentCard {
            capabilities: Some(AgentCapabilities {
                streaming: Some(true),
                ..AgentCapabilities::default()
            }),
            ..AgentCard::default()
        };
        let start = Server::start(
            Config::new(card),
            Arc::new(ControlledAgent(control.clone())),
            store.clone(),
        );
        Self {
            starting: Some(runtime.spawn(start)),
            runtime,
            server: None,
        }
    }

    /// Goes on until nothing is left to do at this moment.
    fn settle(&mut self) {
        self.pass(Duration::from_millis(1));
        if let Some(starting) = self.starting.take_if(|starting| starting.is_finished()) {
            let started = self.runtime.block_on(starting).expect("it does not panic");
            self.server = Some(started.expect("what is in the store can be read"));
        }
    }

    /// Lets time pass. The clock moves when nothing else can.
    fn pass(&self, time: Duration) {
        self.runtime.block_on(async { sleep(time).await });
    }
}

impl World {
    pub(crate) fn new(bounds: Bounds, fault: Fault) -> Self {
        let (store, steps) = Store::with_manual_writer(TABLES);
        let control = AgentControl::new(match bounds.resumes {
            true => AfterRestart::Resume,
            false => AfterRestart::Fail,
        });
        let mut world = Self {
            process: Process::begin(&control, &store),
            fault,
            store,
            steps,
            control,
            task: None,
            calls: Vec::new(),
            reader: None,
            cursor: None,
            said: 0,
            messages: 0,
            sight: Sight::new(bounds),
        };
        world.process.settle();
        world.look();
        world
    }

    /// Goes through an event, without looking at what came of it.
    pub(crate) fn meet(&mut self, action: Action) {
        let left = &mut self.sight.left;
        match action {
            Action::Open => {
                self.sight.opened = true;
                self.open();
            }
            Action::Again => {
                left.again -= 1;
                self.open();
            }
            Action::Message => {
                left.messages -= 1;
                self.message();
            }
            Action::Cancel => {
                left.cancels -= 1;
                self.cancel();
            }
            Action::Does(order) => {
                match order {
                    Order::Say(_) => {
                        left.says -= 1;
                        self.said += 1;
                    }
                    Order::Ask => left.asks -= 1,
                    Order::Fail => left.fails -= 1,
                    Order::Complete | Order::End => {}
                }
                self.control.order(order);
            }
            Action::Commit => self.steps.commit(),
            Action::TimeIsUp => {
                let grace = self.server().limits().cancel_grace;
                self.process.pass(grace);
            }
            Action::Follow => {
                left.follows -= 1;
                self.follow();
            }
            Action::Cut => {
                left.cuts -= 1;
                self.cut();
            }
            Action::Kill(waiting) => {
                left.kills -= 1;
                self.kill(waiting);
            }
        }
        self.process.settle();
        self.hear();
        self.task = self.rows(0).into_iter().next().map(|row| row.key);
    }

    fn server(&self) -> Server {
        let server = self.process.server.clone();
        server.expect("nobody calls a server that is starting")
    }

    fn task(&self) -> String {
        let task = self.task.clone();
        task.expect("nobody asks for a task that is not there")
    }

    fn open(&mut self) {
        let (way, by, server) = (self.sight.left.way, by(self.cursor), self.server());
        let request = request(message(0), way == Way::Begin);
        if way == Way::Stream {
            let after = Start::After(self.cursor.unwrap_or(0));
            self.read(after, server.send_streaming_message(by, request));
            return self.note(Request::Open, CallState::Answered(Answer::Streamed));
        }
        self.send(Request::Open, request);
    }

    fn message(&mut self) {
        self.messages += 1;
        let message = Message {
            task_id: self.task(),
            ..message(self.messages)
        };
        self.send(Request::Message(self.messages), request(message, false));
    }

    fn send(&mut self, asked: Request, request: SendMessageRequest) {
        let answer = self.server().send_message(by(None), request);
        let answer = self.process.runtime.spawn(async move {
            match answer.await {
                Ok(SendMessageResponse {
                    payload: a2a::types::Answer::Task(task),
                }) => Answer::Task(state(&task), task.generation),
                Ok(other) => Answer::Wrong(format!("{other:?}")),
                Err(error) => error.into(),
            }
        });
        self.note(asked, CallState::Waits(answer));
    }

    fn cancel(&mut self) {
        let request = CancelTaskRequest {
            id: self.task(),
            ..CancelTaskRequest::default()
        };
        let answer = self.server().cancel_task(by(None), request);
        let answer = self.process.runtime.spawn(async move {
            match answer.await {
                Ok(task) => Answer::Task(state(&task), task.generation),
                Err(error) => error.into(),
            }
        });
        self.note(Request::Cancel, CallState::Waits(answer));
    }

    fn note(&mut self, asked: Request, state: CallState) {
        self.calls.push(Call { asked, state });
    }

    fn follow(&mut self) {
        let cursor = self.cursor;
        let wanted = match self.fault {
            Fault::SkipsAnEvent => cursor.map(|cursor| self.last().min(cursor + 1)),
            Fault::RepeatsAnEvent => cursor.map(|cursor| cursor.saturating_sub(1)),
            _ => cursor,
        };
        let from = cursor.map_or(Start::Now, Start::After);
        let stream = self.subscribe(wanted);
        self.read(from, stream);
    }

    fn subscribe(&self, cursor: Option<u64>) -> a2a::service::Answering<a2a::event::EventStream> {
        let request = SubscribeToTaskRequest {
            id: self.task(),
            ..SubscribeToTaskRequest::default()
        };
        self.server().subscribe_to_task(by(cursor), request)
    }

    fn read(&mut self, from: Start, stream: a2a::service::Answering<a2a::event::EventStream>) {
        let _here = self.process.runtime.enter();
        self.reader = Some(Reader::begin(from, stream));
    }

    fn cut(&mut self) {
        if let Some(reader) = self.reader.take() {
            self.cursor = reader.cursor();
        }
    }

    fn kill(&mut self, waiting: Waiting) {
        // What the next process is to find.
        self.look();
        self.cut();
        for call in &mut self.calls {
            if let CallState::Waits(_) = call.state {
                call.state = CallState::Lost;
            }
        }
        if waiting == Waiting::Kept {
            self.steps.commit_unanswered();
        }
        self.steps.lose();
        self.spoil();
        self.process = Process::begin(&self.control, &self.store);
        self.sight.starts.push(self.control.turns().len());
    }

    /// Makes the mistake with what the dead process left.
    fn spoil(&mut self) {
        let Some(task) = self.task.clone() else {
            return;
        };
        let stream = StreamId::new(&*task);
        let batch = match self.fault {
            Fault::ForgetsEvents => Batch::new().forget(&stream),
            Fault::ForgetsWhatRuns => Batch::new().delete(TABLES[1], &task),
            Fault::ForgetsWhatWasSent => {
                let rows = self.rows(2).into_iter();
                rows.fold(Batch::new(), |batch, row| batch.delete(TABLES[2], &row.key))
            }
            Fault::None | Fault::SkipsAnEvent | Fault::RepeatsAnEvent => return,
        };
        drop(self.store.commit(batch));
        self.steps.commit_unanswered();
    }

    /// Takes in the answers that have come.
    fn hear(&mut self) {
        for call in &mut self.calls {
            if let CallState::Waits(answer) = &mut call.state
                && answer.is_finished()
            {
                let answer = self.process.runtime.block_on(answer);
                call.state = CallState::Answered(answer.expect("it does not panic"));
            }
        }
    }

    /// The rows of one of the server's tables, by its place among them.
    fn rows(&self, table: usize) -> Vec<Row> {
        let rows = self
            .store
            .read(move |view| view.rows(&Query::of(TABLES[table])));
        let rows = self.process.runtime.block_on(rows);
        rows.expect("memory can be read")
    }

    /// Looks at everything that can be seen, and whether it is as it must be.
    pub(crate) fn look(&mut self) {
        let before = self.sight.clone();
        let tasks = self.rows(0);
        let now = &mut self.sight;
        now.tasks = tasks.len();
        if let Some(row) = tasks.first() {
            now.state = match row.columns.get(2) {
                Some(Value::Integer(number)) => i32::try_from(*number).unwrap_or_default().into(),
                other => panic!("no state: {other:?}"),
            };
        }
        let running = self.rows(1).len();
        let last = self.last();
        let now = &mut self.sight;
        now.running = running;
        now.last = last;
        now.up = self.process.server.is_some();
        now.waiting = self.steps.waiting();
        now.turns = self.control.turns();
        now.said = self.said;
        now.calls = self
            .calls
            .iter()
            .map(|call| (call.asked, Status::of(&call.state)))
            .collect();
        now.cursor = self.cursor;
        now.reader = self
            .reader
            .as_ref()
            .map(|reader| (reader.from, reader.heard()));
        if now.up && now.tasks > 0 {
            self.read_all();
        }
        let broken: Vec<Rule> = rules::broken(&before, &self.sight).collect();
        self.sight.broken.extend(broken);
    }

    /// Where the task's stream stands.
    fn last(&self) -> u64 {
        let Some(task) = &self.task else {
            return 0;
        };
        let stream = StreamId::new(task.as_str());
        let state = self.store.read(move |view| view.stream(&stream));
        let state = self.process.runtime.block_on(state);
        state
            .expect("memory can be read")
            .map_or(0, |state| state.last)
    }

    /// Reads the task, and its events from every cursor.
    fn read_all(&mut self) {
        let request = GetTaskRequest {
            id: self.task(),
            ..GetTaskRequest::default()
        };
        let task = self.server().get_task(by(None), request);
        let task = self.process.runtime.block_on(task);
        self.sight.got = task.ok().map(|task| Got::new(&task));
        let readers: Vec<Reader> = (0..=self.sight.last + 1)
            .map(|cursor| {
                let stream = self.subscribe(Some(cursor));
                let _here = self.process.runtime.enter();
                Reader::begin(Start::After(cursor), stream)
            })
            .collect();
        self.process.settle();
        self.sight.resumed = readers.iter().map(Reader::heard).collect();
        drop(readers);
        self.process.settle();
    }
}

/// A call, from a cursor on.
fn by(cursor: Option<u64>) -> By {
    By {
        cursor,
        ..By::by(Principal::anonymous()).repeatable()
    }
}

/// The caller's message of this number: always the same.
fn message(number: usize) -> Message {
    Message::user(format!("message-{number}"), number.to_string())
}

fn request(message: Message, return_immediately: bool) -> SendMessageRequest {
    SendMessageRequest {
        message: Some(message),
        configuration: Some(SendMessageConfiguration {
            return_immediately,
            ..SendMessageConfiguration::default()
        }),
        ..SendMessageRequest::default()
    }
}

fn state(task: &Task) -> TaskState {
    task.status
        .as_ref()
        .map_or(TaskState::Unspecified, |status| status.state)
}
