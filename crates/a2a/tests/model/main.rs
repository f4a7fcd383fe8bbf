//! The states of a task: a real server, in every order of events that a small number of calls allows.
//!
//! A caller opens a task, sends it messages, cancels it, follows it, is cut off and goes on from its cursor. The agent
//! speaks, asks, completes, fails and ends, whenever it likes. The journal commits when it likes, and the process may
//! be killed at any moment: before a commit, or after it and before the server learns of it. `stateright` goes through
//! all of it, and gives the steps that lead to the first thing that is wrong.
//!
//! - `world`: the server, brought to where its events lead
//! - `happening`: what can happen, how often, and what can go wrong
//! - `agent_control`, `client`: the agent that does what it is told, and its callers
//! - `sight`: what can be seen of all of them, and what can happen next
//! - `rules`: what must hold
//! - `model`: the same for `stateright`
//!
//! `MONAS_MODEL=large cargo test -p a2a --test model` goes through all orders of some events more, and takes some
//! minutes.

mod agent_control;
mod client;
mod happening;
mod model;
mod rules;
mod sight;
mod world;

use std::collections::BTreeSet;

use stateright::{Checker, Expectation, HasDiscoveries, Model};

use client::Way;
use happening::{Bounds, Fault};
use model::TaskModel;

/// Together these meet all that the model can do; each alone is small.
const SMALL: [Bounds; 7] = [
    // Cancelling against completing.
    Bounds {
        says: 1,
        cancels: 2,
        fails: 1,
        ..Bounds::NONE
    },
    // A message, while the agent works and while it waits.
    Bounds {
        way: Way::Rest,
        says: 1,
        asks: 1,
        messages: 1,
        cancels: 1,
        ..Bounds::NONE
    },
    // A reader that is cut off.
    Bounds {
        way: Way::Stream,
        says: 2,
        cuts: 1,
        follows: 1,
        ..Bounds::NONE
    },
    // A process that is killed, and a message that is sent again.
    Bounds {
        way: Way::Rest,
        again: 1,
        says: 1,
        kills: 1,
        ..Bounds::NONE
    },
    // A process that is killed; its agents do not resume.
    Bounds {
        asks: 1,
        messages: 1,
        kills: 1,
        ..Bounds::NONE
    },
    // A process that is killed; its agents resume.
    Bounds {
        resumes: true,
        cancels: 1,
        messages: 1,
        kills: 1,
        ..Bounds::NONE
    },
    // A reader over a restart.
    Bounds {
        way: Way::Stream,
        resumes: true,
        says: 1,
        follows: 1,
        kills: 1,
        ..Bounds::NONE
    },
];

const LARGE: [Bounds; 4] = [
    Bounds {
        way: Way::Rest,
        says: 1,
        asks: 1,
        messages: 2,
        cancels: 1,
        ..Bounds::NONE
    },
    Bounds {
        way: Way::Stream,
        asks: 1,
        messages: 1,
        cancels: 1,
        follows: 2,
        cuts: 2,
        ..Bounds::NONE
    },
    Bounds {
        way: Way::Rest,
        again: 1,
        says: 1,
        asks: 1,
        messages: 1,
        kills: 1,
        ..Bounds::NONE
    },
    Bounds {
        resumes: true,
        says: 1,
        cancels: 1,
        messages: 1,
        kills: 2,
        ..Bounds::NONE
    },
];

#[test]
fn a_task_lives_rightly_in_every_order_of_events() {
    let large = std::env::var("MONAS_MODEL").is_ok_and(|size| size == "large");
    let further = if large { &LARGE[..] } else { &[] };
    let mut seen = BTreeSet::new();
    for bounds in SMALL.iter().chain(further) {
        let checker = TaskModel::new(*bounds, Fault::None)
            .checker()
            .threads(2)
            .spawn_bfs()
            .join();
        assert!(checker.is_done());
        for property in checker.model().properties() {
            match (property.expectation, checker.discovery(property.name)) {
                (Expectation::Sometimes, found) => seen.extend(found.map(|_| property.name)),
                (_, None) => {}
                (_, Some(path)) => {
                    let last = path.last_state().clone();
                    panic!(
                        "{}, but: {:?}\n{last:?}",
                        property.name,
                        path.into_actions()
                    )
                }
            }
        }
    }
    // A model that does little would keep every rule.
    for property in TaskModel::new(SMALL[0], Fault::None).properties() {
        let expected = property.expectation == Expectation::Sometimes;
        assert!(
            !expected || seen.contains(property.name),
            "never: {}",
            property.name
        );
    }
}

/// A mistake is found, by the property that names it.
#[track_caller]
fn finds(fault: Fault, bounds: Bounds, property: &'static str) {
    let all = HasDiscoveries::AllOf([property].into());
    let checker = TaskModel::new(bounds, fault)
        .checker()
        .finish_when(all)
        .spawn_bfs()
        .join();
    let found = checker.discovery(property);
    assert!(found.is_some(), "{fault:?} does not break {property:?}");
}

#[test]
fn a_journal_that_forgets_is_found() {
    finds(Fault::ForgetsEvents, SMALL[3], "what was committed stays");
}

#[test]
fn a_task_that_is_not_recovered_is_found() {
    finds(
        Fault::ForgetsWhatRuns,
        SMALL[4],
        "a task is worked on or rests",
    );
}

#[test]
fn a_message_that_is_taken_for_new_is_found() {
    finds(
        Fault::ForgetsWhatWasSent,
        SMALL[3],
        "a message opens one task",
    );
}

#[test]
fn an_event_that_is_skipped_is_found() {
    finds(
        Fault::SkipsAnEvent,
        SMALL[2],
        "a reader misses and repeats nothing",
    );
}

#[test]
fn an_event_that_is_repeated_is_found() {
    finds(
        Fault::RepeatsAnEvent,
        SMALL[2],
        "a reader misses and repeats nothing",
    );
}
