//! A hook on an object of this process: operations reach the [`Target`] itself.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::deferred::deferred;
use super::handler::{self, Terms};
use super::settled::show;
use super::{Action, Hook, Operation, not_a_function};
use crate::account::Account;
use crate::error::Error;
use crate::expression::{PathPart, is_prototype_member};
use crate::layer::{Call, CallKind};
use crate::map;
use crate::peer::Peer;
use crate::permit::CallPermit;
use crate::settle;
use crate::target::{Arguments, Member, Reply, Target};
use crate::trampoline::{self, Job};
use crate::value::Value;

/// A target, or one of its methods read as a value.
pub(crate) struct LocalTarget {
    /// `None` only while it is being dropped.
    target: Option<Arc<dyn Target>>,
    /// Set when this is a method read without calling it: the function bound to its object.
    method: Option<String>,
}

impl LocalTarget {
    pub(crate) fn hook(target: Arc<dyn Target>) -> Hook {
        Hook::Target(Arc::new(Self {
            target: Some(target),
            method: None,
        }))
    }

    fn target(&self) -> Arc<dyn Target> {
        self.target
            .clone()
            .expect("a target is only taken out while its hook is dropped")
    }

    /// A call on it, as layers see it.
    fn described(
        &self,
        member: Option<String>,
        kind: CallKind,
        arguments: &[Value],
        account: &Account,
    ) -> Call {
        let peer = Peer::new(account);
        Call::new(self.target.clone(), member, kind, arguments, peer)
    }
}

impl Drop for LocalTarget {
    fn drop(&mut self) {
        if let Some(target) = self.target.take() {
            trampoline::run(Job::DropTarget(target));
        }
    }
}

pub(crate) fn apply(local: &Arc<LocalTarget>, mut operation: Operation) -> Hook {
    let mut path = std::mem::take(&mut operation.path).into_iter();
    let Some(first) = path.next() else {
        return match operation.action {
            Action::Get => Hook::Target(local.clone()),
            Action::Call(arguments) => call(
                local,
                local.method.clone(),
                arguments,
                operation.account,
                operation.permit,
            ),
            Action::Map {
                captures,
                instructions,
                budget,
            } => {
                let itself = Value::Stub(Hook::Target(local.clone()).into());
                map::evaluate(
                    itself,
                    &captures,
                    &instructions,
                    &budget,
                    &operation.account,
                )
            }
        };
    };
    let rest: Vec<PathPart> = path.collect();
    let name = match &first {
        PathPart::Name(name)
            if !is_prototype_member(name) && name != "then" && local.method.is_none() =>
        {
            name.as_str()
        }
        // What JavaScript hides reads as undefined, what has a `then` would be a promise there, and a
        // function has no members.
        PathPart::Name(_) | PathPart::Number(_) => return absent(local, &first, &rest, operation),
    };
    let target = local.target();
    let Ok(member) = catch_unwind(AssertUnwindSafe(|| target.member(name))) else {
        return Hook::Broken(handler::panicked());
    };
    match member {
        Member::Absent => absent(local, &first, &rest, operation),
        Member::Method if rest.is_empty() => {
            let PathPart::Name(name) = first else {
                return absent(local, &first, &rest, operation);
            };
            match operation.action {
                Action::Call(arguments) => call(
                    local,
                    Some(name),
                    arguments,
                    operation.account,
                    operation.permit,
                ),
                Action::Get | Action::Map { .. } => {
                    let bound = Arc::new(LocalTarget {
                        target: Some(target),
                        method: Some(name),
                    });
                    apply(&bound, operation)
                }
            }
        }
        Member::Method => absent(local, &first, &rest, operation),
        Member::Getter => {
            let PathPart::Name(name) = first else {
                return absent(local, &first, &rest, operation);
            };
            let value = read(local, name, &operation);
            value.apply(operation.with_path(rest))
        }
    }
}

/// Performs the operation on a member that does not exist.
fn absent(local: &LocalTarget, first: &PathPart, rest: &[PathPart], operation: Operation) -> Hook {
    if let Some(next) = rest.first() {
        return Hook::Broken(Error::type_error(format!(
            "cannot read property '{}' of undefined",
            show(next)
        )));
    }
    let Action::Call(arguments) = operation.action else {
        return operation.apply_to_value(Value::Undefined, Some(first));
    };
    // Run as a call, so that layers can count it and notice a peer that guesses names.
    let Operation {
        account, permit, ..
    } = operation;
    let terms = Terms::of(permit.as_ref(), || {
        local.described(Some(show(first)), CallKind::Absent, &arguments, &account)
    });
    let error = not_a_function(Some(first));
    handler::run(move || Reply::error(error), terms, &account, permit)
}

/// Reads a property of the target; the rest of the path goes on from its value.
fn read(local: &LocalTarget, name: String, operation: &Operation) -> Hook {
    let (target, account) = (local.target(), &operation.account);
    let terms = Terms::of(operation.permit.as_ref(), || {
        local.described(Some(name.clone()), CallKind::Getter, &[], account)
    });
    handler::run(move || target.get(&name), terms, account, None)
}

/// Starts a call: at once, or when the promises in its arguments have become values.
fn call(
    local: &Arc<LocalTarget>,
    method: Option<String>,
    arguments: Vec<Value>,
    account: Account,
    permit: Option<CallPermit>,
) -> Hook {
    if !settle::any_promise(&arguments) {
        return start(local, method, arguments, &account, permit);
    }
    let (promise, resolver) = deferred();
    let local = local.clone();
    settle::values(
        arguments,
        &account.clone(),
        Box::new(move |arguments| {
            resolver.resolve(match arguments {
                Ok(arguments) => start(&local, method, arguments, &account, permit),
                Err(error) => Hook::Broken(error),
            });
        }),
    );
    Hook::Promise(promise)
}

fn start(
    local: &LocalTarget,
    method: Option<String>,
    arguments: Vec<Value>,
    account: &Account,
    permit: Option<CallPermit>,
) -> Hook {
    let target = local.target();
    let terms = Terms::of(permit.as_ref(), || {
        let kind = match method {
            Some(_) => CallKind::Method,
            None => CallKind::Function,
        };
        local.described(method.clone(), kind, &arguments, account)
    });
    let begin = move || match method {
        Some(method) => target.call(&method, Arguments::new(arguments)),
        None => target.invoke(Arguments::new(arguments)),
    };
    handler::run(begin, terms, account, permit)
}
