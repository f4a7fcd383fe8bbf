//! Randomly generated scenarios.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::scenario::{
    Bad, How, List, Name, Operation, STATES, Scenario, Send, Step, Webhook, With,
};

/// Scripts of each behaviour that an agent can have; the first line ends by itself, the second waits.
const QUICK: &[&str] = &[
    "done",
    "work, text hello, done",
    "work, pieces 3, done",
    "file, link, data, done",
    "echo, done",
    "say soon, ask",
    "ask",
    "work, fail",
    "reject",
    "reply hello",
    "nothing",
    "dance",
];
const SLOW: &[&str] = &[
    "work, wait, done",
    "work, wait, text hello, wait, pieces 2, done",
    "work, wait, ask",
    "wait, done",
    "say soon, wait, fail",
    "work, wait, wait, file, reject",
];

/// Any sequence of operations by a few clients on a few tasks. Names are few, so that steps meet.
pub fn scenario() -> impl Strategy<Value = Scenario> {
    vec(step(), 1..12).prop_map(|steps| Scenario { steps })
}

fn step() -> impl Strategy<Value = Step> {
    let agent = names(&["t1", "t2", "t3"]).prop_map(|task| Step {
        who: name("agent"),
        what: Operation::Go(task),
    });
    let client = (names(&["alice", "bob", "carol"]), operation());
    let client = client.prop_map(|(who, what)| Step { who, what });
    prop_oneof![1 => agent, 6 => client]
}

fn operation() -> impl Strategy<Value = Operation> {
    let task = || names(&["t1", "t2", "t3", "unknown"]);
    let stream = || names(&["s1", "s2"]);
    let webhook = || (task(), names(&["w1", "w2"])).prop_map(|(task, id)| Webhook { task, id });
    let subscribe = (
        task(),
        option::of(0..4_u64),
        option::weighted(0.9, stream()),
    );
    prop_oneof![
        8 => send().prop_map(Operation::Send),
        3 => (task(), option::of(0..3_u32)).prop_map(|(task, history)| Operation::Get { task, history }),
        2 => list().prop_map(Operation::List),
        2 => task().prop_map(Operation::Cancel),
        3 => subscribe.prop_map(|(task, from, stream)| Operation::Subscribe { task, from, stream }),
        3 => (stream(), option::of(1..3_u32)).prop_map(|(stream, count)| Operation::Read { stream, count }),
        1 => stream().prop_map(Operation::Cut),
        2 => stream().prop_map(Operation::Resume),
        1 => webhook().prop_map(Operation::Push),
        1 => webhook().prop_map(Operation::PushGet),
        1 => task().prop_map(Operation::PushList),
        1 => webhook().prop_map(Operation::PushDelete),
        1 => Just(Operation::Card),
        2 => select(Bad::ALL).prop_map(Operation::Bad),
    ]
}

fn send() -> impl Strategy<Value = Send> {
    let script = prop_oneof![select(QUICK), select(SLOW)];
    let how = select(&[How::Send, How::Start, How::Stream][..]);
    let with = prop_oneof![
        select(&["", "bytes", "\"quoted\" \\ \u{7}\u{fc}"][..])
            .prop_map(|it| With::Bytes(it.to_owned())),
        Just(With::Link("https://example.com/a.png".to_owned())),
        Just(With::Data),
    ];
    let task = || names(&["t1", "t2", "t3"]);
    let place = (option::weighted(0.4, task()), option::weighted(0.2, task()));
    let numbers = (
        option::weighted(0.1, 1..4_u32),
        option::weighted(0.2, 0..3_u32),
    );
    let message = option::weighted(0.1, names(&["m1", "m2"]));
    let results = option::weighted(0.9, (task(), option::weighted(0.9, names(&["s1", "s2"]))));
    let parts = (how, script, option::weighted(0.2, with));
    (parts, place, numbers, message, results).prop_map(
        |((how, script, with), (to, beside), (at, history), message, results)| {
            let (task, stream) = results.unzip();
            Send {
                with,
                to,
                beside,
                at,
                history,
                message,
                task,
                stream: stream.flatten().filter(|_| how == How::Stream),
                ..Send::new(how, script)
            }
        },
    )
}

fn list() -> impl Strategy<Value = List> {
    let page = || option::weighted(0.4, names(&["p1", "p2"]));
    let fields = (
        option::weighted(0.3, names(&["t1", "t2"])),
        option::weighted(0.3, select(STATES)),
        option::of(1..3_u32),
        page(),
        page(),
    );
    fields.prop_map(|(beside, state, size, after, page)| List {
        beside,
        state,
        size,
        after,
        page,
    })
}

fn names(words: &'static [&'static str]) -> impl Strategy<Value = Name> {
    select(words).prop_map(name)
}

fn name(word: &str) -> Name {
    Name::new(word).expect("the words above are names")
}
