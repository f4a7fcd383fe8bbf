//! Random operations on a main object, wherever it is.

use std::future::IntoFuture;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use capnweb::{Awaited, Promise, Result, Stub, Value};
use proptest::prelude::*;

use crate::world::World;

/// Something an application, or the wire, does. Numbers choose among what there is.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    /// Calls a method of the main object.
    Call(&'static str, Vec<Argument>),
    /// Makes an object that comes late: its value has to be asked for at the caller.
    Late,
    /// Calls a method of what a promise will be.
    Pipeline(u8, &'static str, Vec<Argument>),
    /// Reads a property of what a promise will be.
    Read(u8, &'static str),
    /// Notes something, through the main object or a promise.
    Note(Option<u8>),
    /// Maps what a promise will be.
    Map(u8),
    /// Keeps something at the main object. Its arguments are no promises, so nothing overtakes it.
    Keep(Argument),
    Kept,
    Forget,
    /// Begins to wait for a promise.
    Await(u8),
    /// Stops waiting for one.
    StopAwaiting(u8),
    /// Lets a promise go.
    Drop(u8),
    /// Takes a frame or a few from one side to the other.
    Deliver(Side, u8),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    Client,
    Server,
}

#[derive(Clone, Debug)]
pub(crate) enum Argument {
    Number(i8),
    Text,
    /// A promise made before.
    Promise(u8),
    /// A property of one.
    Property(u8, &'static str),
    /// A new object of the caller's.
    Object(i8),
    /// A new function of the caller's.
    Function,
    /// The main object itself.
    Main,
    List(Vec<Argument>),
}

/// The caller: what it holds, and what it waits for.
pub(crate) struct Caller {
    main: Stub,
    world: Arc<World>,
    promises: Vec<Option<Promise>>,
    awaited: Vec<(usize, Pin<Box<Awaited<Value>>>)>,
    /// How many words each of the main object (0) and the promises has noted.
    words: Vec<u32>,
}

impl Caller {
    pub(crate) fn new(main: Stub, world: &Arc<World>) -> Self {
        Self {
            main,
            world: world.clone(),
            promises: Vec::new(),
            awaited: Vec::new(),
            words: vec![0],
        }
    }

    /// Does what an application can do.
    pub(crate) fn perform(&mut self, operation: &Operation) {
        let promise = match operation {
            Operation::Call(method, arguments) => self.main.call(method, self.values(arguments)),
            Operation::Late => {
                let value = self.main.call("call", (self.world.function(), 1));
                self.main.call("make", (value,))
            }
            Operation::Pipeline(which, method, arguments) => match self.promise(*which) {
                Some((_, promise)) => promise.call(method, self.values(arguments)),
                None => return,
            },
            Operation::Read(which, name) => match self.promise(*which) {
                Some((_, promise)) => promise.property(name),
                None => return,
            },
            Operation::Note(None) => {
                let word = self.next_word(0);
                self.main.call("note", (0, word))
            }
            Operation::Note(Some(which)) => match self.promise(*which) {
                Some((index, promise)) => {
                    promise.call("note", (index as u32 + 1, self.next_word(index + 1)))
                }
                None => return,
            },
            Operation::Map(which) => match self.promise(*which) {
                Some((_, promise)) => {
                    // A call that cannot fail: reading a property of a mapped list gives the property before the
                    // failure of an element is known, and the failure after (see `World::function`).
                    let main = &self.main;
                    promise.map(|mapper, element| mapper.capture(main).call("echo", (element, 1)))
                }
                None => return,
            },
            Operation::Keep(argument) => self.main.call("keep", (self.value(argument),)),
            Operation::Kept => self.main.call("kept", ()),
            Operation::Forget => self.main.call("forget", ()),
            Operation::Await(which) => {
                if let Some((index, promise)) = self.promise(*which) {
                    self.awaited.push((index, Box::pin(promise.into_future())));
                }
                return;
            }
            Operation::StopAwaiting(which) => {
                if !self.awaited.is_empty() {
                    drop(
                        self.awaited
                            .remove(usize::from(*which) % self.awaited.len()),
                    );
                }
                return;
            }
            Operation::Drop(which) => {
                if let Some((index, _)) = self.promise(*which) {
                    self.promises[index] = None;
                }
                return;
            }
            Operation::Deliver(..) => return,
        };
        self.promises.push(Some(promise));
        self.words.push(0);
    }

    /// Begins to wait for everything that is still held.
    pub(crate) fn await_all(&mut self) {
        for index in 0..self.promises.len() {
            if let Some(promise) = self.promises[index].take() {
                self.awaited.push((index, Box::pin(promise.into_future())));
            }
        }
    }

    /// The outcome of all that was waited for, or that it did not come.
    pub(crate) fn results(self) -> Vec<(usize, String)> {
        let mut waiting = Context::from_waker(Waker::noop());
        let show = |result: Result<Value>| match result {
            Ok(value) => format!("{value:?}"),
            // Of several failures in one value, whichever comes first decides.
            Err(_) => "failure".to_owned(),
        };
        let mut results = Vec::new();
        for (index, mut awaited) in self.awaited {
            let result = match awaited.as_mut().poll(&mut waiting) {
                Poll::Ready(result) => show(result),
                Poll::Pending => "pending".to_owned(),
            };
            results.push((index, result));
        }
        results
    }

    fn promise(&self, which: u8) -> Option<(usize, Promise)> {
        let held: Vec<_> = self
            .promises
            .iter()
            .enumerate()
            .filter_map(|(index, held)| Some((index, held.as_ref()?)))
            .collect();
        // The newest few, so that several operations meet on one.
        let newest = &held[held.len().saturating_sub(5)..];
        let (index, promise) = newest.get(usize::from(which) % newest.len().max(1))?;
        Some((*index, (*promise).clone()))
    }

    fn next_word(&mut self, who: usize) -> u32 {
        self.words[who] += 1;
        self.words[who]
    }

    fn values(&self, arguments: &[Argument]) -> Vec<Value> {
        arguments
            .iter()
            .map(|argument| self.value(argument))
            .collect()
    }

    fn value(&self, argument: &Argument) -> Value {
        let promised = |which: u8| self.promise(which).map(|(_, promise)| promise);
        match argument {
            Argument::Number(number) => (*number).into(),
            Argument::Text => "text".into(),
            Argument::Promise(which) => promised(*which).map_or(Value::Null, Value::from),
            Argument::Property(which, name) => {
                promised(*which).map_or(Value::Null, |promise| promise.property(name).into())
            }
            Argument::Object(value) => self.world.object((*value).into()).into(),
            Argument::Function => self.world.function().into(),
            Argument::Main => self.main.clone().into(),
            Argument::List(items) => Value::Array(self.values(items)),
        }
    }
}

/// Operations of an application.
pub(crate) fn operation() -> impl Strategy<Value = Operation> {
    let method = || {
        prop::sample::select(vec![
            "echo", "add", "make", "list", "fail", "call", "wrap", "absent",
        ])
    };
    let of_object = || prop::sample::select(vec!["plus", "value", "make", "call", "nonsense"]);
    let property = || prop::sample::select(vec!["value", "itself", "result", "0", "nonsense"]);
    prop_oneof![
        6 => (method(), arguments()).prop_map(|(method, arguments)| Operation::Call(method, arguments)),
        // Functions are called often enough only if they come first.
        3 => (prop::sample::select(vec!["call", "wrap"]), argument()).prop_map(|(method, argument)| {
            Operation::Call(method, vec![Argument::Function, argument])
        }),
        2 => Just(Operation::Late),
        5 => (any::<u8>(), of_object(), arguments()).prop_map(|(which, method, arguments)| {
            Operation::Pipeline(which, method, arguments)
        }),
        3 => (any::<u8>(), property()).prop_map(|(which, name)| Operation::Read(which, name)),
        6 => prop::option::weighted(0.8, any::<u8>()).prop_map(Operation::Note),
        2 => any::<u8>().prop_map(Operation::Map),
        2 => kept().prop_map(Operation::Keep),
        1 => Just(Operation::Kept),
        1 => Just(Operation::Forget),
        2 => any::<u8>().prop_map(Operation::Await),
        1 => any::<u8>().prop_map(Operation::StopAwaiting),
        3 => any::<u8>().prop_map(Operation::Drop),
        8 => (side(), 1..5_u8).prop_map(|(side, frames)| Operation::Deliver(side, frames)),
    ]
}

pub(crate) fn side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::Client), Just(Side::Server)]
}

fn arguments() -> impl Strategy<Value = Vec<Argument>> {
    prop::collection::vec(argument(), 0..3)
}

fn argument() -> impl Strategy<Value = Argument> {
    let leaf = prop_oneof![
        3 => any::<i8>().prop_map(Argument::Number),
        1 => Just(Argument::Text),
        4 => any::<u8>().prop_map(Argument::Promise),
        2 => (any::<u8>(), prop::sample::select(vec!["value", "itself", "0"]))
            .prop_map(|(which, name)| Argument::Property(which, name)),
        2 => any::<i8>().prop_map(Argument::Object),
        1 => Just(Argument::Function),
        1 => Just(Argument::Main),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop::collection::vec(inner, 0..3).prop_map(Argument::List)
    })
}

fn kept() -> impl Strategy<Value = Argument> {
    // Not the main object, which would keep itself for ever.
    prop_oneof![
        any::<i8>().prop_map(Argument::Number),
        any::<i8>().prop_map(Argument::Object)
    ]
}
