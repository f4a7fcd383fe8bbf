//! The queue is shared by callers, and a priority that a caller gives itself counts among its own requests.

use crate::event::{EventKind, Outgoing};
use crate::law::{Law, Origin};
use crate::step::tests::{Stepper, answers, heard};

/// An agent that works on one request at a time, with room for four more.
fn stepper() -> Stepper {
    let mut law = Law::default();
    law.attention.turns = 1;
    law.attention.queue = 4;
    Stepper::under(law)
}

fn hear(stepper: &mut Stepper, turn: &str, caller: &str, priority: Option<u8>) -> Vec<Outgoing> {
    let EventKind::Heard(mut request) = heard(turn, Origin::User, "hello") else {
        unreachable!("it is a request");
    };
    request.from = caller.to_owned();
    request.caller = caller.to_owned();
    request.may_raise = caller == "olga";
    request.priority = priority;
    stepper.perceive(EventKind::Heard(request))
}

fn queue(stepper: &Stepper) -> Vec<&str> {
    let queue = stepper.state.context().queue();
    queue.into_iter().map(|(turn, _)| turn).collect()
}

#[test]
fn callers_have_their_turns_in_order_however_many_one_has_waiting() {
    let mut stepper = stepper();
    for turn in ["bob-0", "bob-1", "bob-2", "bob-3"] {
        hear(&mut stepper, turn, "bob", None);
    }
    hear(&mut stepper, "ada-0", "ada", None);
    assert_eq!(queue(&stepper), ["ada-0", "bob-1", "bob-2", "bob-3"]);
}

/// Once a caller with many requests kept all others out of the queue.
#[test]
fn a_full_queue_takes_a_request_of_a_caller_with_fewer_in_it() {
    let mut stepper = stepper();
    let mut refused = Vec::new();
    for turn in 0..10 {
        let out = hear(&mut stepper, &format!("bob-{turn}"), "bob", Some(100));
        refused.extend(answers(&out));
    }
    assert!(refused[0].contains("attention.queue is 4"), "{refused:?}");
    let before = queue(&stepper).len();
    let out = hear(&mut stepper, "ada-0", "ada", None);
    let told = answers(&out);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("this caller has the most in it"),
        "{told:?}"
    );
    assert_eq!(queue(&stepper)[0], "ada-0");
    assert_eq!(queue(&stepper).len(), before);
}

#[test]
fn a_priority_counts_against_others_only_if_an_operator_gives_it() {
    let mut stepper = stepper();
    hear(&mut stepper, "first", "eve", None);
    hear(&mut stepper, "ada-0", "ada", None);
    hear(&mut stepper, "bob-0", "bob", None);
    hear(&mut stepper, "bob-1", "bob", Some(100));
    // Among his own it comes first.
    assert_eq!(queue(&stepper), ["ada-0", "bob-1", "bob-0"]);
    hear(&mut stepper, "olga-0", "olga", Some(90));
    assert_eq!(queue(&stepper), ["olga-0", "ada-0", "bob-1", "bob-0"]);
}

/// What several people ask through one agent once shared the places of that agent.
#[test]
fn what_agents_ask_counts_for_the_person_at_the_start_of_the_chain() {
    let mut stepper = stepper();
    let mut through = |turn: &str, person: &str| {
        let EventKind::Heard(mut request) = heard(turn, Origin::Agent, "hello") else {
            unreachable!("it is a request");
        };
        request.from = "default".to_owned();
        request.caller = "agent:default".to_owned();
        request.person = person.to_owned();
        stepper.perceive(EventKind::Heard(request))
    };
    for turn in 0..8 {
        through(&format!("bob-{turn}"), "bob");
    }
    let told = answers(&through("ada-0", "ada"));
    assert!(
        told[0].contains("this caller has the most in it"),
        "{told:?}"
    );
    assert_eq!(queue(&stepper)[0], "ada-0");
}
