//! Budgets: how long the work for a call may take, how much processor time it may use, and how many bytes may be held for it;
//! the same for all calls of a caller and for all turns of an agent.
//!
//! The processor time of a call is the time in which its future was polled, and what was charged for it besides
//! ([`Account::charge`], for child processes). Its memory is what was held for it ([`Account::hold`]): the request as it came,
//! messages and artifacts that wait to be written, the limits of its child processes. Time and processor time of callers and
//! agents are counted in periods; what is held for them is counted as long as it is held.
//!
//! An account is ambient like a trace: what is polled in [`Account::run`] finds it with [`current`].

use std::collections::HashMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;

/// How many callers and agents have an account of their own; further ones share one.
const MOST: usize = 10_000;

/// The most that is counted at once.
const LARGEST: u64 = 1 << 40;

/// What may be used; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    pub time: Option<Duration>,
    /// Processor time.
    pub cpu: Option<Duration>,
    /// In bytes.
    pub memory: Option<u64>,
}

/// The budgets of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// For each call, and for each turn of an agent.
    pub call: Allowance,
    /// For all work of a caller in a period; memory at any moment.
    pub caller: Allowance,
    /// For all turns of an agent in a period; memory at any moment.
    pub agent: Allowance,
    pub period: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            call: Allowance::default(),
            caller: Allowance::default(),
            agent: Allowance::default(),
            period: Duration::from_secs(60),
        }
    }
}

/// The holder of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    Call,
    Caller,
    Agent,
}

/// What a budget is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    Time,
    Cpu,
    Memory,
}

impl Resource {
    const ALL: [Self; 3] = [Self::Time, Self::Cpu, Self::Memory];
}

/// The name of the setting, without the table.
fn setting(holder: Holder, resource: Resource) -> &'static str {
    match (holder, resource) {
        (Holder::Call, Resource::Time) => "call_time",
        (Holder::Call, Resource::Cpu) => "call_cpu",
        (Holder::Call, Resource::Memory) => "call_memory",
        (Holder::Caller, Resource::Time) => "caller_time",
        (Holder::Caller, Resource::Cpu) => "caller_cpu",
        (Holder::Caller, Resource::Memory) => "caller_memory",
        (Holder::Agent, Resource::Time) => "agent_time",
        (Holder::Agent, Resource::Cpu) => "agent_cpu",
        (Holder::Agent, Resource::Memory) => "agent_memory",
    }
}

/// A budget that is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exceeded {
    pub holder: Holder,
    pub resource: Resource,
    /// In microseconds, or in bytes.
    limit: u64,
    /// When the next period begins; none where waiting alone does not help.
    pub retry_after: Option<Duration>,
}

impl Exceeded {
    /// The setting that says how much it is, such as `budget.caller_cpu`.
    pub fn setting(&self) -> String {
        format!("budget.{}", setting(self.holder, self.resource))
    }

