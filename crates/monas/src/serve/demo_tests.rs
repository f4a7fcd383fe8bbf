//! What the agent understands, and what it does after a restart.

use std::time::Duration;

use a2a::server::{AfterRestart, Agent as _};
use a2a::types::{Message, Part, Task};
use agent::Manifest;

use super::{Demo, Request, artifact, made};

#[test]
fn understands_a_few_words() {
    assert_eq!(
        Request::parse("echo a b"),
        Some(Request::Echo("echo a b".to_owned()))
    );
    assert_eq!(
        Request::parse("task"),
        Some(Request::Task("task".to_owned()))
    );
    assert_eq!(Request::parse("whoami"), Some(Request::WhoAmI));
    let burst = |pieces, pause| Some(Request::Burst { pieces, pause });
    assert_eq!(Request::parse("burst 3"), burst(3, Duration::ZERO));
    assert_eq!(
        Request::parse("burst 3 20ms"),
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
        assert_eq!(Request::parse(text), None, "{text}");
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
    let demo = Demo::default();
    assert_eq!(demo.after_restart(&task("burst 3")), AfterRestart::Resume);
    assert_eq!(demo.after_restart(&task("task 3")), AfterRestart::Fail);
    assert_eq!(demo.after_restart(&Task::default()), AfterRestart::Fail);
}

/// What the manifest took away could still be asked for in words.
#[test]
fn does_not_do_in_words_what_its_manifest_takes_away() {
    let of = |skills: &[&str]| {
        let mut manifest = Manifest::new("Demo");
        manifest.skills = Some(skills.iter().map(|it| (*it).to_owned()).collect());
        Demo::of(&manifest)
    };
    let echo = of(&["echo"]);
    assert!(echo.request("echo a").is_some() && echo.request("whoami").is_some());
    assert_eq!(
        (echo.request("task a"), echo.request("burst 3")),
        (None, None)
    );
    assert_eq!(echo.after_restart(&task("burst 3")), AfterRestart::Fail);
    for (skills, help) in [
        (&[][..], "I am a small agent to try the protocol with."),
        (
            &["task"],
            "I am a small agent to try the protocol with. Say `task hello` for a task.",
        ),
        (
            &["echo", "task", "burst"],
            "I am a small agent to try the protocol with. Say `echo hello` for a message, \
             `task hello` for a task, or `burst 20 100ms` for a stream.",
        ),
    ] {
        assert_eq!(of(skills).help(), help);
    }
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
