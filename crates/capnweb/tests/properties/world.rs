//! The objects that random operations are made on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use capnweb::{Arguments, Capability, Error, Member, Reply, Result, Target, Value};

/// How many objects there are, and what was noted.
#[derive(Default)]
pub(crate) struct World {
    alive: AtomicUsize,
    notes: Mutex<Vec<(u32, u32)>>,
}

impl World {
    pub(crate) fn alive(&self) -> usize {
        self.alive.load(Ordering::SeqCst)
    }

    /// What was noted: who said it, and its how many-th word it was.
    pub(crate) fn notes(&self) -> Vec<(u32, u32)> {
        self.notes.lock().expect("nothing panics here").clone()
    }

    /// An object with a value. Its answers depend on nothing but the arguments.
    pub(crate) fn object(self: &Arc<Self>, value: f64) -> Capability {
        Capability::new(Object::new(self, value))
    }

    /// A function that doubles. All callable members succeed: reading a property of a value that
    /// holds a failed promise gives the property before the failure is known, and the failure after.
    pub(crate) fn function(self: &Arc<Self>) -> Capability {
        let held = Object::new(self, 0.0);
        Capability::from_fn(move |mut arguments| {
            let _held = &held;
            let number = arguments.take::<f64>("number").unwrap_or(0.0);
            async move { number * 2.0 }
        })
    }

    pub(crate) fn main(self: &Arc<Self>) -> Capability {
        Capability::new(Main {
            object: Object::new(self, 1.0),
            kept: Mutex::default(),
        })
    }
}

struct Object {
    world: Arc<World>,
    value: f64,
}

impl Object {
    fn new(world: &Arc<World>, value: f64) -> Self {
        world.alive.fetch_add(1, Ordering::SeqCst);
        Self {
            world: world.clone(),
            value,
        }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        self.world.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Target for Object {
    fn member(&self, name: &str) -> Member {
        match name {
            "value" | "itself" => Member::Getter,
            "plus" | "note" => Member::Method,
            _ => Member::Absent,
        }
    }

    fn get(self: Arc<Self>, property: &str) -> Reply {
        match property {
            "value" => Reply::ready(self.value),
            _ => Reply::ready(Capability::from_target(self)),
        }
    }

    fn call(self: Arc<Self>, method: &str, arguments: Arguments) -> Reply {
        match method {
            "plus" => {
                Reply::ready(plus(arguments, self.value).map(|value| self.world.object(value)))
            }
            _ => Reply::ready(note(&self.world, arguments)),
        }
    }

    fn invoke(self: Arc<Self>, _arguments: Arguments) -> Reply {
        Reply::ready(self.value)
    }
}

fn plus(mut arguments: Arguments, value: f64) -> Result<f64> {
    arguments.take::<f64>("number").map(|number| number + value)
}

fn note(world: &World, mut arguments: Arguments) -> Result<u32> {
    let (who, word) = (arguments.take("who")?, arguments.take("word")?);
    world
        .notes
        .lock()
        .expect("nothing panics here")
        .push((who, word));
    Ok(word)
}

struct Main {
    object: Object,
    kept: Mutex<Vec<Value>>,
}

impl Target for Main {
    fn member(&self, name: &str) -> Member {
        match name {
            "itself" => Member::Getter,
            "absent" => Member::Absent,
            _ => Member::Method,
        }
    }

    fn get(self: Arc<Self>, _property: &str) -> Reply {
        Reply::ready(Capability::from_target(self))
    }

    fn call(self: Arc<Self>, method: &str, mut arguments: Arguments) -> Reply {
        let world = &self.object.world;
        match method {
            "note" => Reply::ready(note(world, arguments)),
            "add" => Reply::ready(
                arguments
                    .take("first")
                    .and_then(|first| plus(arguments, first)),
            ),
            "make" => Reply::ready(arguments.take("value").map(|value| world.object(value))),
            "list" => Reply::ready(
                arguments
                    .take("length")
                    .map(|length: u8| (0..length % 8).collect::<Vec<_>>()),
            ),
            "fail" => Reply::error(Error::range_error("it failed")),
            // Hands on the promise of what the function gives.
            "call" => Reply::ready(
                arguments
                    .take("function")
                    .map(|function: Capability| Value::from(function.invoke(arguments.rest()))),
            ),
            "wrap" => Reply::ready(arguments.take("function").map(|function: Capability| {
                let result = function.invoke(arguments.rest());
                Value::object([
                    ("result", Value::from(&result)),
                    ("again", Value::array([Value::from(&result)])),
                ])
            })),
            "keep" => {
                self.kept
                    .lock()
                    .expect("nothing panics here")
                    .extend(arguments.rest());
                Reply::ready(())
            }
            "kept" => Reply::ready(
                self.kept
                    .lock()
                    .expect("nothing panics here")
                    .last()
                    .cloned()
                    .unwrap_or_default(),
            ),
            "forget" => {
                let kept = std::mem::take(&mut *self.kept.lock().expect("nothing panics here"));
                drop(kept);
                Reply::ready(())
            }
            _ => Reply::ready(arguments.rest()),
        }
    }

    fn invoke(self: Arc<Self>, _arguments: Arguments) -> Reply {
        Reply::ready(self.object.value)
    }
}
