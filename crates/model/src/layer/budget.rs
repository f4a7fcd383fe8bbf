//! A budget of tokens and money.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use tokio::time::Instant;

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
    pub(super) fn of(self, usage: Usage) -> u128 {
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

impl Allowance {
    /// So many hundredths of it, rounded up: a share is never nothing.
    #[must_use]
    pub fn percent(self, hundredths: u8) -> Self {
        let part = |whole: u64| {
            let part = (u128::from(whole) * u128::from(hundredths)).div_ceil(100);
            u64::try_from(part).unwrap_or(u64::MAX)
        };
        Self {
            tokens: self.tokens.map(part),
            cost: self.cost.map(|Cost(whole)| Cost(part(whole))),
        }
    }
}

/// A budget that is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    pub amount: Amount,
    /// It is the share of one caller; others may have something left.
    pub of_caller: bool,
    /// When the next period begins.
    pub renewed_in: Duration,
}

/// How much was spent of how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Amount {
    Tokens { used: u64, of: u64 },
    Cost { used: Cost, of: Cost },
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = match self.amount {
            Amount::Tokens { used, of } => {
                write!(f, "{used} of {of} tokens")?;
                "model.max_tokens"
            }
            Amount::Cost { used, of } => {
                write!(f, "{used} of {of}")?;
                "model.max_cost"
            }
        };
        let minutes = self.renewed_in.as_secs().div_ceil(60);
        match self.of_caller {
            true => write!(f, " of this caller's share (model.caller_share)")?,
            false => write!(f, " ({limit})")?,
        }
        write!(f, "; renewed in {} h {} min", minutes / 60, minutes % 60)
    }
}

/// An allowance for a period, and what was spent of it, shared by all models that hold it.
///
/// Each payer ([`Request::payer`]) has a share of the allowance, so that one that has spent its share leaves the rest to
/// others. Requests without a payer are the server's own, and have the share of one. When the period is over all of it is
/// renewed.
#[derive(Debug)]
pub struct Budget {
    allowance: Allowance,
    each: Allowance,
    /// The payer that may spend all of it.
    whole_for: Option<String>,
    period: Duration,
    ledgers: Mutex<Ledgers>,
}

/// How many payers have a ledger of their own in one period; further ones have one in common.
const PAYERS: usize = 10_000;

/// What was spent in the period.
#[derive(Debug)]
struct Ledgers {
    since: Instant,
    /// Counts the periods: a reply that began in an earlier one is charged no more.
    period: u64,
    all: Ledger,
    by_payer: HashMap<String, Ledger>,
}

/// The sum spent, with estimates for replies that are still arriving.
#[derive(Clone, Copy, Debug, Default)]
struct Ledger {
    usage: Usage,
    /// In millionths of a [`Cost`].
    cost: u128,
}

impl Budget {
    /// An allowance for each day, all of which any payer may spend.
    pub fn new(allowance: Allowance) -> Self {
        Self::shared(allowance, allowance, Duration::from_secs(24 * 3600))
    }

    /// An allowance for each period, and how much of it one payer may spend.
    pub fn shared(allowance: Allowance, each: Allowance, period: Duration) -> Self {
        Self {
            allowance,
            each,
            whole_for: None,
            period,
            ledgers: Mutex::new(Ledgers {
                since: Instant::now(),
                period: 0,
                all: Ledger::default(),
                by_payer: HashMap::new(),
            }),
        }
    }

    /// The same with a payer that has no share: it may spend all that is left.
    #[must_use]
    pub fn whole_for(self, payer: &str) -> Self {
        Self {
            whole_for: Some(payer.to_owned()),
            ..self
        }
    }

    /// How much one payer may spend.
    fn share_of(&self, payer: &str) -> Allowance {
        match self.whole_for.as_deref() == Some(payer) {
            true => self.allowance,
            false => self.each,
        }
    }

    /// What was spent in the period.
    pub fn spent(&self) -> (Usage, Cost) {
        let Ledger { usage, cost } = self.ledgers().all;
        (usage, rounded(cost))
    }

