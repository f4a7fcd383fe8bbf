//! The inside of every stub and promise: the place where its calls go.

use std::fmt;
use std::sync::Arc;

use crate::account::Account;
use crate::error::{Error, Result};
use crate::expression::{Expression, PathPart};
use crate::map::{self, MapBudget};
use crate::permit::CallPermit;
use crate::stream::pipe::Writer;
use crate::value::Value;

mod circle;
pub(crate) mod deferred;
mod handler;
pub(crate) mod import;
pub(crate) mod local;
pub(crate) mod settled;
pub(crate) mod variable;

#[cfg(test)]
#[path = "hook_tests.rs"]
mod tests;

use deferred::Deferred;
use import::Import;
use local::LocalTarget;
use settled::Settled;
use variable::Variable;

/// The place where calls on a stub or promise go. There is one variant for each situation of the object.
///
/// Every variant takes the same [`Operation`] (get, call or map along a path) and returns another hook at
/// once. That makes pipelining the normal case: the answer of a local call, of a call to a peer and of a call
/// queued behind a promise are all hooks, and can be called before they are known. A failure is a hook too
/// (`Broken`), so no caller has a branch for it.
///
/// Ownership: cloning adds a reference, dropping releases it. Dropping the last reference to an import sends a
/// release to the peer; to a target, drops the application's object. `apply` takes the arguments, also when it
/// fails; the caller never releases them.
///
/// Order: operations on one hook happen in the order of `apply`. A promise queues them and hands them on in
/// that order when it is resolved; later operations queue behind those until the queue is empty.
///
/// A promise that is resolved stays in other hooks that refer to it. [`shortened`](Hook::shortened) skips such
/// promises, and every `apply` begins with it, so chains do not grow with use.
///
/// Two rules protect the process from a peer, which decides how long chains get: neither `apply` nor `drop`
/// recurses along a chain (the [`trampoline`](crate::trampoline) takes over), and a promise never becomes
/// something that waits for it (`circle`).
///
/// Why an enum and not a trait object: the variants are closed, code decides by situation in several places
/// (`settle`, `serialize`, `circle`), and an exhaustive match finds all of them when a variant is added.
#[derive(Clone)]
pub(crate) enum Hook {
    /// An object of this process.
    Target(Arc<LocalTarget>),
    /// An object, or a promise, of a peer.
    Import(Arc<Import>),
    /// A promise of this process that is not resolved, or was resolved to another hook.
    Promise(Arc<Deferred>),
    /// A known value.
    Value(Arc<Settled>),
    /// The writing end of a stream of this process.
    Writer(Arc<Writer>),
    /// A failure; every operation gives it again.
    Broken(Error),
    /// A placeholder inside a function that is being recorded for `.map()`.
    Variable(Variable),
}

/// An operation on the object or value that a hook stands for.
pub(crate) struct Operation {
    /// Properties to follow first.
    pub(crate) path: Path,
    pub(crate) action: Action,
    /// The account it is charged to.
    pub(crate) account: Account,
    /// Held until the handler has finished; counts against the session that asked.
    pub(crate) permit: Option<CallPermit>,
}

pub(crate) type Path = Vec<PathPart>;

pub(crate) enum Action {
    Get,
    Call(Vec<Value>),
    Map {
        captures: Vec<Hook>,
        instructions: Arc<[Expression]>,
        budget: MapBudget,
    },
}

/// Called once, when a value is known. Runs outside every lock.
pub(crate) type Waiter = Box<dyn FnOnce(Result<Value>) + Send>;

impl Hook {
    /// The hook of a value: capabilities and promises stand for themselves.
    pub(crate) fn from_value(value: Value, account: &Account) -> Self {
        match value {
            Value::Stub(capability) => capability.into_hook(),
            Value::Promise(promise) => promise.into_hook(account),
            value => match Settled::held(value, account) {
                Ok(settled) => Self::Value(Arc::new(settled)),
                Err(error) => Self::Broken(error),
            },
        }
    }

    pub(crate) fn from_result(result: Result<Value>, account: &Account) -> Self {
        match result {
            Ok(value) => Self::from_value(value, account),
            Err(error) => Self::Broken(error),
        }
    }

