//! Not spending more than there is.

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
    /// To be read.
    pub input: Cost,
    /// To be written.
    pub output: Cost,
}

impl Price {
    /// What so much costs, in millionths of a [`Cost`], so that nothing is lost by rounding.
    fn of(self, usage: Usage) -> u128 {
        u128::from(usage.input) * u128::from(self.input.0)
            + u128::from(usage.output) * u128::from(self.output.0)
    }
}

/// How much may be spent; what is `None` has no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// So many tokens, read and written.
    pub tokens: Option<u64>,
    /// So much money.
    pub cost: Option<Cost>,
}

/// What of an allowance is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spent {
    /// The tokens.
    Tokens {
        /// So many were used.
        used: u64,
        /// Of so many.
        of: u64,
    },
    /// The money.
    Cost {
        /// So much was used.
        used: Cost,
        /// Of so much.
        of: Cost,
    },
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens { used, of } => write!(f, "{used} of {of} tokens"),
            Self::Cost { used, of } => write!(f, "{used} of {of}"),
        }
    }
}

/// What may be spent together by all that share it.
#[derive(Debug, Default)]
pub struct Budget {
    allowance: Allowance,
    ledger: Mutex<Ledger>,
}

/// What was spent, with what the answers that are still coming are estimated at.
#[derive(Clone, Copy, Debug, Default)]
struct Ledger {
    usage: Usage,
    /// In millionths of a [`Cost`].
    cost: u128,
}

impl Budget {
    /// So much.
    pub fn new(allowance: Allowance) -> Self {
        Self {
            allowance,
            ledger: Mutex::default(),
        }
    }

    /// What was spent.
    pub fn spent(&self) -> (Usage, Cost) {
        let Ledger { usage, cost } = self.ledger();
        (usage, rounded(cost))
    }

    fn ledger(&self) -> Ledger {
        *self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says no when something is spent.
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

    /// How many tokens an answer may have.
    fn left(&self) -> Option<u32> {
        let left = self.allowance.tokens?;
        let left = left.saturating_sub(self.ledger().usage.total());
        Some(u32::try_from(left).unwrap_or(u32::MAX))
    }
}

fn rounded(cost: u128) -> Cost {
    Cost(u64::try_from(cost.div_ceil(1_000_000)).unwrap_or(u64::MAX))
}

/// A model that stops when a budget is spent, also in the middle of an answer.
///
/// An answer is charged while it comes, by an estimate, and by what the model says of it once it says so. One that
/// is dropped stays charged for what had come.
#[derive(Debug)]
pub struct Budgeted {
    inner: Arc<dyn Model>,
    price: Price,
    budget: Arc<Budget>,
}

impl Budgeted {
    /// Pays for this model at this price.
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

/// An answer that is paid for.
struct Paying {
    model: Arc<dyn Model>,
    /// The question, until it is asked.
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

/// What one answer has cost.
struct Meter {
    budget: Arc<Budget>,
    price: Price,
    charged: Usage,
}

impl Meter {
    /// Charges for what is to be read, if anything is left.
    fn begin(&mut self, request: &Request) -> Result<(), Error> {
        self.budget.check()?;
        self.charge(Usage::new(read(request), 0));
        self.budget.check()
    }

    /// Charges for a piece of the answer. What tells that it is all said is let through: it is paid for.
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

    /// From now on the answer has cost this.
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

/// About how many tokens a model is given to read.
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

/// About how many tokens so many bytes are.
fn estimate(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}
