//! Jobs run after the one that queued them, also after a panic, and chains of any length need no stack.

use std::future::IntoFuture;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;

use super::*;
use crate::testing::{Raw, now, show, with_small_stack};
use crate::{Any, Arguments, Capability, Connection, Error, Member, Options, Reply};

/// A target that panics when it is dropped.
struct Fragile(Arc<AtomicUsize>);

impl Target for Fragile {
    fn member(&self, _name: &str) -> Member {
        panic!("it is that fragile")
    }

    fn call(self: Arc<Self>, method: &str, _arguments: Arguments) -> Reply {
        Reply::no_such_method(method)
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        panic!("it breaks");
    }
}

#[test]
fn jobs_run_in_order_and_not_inside_each_other() {
    let log = Arc::new(std::sync::Mutex::new(Vec::new()));
    let note = |text: &'static str| {
        let log = log.clone();
        move || log.lock().expect("not poisoned").push(text)
    };
    scope(|| {
        let (inner, last) = (note("inner"), note("last"));
        let begin = note("begin");
        run(Job::Run(Box::new(move || {
            begin();
            run(Job::Run(Box::new(inner)));
        })));
        run(Job::Run(Box::new(last)));
        note("now")();
    });
    assert_eq!(
        *log.lock().expect("not poisoned"),
        ["now", "begin", "last", "inner"]
    );
}

#[test]
fn a_disposer_that_panics_does_not_stop_the_others() {
    let gone = Arc::<AtomicUsize>::default();
    let connection = Connection::new(Capability::nothing(), &Options::default());
    for _ in 0..3 {
        drop(
            connection
                .remote::<crate::Any>()
                .call("keep", (Capability::new(Fragile(gone.clone())),)),
        );
    }
    connection.end(Error::new("the wire was cut"));
    assert_eq!(gone.load(Ordering::SeqCst), 3);
    // The thread is as good as new.
    let raw = Raw::new();
    assert_eq!(
        raw.feed("[\"push\",[\"pipeline\",0,[\"counter\"],[1]]]\n[\"release\",1,1]"),
        ""
    );
    assert_eq!(raw.sample.gone(), 1);
}

#[test]
fn a_panic_in_the_work_runs_what_was_put_off() {
    let ran = Arc::<AtomicUsize>::default();
    let counting = ran.clone();
    let work = std::panic::AssertUnwindSafe(|| {
        scope(|| {
            run(Job::Run(Box::new(move || {
                counting.fetch_add(1, Ordering::SeqCst);
            })));
            panic!("half-way");
        })
    });
    assert!(std::panic::catch_unwind(work).is_err());
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}

