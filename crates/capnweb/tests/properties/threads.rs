//! Many tasks on many threads use two sessions at once; nothing deadlocks, and nothing is left.

use std::sync::Arc;
use std::time::Duration;

use capnweb::{Any, Capability, Connection, Error, Options, Promise, Stats, Stub, Value};

use crate::world::World;

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Calls, pipelines, passes capabilities and promises, maps, waits and forgets.
async fn work(main: Stub, world: Arc<World>, seed: u64) {
    let mut dice = Dice(seed * 0x9E37_79B9 + 1);
    let mut held: Vec<Promise> = vec![main.call("make", (1,))];
    for _ in 0..200 {
        let some = held[dice.roll(held.len() as u64) as usize].clone();
        let promise = match dice.roll(9) {
            0 => main.call("make", (dice.roll(100) as u32,)),
            1 => some.call("plus", (1,)),
            2 => some.property("itself"),
            3 => main.call("call", (world.function(), 2)),
            4 => main.call("wrap", (world.function(), &some)),
            5 => main.call(
                "echo",
                (Value::array([Value::from(&some), world.object(1.0).into()]),),
            ),
            6 => main
                .call("list", (5,))
                .map(|mapper, element| mapper.capture(&main).call("add", (element, 1))),
            7 => main.call("add", (some.property("value"), 1)),
            _ => {
                held.clear();
                main.call("make", (2,))
            }
        };
        if dice.roll(3) == 0 {
            let result = promise.clone().await;
            if dice.roll(2) == 0
                && let Ok(Value::Stub(capability)) = result
            {
                drop(capability.call("plus", (5,)));
            }
        }
        held.push(promise);
    }
}

async fn at_rest(connections: [&Connection; 2]) {
    let rest = Stats {
        imports: 1,
        exports: 1,
        pending: 0,
    };
    while connections
        .iter()
        .any(|connection| connection.stats() != rest)
    {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_tasks_share_two_sessions() {
    let world = Arc::<World>::default();
    let (client, server) = capnweb::pair(world.main(), world.main(), &Options::default());
    let tasks: Vec<_> = (0..16)
        .map(|seed| {
            let main = if seed % 2 == 0 {
                client.remote::<Any>()
            } else {
                server.remote::<Any>()
            };
            tokio::spawn(work(main, world.clone(), seed))
        })
        .collect();
    let all = async {
        for task in tasks {
            task.await.expect("no task panics");
        }
        at_rest([&client, &server]).await;
    };
    tokio::time::timeout(Duration::from_secs(60), all)
        .await
        .expect("nothing hangs or leaks");
    assert_eq!(world.alive(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sessions_end_while_many_tasks_use_them() {
    for round in 0..20 {
        let world = Arc::<World>::default();
        let (client, server) = capnweb::pair(world.main(), world.main(), &Options::default());
        let tasks: Vec<_> = (0..4)
            .map(|seed| {
                let main = if seed % 2 == 0 {
                    client.remote::<Any>()
                } else {
                    server.remote::<Any>()
                };
                tokio::spawn(work(main, world.clone(), round * 10 + seed))
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(round)).await;
        match round % 3 {
            0 => client.abort(Error::new("enough")),
            1 => server.end(Error::new("the wire was cut")),
            _ => drop(Capability::nothing()),
        }
        // The last handles go while calls are under way.
        drop((client, server));
        let all = async {
            for task in tasks {
                task.await.expect("no task panics");
            }
            while world.alive() > 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), all)
            .await
            .expect("nothing hangs or leaks");
    }
}
