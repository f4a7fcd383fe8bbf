//! `.map()`: running a recorded function on a value, once for each element when it is an array.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::account::Account;
use crate::error::{Error, Result};
use crate::expression::Expression;
use crate::hook::settled::Settled;
use crate::hook::{Action, Hook, Operation, Path};
use crate::session::evaluate::{Tables, evaluate as evaluate_expression, plain};
use crate::stream::ReadableStream;
use crate::value::Value;

pub(crate) mod record;

#[cfg(test)]
#[path = "map_tests.rs"]
mod tests;

/// The cost that one `.map()` has left. Nested maps share it, because a frame of a
/// hundred bytes can multiply its work at every level.
#[derive(Clone)]
pub(crate) struct MapBudget {
    elements: Arc<AtomicUsize>,
    depth: usize,
    account: Account,
}

impl MapBudget {
    pub(crate) fn new(account: &Account) -> Self {
        let limits = account.limits();
        let elements = Arc::new(AtomicUsize::new(limits.max_map_elements));
        Self {
            elements,
            depth: limits.max_map_depth,
            account: account.clone(),
        }
    }

    fn visit(&self, cost: usize) -> Result<()> {
        let left = self
            .elements
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(cost)
            });
        left.map(drop)
            .map_err(|_| self.exceed("map() visits more elements than this session may"))
    }

    fn nested(&self) -> Result<Self> {
        match self.depth.checked_sub(1) {
            Some(depth) => Ok(Self {
                depth,
                ..self.clone()
            }),
            None => Err(self.exceed("map() is nested deeper than this session may")),
        }
    }

    fn exceed(&self, message: &str) -> Error {
        let error = Error::range_error(message);
        self.account.exceed(&error);
        error
    }
}

/// Applies the function and gives its result's hook: of an array an array, elements started in order.
/// `null` and `undefined` pass unchanged, anything else is mapped once.
pub(crate) fn evaluate(
    input: Value,
    captures: &[Hook],
    instructions: &[Expression],
    budget: &MapBudget,
    account: &Account,
) -> Hook {
    let function = Function {
        captures,
        instructions,
        cost: cost(instructions),
        budget,
        account,
    };
    let input = if let Value::Raw(raw) = input {
        plain(raw.parse())
    } else {
        input
    };
    let result = match input {
        input @ (Value::Null | Value::Undefined) => Ok(input),
        Value::Array(elements) => elements
            .into_iter()
            .map(|element| function.apply(element))
            .collect::<Result<Vec<_>>>()
            .map(Value::Array),
        input => function.apply(input),
    };
    Hook::from_result(result, account)
}

/// What one visit costs. A function is copied for each element, so a long one counts as several.
fn cost(instructions: &[Expression]) -> usize {
    const USUAL: usize = 256;
    1 + instructions
        .iter()
        .map(|instruction| instruction.print().len())
        .sum::<usize>()
        / USUAL
}

struct Function<'a> {
    captures: &'a [Hook],
    instructions: &'a [Expression],
    cost: usize,
    budget: &'a MapBudget,
    account: &'a Account,
}

impl Function<'_> {
    fn apply(&self, input: Value) -> Result<Value> {
        let (result, steps) = self
            .instructions
            .split_last()
            .ok_or_else(|| Error::type_error("a mapped function is empty"))?;
        self.budget.visit(self.cost)?;
        let input = Hook::from_value(input, self.account);
        let mut run = Run {
            function: self,
            variables: vec![input],
        };
        for step in steps {
            let value = evaluate_expression(step.clone(), &mut run)?;
            run.variables.push(Hook::from_value(value, self.account));
        }
        evaluate_expression(result.clone(), &mut run)
    }
}

/// One application of the function. Its ids are those inside the recording: 0 is the input, n the
/// result of step n, -n the capture n.
struct Run<'a> {
    function: &'a Function<'a>,
    variables: Vec<Hook>,
}

impl Tables for Run<'_> {
    fn account(&self) -> &Account {
        self.function.account
    }

    fn export(&mut self, id: i64) -> Result<Hook> {
        let found = match usize::try_from(id) {
            Ok(step) => self.variables.get(step),
            Err(_) => usize::try_from(-(id + 1))
                .ok()
                .and_then(|capture| self.function.captures.get(capture)),
        };
        found
            .cloned()
            .ok_or_else(|| Error::type_error(format!("a mapped function has no variable {id}")))
    }

    fn apply(&mut self, hook: &Hook, path: Path, action: Action) -> Result<Hook> {
        let account = self.function.account.clone();
        let permit = account.permit(None);
        if permit.is_none() {
            return Err(self
                .function
                .budget
                .exceed("the session has too many calls in flight"));
        }
        Ok(hook.apply(Operation {
            path,
            action,
            account,
            permit,
        }))
    }

    fn pipelined(&mut self, hook: Hook) -> Value {
        // Small data goes straight into the argument; the rest takes the way of a promise, which
        // bounds how much it may grow.
        if let Hook::Value(settled) = hook.shortened()
            && is_scalar(&settled)
        {
            return settled.value().clone();
        }
        Value::Promise(hook.into())
    }

    fn map_budget(&mut self) -> Result<MapBudget> {
        self.function.budget.nested()
    }

    fn import_stub(&mut self, _id: i64) -> Result<Hook> {
        Err(Error::type_error(
            "a mapped function cannot introduce capabilities",
        ))
    }

    fn import_promise(&mut self, _id: i64) -> Result<Hook> {
        Err(Error::type_error(
            "a mapped function cannot introduce promises",
        ))
    }

    fn readable(&mut self, _id: i64) -> Result<ReadableStream> {
        Err(Error::type_error("a mapped function cannot use streams"))
    }

    fn blob(&mut self, _mime: String, _content: ReadableStream) -> Result<Hook> {
        Err(Error::type_error("a mapped function cannot use streams"))
    }
}

fn is_scalar(settled: &Settled) -> bool {
    const SHORT: usize = 256;
    match settled.value() {
        Value::Undefined | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Date(_) => true,
        Value::String(text) => text.len() <= SHORT,
        Value::Bytes(bytes, _) => bytes.len() <= SHORT,
        _ => false,
    }
}
