//! A hook on an object of this process: operations reach the [`Target`] itself.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Poll, Waker};

use futures_util::FutureExt;

use super::deferred::{Resolver, deferred};
use super::settled::show;
use super::{Action, Hook, Operation, not_a_function};
use crate::context::{CallPermit, Context};
use crate::error::Error;
use crate::expression::{PathPart, is_prototype_member};
use crate::layer::{Call, CallKind, Handler, Layers};
use crate::map;
use crate::peer::Peer;
use crate::settle;
use crate::target::{Arguments, Member, Reply, ReplyInner, Target};
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
        context: &Context,
    ) -> Call {
        let peer = Peer::new(context);
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
        PathPart::Name(_) | PathPart::Number(_) => return absent(local, &first, &rest, operation),
    };
    let target = local.target();
    let Ok(member) = catch_unwind(AssertUnwindSafe(|| target.member(name))) else {
        return Hook::Broken(panicked());
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
        Member::Method => absent(local, &first, &rest, operation),
        Member::Getter => {
            let value = read(local, target, name, &operation);
            value.apply(operation.with_path(rest))
        }
    }
}

/// The operation on a member that is not there.
fn absent(local: &LocalTarget, first: &PathPart, rest: &[PathPart], operation: Operation) -> Hook {
    if let Some(next) = rest.first() {
        return Hook::Broken(Error::type_error(format!(
            "cannot read property '{}' of undefined",
            show(next)
        )));
    }
    match (&operation.action, layers(&operation.permit)) {
        // Whoever counts calls, or looks for those who try names, wants to see this one too.
        (Action::Call(arguments), Some(layers)) => {
            let member = Some(show(first));
            let call = local.described(member, CallKind::Absent, arguments, &operation.context);
            let error = not_a_function(Some(first));
            let handler = layers.around(call, Box::pin(async { Err(error) }));
            poll_once(handler, &operation.context, operation.permit)
        }
        _ => operation.apply_to_value(Value::Undefined, Some(first)),
    }
}

/// Reads a property, on the way to what lies behind it.
fn read(local: &LocalTarget, target: Arc<dyn Target>, name: &str, operation: &Operation) -> Hook {
    let context = &operation.context;
    let Some(layers) = layers(&operation.permit) else {
        return finish(|| target.get(name), context, None);
    };
    let name = name.to_owned();
    let call = local.described(Some(name.clone()), CallKind::Getter, &[], context);
    let handler = layers.around(call, handler(move || target.get(&name)));
    poll_once(handler, context, None)
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
        return start(local, method, arguments, &context, permit);
    }
    let (promise, resolver) = deferred();
    let local = local.clone();
    settle::values(
        arguments,
        &context.clone(),
        Box::new(move |arguments| {
            resolver.resolve(match arguments {
                Ok(arguments) => start(&local, method, arguments, &context, permit),
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
    context: &Context,
    permit: Option<CallPermit>,
) -> Hook {
    let target = local.target();
    let begin = |method: Option<&str>, arguments| match method {
        Some(method) => target.call(method, Arguments::new(arguments)),
        None => target.invoke(Arguments::new(arguments)),
    };
    let Some(layers) = layers(&permit) else {
        return finish(|| begin(method.as_deref(), arguments), context, permit);
    };
    let kind = match method {
        Some(_) => CallKind::Method,
        None => CallKind::Function,
    };
    let call = local.described(method.clone(), kind, &arguments, context);
    let handler = handler(move || begin(method.as_deref(), arguments));
    poll_once(layers.around(call, handler), context, permit)
}

/// What stands around an operation, if anything does.
pub(super) fn layers(permit: &Option<CallPermit>) -> Option<&Layers> {
    permit.as_ref()?.layers()
}

/// A handler as a layer knows it: a future that has not begun and does not panic.
fn handler(begin: impl FnOnce() -> Reply + Send + 'static) -> Handler {
    Box::pin(async move {
        let run = async {
            match begin().0 {
                ReplyInner::Ready(result) => result,
                ReplyInner::NoSuchMethod(name) => Err(no_such_method(name)),
                ReplyInner::Future(future) => future.await,
            }
        };
        match AssertUnwindSafe(run).catch_unwind().await {
            Ok(result) => result,
            Err(_) => Err(panicked()),
        }
    })
}

/// Runs a handler up to its first wait, here and now so that calls start in the order they came; what
/// is left of it goes on as a task.
fn finish(begin: impl FnOnce() -> Reply, context: &Context, permit: Option<CallPermit>) -> Hook {
    let reply = match catch_unwind(AssertUnwindSafe(begin)) {
        Ok(reply) => reply,
        Err(_) => return Hook::Broken(panicked()),
    };
    match reply.0 {
        ReplyInner::Ready(result) => Hook::from_result(result, context),
        ReplyInner::NoSuchMethod(name) => Hook::Broken(no_such_method(name)),
        ReplyInner::Future(future) => poll_once(future, context, permit),
    }
}

pub(super) fn poll_once(
    mut future: Handler,
    context: &Context,
    permit: Option<CallPermit>,
) -> Hook {
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
    let result = AssertUnwindSafe(future).catch_unwind().await;
    drop(permit);
    resolver.resolve(match result {
        Ok(result) => Hook::from_result(result, &context),
        Err(_) => Hook::Broken(panicked()),
    });
}

fn no_such_method(name: Option<String>) -> Error {
    not_a_function(name.map(PathPart::Name).as_ref())
}

/// What a peer is told of a panic: nothing of its text.
fn panicked() -> Error {
    Error::internal("the handler panicked")
}
