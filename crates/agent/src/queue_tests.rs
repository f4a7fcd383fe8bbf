//! The queue is shared by callers, and a priority that a caller gives itself counts among its own requests.

use crate::event::{EventKind, Outgoing};
use crate::law::{Law, Origin};
use crate::step::tests::{Lived, answers, heard};

/// An agent that works on one request at a time, with room for four more.
fn lived() -> Lived {
    let mut law = Law::default();
    law.attention.turns = 1;
    law.attention.queue = 4;
    Lived::under(law)
}

fn hear(lived: &mut Lived, turn: &str, caller: &str, priority: Option<u8>) -> Vec<Outgoing> {
    let EventKind::Heard(mut request) = heard(turn, Origin::User, "hello") else {
        unreachable!("it is a request");
    };
    request.from = caller.to_owned();
    request.caller = caller.to_owned();
    request.may_raise = caller == "olga";
    request.priority = priority;
    lived.perceive(EventKind::Heard(request))
}

fn queue(lived: &Lived) -> Vec<&str> {
    let queue = lived.life.context().queue();
    queue.into_iter().map(|(turn, _)| turn).collect()
}

#[test]
fn callers_have_their_turns_in_order_however_many_one_has_waiting() {
    let mut lived = lived();
    for turn in ["bob-0", "bob-1", "bob-2", "bob-3"] {
        hear(&mut lived, turn, "bob", None);
    }
    hear(&mut lived, "ada-0", "ada", None);
    assert_eq!(queue(&lived), ["ada-0", "bob-1", "bob-2", "bob-3"]);
}

/// Once a caller with many requests kept all others out of the queue.
#[test]
fn a_full_queue_takes_a_request_of_a_caller_with_fewer_in_it() {
    let mut lived = lived();
    let mut refused = Vec::new();
    for turn in 0..10 {
        let out = hear(&mut lived, &format!("bob-{turn}"), "bob", Some(100));
        refused.extend(answers(&out));
    }
    assert!(refused[0].contains("attention.queue is 4"), "{refused:?}");
    let before = queue(&lived).len();
    let out = hear(&mut lived, "ada-0", "ada", None);
    let told = answers(&out);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("this caller has the most in it"),
        "{told:?}"
    );
    assert_eq!(queue(&lived)[0], "ada-0");
    assert_eq!(queue(&lived).len(), before);
}

#[test]
fn a_priority_counts_against_others_only_if_an_operator_gives_it() {
    let mut lived = lived();
    hear(&mut lived, "first", "eve", None);
    hear(&mut lived, "ada-0", "ada", None);
    hear(&mut lived, "bob-0", "bob", None);
    hear(&mut lived, "bob-1", "bob", Some(100));
    // Among his own it comes first.
    assert_eq!(queue(&lived), ["ada-0", "bob-1", "bob-0"]);
    hear(&mut lived, "olga-0", "olga", Some(90));
    assert_eq!(queue(&lived), ["olga-0", "ada-0", "bob-1", "bob-0"]);
}

/// What several people ask through one agent once shared the places of that agent.
#[test]
fn what_agents_ask_counts_for_the_person_at_the_start_of_the_chain() {
    let mut lived = lived();
    let mut through = |turn: &str, person: &str| {
        let EventKind::Heard(mut request) = heard(turn, Origin::Agent, "hello") else {
            unreachable!("it is a request");
        };
        request.from = "default".to_owned();
        request.caller = "agent:default".to_owned();
        request.person = person.to_owned();
        lived.perceive(EventKind::Heard(request))
    };
    for turn in 0..8 {
        through(&format!("bob-{turn}"), "bob");
    }
    let told = answers(&through("ada-0", "ada"));
    assert!(
        told[0].contains("this caller has the most in it"),
        "{told:?}"
    );
    assert_eq!(queue(&lived)[0], "ada-0");
}
