//! Two real sessions, in every order of events that a small number of calls allows.
//!
//! One side calls: it has objects made for it, lends its own, passes on what it got, pipelines, waits,
//! clones and lets go. The other side answers, keeps what it is lent, calls it and forgets it. Frames
//! arrive in order but whenever they like, and the connection may be cut at any moment. `stateright`
//! goes through all of it, and gives the steps that lead to the first thing that is wrong.
//!
//! - `side`: one session with its application, brought to where its events lead
//! - `objects`: what its application offers
//! - `ledger`: the protocol's rules for reference counts, kept as an account beside the session
//! - `model`: both sides, what can happen next, and what must hold
//!
//! `MONAS_MODEL=large cargo test -p capnweb --test model` goes through all orders of some steps more, and takes about
//! half a minute and half a gigabyte.

mod ledger;
mod model;
mod objects;
mod side;

use std::collections::BTreeSet;

use stateright::{Checker, Expectation, HasDiscoveries, Model};

use model::{
    ANSWERED_ONCE, GONE_AT_LAST, KNOWN_TO_BOTH, NAMED_WHILE_HELD, RELEASED_ONCE, Sessions,
    TOLD_AT_LAST,
};
use side::{Bounds, Fault};

/// Together these meet all that the model can do; each alone is small.
const SMALL: [Bounds; 4] = [
    Bounds::new(2).waits(1),
    Bounds::new(2).clones(1),
    Bounds::new(2).uses(1),
    Bounds::new(1).clones(1).waits(2).uses(1),
];

const LARGE: [Bounds; 1] = [Bounds::new(2).waits(1).uses(1)];

#[test]
fn two_sessions_keep_their_counts_in_every_order_of_events() {
    let large = std::env::var("MONAS_MODEL").is_ok_and(|size| size == "large");
    let further = if large { &LARGE[..] } else { &[] };
    let mut seen = BTreeSet::new();
    for bounds in SMALL.iter().chain(further) {
        let model = Sessions::new(*bounds, Fault::None);
        let checker = model.checker().threads(2).spawn_bfs().join();
        assert!(checker.is_done());
        for property in checker.model().properties() {
            match (property.expectation, checker.discovery(property.name)) {
                (Expectation::Sometimes, found) => seen.extend(found.map(|_| property.name)),
                (_, None) => {}
                (_, Some(path)) => {
                    panic!("{}, but: {:?}", property.name, path.into_actions())
                }
            }
        }
    }
    // A model that does little would keep every rule.
    for property in Sessions::new(SMALL[0], Fault::None).properties() {
        let expected = property.expectation == Expectation::Sometimes;
        assert!(
            !expected || seen.contains(property.name),
            "never: {}",
            property.name
        );
    }
}

/// A session that makes a mistake is found, by the properties that name the mistake.
#[track_caller]
fn finds(fault: Fault, properties: &[&'static str]) {
    let all = HasDiscoveries::AllOf(properties.iter().copied().collect());
    let model = Sessions::new(SMALL[0], fault);
    let checker = model.checker().finish_when(all).spawn_bfs().join();
    for property in properties {
        let found = checker.discovery(property);
        assert!(found.is_some(), "{fault:?} does not break {property:?}");
    }
}

#[test]
fn a_release_that_is_forgotten_is_found() {
    finds(Fault::ForgetsRelease, &[GONE_AT_LAST]);
}

#[test]
fn a_release_that_is_repeated_is_found() {
    finds(Fault::RepeatsRelease, &[RELEASED_ONCE, KNOWN_TO_BOTH]);
}

#[test]
fn a_use_after_the_release_is_found() {
    finds(Fault::PullsTooLate, &[NAMED_WHILE_HELD, KNOWN_TO_BOTH]);
}

#[test]
fn an_answer_that_is_forgotten_is_found() {
    finds(Fault::ForgetsAnswer, &[TOLD_AT_LAST]);
}

#[test]
fn an_answer_that_is_repeated_is_found() {
    finds(Fault::RepeatsAnswer, &[ANSWERED_ONCE]);
}
