//! Jobs run after the one that put them off, whatever happens in it.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::testing::Raw;
use crate::{Arguments, Capability, Connection, Error, Member, Options, Reply};

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
