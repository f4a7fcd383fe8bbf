//! Two sessions behave as one process would, whenever their frames arrive, and keep nothing.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::sync::Arc;

use capnweb::{Any, Connection, Error, Options, Stats, Stub};
use proptest::prelude::*;

use crate::operations::{Caller, Operation, Side, operation};
use crate::world::World;

/// A client, a server and perhaps a relay between them, with the frames on their way.
struct Wire {
    client: Connection,
    joints: Vec<Joint>,
}

/// Two ends that frames pass between. The first is nearer to the client.
struct Joint {
    near: Connection,
    far: Connection,
    to_far: VecDeque<String>,
    to_near: VecDeque<String>,
}

impl Joint {
    fn new(near: Connection, far: Connection) -> Self {
        Self {
            near,
            far,
            to_far: VecDeque::new(),
            to_near: VecDeque::new(),
        }
    }

    /// Delivers a frame that came from the client's or the server's side; false when there is none.
    fn deliver(&mut self, from: Side) -> bool {
        self.to_far.extend(self.near.take_outgoing());
        self.to_near.extend(self.far.take_outgoing());
        let (receiver, frame) = match from {
            Side::Client => (&self.far, self.to_far.pop_front()),
            Side::Server => (&self.near, self.to_near.pop_front()),
        };
        frame.map(|frame| receiver.receive(&frame)).is_some()
    }
}

impl Wire {
    fn direct(world: &Arc<World>) -> Self {
        let options = Options::default();
        let (client, server) = (
            Connection::new(world.main(), &options),
            Connection::new(world.main(), &options),
        );
        Self {
            client: client.clone(),
            joints: vec![Joint::new(client, server)],
        }
    }

    fn relayed(world: &Arc<World>) -> Self {
        let options = Options::default();
        let (client, server) = (
            Connection::new(world.main(), &options),
            Connection::new(world.main(), &options),
        );
        let (for_client, for_server) = capnweb::relay(&options);
        let joints = vec![
            Joint::new(client.clone(), for_client),
            Joint::new(for_server, server),
        ];
        Self { client, joints }
    }

    fn deliver(&mut self, from: Side, frames: u8) {
        for joint in &mut self.joints {
            for _ in 0..frames {
                joint.deliver(from);
            }
        }
    }

    fn deliver_all(&mut self) {
        while self
            .joints
            .iter_mut()
            .any(|joint| joint.deliver(Side::Client) || joint.deliver(Side::Server))
        {}
    }

    /// Ends every session: by the server's word, or because no wire is left.
    fn end(&mut self, aborts: bool) {
        for joint in self.joints.iter().rev() {
            if aborts {
                joint.far.abort(Error::new("enough"));
            } else {
                joint.near.end(Error::new("the wire was cut"));
                joint.far.end(Error::new("the wire was cut"));
            }
        }
    }

    fn stats(&self) -> Vec<Stats> {
        self.joints
            .iter()
            .flat_map(|joint| [joint.near.stats(), joint.far.stats()])
            .collect()
    }
}

/// What each promise comes to when everything happens in one process.
fn locally(operations: &[Operation]) -> HashMap<usize, String> {
    let world = Arc::<World>::default();
    let mut caller = Caller::new(Stub::from_capability(world.main()), &world);
    operations
        .iter()
        .for_each(|operation| caller.perform(operation));
    caller.await_all();
    caller.results().into_iter().collect()
}

fn check_results(
    wire: impl Fn(&Arc<World>) -> Wire,
    operations: &[Operation],
) -> Result<(), TestCaseError> {
    let world = Arc::<World>::default();
    let mut wire = wire(&world);
    let mut caller = Caller::new(wire.client.remote::<Any>(), &world);
    for operation in operations {
        match operation {
            Operation::Deliver(side, frames) => wire.deliver(*side, *frames),
            operation => caller.perform(operation),
        }
    }
    caller.await_all();
    wire.deliver_all();
    let expected = locally(operations);
    for (index, result) in caller.results() {
        prop_assert_eq!(Some(&result), expected.get(&index), "promise {}", index);
    }

    // Each said its words in order.
    let mut words = HashMap::new();
    for (who, word) in world.notes() {
        let last = words.insert(who, word).unwrap_or(0);
        prop_assert!(
            last < word,
            "{} said word {} after word {}",
            who,
            word,
            last
        );
    }

    // Only what was kept on purpose is left, and then not even that.
    drop(wire.client.remote::<Any>().call("forget", ()));
    wire.deliver_all();
    let rest = Stats {
        imports: 1,
        exports: 1,
        pending: 0,
    };
    prop_assert!(
        wire.stats().iter().all(|stats| *stats == rest),
        "{:?}",
        wire.stats()
    );
    prop_assert_eq!(world.alive(), 2, "the two main objects are alive");
    wire.end(false);
    prop_assert_eq!(world.alive(), 0);
    Ok(())
}

fn check_end(
    wire: impl Fn(&Arc<World>) -> Wire,
    operations: &[Operation],
    end: usize,
    aborts: bool,
) -> Result<(), TestCaseError> {
    let world = Arc::<World>::default();
    let mut wire = wire(&world);
    let mut caller = Caller::new(wire.client.remote::<Any>(), &world);
    for (index, operation) in operations.iter().enumerate() {
        if index == end.min(operations.len() - 1) {
            wire.end(aborts);
        }
        match operation {
            Operation::Deliver(side, frames) => wire.deliver(*side, *frames),
            operation => caller.perform(operation),
        }
    }
    caller.await_all();
    wire.deliver_all();
    for (index, result) in caller.results() {
        prop_assert!(result != "pending", "promise {} never settles", index);
    }
    prop_assert!(
        wire.stats().iter().all(|stats| *stats == Stats::default()),
        "{:?}",
        wire.stats()
    );
    drop(wire);
    prop_assert_eq!(world.alive(), 0);
    Ok(())
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    prop::collection::vec(operation(), 1..40)
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn calls_come_to_the_same_as_in_one_process(operations in operations()) {
        check_results(Wire::direct, &operations)?;
    }

    #[test]
    fn calls_through_a_relay_come_to_the_same_as_in_one_process(operations in operations()) {
        check_results(Wire::relayed, &operations)?;
    }

    #[test]
    fn an_end_at_any_point_settles_and_drops_everything(operations in operations(), end in 0..40_usize, aborts: bool) {
        check_end(Wire::direct, &operations, end, aborts)?;
    }

    #[test]
    fn an_end_of_a_relay_at_any_point_settles_and_drops_everything(
        operations in operations(),
        end in 0..40_usize,
        aborts: bool,
    ) {
        check_end(Wire::relayed, &operations, end, aborts)?;
    }
}

/// So many cases, unless `PROPTEST_CASES` says otherwise.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let chosen = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok());
    ProptestConfig {
        cases: chosen.unwrap_or(cases),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
