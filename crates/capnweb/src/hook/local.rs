//! A hook on an object of this process: operations reach the [`Target`] itself.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

use super::deferred::{Resolver, deferred};
use super::{Action, Hook, Operation, not_a_function};
use crate::context::{CallPermit, Context};
use crate::error::{Error, Result};
use crate::expression::{PathPart, is_prototype_member};
use crate::map;
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
                operation.context,
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
                    &operation.context,
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
        PathPart::Name(_) | PathPart::Number(_) => return undefined(&first, &rest, operation),
    };
    let target = local.target();
    let Ok(member) = catch_unwind(AssertUnwindSafe(|| target.member(name))) else {
        return Hook::Broken(panicked());
    };
    match member {
        Member::Absent => undefined(&first, &rest, operation),
        Member::Method if rest.is_empty() => {
            let PathPart::Name(name) = first else {
                return undefined(&first, &rest, operation);
            };
            match operation.action {
                Action::Call(arguments) => call(
                    local,
                    Some(name),
                    arguments,
                    operation.context,
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
        Member::Method => undefined(&first, &rest, operation),
        Member::Getter => {
            let value = finish(|| target.get(name), &operation.context, None);
            value.apply(operation.with_path(rest))
        }
    }
}

/// The operation on a member that is not there.
fn undefined(first: &PathPart, rest: &[PathPart], operation: Operation) -> Hook {
    match rest.first() {
        None => operation.apply_to_value(Value::Undefined, Some(first)),
        Some(next) => Hook::Broken(Error::type_error(format!(
            "cannot read property '{}' of undefined",
            super::settled::show(next)
        ))),
    }
}

/// Starts a call: at once, or when the promises in its arguments have become values.
fn call(
    local: &Arc<LocalTarget>,
    method: Option<String>,
    arguments: Vec<Value>,
    context: Context,
    permit: Option<CallPermit>,
) -> Hook {
    if !settle::any_promise(&arguments) {
        return start(local, method.as_deref(), arguments, &context, permit);
    }
    let (promise, resolver) = deferred();
    let local = local.clone();
    settle::values(
        arguments,
        &context.clone(),
        Box::new(move |arguments| {
            resolver.resolve(match arguments {
                Ok(arguments) => start(&local, method.as_deref(), arguments, &context, permit),
                Err(error) => Hook::Broken(error),
            });
        }),
    );
    Hook::Promise(promise)
}

fn start(
    local: &LocalTarget,
    method: Option<&str>,
    arguments: Vec<Value>,
    context: &Context,
    permit: Option<CallPermit>,
) -> Hook {
    let target = local.target();
    let arguments = Arguments::new(arguments);
    finish(
        || match method {
            Some(method) => target.call(method, arguments),
            None => target.invoke(arguments),
        },
        context,
        permit,
    )
}

/// Runs a handler up to its first wait, here and now so that calls start in the order they came; what
/// is left of it goes on as a task.
fn finish(begin: impl FnOnce() -> Reply, context: &Context, permit: Option<CallPermit>) -> Hook {
    let reply = match catch_unwind(AssertUnwindSafe(begin)) {
        Ok(reply) => reply,
        Err(_) => return Hook::Broken(panicked()),
    };
    match reply.0 {
        crate::target::ReplyInner::Ready(result) => Hook::from_result(result, context),
        crate::target::ReplyInner::NoSuchMethod(name) => {
            Hook::Broken(not_a_function(name.map(PathPart::Name).as_ref()))
        }
        crate::target::ReplyInner::Future(future) => poll_once(future, context, permit),
    }
}

type Handler = Pin<Box<dyn Future<Output = Result<Value>> + Send>>;

fn poll_once(mut future: Handler, context: &Context, permit: Option<CallPermit>) -> Hook {
    let mut waiting = std::task::Context::from_waker(Waker::noop());
    match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut waiting))) {
        Ok(Poll::Ready(result)) => Hook::from_result(result, context),
        Ok(Poll::Pending) => {
            let (promise, resolver) = deferred();
            context.spawn(run(future, resolver, context.clone(), permit));
            Hook::Promise(promise)
        }
        Err(_) => Hook::Broken(panicked()),
    }
}

async fn run(future: Handler, resolver: Resolver, context: Context, permit: Option<CallPermit>) {
    let result = futures_util::FutureExt::catch_unwind(AssertUnwindSafe(future)).await;
    drop(permit);
    resolver.resolve(match result {
        Ok(result) => Hook::from_result(result, &context),
        Err(_) => Hook::Broken(panicked()),
    });
}

/// What a peer is told of a panic: nothing of its text.
fn panicked() -> Error {
    Error::internal("the handler panicked")
}