    /// The ledgers of the period, new ones if the last is over.
    fn ledgers(&self) -> MutexGuard<'_, Ledgers> {
        let mut ledgers = self.ledgers.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let passed = now.duration_since(ledgers.since);
        if passed >= self.period {
            ledgers.since = now;
            ledgers.period += 1;
            ledgers.all = Ledger::default();
            ledgers.by_payer.clear();
        }
        ledgers
    }

    /// Fails when a part of the allowance or of the payer's share is spent.
    fn check(&self, payer: &str) -> Result<(), Error> {
        let ledgers = self.ledgers();
        let own = ledgers.of(payer);
        let share = self.share_of(payer);
        let whole = (self.allowance, ledgers.all, false);
        for (allowance, Ledger { usage, cost }, of_caller) in [(share, own, true), whole] {
            let (used, cost) = (usage.total(), rounded(cost));
            let amount = match allowance {
                Allowance {
                    tokens: Some(of), ..
                } if used >= of => Amount::Tokens { used, of },
                Allowance { cost: Some(of), .. } if cost >= of => Amount::Cost { used: cost, of },
                _ => continue,
            };
            return Err(Error::Budget(Spent {
                amount,
                of_caller: of_caller && share != self.allowance,
                renewed_in: self.period.saturating_sub(ledgers.since.elapsed()),
            }));
        }
        Ok(())
    }

    /// The longest reply that the budget has tokens for.
    fn left(&self, payer: &str) -> Option<u64> {
        let ledgers = self.ledgers();
        let left = |of: u64, used: Ledger| of.saturating_sub(used.usage.total());
        let all = left(self.allowance.tokens?, ledgers.all);
        let own = left(self.share_of(payer).tokens?, ledgers.of(payer));
        Some(all.min(own))
    }
}

impl Ledgers {
    fn of(&self, payer: &str) -> Ledger {
        let own = self.by_payer.get(self.account(payer));
        own.copied().unwrap_or_default()
    }

    /// The name under which a payer's ledger is kept.
    fn account<'a>(&self, payer: &'a str) -> &'a str {
        let full = self.by_payer.len() >= PAYERS && !self.by_payer.contains_key(payer);
        if full { "" } else { payer }
    }
}

impl Ledger {
    /// Replaces the charge of a reply by another.
    fn replace(&mut self, before: Usage, after: Usage, price: Price) {
        let part = |whole: u64, before: u64, after: u64| {
            whole.saturating_sub(before).saturating_add(after)
        };
        self.usage.input = part(self.usage.input, before.input, after.input);
        self.usage.output = part(self.usage.output, before.output, after.output);
        let cost = self.cost.saturating_sub(price.of(before));
        self.cost = cost.saturating_add(price.of(after));
    }
}

fn rounded(cost: u128) -> Cost {
    Cost(u64::try_from(cost.div_ceil(1_000_000)).unwrap_or(u64::MAX))
}

/// Stops when a budget is spent, also in the middle of a reply.
///
/// A reply is charged by an estimate while it arrives, and by the usage that the model reports once it does. A reply
/// that is dropped stays charged for what had arrived. What is spent keeps a request from being sent, an estimate does
/// not: a request whose estimate is more than what is left is sent, and the next one is not.
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
            meter: Meter {
                budget: self.budget.clone(),
                price: self.price,
                payer: request.payer.clone(),
                charged: Usage::default(),
                period: 0,
                enough: true,
            },
            request: Some(request),
            deltas: None,
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
            let left = match self.meter.begin(&request) {
                Ok(left) => left,
                Err(error) => return Some((Err(error), None)),
            };
            if let Some(left) = left {
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
    payer: String,
    price: Price,
    charged: Usage,
    /// The period in which it was charged.
    period: u64,
    /// The estimate of the input is within the budget. A reply is not cut off by an estimate that is not.
    enough: bool,
}

impl Meter {
    /// Charges for the input, if the budget is not spent. Gives the longest reply that the budget has tokens for.
    fn begin(&mut self, request: &Request) -> Result<Option<u32>, Error> {
        self.budget.check(&self.payer)?;
        let before = self.budget.left(&self.payer);
        self.charge(Usage::new(read(request), 0));
        self.enough = self.budget.check(&self.payer).is_ok();
        let left = match self.enough {
            true => self.budget.left(&self.payer),
            false => before,
        };
        Ok(left.map(|left| u32::try_from(left).unwrap_or(u32::MAX)))
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
        if self.enough {
            self.budget.check(&self.payer)?;
        }
        Ok(delta)
    }

    /// Sets the charge of this reply, in place of the one before.
    fn charge(&mut self, usage: Usage) {
        let mut ledgers = self.budget.ledgers();
        let mut before = std::mem::replace(&mut self.charged, usage);
        if self.period != ledgers.period {
            // What was charged before is part of a period that is over.
            self.period = ledgers.period;
            before = Usage::default();
        }
        ledgers.all.replace(before, usage, self.price);
        let account = ledgers.account(&self.payer).to_owned();
        let own = ledgers.by_payer.entry(account).or_default();
        own.replace(before, usage, self.price);
    }
}

/// The input of a request in tokens, estimated.
pub(super) fn read(request: &Request) -> u64 {
    let said = request.messages.iter().map(|message| match message {
        Message::User(text) => text.len(),
        Message::Quoted(words) => words.title.len() + words.text.len(),
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
pub(super) fn estimate(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}
