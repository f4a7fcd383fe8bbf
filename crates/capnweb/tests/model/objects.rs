//! The objects of a side, and how they are counted.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use capnweb::{Arguments, Capability, Member, Reply, Target, Value};

/// How many there are, but for the main one, and how often they were called.
#[derive(Default)]
pub(crate) struct World {
    objects: AtomicUsize,
    pokes: AtomicUsize,
}

impl World {
    pub(crate) fn objects(&self) -> usize {
        self.objects.load(Ordering::SeqCst)
    }

    pub(crate) fn pokes(&self) -> usize {
        self.pokes.load(Ordering::SeqCst)
    }

    pub(crate) fn object(self: &Arc<Self>) -> Capability {
        self.objects.fetch_add(1, Ordering::SeqCst);
        Capability::new(Object(self.clone()))
    }
}

/// An object that gives itself when it is called.
struct Object(Arc<World>);

impl Drop for Object {
    fn drop(&mut self) {
        self.0.objects.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Target for Object {
    fn member(&self, _name: &str) -> Member {
        Member::Method
    }

    fn call(self: Arc<Self>, _method: &str, _arguments: Arguments) -> Reply {
        self.0.pokes.fetch_add(1, Ordering::SeqCst);
        Reply::ready(Capability::from_target(self))
    }
}

/// The main object of a side.
#[derive(Default)]
pub(crate) struct Main {
    pub(crate) world: Arc<World>,
    kept: Mutex<Option<Value>>,
}

impl Main {
    pub(crate) fn kept(&self) -> Option<Value> {
        self.kept.lock().expect("nothing panics here").clone()
    }

    pub(crate) fn keep(&self, value: Option<Value>) {
        let before = std::mem::replace(&mut *self.kept.lock().expect("nothing panics here"), value);
        drop(before);
    }
}

impl Target for Main {
    fn member(&self, _name: &str) -> Member {
        Member::Method
    }

    fn call(self: Arc<Self>, method: &str, arguments: Arguments) -> Reply {
        let argument = arguments.rest().pop();
        match (method, argument) {
            ("make", _) => Reply::ready(self.world.object()),
            ("keep", value) => {
                self.keep(value);
                Reply::ready(())
            }
            ("ask", Some(Value::Stub(stub))) => Reply::ready(stub.call("poke", ())),
            ("fetch", _) => Reply::ready(self.kept().unwrap_or_default()),
            _ => Reply::no_such_method(method),
        }
    }
}
