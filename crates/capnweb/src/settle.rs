//! Replaces the promises inside a value with their values, before an application sees it.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::account::Account;
use crate::error::{Error, Result};
use crate::hook::{Hook, Waiter};
use crate::permit::Awaiting;
use crate::trampoline::{self, Job};
use crate::value::Value;

#[cfg(test)]
#[path = "settle_tests.rs"]
mod tests;

/// Calls `waiter` with the hook's value, with every promise inside it replaced.
pub(crate) fn hook(hook: &Hook, account: &Account, waiter: Waiter) {
    let account = account.clone();
    hook.settle(Box::new(move |result| match result {
        Ok(value) => self::value(value, &account, waiter),
        Err(error) => waiter(Err(error)),
    }));
}

/// As [`hook`], for a promise found in a value.
fn nested(hook: &Hook, account: &Account, failed: Failed, waiter: Waiter) {
    let account = account.clone();
    hook.settle(Box::new(move |result| match result {
        Ok(value) => gather(value, &account, &failed, waiter),
        Err(error) => waiter(Err(error)),
    }));
}

/// Calls `waiter` with the value, with every promise inside it replaced; the first failure decides.
pub(crate) fn value(value: Value, account: &Account, waiter: Waiter) {
    if holds_promise(&value) {
        gather(value, account, &Failed::default(), waiter)
    } else {
        waiter(Ok(value))
    }
}

/// The first failure anywhere in the value; after it no further promise is awaited.
type Failed = Arc<OnceLock<Error>>;

fn gather(value: Value, account: &Account, failed: &Failed, waiter: Waiter) {
    if !holds_promise(&value) {
        return waiter(Ok(value));
    }
    let mut promises = Vec::new();
    collect(&value, &mut promises, account);
    let Some(awaiting) = account.await_promises(promises.len()) else {
        let error = Error::range_error("the session waits for too many promises");
        account.exceed(&error);
        return waiter(Err(error));
    };
    let results = promises.iter().map(|_| None).collect();
    let gathering = Arc::new(Mutex::new(Some(Gathering {
        missing: promises.len(),
        results,
        value,
        waiter,
        account: account.clone(),
        failed: failed.clone(),
        _promises: promises.clone(),
        _awaiting: awaiting,
    })));
    for (index, promise) in promises.into_iter().enumerate() {
        let gathering = gathering.clone();
        let account = account.clone();
        let failed = failed.clone();
        // Values can nest through promises to any depth, so each level is a job of its own.
        trampoline::run(Job::Run(Box::new(move || {
            if let Some(error) = failed.get() {
                return Gathering::add(&gathering, index, Err(error.clone()));
            }
            let add = Box::new(move |result| Gathering::add(&gathering, index, result));
            nested(&promise, &account, failed, add);
        })));
    }
}

/// As [`value`], for a list of arguments.
pub(crate) fn values(
    values: Vec<Value>,
    account: &Account,
    then: Box<dyn FnOnce(Result<Vec<Value>>) + Send>,
) {
    value(
        Value::Array(values),
        account,
        Box::new(move |result| match result {
            Ok(Value::Array(values)) => then(Ok(values)),
            Ok(_) => then(Err(Error::internal("a list settled to something else"))),
            Err(error) => then(Err(error)),
        }),
    );
}

/// A value waiting for the promises inside it.
struct Gathering {
    value: Value,
    /// In the order in which [`collect`] and [`substitute`] walk the value.
    results: Vec<Option<Value>>,
    missing: usize,
    waiter: Waiter,
    account: Account,
    failed: Failed,
    /// Held so that none is released while it is awaited.
    _promises: Vec<Hook>,
    /// Counted, because a value used many times in another, and that again in a third, multiplies the promises.
    _awaiting: Awaiting,
}

