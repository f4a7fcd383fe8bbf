//! A hook on a known value: paths are followed inside it.

use super::{Hook, Operation, Path};
use crate::account::Account;
use crate::error::{Error, Result};
use crate::expression::{PathPart, is_prototype_member};
use crate::permit::Held;
use crate::session::evaluate::plain;
use crate::settle;
use crate::trampoline::{self, Job};
use crate::value::Value;

/// A known value, shared by all clones of its hook.
pub(crate) struct Settled {
    /// `Undefined` only while it is being dropped.
    value: Value,
    /// Whether dropping it can drop hooks in turn.
    holds_hooks: bool,
    /// Set when it is large enough to be charged to a session.
    _held: Option<Held>,
}

/// Lighter values are not charged: the limits of the tables bound their number.
const SMALL: usize = 256;

impl Settled {
    pub(crate) fn new(value: Value) -> Self {
        let holds_hooks = holds_hooks(&value);
        Self {
            value,
            holds_hooks,
            _held: None,
        }
    }

    /// A value that is kept on a session's account.
    pub(crate) fn held(value: Value, account: &Account) -> Result<Self> {
        let weight = value.weight();
        let held = if weight > SMALL {
            Some(account.hold(weight)?)
        } else {
            None
        };
        let holds_hooks = holds_hooks(&value);
        Ok(Self {
            value,
            holds_hooks,
            _held: held,
        })
    }

    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    pub(crate) fn holds_hooks(&self) -> bool {
        self.holds_hooks
    }

    /// Whether something in it is still to come.
    pub(crate) fn holds_promise(&self) -> bool {
        self.holds_hooks && settle::holds_promise(&self.value)
    }
}

impl Drop for Settled {
    fn drop(&mut self) {
        // A peer can nest values through promises to any depth: queue the drop, never recurse.
        if self.holds_hooks {
            trampoline::run(Job::DropValue(std::mem::take(&mut self.value)));
        }
    }
}

/// Follows the operation's path inside the value and performs it where the path ends.
pub(crate) fn apply(settled: &Settled, mut operation: Operation) -> Hook {
    let path = std::mem::take(&mut operation.path);
    match follow(&settled.value, &path) {
        Ok(Followed::Value(value)) => operation.apply_to_value(value, path.last()),
        Ok(Followed::Hook(hook, rest)) => hook.apply(operation.with_path(rest)),
        Err(error) => Hook::Broken(error),
    }
}

enum Followed {
    /// The path ended at data.
    Value(Value),
    /// The path led to a capability or promise, with the rest of the path.
    Hook(Hook, Path),
}

/// Looks a path up as JavaScript would, own properties only.
fn follow(root: &Value, path: &[PathPart]) -> Result<Followed> {
    const UNDEFINED: Value = Value::Undefined;
    let mut value = root;
    for (index, part) in path.iter().enumerate() {
        value = match value {
            Value::Stub(capability) => {
                return Ok(Followed::Hook(
                    capability.hook().clone(),
                    path[index..].to_vec(),
                ));
            }
            Value::Promise(promise) => {
                let mut rest = promise.path().to_vec();
                rest.extend_from_slice(&path[index..]);
                return Ok(Followed::Hook(promise.hook().clone(), rest));
            }
            Value::Raw(raw) => return follow(&plain(raw.parse()), &path[index..]),
            Value::Undefined | Value::Null => {
                return Err(Error::type_error(format!(
                    "cannot read property '{}' of {}",
                    show(part),
                    value.describe_kind()
                )));
            }
            Value::Object(object) => match part {
                PathPart::Name(name) if !is_prototype_member(name) => {
                    object.get(name).unwrap_or(&UNDEFINED)
                }
                PathPart::Name(_) => &UNDEFINED,
                PathPart::Number(_) => object.get(&show(part)).unwrap_or(&UNDEFINED),
            },
            Value::Array(items) => array_index(part)
                .and_then(|index| items.get(index))
                .unwrap_or(&UNDEFINED),
            _ => &UNDEFINED,
        };
    }
    Ok(match value {
        Value::Stub(capability) => Followed::Hook(capability.hook().clone(), Vec::new()),
        Value::Promise(promise) => Followed::Hook(promise.hook().clone(), promise.path().to_vec()),
        value => Followed::Value(value.clone()),
    })
}

/// An array's index: a whole number, or the text of one as JavaScript's own client sends it.
fn array_index(part: &PathPart) -> Option<usize> {
    match part {
        PathPart::Number(number)
            if number.fract() == 0.0 && (0.0..4_294_967_296.0).contains(number) =>
        {
            Some(*number as usize)
        }
        PathPart::Number(_) => None,
        PathPart::Name(name) => {
            let canonical = name == "0"
                || (!name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit()));
            if canonical { name.parse().ok() } else { None }
        }
    }
}

pub(crate) fn show(part: &PathPart) -> String {
    match part {
        PathPart::Name(name) => name.clone(),
        PathPart::Number(number) => ryu_js::Buffer::new().format(*number).to_owned(),
    }
}

/// Whether dropping the value can drop hooks in turn.
pub(crate) fn holds_hooks(value: &Value) -> bool {
    match value {
        Value::Stub(_) | Value::Promise(_) | Value::Readable(_) | Value::Writable(_) => true,
        Value::Array(items) => items.iter().any(holds_hooks),
        Value::Object(object) => object.iter().any(|(_, value)| holds_hooks(value)),
        Value::Error(error) => error.props().values().any(holds_hooks),
        Value::Request(_) | Value::Response(_) => true,
        _ => false,
    }
}
