//! The limits of each wire, as two tables: what cannot be asked over it, and what it cannot show. It is left
//! out on both sides of a comparison, and nothing else is.

use a2a::client::Version;
use a2a::types::TaskState;
use serde_json::{Value, json};

use crate::scenario::{Bad, Operation, Scenario};
use crate::trace::Entry;
use crate::wire::Wire;

/// Something that cannot be asked over some wires. A step that asks for it is left out.
#[derive(Clone, Copy, Debug)]
pub struct Unasked {
    pub name: &'static str,
    /// Why it cannot be asked.
    pub why: &'static str,
    pub over: fn(Wire) -> bool,
    asks: fn(&Operation) -> bool,
}

/// What cannot be asked.
pub const UNASKED: &[Unasked] = &[
    Unasked {
        name: "a message for one generation",
        why: "a message of 0.3 has no field for the generation that its task must have",
        over: is_v0_3,
        asks: |what| matches!(what, Operation::Send(send) if send.at.is_some()),
    },
    Unasked {
        name: "no history at all",
        why: "the proto of 0.3 has a plain number for how much: zero is not to say anything",
        over: has_the_proto_of_0_3,
        asks: |what| match what {
            Operation::Send(send) => send.history == Some(0),
            Operation::Get { history, .. } => *history == Some(0),
            _ => false,
        },
    },
    Unasked {
        name: "a list of tasks",
        why: "the gRPC service of 0.3 has no rpc for it",
        over: |wire| is_v0_3(wire) && wire.binding.key == "grpc",
        asks: |what| {
            let bad = [Bad::PageSize, Bad::PageToken];
            matches!(what, Operation::List(_))
                || matches!(what, Operation::Bad(it) if bad.contains(it))
        },
    },
];

/// The numbers of the steps that cannot be asked over these wires, the first of which comes again behind the last.
pub fn unasked(scenario: &Scenario, wires: &[Wire]) -> Vec<usize> {
    let steps = scenario.steps.iter().zip(wires.iter().cycle()).enumerate();
    let cannot = |what: &Operation, wire: Wire| {
        let mut rows = UNASKED.iter();
        rows.any(|row| (row.over)(wire) && (row.asks)(what))
    };
    let steps = steps.filter(|(_, (step, wire))| cannot(&step.what, **wire));
    steps.map(|(number, _)| number).collect()
}

/// Something that some wires cannot show.
#[derive(Clone, Copy, Debug)]
pub struct Projection {
    /// What is left out.
    pub name: &'static str,
    /// Why it cannot be there.
    pub why: &'static str,
    pub over: fn(Wire) -> bool,
    /// Leaves it out of what came of a step.
    apply: fn(&str, &mut Vec<Value>),
}

/// What cannot be shown.
pub const UNSHOWN: &[Projection] = &[
    Projection {
        name: "generations",
        why: "the proto of 0.3, which REST and gRPC write, has no field for them",
        over: has_the_proto_of_0_3,
        apply: |_, seen| {
            seen.iter_mut()
                .for_each(|value| without(value, "generation"))
        },
    },
    Projection {
        name: "cursors",
        why: "a stream of gRPC in 0.3 has neither generations nor ids of events",
        over: |wire| is_v0_3(wire) && wire.binding.key == "grpc",
        apply: |_, seen| seen.iter_mut().for_each(|value| without(value, "cursor")),
    },
    Projection {
        name: "which field is wrong",
        why: "an error of REST in 0.3 has a code and a message, and no details",
        over: |wire| is_v0_3(wire) && wire.binding.key == "rest",
        apply: |_, seen| seen.iter_mut().for_each(|value| without(value, "fields")),
    },
    Projection {
        name: "a stream of a task that has ended",
        why: "1.0 refuses it, 0.3 shows the task and ends it",
        over: is_v0_3,
        apply: |step, seen| {
            if step.contains(": subscribe ") && !step.contains(" from ") && is_of_the_ended(seen) {
                *seen = vec![json!("has ended")];
            }
        },
    },
    Projection {
        name: "an empty id",
        why: "it is a part of the path in REST, where without it there is another path",
        over: |wire| wire.binding.key == "rest",
        apply: |step, seen| {
            if step.ends_with(Bad::NoId.word()) {
                *seen = vec![json!("refused"); seen.len()];
            }
        },
    },
];

/// The outcome of a step, as far as it can be seen over a wire.
pub(crate) fn apply(wire: Wire, entry: &Entry) -> Vec<Value> {
    let mut seen = entry.seen.clone();
    for projection in UNSHOWN.iter().filter(|projection| (projection.over)(wire)) {
        (projection.apply)(&entry.step, &mut seen);
    }
    seen
}

fn is_v0_3(wire: Wire) -> bool {
    wire.version == Version::V0_3
}

fn has_the_proto_of_0_3(wire: Wire) -> bool {
    is_v0_3(wire) && ["rest", "grpc"].contains(&wire.binding.key)
}

/// Whether this is what becomes of a stream of a task that has ended, in either version.
fn is_of_the_ended(seen: &[Value]) -> bool {
    let state =
        |value: &Value| serde_json::from_value(value["event"]["task"]["status"]["state"].clone());
    match seen {
        [refused] => refused["error"]["reason"] == "UNSUPPORTED_OPERATION",
        [shown, end] => state(shown).is_ok_and(TaskState::is_terminal) && end["end"] == true,
        _ => false,
    }
}

/// Takes a field out wherever it is.
fn without(value: &mut Value, field: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| without(item, field)),
        Value::Object(fields) => {
            fields.remove(field);
            fields.values_mut().for_each(|value| without(value, field));
        }
        _ => {}
    }
}