#[test]
fn a_target_that_panics_when_asked_for_its_members_is_an_internal_error() {
    struct Rude;
    impl Target for Rude {
        fn member(&self, _name: &str) -> Member {
            panic!("a secret")
        }
        fn call(self: Arc<Self>, method: &str, _arguments: Arguments) -> Reply {
            Reply::no_such_method(method)
        }
    }
    let connection = Connection::new(Capability::new(Rude), &Options::default());
    connection.receive(r#"["push",["pipeline",0,["x"],[]]]"#);
    connection.receive(r#"["pull",1]"#);
    assert_eq!(
        connection.take_outgoing(),
        [r#"["reject",1,["error","Error","internal error"]]"#]
    );
    connection.receive(r#"["release",1,1]"#);
    assert_eq!(connection.stats(), crate::testing::REST);
}

// Chains of any length.

const LONG: usize = 50_000;

#[test]
fn values_as_deep_as_allowed_fit_on_a_small_stack() {
    with_small_stack(|| {
        let raw = Raw::new();
        for (open, close) in [
            ("[[", "]]"),
            ("{\"a\":", "}"),
            ("[\"error\",\"Error\",\"\",null,{\"a\":", "}]"),
        ] {
            let deep = format!("{}1{}", open.repeat(254), close.repeat(254));
            raw.connection.receive(&format!(
                "[\"stream\",[\"pipeline\",0,[\"echo\"],[{deep}]]]"
            ));
            assert!(raw.sent().ends_with(&format!("{deep}]")));
        }
        let calls = format!(
            "{}1{}",
            "[\"pipeline\",0,[\"echo\"],[".repeat(254),
            "]]".repeat(254)
        );
        raw.connection.receive(&format!("[\"stream\",{calls}]"));
        assert!(raw.sent().ends_with(",1]"));
    });
}

#[test]
fn a_long_chain_of_calls_is_resolved_on_a_small_stack() {
    with_small_stack(|| {
        let raw = Raw::limited(|limits| limits.max_calls_in_flight = LONG + 1);
        raw.feed(r#"["push",["pipeline",0,["later"],["x"]]]"#);
        for id in 1..LONG {
            raw.connection
                .receive(&format!(r#"["push",["pipeline",{id},["itself"]]]"#));
        }
        raw.feed(&format!("[\"pull\",{LONG}]"));
        raw.sample
            .answer("x", Ok(Capability::from_target(raw.sample.clone()).into()));
        raw.check("", expect![[r#"["resolve",50000,["export",-1]]"#]]);
        raw.feed("[\"release\",-1,1]");
        (1..=LONG).for_each(|id| raw.connection.receive(&format!("[\"release\",{id},1]")));
    });
}

#[test]
fn a_long_chain_of_calls_is_dropped_unresolved_on_a_small_stack() {
    with_small_stack(|| {
        let raw = Raw::limited(|limits| limits.max_calls_in_flight = LONG + 1);
        raw.feed(r#"["push",["pipeline",0,["later"],["x"]]]"#);
        for id in 1..LONG {
            raw.connection.receive(&format!(
                r#"["push",["pipeline",{id},["echo"],[["pipeline",{id}]]]]"#
            ));
        }
        raw.connection.end(Error::new("the wire was cut"));
        raw.sample.owed.lock().expect("not poisoned").clear();
    });
}

#[test]
fn a_long_chain_of_promises_is_resolved_and_dropped_on_a_small_stack() {
    with_small_stack(|| {
        let raw = Raw::new();
        let promise = raw.connection.remote::<Any>().call("get", ());
        let mut awaited = Box::pin(promise.into_future());
        raw.feed(r#"["resolve",1,["promise",-1]]"#);
        for id in 1..LONG {
            raw.connection
                .receive(&format!(r#"["resolve",-{id},["promise",-{}]]"#, id + 1));
        }
        raw.connection
            .receive(&format!(r#"["resolve",-{LONG},"the end"]"#));
        assert_eq!(
            now(awaited.as_mut()).map(show).as_deref(),
            Some("\"the end\"")
        );
    });
}

#[test]
fn a_long_chain_of_nested_values_is_refused_and_dropped_on_a_small_stack() {
    with_small_stack(|| {
        let raw = Raw::new();
        raw.feed(r#"["push",[[1]]]"#);
        for id in 1..LONG {
            raw.connection
                .receive(&format!(r#"["push",[[["pipeline",{id}]]]]"#));
        }
        for id in 1..LONG {
            raw.connection.receive(&format!(r#"["release",{id},1]"#));
        }
        raw.check(&format!("[\"pull\",{LONG}]"), expect![[r#"["reject",50000,["error","RangeError","the value nests too deeply once its promises are resolved"]]"#]]);
        raw.feed(&format!("[\"release\",{LONG},1]"));
    });
}

#[test]
fn a_long_chain_of_errors_is_dropped_on_a_small_stack() {
    with_small_stack(|| {
        let raw = Raw::new();
        let throw = |id: usize| {
            format!(
                r#"["pipeline",-1,["throw"],[["error","Error","x",null,{{"p":["pipeline",{id}]}}]]]"#
            )
        };
        let steps: Vec<_> = (0..LONG).map(throw).collect();
        let steps = steps.join(",");
        raw.feed(&format!(
            r#"["push",["remap",0,[],[["import",0]],[{steps},1]]]"#
        ));
        raw.feed(r#"["release",1,1]"#);
    });
}

#[test]
fn a_long_chain_of_targets_is_dropped_on_a_small_stack() {
    struct Holder(#[expect(dead_code, reason = "held")] Option<Capability>);
    impl Target for Holder {
        fn member(&self, _name: &str) -> Member {
            Member::Absent
        }
        fn call(self: Arc<Self>, method: &str, _arguments: Arguments) -> Reply {
            Reply::no_such_method(method)
        }
    }
    with_small_stack(|| {
        let mut last = None;
        for _ in 0..LONG {
            last = Some(Capability::new(Holder(last)));
        }
        let connection = Connection::new(last.take().expect("there is one"), &Options::default());
        connection.end(Error::new("done"));
    });
}

#[test]
fn a_long_chain_of_streams_in_streams_is_dropped_on_a_small_stack() {
    with_small_stack(|| {
        let raw = Raw::new();
        let length = 30_000;
        (0..length).for_each(|_| raw.connection.receive(r#"["pipe"]"#));
        for id in 1..length {
            let chunk = format!(r#"[["import",{0}],["readable",{0}]]"#, id + 1);
            raw.connection.receive(&format!(
                r#"["stream",["pipeline",{id},["write"],[[{chunk}]]]]"#
            ));
        }
        (2..=length).for_each(|id| raw.connection.receive(&format!("[\"release\",{id},1]")));
        assert!(raw.connection.close_frame().is_none());
        raw.feed(r#"["release",1,1]"#);
    });
}
