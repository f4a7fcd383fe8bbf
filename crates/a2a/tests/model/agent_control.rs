//! The agent: it does what it is told, one thing at a time.

use std::sync::{Arc, Mutex, MutexGuard};

use a2a::server::{AfterRestart, Agent, Chunk, Failure, Over, Turn};
use a2a::types::{Artifact, Part, Task};
use futures_core::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::sight::Got;

/// What an agent is told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    /// It hands over something that bears this number.
    Say(usize),
    Ask,
    Complete,
    End,
    /// Its turn ends with a failure.
    Fail,
}

/// Where an agent gets its orders, and where what came of them is seen.
#[derive(Debug)]
pub(crate) struct AgentControl {
    after_restart: AfterRestart,
    turns: Mutex<Vec<ControlledTurn>>,
}

/// A turn of the agent.
#[derive(Debug)]
struct ControlledTurn {
    seen: Seen,
    orders: mpsc::UnboundedSender<Order>,
    cancelled: CancellationToken,
}

/// What is seen of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Seen {
    /// The text of the message it answers.
    pub(crate) message: String,
    /// The texts of the caller's messages in the task it is given.
    pub(crate) history: Vec<String>,
    /// What was taken from it.
    pub(crate) taken: Vec<Order>,
    pub(crate) cancelled: bool,
    /// It ended, or was ended.
    pub(crate) ended: bool,
}

impl Seen {
    /// The numbers of what it said.
    pub(crate) fn said(&self) -> impl Iterator<Item = usize> {
        self.taken.iter().filter_map(|order| match order {
            Order::Say(number) => Some(*number),
            _ => None,
        })
    }

    /// Nothing came of it.
    pub(crate) fn is_empty(&self) -> bool {
        self.ended && self.taken.is_empty()
    }
}

impl AgentControl {
    pub(crate) fn new(after_restart: AfterRestart) -> Arc<Self> {
        Arc::new(Self {
            after_restart,
            turns: Mutex::default(),
        })
    }

    /// All turns, the oldest first.
    pub(crate) fn turns(&self) -> Vec<Seen> {
        let seen = |turn: &ControlledTurn| Seen {
            cancelled: turn.cancelled.is_cancelled(),
            ..turn.seen.clone()
        };
        self.lock().iter().map(seen).collect()
    }

    /// Tells the agent at work what to do.
    pub(crate) fn order(&self, order: Order) {
        let turns = self.lock();
        let at_work = turns.iter().find(|turn| !turn.seen.ended);
        let at_work = at_work.expect("only an agent at work gets orders");
        at_work.orders.send(order).expect("it waits for orders");
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ControlledTurn>> {
        self.turns.lock().expect("nothing panics here")
    }
}

/// The agent of a process.
pub(crate) struct ControlledAgent(pub(crate) Arc<AgentControl>);

impl Agent for ControlledAgent {
    fn answer(&self, turn: Turn) -> BoxFuture<'static, Result<(), Failure>> {
        let (orders, next) = mpsc::unbounded_channel();
        let mut turns = self.0.lock();
        let number = turns.len();
        turns.push(ControlledTurn {
            seen: Seen {
                message: turn.text(),
                history: turn
                    .task()
                    .map_or_else(Vec::new, |task| Got::new(task).messages),
                taken: Vec::new(),
                cancelled: false,
                ended: false,
            },
            orders,
            cancelled: turn.cancelled().clone(),
        });
        let control = self.0.clone();
        let guard = WorkGuard { control, number };
        Box::pin(obey(turn, next, guard))
    }

    fn after_restart(&self, _: &Task) -> AfterRestart {
        self.0.after_restart
    }
}

/// As long as this is there, the agent is at work.
struct WorkGuard {
    control: Arc<AgentControl>,
    number: usize,
}

impl Drop for WorkGuard {
    fn drop(&mut self) {
        self.control.lock()[self.number].seen.ended = true;
    }
}

async fn obey(
    turn: Turn,
    mut orders: mpsc::UnboundedReceiver<Order>,
    guard: WorkGuard,
) -> Result<(), Failure> {
    while let Some(order) = orders.recv().await {
        let taken: Result<(), Over> = match order {
            Order::Say(number) => turn.chunk(part(number), Chunk::More).await,
            Order::Ask => turn.ask("what?").await,
            Order::Complete => turn.complete().await,
            Order::End => return Ok(()),
            Order::Fail => return Err(Failure::new("as told")),
        };
        if taken.is_ok() {
            guard.control.lock()[guard.number].seen.taken.push(order);
        }
    }
    Ok(())
}

fn part(number: usize) -> Artifact {
    Artifact {
        artifact_id: "result".to_owned(),
        parts: vec![Part::text(number.to_string())],
        ..Artifact::default()
    }
}