    /// The value of `Retry-After`, in whole seconds.
    pub fn seconds(&self) -> Option<u64> {
        self.retry_after
            .map(|time| time.as_secs() + u64::from(time.subsec_nanos() > 0))
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let holder = match self.holder {
            Holder::Call => "this call",
            Holder::Caller => "this caller",
            Holder::Agent => "this agent",
        };
        write!(f, "budget exceeded: {holder} may ")?;
        let time = Duration::from_micros(self.limit);
        match self.resource {
            Resource::Time => write!(f, "take {time:?}")?,
            Resource::Cpu => write!(f, "use {time:?} of processor time")?,
            Resource::Memory => write!(f, "hold {} bytes", self.limit)?,
        }
        if self.holder != Holder::Call && self.resource != Resource::Memory {
            f.write_str(" in each period")?;
        }
        write!(f, " ({})", self.setting())?;
        match self.seconds() {
            Some(seconds) => write!(f, "; renewed in {seconds} s"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Exceeded {}

/// The budgets of a server and what is used of them. Without limits nothing is counted. Clones share one.
///
/// It owns a ledger for each caller and for each agent: time and processor time of the present period, and bytes that
/// are held now. A call opens an [`Account`], which adds to the ledgers of its caller and of its agent; a turn of an
/// agent opens one of its own, and the call that waits for it does not count the time again ([`Clock::Waiting`]).
///
/// A budget is checked when an account is opened, at each poll of the work, and by a timer for work that only waits.
/// Work over its budget is dropped at the point where it waits, so that every future must be safe to drop there, as
/// all are. Work that is ready at the same poll is not lost.
///
/// The number of ledgers has a limit, since names of callers come from requests: idle ones are removed, and names
/// beyond the limit share one. What is held is released by dropping the last clone of the account, not by a call at
/// the end, because a call can end by cancellation. Processor time is measured by polls and not by the clock of the
/// thread, since a thread serves many calls in turn.
#[derive(Clone, Debug, Default)]
pub struct Budgets(Option<Arc<Ledgers>>);

#[derive(Debug)]
struct Ledgers {
    settings: Settings,
    callers: Mutex<HashMap<String, Arc<Ledger>>>,
    agents: Mutex<HashMap<String, Arc<Ledger>>>,
    /// How often each budget was exceeded.
    exceeded: [[AtomicU64; 3]; 3],
}

/// What a caller or an agent has used.
#[derive(Debug)]
struct Ledger {
    used: Mutex<Used>,
    /// In bytes.
    held: AtomicU64,
}

/// What was used in the present period.
#[derive(Debug)]
struct Used {
    since: Instant,
    time: Duration,
    cpu: Duration,
}

impl Ledger {
    fn new() -> Self {
        Self {
            used: Mutex::new(Used {
                since: Instant::now(),
                time: Duration::ZERO,
                cpu: Duration::ZERO,
            }),
            held: AtomicU64::new(0),
        }
    }

    /// Adds to what was used, and finds what is used up.
    fn add(
        &self,
        (time, cpu): (Duration, Duration),
        holder: Holder,
        allowance: Allowance,
        period: Duration,
    ) -> Option<Exceeded> {
        let mut used = self.used.lock();
        let passed = used.since.elapsed();
        if passed >= period {
            *used = Used {
                since: Instant::now(),
                time: Duration::ZERO,
                cpu: Duration::ZERO,
            };
        }
        used.time += time;
        used.cpu += cpu;
        let found = match allowance {
            Allowance {
                time: Some(limit), ..
            } if used.time >= limit => Some((Resource::Time, limit)),
            Allowance {
                cpu: Some(limit), ..
            } if used.cpu >= limit => Some((Resource::Cpu, limit)),
            _ => None,
        };
        let left = period.saturating_sub(used.since.elapsed());
        found.map(|(resource, limit)| exceeded(holder, resource, micros(limit), Some(left)))
    }

    fn hold(&self, bytes: u64, holder: Holder, allowance: Allowance) -> Option<Exceeded> {
        let held = self.held.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let limit = allowance.memory.filter(|limit| held > *limit)?;
        Some(exceeded(holder, Resource::Memory, limit, None))
    }

    /// How long it may work yet.
    fn time_left(&self, allowance: Allowance) -> Option<Duration> {
        Some(allowance.time?.saturating_sub(self.used.lock().time))
    }

    fn is_idle(&self, period: Duration) -> bool {
        self.held.load(Ordering::Relaxed) == 0 && self.used.lock().since.elapsed() >= period
    }
}

fn exceeded(
    holder: Holder,
    resource: Resource,
    limit: u64,
    retry_after: Option<Duration>,
) -> Exceeded {
    Exceeded {
        holder,
        resource,
        limit,
        retry_after,
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// What of the time on the clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The call works as long as it lasts.
    Counted,
    /// The call waits for a turn, which is counted itself.
    Waiting,
}

impl Budgets {
    pub fn new(settings: Settings) -> Self {
        let none = Allowance::default();
        if [settings.call, settings.caller, settings.agent] == [none; 3] {
            return Self(None);
        }
        Self(Some(Arc::new(Ledgers {
            settings,
            callers: Mutex::default(),
            agents: Mutex::default(),
            exceeded: Default::default(),
        })))
    }

    /// Opens the account of a call of this caller, or of a turn of this agent for it. Refused when a budget of either is
    /// used up.
    pub fn open(
        &self,
        caller: &str,
        agent: Option<&str>,
        clock: Clock,
    ) -> Result<Account, Exceeded> {
        let Some(ledgers) = &self.0 else {
            return Ok(Account(None));
        };
        let settings = &ledgers.settings;
        let now = Instant::now();
        let mut open = Open {
            ledgers: ledgers.clone(),
            caller: ledger_of(&ledgers.callers, caller, settings.period),
            agent: agent.map(|agent| ledger_of(&ledgers.agents, agent, settings.period)),
            clock,
            began: now,
            held: AtomicU64::new(0),
            state: Mutex::new(State {
                counted: now,
                cpu: Duration::ZERO,
                elsewhere: Duration::ZERO,
                exceeded: None,
            }),
        };
        match open.add(Duration::ZERO, Duration::ZERO) {
            Some(exceeded) => {
                open.clock = Clock::Waiting;
                Err(open.told(exceeded))
            }
            None => Ok(Account(Some(Arc::new(open)))),
        }
    }

    /// How often each budget was exceeded, by the name of its setting.
    pub fn exceeded(&self) -> Vec<(&'static str, u64)> {
        let Some(ledgers) = &self.0 else {
            return Vec::new();
        };
        let holders = [Holder::Call, Holder::Caller, Holder::Agent];
        let each = holders.into_iter().zip(&ledgers.exceeded);
        let each = each.flat_map(|(holder, counts)| {
            let counts = Resource::ALL.into_iter().zip(counts);
            counts.map(move |(resource, count)| {
                (setting(holder, resource), count.load(Ordering::Relaxed))
            })
        });
        each.collect()
    }
}

/// The ledger of a name. When there are too many, those that hold nothing and used nothing lately are forgotten.
fn ledger_of(
    ledgers: &Mutex<HashMap<String, Arc<Ledger>>>,
    name: &str,
    period: Duration,
) -> Arc<Ledger> {
    let mut ledgers = ledgers.lock();
    if let Some(ledger) = ledgers.get(name) {
        return ledger.clone();
    }
    if ledgers.len() >= MOST {
        ledgers.retain(|_, it| Arc::strong_count(it) > 1 || !it.is_idle(period));
    }
    let name = if ledgers.len() >= MOST { "" } else { name };
    let ledger = ledgers.entry(name.to_owned());
    ledger.or_insert_with(|| Arc::new(Ledger::new())).clone()
}

tokio::task_local! {
    static CURRENT: Account;
}

/// The account of the future that is polled now; an empty one where nothing is counted.
pub fn current() -> Account {
    CURRENT.try_with(Clone::clone).unwrap_or_default()
}

/// The account of a call under way. What is held for it is released when its last clone is dropped.
#[derive(Clone, Debug, Default)]
pub struct Account(Option<Arc<Open>>);

#[derive(Debug)]
struct Open {
    ledgers: Arc<Ledgers>,
    caller: Arc<Ledger>,
    agent: Option<Arc<Ledger>>,
    clock: Clock,
    began: Instant,
    held: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Up to when the time on the clock is counted.
    counted: Instant,
    cpu: Duration,
    /// Processor time of the present poll that another account has counted.
    elsewhere: Duration,
    /// The first budget that was exceeded.
    exceeded: Option<Exceeded>,
}

impl Account {
    /// Counts bytes that are held until the account is closed. What holds too much ends at its next wait; one that has not
    /// begun can be refused with the error.
    pub fn hold(&self, bytes: u64) -> Result<(), Exceeded> {
        match &self.0 {
            // A peer may say any length; sums of what it says must not overflow.
            Some(open) => open.hold(bytes.min(LARGEST)).map_or(Ok(()), Err),
            None => Ok(()),
        }
    }

    /// The same for bytes that are held for a part of the call: until the guard is dropped.
    pub fn hold_while(&self, bytes: u64) -> Result<Held, Exceeded> {
        let bytes = bytes.min(LARGEST);
        self.hold(bytes)?;
        Ok(Held {
            account: self.clone(),
            bytes,
        })
    }

    /// How many bytes may be held yet, by the narrowest of the budgets; none where there is no limit.
    pub fn memory_left(&self) -> Option<u64> {
        let open = self.0.as_ref()?;
        let settings = &open.ledgers.settings;
        let left = |limit: Option<u64>, held: &AtomicU64| {
            Some(limit?.saturating_sub(held.load(Ordering::Relaxed)))
        };
        let agent = open.agent.as_ref();
        let each = [
            left(settings.call.memory, &open.held),
            left(settings.caller.memory, &open.caller.held),
            agent.and_then(|agent| left(settings.agent.memory, &agent.held)),
        ];
        each.into_iter().flatten().min()
    }

    /// Whether processor time has a limit, so that it has to be charged while it is used.
    pub fn limits_cpu(&self) -> bool {
        let settings = self.0.as_ref().map(|open| &open.ledgers.settings);
        settings.is_some_and(|it| {
            let cpu = [it.call.cpu, it.caller.cpu, it.agent.cpu];
            cpu.iter().any(Option::is_some)
        })
    }

    /// Counts processor time that was used outside of the future: by a child process.
    pub fn charge(&self, cpu: Duration) {
        if let Some(open) = &self.0 {
            let found = open.add(Duration::ZERO, cpu);
            open.note(found);
        }
    }

    /// Does work and counts it. It is dropped, wherever it waits, when a budget is exceeded; work that has ended meanwhile is
    /// not lost.
    pub async fn run<T>(&self, work: impl Future<Output = T>) -> Result<T, Exceeded> {
        let Some(open) = &self.0 else {
            return Ok(work.await);
        };
        let mut work = std::pin::pin!(work);
        let mut alarm = open.alarm().map(|at| Box::pin(sleep_until(at)));
        poll_fn(|cx| {
            let began = std::time::Instant::now();
            let polled = CURRENT.sync_scope(self.clone(), || work.as_mut().poll(cx));
            let cpu = began.elapsed();
            // The outer account measures this poll too, and must not count it twice.
            CURRENT
                .try_with(|outer| outer.counted_elsewhere(cpu))
                .unwrap_or_default();
            open.polled(cpu);
            if let Poll::Ready(done) = polled {
                return Poll::Ready(Ok(done));
            }
            if let Some(alarm) = &mut alarm
                && alarm.as_mut().poll(cx).is_ready()
            {
                open.polled(Duration::ZERO);
                // A new period may have begun, so that the shared budget has room again.
                if open.exceeded().is_none()
                    && let Some(at) = open.alarm()
                {
                    let soonest = Instant::now() + Duration::from_millis(1);
                    alarm.as_mut().reset(at.max(soonest));
                    cx.waker().wake_by_ref();
                }
            }
            match open.exceeded() {
                Some(exceeded) => Poll::Ready(Err(exceeded)),
                None => Poll::Pending,
            }
        })
        .await
    }

    fn counted_elsewhere(&self, cpu: Duration) {
        if let Some(open) = &self.0 {
            open.state.lock().elsewhere += cpu;
        }
    }
}

/// Bytes that are held for a part of a call. Dropping it releases them.
#[derive(Debug)]
#[must_use = "what is dropped is held no longer"]
pub struct Held {
    account: Account,
    bytes: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(open) = &self.account.0 {
            open.release(self.bytes);
        }
    }
}

impl Open {
    /// When the time on the clock may be over.
    fn alarm(&self) -> Option<Instant> {
        if self.clock == Clock::Waiting {
            return None;
        }
        let settings = &self.ledgers.settings;
        let now = Instant::now();
        let agent = self.agent.as_ref();
        let ends = [
            settings.call.time.map(|time| self.began + time),
            self.caller.time_left(settings.caller).map(|it| now + it),
            agent
                .and_then(|it| it.time_left(settings.agent))
                .map(|it| now + it),
        ];
        ends.into_iter().flatten().min()
    }

    /// Counts a poll, and the time since the last one.
    fn polled(&self, cpu: Duration) {
        let (time, cpu) = {
            let mut state = self.state.lock();
            let now = Instant::now();
            let time = now.duration_since(std::mem::replace(&mut state.counted, now));
            (
                time,
                cpu.saturating_sub(std::mem::take(&mut state.elsewhere)),
            )
        };
        let found = self.add(time, cpu);
        self.note(found);
    }

    /// Adds to the ledgers, and finds what is used up.
    fn add(&self, time: Duration, cpu: Duration) -> Option<Exceeded> {
        let Settings {
            call,
            caller,
            agent,
            period,
        } = self.ledgers.settings;
        let used = match self.clock {
            Clock::Counted => (time, cpu),
            Clock::Waiting => (Duration::ZERO, cpu),
        };
        let of_caller = self.caller.add(used, Holder::Caller, caller, period);
        let of_agent = self.agent.as_ref();
        let of_agent = of_agent.and_then(|it| it.add(used, Holder::Agent, agent, period));
        let worked = {
            let mut state = self.state.lock();
            state.cpu += cpu;
            state.cpu
        };
        let of_call = match call {
            Allowance {
                time: Some(limit), ..
            } if self.clock == Clock::Counted && self.began.elapsed() >= limit => {
                Some((Resource::Time, limit))
            }
            Allowance {
                cpu: Some(limit), ..
            } if worked >= limit => Some((Resource::Cpu, limit)),
            _ => None,
        };
        let of_call =
            of_call.map(|(resource, limit)| exceeded(Holder::Call, resource, micros(limit), None));
        of_call.or(of_caller).or(of_agent)
    }

    fn hold(&self, bytes: u64) -> Option<Exceeded> {
        let settings = &self.ledgers.settings;
        let held = self.held.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let of_caller = self.caller.hold(bytes, Holder::Caller, settings.caller);
        let of_agent = self.agent.as_ref();
        let of_agent = of_agent.and_then(|it| it.hold(bytes, Holder::Agent, settings.agent));
        let limit = settings.call.memory.filter(|limit| held > *limit);
        let of_call = limit.map(|it| exceeded(Holder::Call, Resource::Memory, it, None));
        let found = of_call.or(of_caller).or(of_agent);
        self.note(found);
        found
    }

    fn release(&self, bytes: u64) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
        self.caller.held.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(agent) = &self.agent {
            agent.held.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    /// Remembers the first budget that was exceeded.
    fn note(&self, found: Option<Exceeded>) {
        let Some(found) = found else { return };
        let mut state = self.state.lock();
        if state.exceeded.is_none() {
            state.exceeded = Some(self.told(found));
        }
    }

    fn told(&self, exceeded: Exceeded) -> Exceeded {
        let of = &self.ledgers.exceeded[exceeded.holder as usize];
        of[exceeded.resource as usize].fetch_add(1, Ordering::Relaxed);
        exceeded
    }

    fn exceeded(&self) -> Option<Exceeded> {
        self.state.lock().exceeded
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.release(self.held.load(Ordering::Relaxed));
    }
}
