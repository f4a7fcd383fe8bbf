//! Steps performed, one after the other, over one wire or over several.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use a2a::client::{Client, Error};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::projection;
use crate::scenario::{Name, Operation, Scenario, Step};
use crate::trace::{Entry, Trace};
use crate::wire::Wire;
use crate::world::World;

mod ask;
mod follow;
mod send;

use follow::Followed;

/// How the steps of a scenario reach the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The wire of each step, from the first again when there are more steps.
    pub wires: Vec<Wire>,
    /// Whether clients keep their connections.
    pub connections: Connections,
    /// Steps that are left out, because the wires of this run, or of one that it is compared with, cannot ask them.
    pub left_out: Vec<usize>,
}

/// How long a connection is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connections {
    /// A client has one for each wire.
    Kept,
    /// Each step has its own.
    EachStep,
}

impl Plan {
    /// The steps of a scenario over these wires in turn, without what cannot be asked over them.
    pub fn over(scenario: &Scenario, wires: &[Wire]) -> Self {
        Self {
            wires: wires.to_vec(),
            connections: Connections::Kept,
            left_out: projection::unasked(scenario, wires),
        }
    }

    /// The same steps over the reference.
    pub fn reference(&self) -> Self {
        Self {
            wires: vec![Wire::reference()],
            connections: Connections::Kept,
            left_out: self.left_out.clone(),
        }
    }
}

/// Runs a scenario against a server of its own.
pub async fn run(scenario: &Scenario, plan: &Plan) -> Trace {
    let world = World::start().await;
    let trace = run_in(&world, scenario, plan).await;
    world.stop().await;
    trace
}

/// Runs a scenario against a server.
pub async fn run_in(world: &World, scenario: &Scenario, plan: &Plan) -> Trace {
    let mut run = Run {
        world,
        plan,
        clients: HashMap::new(),
        tasks: HashMap::new(),
        streams: BTreeMap::new(),
        pages: HashMap::new(),
        messages: HashMap::new(),
        trace: Trace::default(),
    };
    for (number, step) in scenario.steps.iter().enumerate() {
        run.step(number, step).await;
    }
    run.finish().await;
    run.trace
}

/// How long anything may take before it is said that it does not come.
const PATIENCE: Duration = Duration::from_secs(20);

struct Run<'a> {
    world: &'a World,
    plan: &'a Plan,
    /// By who they are, and by wire.
    clients: HashMap<(Name, String), Client>,
    /// Ids and contexts of tasks.
    tasks: HashMap<Name, (String, String)>,
    streams: BTreeMap<Name, Followed>,
    pages: HashMap<Name, String>,
    /// The tasks of messages that were sent, and whether they opened them.
    messages: HashMap<String, (String, bool)>,
    trace: Trace,
}

impl Run<'_> {
    async fn step(&mut self, number: usize, step: &Step) {
        // Tasks are listed by the millisecond in which they changed: two steps never share one.
        tokio::time::sleep(Duration::from_millis(2)).await;
        let wire = self.plan.wires[number % self.plan.wires.len()];
        let entry = match &step.what {
            _ if self.plan.left_out.contains(&number) => (wire, vec![note("left out")]),
            Operation::Go(task) => {
                let id = self.id(task);
                let seen = match self.world.gates.open(&id) {
                    true => {
                        self.world.settle(&id).await;
                        Vec::new()
                    }
                    false => vec![note("the task does not wait")],
                };
                (wire, seen)
            }
            Operation::Read { stream, count } => self.read(stream, *count, wire).await,
            Operation::Cut(stream) => self.cut(stream, wire),
            what => {
                let client = self.client(&step.who, wire);
                (wire, self.call(number, &client, what, wire).await)
            }
        };
        let (wire, seen) = entry;
        self.trace.entries.push(Entry {
            step: step.to_string(),
            wire,
            seen,
        });
    }

    /// Reads what is left in the streams that are open.
    async fn finish(&mut self) {
        let names: Vec<Name> = self.streams.keys().cloned().collect();
        for name in names {
            let (wire, seen) = self.read(&name, None, self.plan.wires[0]).await;
            self.trace.entries.push(Entry {
                step: format!("end: read {name}"),
                wire,
                seen,
            });
        }
    }

    async fn call(
        &mut self,
        number: usize,
        client: &Client,
        what: &Operation,
        wire: Wire,
    ) -> Vec<Value> {
        let calling = async {
            match what {
                Operation::Send(send) => self.send(number, client, send, wire).await,
                Operation::Subscribe { task, from, stream } => {
                    self.subscribe(client, task, *from, stream.as_ref(), wire)
                        .await
                }
                Operation::Resume(stream) => self.resume(client, stream, wire).await,
                what => match self.ask(client, what).await {
                    Ok(value) => vec![value],
                    Err(error) => vec![failed(&error)],
                },
            }
        };
        match timeout(PATIENCE, calling).await {
            Ok(seen) => seen,
            Err(_) => vec![note("no answer")],
        }
    }

    fn client(&mut self, who: &Name, wire: Wire) -> Client {
        let key = (who.clone(), wire.to_string());
        if self.plan.connections == Connections::EachStep {
            self.clients.remove(&key);
        }
        let client = || self.world.client(wire);
        self.clients.entry(key).or_insert_with(client).clone()
    }

    /// The id that a name stands for; a name that stands for nothing is sent as it is.
    fn id(&self, task: &Name) -> String {
        let known = self.tasks.get(task).map(|(id, _)| id.clone());
        known.unwrap_or_else(|| task.to_string())
    }

    fn context(&self, task: &Name) -> String {
        let known = self.tasks.get(task).map(|(_, context)| context.clone());
        known.unwrap_or_else(|| task.to_string())
    }

    /// How far a task is.
    async fn generation(&self, id: &str) -> u64 {
        let task = self.world.task(id).await;
        task.map_or(0, |task| task.generation.unsigned_abs())
    }
}

/// A remark of the runner's.
fn note(text: &str) -> Value {
    json!({ "note": text })
}

/// An error as a client sees it.
fn failed(error: &Error) -> Value {
    let Some(refusal) = error.refusal() else {
        return json!({ "failed": error.to_string() });
    };
    let violations = refusal.violations();
    let fields: Vec<_> = violations.iter().map(|it| &*it.field).collect();
    json!({ "error": {
        "code": refusal.code,
        "reason": refusal.reason,
        "fields": fields,
        "message": refusal.message,
    }})
}
