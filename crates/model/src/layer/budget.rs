//! A budget of tokens and money.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt as _;
use futures_util::stream;

use crate::error::Error;
use crate::model::Model;
use crate::reply::{Delta, Deltas, Usage};
use crate::request::{Message, Request};

/// An amount of money, in millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(pub u64);

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// What a million tokens cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    pub input: Cost,
    pub output: Cost,
}

impl Price {
    /// The price of this usage in millionths of a [`Cost`], so that nothing is lost by rounding.
    fn of(self, usage: Usage) -> u128 {
        u128::from(usage.input) * u128::from(self.input.0)
            + u128::from(usage.output) * u128::from(self.output.0)
    }
}

/// How much may be spent; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// Tokens, read and written together.
    pub tokens: Option<u64>,
    pub cost: Option<Cost>,
}

/// The part of an allowance that is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spent {
    Tokens { used: u64, of: u64 },
    Cost { used: Cost, of: Cost },
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens { used, of } => write!(f, "{used} of {of} tokens"),
            Self::Cost { used, of } => write!(f, "{used} of {of}"),
        }
    }
}

/// An allowance, and what was spent of it, shared by all models that hold it.
#[derive(Debug, Default)]
pub struct Budget {
    allowance: Allowance,
    ledger: Mutex<Ledger>,
}

/// The sum spent, with estimates for replies that are still arriving.
#[derive(Clone, Copy, Debug, Default)]
struct Ledger {
    usage: Usage,
    /// In millionths of a [`Cost`].
    cost: u128,
}

impl Budget {
    pub fn new(allowance: Allowance) -> Self {
        Self {
            allowance,
            ledger: Mutex::default(),
        }
    }

    pub fn spent(&self) -> (Usage, Cost) {
        let Ledger { usage, cost } = self.ledger();
        (usage, rounded(cost))
    }

    fn ledger(&self) -> Ledger {
        *self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails when a part of the allowance is spent.
    fn check(&self) -> Result<(), Error> {
        let Ledger { usage, cost } = self.ledger();
        let (used, cost) = (usage.total(), rounded(cost));
        match self.allowance {
            Allowance {
                tokens: Some(of), ..
            } if used >= of => Err(Error::Budget(Spent::Tokens { used, of })),
            Allowance { cost: Some(of), .. } if cost >= of => {
                Err(Error::Budget(Spent::Cost { used: cost, of }))
            }
            _ => Ok(()),
        }
    }

    /// The longest reply that the budget has tokens for.
    fn left(&self) -> Option<u32> {
        let left = self.allowance.tokens?;
        let left = left.saturating_sub(self.ledger().usage.total());
        Some(u32::try_from(left).unwrap_or(u32::MAX))
    }
}

fn rounded(cost: u128) -> Cost {
    Cost(u64::try_from(cost.div_ceil(1_000_000)).unwrap_or(u64::MAX))
}

/// Stops when a budget is spent, also in the middle of a reply.
///
/// A reply is charged by an estimate while it arrives, and by the usage that the model reports once it does. A reply
/// that is dropped stays charged for what had arrived.
#[derive(Debug)]
pub struct Budgeted {
    inner: Arc<dyn Model>,
    price: Price,
    budget: Arc<Budget>,
}

impl Budgeted {
    pub fn new(inner: Arc<dyn Model>, price: Price, budget: Arc<Budget>) -> Self {
        Self {
            inner,
            price,
            budget,
        }
    }
}

impl Model for Budgeted {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply(&self, request: Request) -> Deltas {
        let paying = Paying {
            model: self.inner.clone(),
            request: Some(request),
            deltas: None,
            meter: Meter {
                budget: self.budget.clone(),
                price: self.price,
                charged: Usage::default(),
            },
        };
        Box::pin(stream::unfold(Some(paying), |paying| async move {
            paying?.next().await
        }))
    }
}

/// A reply under way, with its meter.
struct Paying {
    model: Arc<dyn Model>,
    /// The request, until it is sent.
    request: Option<Request>,
    deltas: Option<Deltas>,
    meter: Meter,
}

impl Paying {
    async fn next(mut self) -> Option<(Result<Delta, Error>, Option<Self>)> {
        if let Some(mut request) = self.request.take() {
            if let Err(error) = self.meter.begin(&request) {
                return Some((Err(error), None));
            }
            if let Some(left) = self.meter.budget.left() {
                request.max_tokens = Some(request.max_tokens.map_or(left, |most| most.min(left)));
            }
            self.deltas = Some(self.model.reply(request));
        }
        let delta = self.deltas.as_mut()?.next().await?;
        match delta.and_then(|delta| self.meter.pass(delta)) {
            Ok(delta) => Some((Ok(delta), Some(self))),
            Err(error) => Some((Err(error), None)),
        }
    }
}

/// The charge of one reply.
struct Meter {
    budget: Arc<Budget>,
    price: Price,
    charged: Usage,
}

impl Meter {
    /// Charges for the input, if the budget is not spent.
    fn begin(&mut self, request: &Request) -> Result<(), Error> {
        self.budget.check()?;
        self.charge(Usage::new(read(request), 0));
        self.budget.check()
    }

    /// Charges for a piece of the reply. The end passes always: the reply is paid for.
    fn pass(&mut self, delta: Delta) -> Result<Delta, Error> {
        let written = match &delta {
            Delta::Text(text) | Delta::Reasoning(text) => estimate(text.len()),
            Delta::Call(call) => estimate(call.name.len() + call.arguments.to_string().len()),
            Delta::Usage(usage) => {
                self.charge(*usage);
                return Ok(delta);
            }
            Delta::Working | Delta::Thought(_) | Delta::End(_) => return Ok(delta),
        };
        self.charge(self.charged + Usage::new(0, written));
        self.budget.check()?;
        Ok(delta)
    }

    /// Sets the charge of this reply, in place of the one before.
    fn charge(&mut self, usage: Usage) {
        let before = std::mem::replace(&mut self.charged, usage);
        let mut ledger = self
            .budget
            .ledger
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        ledger.usage.input = ledger
            .usage
            .input
            .saturating_sub(before.input)
            .saturating_add(usage.input);
        ledger.usage.output = ledger
            .usage
            .output
            .saturating_sub(before.output)
            .saturating_add(usage.output);
        ledger.cost = ledger
            .cost
            .saturating_sub(self.price.of(before))
            .saturating_add(self.price.of(usage));
    }
}

/// The input of a request in tokens, estimated.
fn read(request: &Request) -> u64 {
    let said = request.messages.iter().map(|message| match message {
        Message::User(text) => text.len(),
        Message::Model(said) => {
            let calls = said.calls.iter();
            let calls = calls.map(|call| call.name.len() + call.arguments.to_string().len());
            said.text.len() + calls.sum::<usize>()
        }
        Message::Result(result) => result.content.len(),
    });
    let tools = request.tools.iter();
    let tools = tools.map(|it| it.name.len() + it.description.len() + it.input.to_string().len());
    let system = request.system.as_ref().map_or(0, String::len);
    estimate(said.sum::<usize>() + tools.sum::<usize>() + system)
}

/// Tokens for a number of bytes, estimated: about four bytes each.
fn estimate(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}
