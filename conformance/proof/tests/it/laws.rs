//! Identity and composition: what a mapping of categories must preserve; and that queries change nothing.

use a2a::types::ListTasksRequest;
use capnweb::transport::websocket;
use capnweb::{Capability, Options};
use futures_util::future::join_all;
use proof::run::{Connections, Plan};
use proof::scenario::{List, Name, Operation, Step};
use proof::{Scenario, Trace, Wire, World, run, verdict};

use crate::{support, written};

/// The empty sequence: a connection over which nothing is called leaves the server as it was.
#[tokio::test(flavor = "multi_thread")]
async fn identity_a_connection_without_a_call_changes_nothing() {
    let world = World::start().await;
    let witness = world.client(Wire::reference());
    let list = || witness.list_tasks(ListTasksRequest::default());
    support::task(&witness, support::script("work, done")).await;
    let before = list().await.unwrap();
    for path in ["/a2a/capnweb", "/ws/a2a"] {
        let url = format!("ws://{}{path}", world.address);
        let session = websocket::connect(&url, Capability::nothing(), &Options::default()).await;
        drop(session);
    }
    // The other wires have no connection but that of HTTP.
    drop(tokio::net::TcpStream::connect(world.address).await.unwrap());
    assert_eq!(list().await.unwrap(), before);
}

/// Queries change nothing: with a look behind every step, the steps themselves give the same.
#[tokio::test(flavor = "multi_thread")]
async fn queries_leave_what_follows_as_it_is() {
    everywhere(async |name, scenario, wire| {
        let plain = run(&scenario, &Plan::over(&scenario, &[wire])).await;
        let looks = with_looks(&scenario);
        let looked = run(&looks, &Plan::over(&looks, &[wire])).await;
        let steps = scenario.steps.len();
        let looked = looked.filtered(|entry| entry >= 2 * steps || entry % 2 == 0);
        check(&name, &scenario, &plain, &looked, "with looks between");
    })
    .await;
}

fn with_looks(scenario: &Scenario) -> Scenario {
    let look = |number: usize| Step {
        who: Name::new("onlooker").unwrap(),
        what: match number % 3 {
            0 => Operation::List(List::default()),
            1 => Operation::Card,
            _ => Operation::Get {
                task: Name::new("t1").unwrap(),
                history: None,
            },
        },
    };
    let steps = scenario.steps.iter().enumerate();
    Scenario {
        steps: steps
            .flat_map(|(number, step)| [step.clone(), look(number)])
            .collect(),
    }
}

/// Steps over one connection are the steps over a connection each.
#[tokio::test(flavor = "multi_thread")]
async fn composition_connections_do_not_matter() {
    everywhere(async |name, scenario, wire| {
        let kept = Plan::over(&scenario, &[wire]);
        let cut = Plan {
            connections: Connections::EachStep,
            ..kept.clone()
        };
        let kept = run(&scenario, &kept).await;
        let cut = run(&scenario, &cut).await;
        check(
            &name,
            &scenario,
            &kept,
            &cut,
            "with a connection for each step",
        );
    })
    .await;
}

/// What is done over one wire is seen over every other: each step may take another one.
#[tokio::test(flavor = "multi_thread")]
async fn composition_a_scenario_may_change_its_wire_at_every_step() {
    let wires = Wire::all();
    for (name, scenario) in written::all() {
        let mixed = (0..wires.len()).map(async |shift| {
            // Seven has no divisor in common with ten: every step meets every wire.
            let order = (0..wires.len()).map(|number| wires[(number * 7 + shift) % wires.len()]);
            let order: Vec<Wire> = order.collect();
            if let Err(difference) = verdict::agrees_mixed(&scenario, &order).await {
                panic!("{name}: {difference}");
            }
        });
        join_all(mixed).await;
    }
}

/// Checks each scenario over all wires at the same time.
async fn everywhere(check: impl AsyncFn(String, Scenario, Wire)) {
    for (name, scenario) in written::all() {
        let wires = Wire::all().into_iter();
        join_all(wires.map(|wire| check(name.clone(), scenario.clone(), wire))).await;
    }
}

fn check(name: &str, scenario: &Scenario, expected: &Trace, found: &Trace, how: &str) {
    let between = ("as written".to_owned(), how.to_owned());
    if let Err(difference) = verdict::same(scenario, expected, found, between) {
        panic!("{name}: {difference}");
    }
}