    /// Starts the operation, at once if the object is known, and returns the hook of its answer. Takes the
    /// arguments, also on failure.
    pub(crate) fn apply(&self, operation: Operation) -> Self {
        if operation.path.is_empty() && matches!(operation.action, Action::Get) {
            return self.shortened();
        }
        match self.shortened() {
            Self::Target(target) => local::apply(&target, operation),
            Self::Import(import) => import::apply(&import, operation),
            Self::Promise(promise) => promise.apply(operation),
            Self::Value(value) => settled::apply(&value, operation),
            Self::Writer(writer) => writer.apply(operation),
            Self::Broken(error) => Self::Broken(error),
            Self::Variable(variable) => variable.apply(operation),
        }
    }

    pub(crate) fn get(&self, path: Path, account: &Account) -> Self {
        if path.is_empty() {
            return self.clone();
        }
        self.apply(Operation {
            path,
            action: Action::Get,
            account: account.clone(),
            permit: None,
        })
    }

    /// Calls `waiter` with the value once it is known. The value may still hold promises; [`crate::settle`] waits
    /// for those too.
    pub(crate) fn settle(&self, waiter: Waiter) {
        match self.shortened() {
            Self::Import(import) if import.is_promise() => import::settle(&import, waiter),
            Self::Promise(promise) => promise.settle(waiter),
            Self::Value(value) => waiter(Ok(value.value().clone())),
            Self::Broken(error) => waiter(Err(error)),
            Self::Variable(_) => waiter(Err(variable::misuse())),
            hook @ (Self::Target(_) | Self::Import(_) | Self::Writer(_)) => {
                waiter(Ok(Value::Stub(hook.into())))
            }
        }
    }

    /// Whether dropping it drops no other hook in turn, so that it may happen anywhere.
    pub(crate) fn is_leaf(&self) -> bool {
        match self {
            Self::Value(settled) => !settled.holds_hooks(),
            Self::Broken(_) => true,
            Self::Target(_)
            | Self::Import(_)
            | Self::Promise(_)
            | Self::Writer(_)
            | Self::Variable(_) => false,
        }
    }

    /// The same hook with resolved promises skipped.
    pub(crate) fn shortened(&self) -> Self {
        let mut hook = self.clone();
        loop {
            let next = match &hook {
                Self::Promise(promise) => promise.outcome(),
                Self::Import(import) => import.resolution(),
                Self::Target(_)
                | Self::Value(_)
                | Self::Writer(_)
                | Self::Broken(_)
                | Self::Variable(_) => None,
            };
            match next {
                Some(next) => hook = next,
                None => return hook,
            }
        }
    }
}

impl Operation {
    /// The same operation with the rest of the path.
    pub(crate) fn with_path(self, path: Path) -> Self {
        Self { path, ..self }
    }

    /// Performs the operation on the plain value at the end of its path.
    pub(crate) fn apply_to_value(self, value: Value, last: Option<&PathPart>) -> Hook {
        match self.action {
            Action::Get => Hook::from_value(value, &self.account),
            Action::Call(_) => Hook::Broken(not_a_function(last)),
            Action::Map {
                captures,
                instructions,
                budget,
            } => map::evaluate(value, &captures, &instructions, &budget, &self.account),
        }
    }
}

pub(crate) fn not_a_function(name: Option<&PathPart>) -> Error {
    match name {
        Some(PathPart::Name(name)) => Error::type_error(format!("'{name}' is not a function.")),
        Some(PathPart::Number(number)) => {
            Error::type_error(format!("'{number}' is not a function."))
        }
        None => Error::type_error("the object is not a function."),
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target(_) => f.write_str("Target"),
            Self::Import(import) => write!(f, "Import({})", import.id().0),
            Self::Promise(_) => f.write_str("Promise"),
            Self::Value(value) => write!(f, "Value({:?})", value.value()),
            Self::Writer(_) => f.write_str("Writer"),
            Self::Broken(error) => write!(f, "Broken({error})"),
            Self::Variable(_) => f.write_str("Variable"),
        }
    }
}
