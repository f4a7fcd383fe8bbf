//! How many calls a caller may make: a rate for people's wires, and a wider one for those of agents.
//!
//! A caller is a name, or the address of one without a name. Each session of a caller may use the rate, and all of its
//! sessions together four times as much: one page of a person cannot keep the others waiting, and many pages are not a way
//! around the limit. The buckets are those of `governor` (GCRA).

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use access::{CallRecord, TooManyCalls};
use governor::clock::{Clock as _, MonotonicClock};
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};

#[cfg(test)]
#[path = "rates_tests.rs"]
mod tests;

/// How much more all sessions of a caller may use than one of them.
const SESSIONS: u32 = 4;

/// How many callers are remembered at a time, in each of the parts. Those that come while all are busy share one bucket.
const MOST: usize = 4096;
const PARTS: usize = 16;

/// How often a part forgets the callers whose buckets are full again.
const SWEEP: Duration = Duration::from_secs(10);

type Limiter = RateLimiter<
    NotKeyed,
    InMemoryState,
    MonotonicClock,
    NoOpMiddleware<<MonotonicClock as governor::clock::Clock>::Instant>,
>;

/// The limits of all callers, on wires for people and on those of agents.
#[derive(Debug)]
pub(crate) struct RateLimits {
    people: Buckets,
    agents: Buckets,
    hasher: RandomState,
}

impl RateLimits {
    /// So many calls a second, and twice as many at once.
    pub(crate) fn new(people: NonZeroU32, agents: NonZeroU32) -> Self {
        Self {
            people: Buckets::new(people),
            agents: Buckets::new(agents),
            hasher: RandomState::new(),
        }
    }

    /// Takes one call from what the caller may make, or says when it may make the next.
    pub(crate) fn check(&self, asked: &CallRecord) -> Result<(), TooManyCalls> {
        let buckets = match is_for_people(asked.origin.wire) {
            true => &self.people,
            false => &self.agents,
        };
        let caller = match asked.caller.is_anonymous() {
            true => self.hasher.hash_one(asked.origin.address.map(network)),
            false => self.hasher.hash_one(asked.caller.name()),
        };
        let session = self.hasher.hash_one((caller, asked.origin.session));
        buckets.take(session, buckets.each)?;
        buckets.take(caller, buckets.all)
    }
}

/// Whether a wire is one that people use.
pub(super) fn is_for_people(wire: &str) -> bool {
    matches!(
        wire,
        "api" | "operator" | "metrics" | "chat" | "ag-ui" | "http"
    )
}

/// An address, or the network of 64 bits that one household has.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = address.to_bits() >> 64 << 64;
            IpAddr::V6(network.into())
        }
        address => address,
    }
}

/// The buckets of all callers, in parts so that calls of different callers seldom wait for each other.
#[derive(Debug)]
struct Buckets {
    each: Quota,
    all: Quota,
    /// A bucket that was not used for this long is full.
    idle: Duration,
    parts: [Mutex<Part>; PARTS],
}

#[derive(Debug)]
struct Part {
    known: HashMap<u64, Bucket>,
    /// For the callers that found no room.
    others: Limiter,
    swept: Instant,
}

#[derive(Debug)]
struct Bucket {
    limiter: Limiter,
    used: Instant,
}

impl Buckets {
    fn new(rate: NonZeroU32) -> Self {
        let quota = |rate: NonZeroU32| {
            let burst = rate.saturating_mul(NonZeroU32::MIN.saturating_add(1));
            Quota::per_second(rate).allow_burst(burst)
        };
        let each = quota(rate);
        let all = quota(rate.saturating_mul(NonZeroU32::MIN.saturating_add(SESSIONS - 1)));
        Self {
            each,
            all,
            idle: each.burst_size_replenished_in(),
            parts: std::array::from_fn(|_| {
                Mutex::new(Part {
                    known: HashMap::new(),
                    others: limiter(all),
                    swept: Instant::now(),
                })
            }),
        }
    }

    fn take(&self, key: u64, quota: Quota) -> Result<(), TooManyCalls> {
        let place = usize::try_from(key % PARTS as u64).unwrap_or_default();
        let Some(part) = self.parts.get(place) else {
            return Ok(());
        };
        let now = Instant::now();
        let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
        let full = part.known.len() >= MOST;
        if now.duration_since(part.swept) > SWEEP || (full && !part.known.contains_key(&key)) {
            part.swept = now;
            part.known
                .retain(|_, it| now.duration_since(it.used) <= self.idle);
        }
        let full = part.known.len() >= MOST;
        let checked = match part.known.get_mut(&key) {
            Some(bucket) => {
                bucket.used = now;
                check(&bucket.limiter)
            }
            None if full => check(&part.others),
            None => {
                let limiter = limiter(quota);
                let checked = check(&limiter);
                part.known.insert(key, Bucket { limiter, used: now });
                checked
            }
        };
        checked.map_err(|retry_after| TooManyCalls { retry_after })
    }

    #[cfg(test)]
    fn remembered(&self) -> usize {
        let parts = self.parts.iter();
        parts.map(|it| it.lock().unwrap().known.len()).sum()
    }
}

fn limiter(quota: Quota) -> Limiter {
    RateLimiter::direct_with_clock(quota, MonotonicClock)
}

fn check(limiter: &Limiter) -> Result<(), Duration> {
    limiter
        .check()
        .map_err(|until| until.wait_time_from(limiter.clock().now()))
}