impl Gathering {
    fn add(this: &Mutex<Option<Self>>, index: usize, result: Result<Value>) {
        let mut slot = this.lock();
        let Some(gathering) = &mut *slot else { return };
        let complete = match result {
            Ok(value) => {
                gathering.results[index] = Some(value);
                gathering.missing -= 1;
                gathering.missing == 0
            }
            Err(error) => {
                let error = gathering.failed.get_or_init(|| error).clone();
                let gathering = slot.take();
                drop(slot);
                if let Some(gathering) = gathering {
                    trampoline::run(Job::Run(Box::new(move || (gathering.waiter)(Err(error)))));
                }
                return;
            }
        };
        if complete {
            let gathering = slot.take();
            drop(slot);
            if let Some(gathering) = gathering {
                trampoline::run(Job::Run(Box::new(move || gathering.finish())));
            }
        }
    }

    fn finish(mut self) {
        let limits = self.account.limits();
        let mut budget = Budget {
            weight: limits.max_sent_bytes().max(limits.max_message_bytes),
            depth: limits.max_depth,
        };
        let mut results = self.results.into_iter().flatten();
        let result = substitute(&mut self.value, &mut results, &mut budget, 0);
        (self.waiter)(result.map(|()| self.value));
    }
}

pub(crate) fn any_promise(values: &[Value]) -> bool {
    values.iter().any(holds_promise)
}

pub(crate) fn holds_promise(value: &Value) -> bool {
    match value {
        Value::Promise(_) => true,
        Value::Array(items) => items.iter().any(holds_promise),
        Value::Object(object) => object.iter().any(|(_, value)| holds_promise(value)),
        _ => false,
    }
}

/// The promises in a value, in a fixed order. Those inside errors stay: errors are never waited for.
fn collect(value: &Value, into: &mut Vec<Hook>, account: &Account) {
    match value {
        Value::Promise(promise) => into.push(promise.clone().into_hook(account)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, into, account)),
        Value::Object(object) => object
            .iter()
            .for_each(|(_, value)| collect(value, into, account)),
        _ => {}
    }
}

/// The weight and depth by which a value may still grow. One promise can be used many times in a message, and
/// its value again many times in the next, so growth is bounded like a message.
struct Budget {
    weight: usize,
    depth: usize,
}

impl Budget {
    fn charge(&mut self, weight: usize, depth: usize) -> Result<()> {
        if depth >= self.depth {
            return Err(Error::range_error(
                "the value nests too deeply once its promises are resolved",
            ));
        }
        self.weight = self.weight.checked_sub(weight).ok_or_else(|| {
            Error::range_error("the value is too large once its promises are resolved")
        })?;
        Ok(())
    }
}

fn substitute(
    value: &mut Value,
    results: &mut impl Iterator<Item = Value>,
    budget: &mut Budget,
    depth: usize,
) -> Result<()> {
    match value {
        Value::Promise(_) => {
            *value = results
                .next()
                .ok_or_else(|| Error::internal("a promise was not gathered"))?;
            weigh(value, budget, depth)
        }
        Value::Array(items) => {
            budget.charge(8, depth)?;
            items
                .iter_mut()
                .try_for_each(|item| substitute(item, results, budget, depth + 1))
        }
        Value::Object(object) => {
            budget.charge(8, depth)?;
            object
                .values_mut()
                .try_for_each(|value| substitute(value, results, budget, depth + 1))
        }
        value => weigh(value, budget, depth),
    }
}

fn weigh(value: &Value, budget: &mut Budget, depth: usize) -> Result<()> {
    match value {
        Value::Array(items) => {
            budget.charge(8, depth)?;
            items
                .iter()
                .try_for_each(|item| weigh(item, budget, depth + 1))
        }
        Value::Object(object) => {
            budget.charge(8, depth)?;
            object.iter().try_for_each(|(name, value)| {
                budget.charge(name.len(), depth)?;
                weigh(value, budget, depth + 1)
            })
        }
        value => budget.charge(8 + value.own_size(), depth),
    }
}
