//! What the agent understands, and what it does after a restart.

use std::time::Duration;

use a2a::server::{AfterRestart, Agent as _};
use a2a::types::{Message, Part, Task};

use super::{Demo, Wish, artifact, made};

#[test]
fn understands_a_few_words() {
    assert_eq!(
        Wish::of("echo a b"),
        Some(Wish::Echo("echo a b".to_owned()))
    );
    assert_eq!(Wish::of("task"), Some(Wish::Task("task".to_owned())));
    assert_eq!(Wish::of("whoami"), Some(Wish::WhoAmI));
    let burst = |pieces, pause| Some(Wish::Burst { pieces, pause });
    assert_eq!(Wish::of("burst 3"), burst(3, Duration::ZERO));
    assert_eq!(
        Wish::of("burst 3 20ms"),
        burst(3, Duration::from_millis(20))
    );
    for text in [
        "",
        "hello",
        "echoes",
        "tck-complete-task",
        "burst",
        "burst many",
        "burst 1 x",
        "burst 100001",
    ] {
        assert_eq!(Wish::of(text), None, "{text}");
    }
}

fn task(text: &str) -> Task {
    Task {
        history: vec![Message::user("1", text)],
        ..Task::default()
    }
}

#[test]
fn goes_on_with_a_burst_and_with_nothing_else() {
    assert_eq!(Demo.after_restart(&task("burst 3")), AfterRestart::Resume);
    assert_eq!(Demo.after_restart(&task("task 3")), AfterRestart::Fail);
    assert_eq!(Demo.after_restart(&Task::default()), AfterRestart::Fail);
}

#[test]
fn counts_what_a_burst_has_made_however_it_is_cut() {
    let mut task = task("burst 9");
    assert_eq!(made(&task), 0);
    let mut burst = artifact("burst", Part::text("c0 c1 "));
    burst.parts.push(Part::text("c2 "));
    task.artifacts = vec![artifact("other", Part::text("x")), burst];
    assert_eq!(made(&task), 3);
}
