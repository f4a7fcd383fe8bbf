//! Recording a function for `.map()`: its calls become instructions that travel instead of it.

use std::fmt;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::error::{Error, Result};
use crate::expression::{Capture, Expression, Reference, Remap};
use crate::hook::variable::Variable;
use crate::hook::{Action, Hook, Operation};
use crate::stub::{Interface, Stub};
use crate::value::Value;

/// Given to a function while it is recorded: brings the stubs it uses into the recording.
///
/// A call on a captured stub is recorded; a call on the stub itself would be made once, now.
#[derive(Clone)]
pub struct Mapper(pub(crate) Arc<Recorder>);

impl Mapper {
    /// A stand-in for `stub`, to be called inside the function.
    pub fn capture<T: Interface + ?Sized>(&self, stub: &Stub<T>) -> Stub<T> {
        let index = self.0.capture(stub.capability().hook());
        Stub::from_capability(
            Hook::Variable(Variable {
                recorder: self.0.clone(),
                index,
            })
            .into(),
        )
    }
}

impl fmt::Debug for Mapper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mapper")
    }
}

/// The function so far.
#[derive(Default)]
pub(crate) struct Recorder {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    captures: Vec<Hook>,
    instructions: Vec<Expression>,
}

/// Records `function` and gives what a [`Action::Map`] needs: captures and instructions.
pub(crate) fn record(
    function: impl FnOnce(&Mapper, Hook) -> Value,
) -> Result<(Vec<Hook>, Arc<[Expression]>)> {
    let mapper = Mapper(Arc::default());
    let recorder = &mapper.0;
    let input = Hook::Variable(Variable {
        recorder: recorder.clone(),
        index: 0,
    });
    let result = function(&mapper, input);
    let result = recorder.expression(&result)?;
    let mut state = recorder.lock();
    state.instructions.push(result);
    Ok((
        std::mem::take(&mut state.captures),
        std::mem::take(&mut state.instructions).into(),
    ))
}

impl Recorder {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Records an operation on a variable; gives the variable of its result.
    pub(crate) fn record(self: &Arc<Self>, id: i64, operation: Operation) -> Result<i64> {
        let path = operation.path;
        let instruction = match operation.action {
            Action::Get if path.is_empty() => return Ok(id),
            Action::Get => Expression::Pipeline(Box::new(Reference {
                id,
                path: Some(path),
                args: None,
            })),
            Action::Call(arguments) => {
                let args = arguments
                    .iter()
                    .map(|argument| self.expression(argument))
                    .collect::<Result<_>>()?;
                Expression::Pipeline(Box::new(Reference {
                    id,
                    path: Some(path),
                    args: Some(args),
                }))
            }
            Action::Map {
                captures,
                instructions,
                ..
            } => {
                let captures = captures
                    .iter()
                    .map(|hook| Capture::Import(self.capture(hook)))
                    .collect();
                Expression::Remap(Box::new(Remap {
                    id,
                    path,
                    captures,
                    instructions,
                }))
            }
        };
        let mut state = self.lock();
        state.instructions.push(instruction);
        Ok(state.instructions.len() as i64)
    }

    /// The variable that stands for `hook` inside the function.
    fn capture(self: &Arc<Self>, hook: &Hook) -> i64 {
        if let Hook::Variable(variable) = hook
            && Arc::ptr_eq(&variable.recorder, self)
        {
            return variable.index;
        }
        let mut state = self.lock();
        let known = state
            .captures
            .iter()
            .position(|captured| is_same(captured, hook));
        let place = known.unwrap_or_else(|| {
            state.captures.push(hook.clone());
            state.captures.len() - 1
        });
        -(place as i64) - 1
    }

    fn expression(self: &Arc<Self>, value: &Value) -> Result<Expression> {
        match value {
            Value::Promise(promise) => {
                let id = self.capture(promise.hook());
                let path = (!promise.path().is_empty()).then(|| promise.path().to_vec());
                Ok(Expression::Pipeline(Box::new(Reference {
                    id,
                    path,
                    args: None,
                })))
            }
            Value::Stub(capability) => {
                let id = self.capture(capability.hook());
                Ok(Expression::Import(Box::new(Reference {
                    id,
                    path: None,
                    args: None,
                })))
            }
            Value::Array(items) => Ok(Expression::Array(
                items
                    .iter()
                    .map(|item| self.expression(item))
                    .collect::<Result<_>>()?,
            )),
            Value::Object(object) => {
                let fields = object
                    .iter()
                    .map(|(name, value)| Ok((name.to_owned(), self.expression(value)?)));
                Ok(Expression::Object(Box::new(fields.collect::<Result<_>>()?)))
            }
            plain => plain.to_plain_expression().ok_or_else(|| {
                Error::type_error(format!(
                    "{} cannot be used inside a mapped function",
                    plain.describe_kind()
                ))
            }),
        }
    }
}

fn is_same(one: &Hook, other: &Hook) -> bool {
    match (one, other) {
        (Hook::Target(one), Hook::Target(other)) => Arc::ptr_eq(one, other),
        (Hook::Import(one), Hook::Import(other)) => Arc::ptr_eq(one, other),
        (Hook::Promise(one), Hook::Promise(other)) => Arc::ptr_eq(one, other),
        _ => false,
    }
}
