//! Many who follow one task: what an event to all of them costs, and what is left of it when they are cut off.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use a2a::types::{SubscribeToTaskRequest, Task};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::agent::{Agent, begin_long, cancel};
use crate::relay::Relay;
use crate::{Error, measuring};

/// How long the task waits between two events.
const PAUSE: Duration = Duration::from_millis(250);

/// How long anything may take before it counts as lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// What all of them have got.
#[derive(Default)]
struct Got {
    clients: Mutex<Vec<Vec<u64>>>,
    /// For each event how often it came, and when first and last.
    events: Mutex<BTreeMap<u64, (usize, Instant, Instant)>>,
    more: Notify,
}

/// Those who follow, until the task ends.
struct Crowd {
    got: Arc<Got>,
    following: JoinSet<Result<(), Error>>,
    size: usize,
}

impl Crowd {
    async fn gather(agent: &Agent, task: &Task, size: usize) -> Result<Self, Error> {
        let got = Arc::<Got>::default();
        *lock(&got.clients) = vec![Vec::new(); size];
        let mut following = JoinSet::new();
        for number in 0..size {
            let (client, got) = (agent.client()?, got.clone());
            let request = SubscribeToTaskRequest {
                id: task.id.clone(),
                ..SubscribeToTaskRequest::default()
            };
            following.spawn(async move {
                let mut events = client.subscribe_to_task(request).await?;
                while let Some(event) = events.next().await {
                    let cursor = event?.cursor().ok_or("an event without a generation")?;
                    got.take(number, cursor);
                }
                Ok(())
            });
        }
        let mut crowd = Self {
            got,
            following,
            size,
        };
        crowd
            .until(|got| lock(&got.clients).iter().all(|events| !events.is_empty()))
            .await?;
        Ok(crowd)
    }

    /// Waits for something that all of them will have got.
    async fn until(&mut self, holds: impl Fn(&Got) -> bool) -> Result<(), Error> {
        let started = Instant::now();
        while !holds(&self.got) {
            tokio::select! {
                () = self.got.more.notified() => {}
                Some(ended) = self.following.join_next() => {
                    ended??;
                    return Err("a stream ended before its task".into());
                }
                () = tokio::time::sleep(Duration::from_secs(1)) => {}
            }
            if started.elapsed() > PATIENCE {
                return Err("some of them have got nothing for too long".into());
            }
        }
        Ok(())
    }

    /// The events that came to all of them, after this one.
    fn complete(&self, after: u64) -> usize {
        let events = lock(&self.got.events);
        let all = |(cursor, (count, ..)): &(&u64, &(usize, Instant, Instant))| {
            **cursor > after && *count >= self.size
        };
        events.iter().filter(all).count()
    }

    /// Waits until the task's end has come to all.
    async fn end(&mut self) -> Result<(), Error> {
        let ending = async {
            while let Some(ended) = self.following.join_next().await {
                ended??;
            }
            Ok(())
        };
        timeout(PATIENCE, ending).await?
    }
}

impl Got {
    fn take(&self, client: usize, cursor: u64) {
        let now = Instant::now();
        lock(&self.clients)[client].push(cursor);
        let mut events = lock(&self.events);
        let (count, _, last) = events.entry(cursor).or_insert((0, now, now));
        *count += 1;
        *last = now;
        drop(events);
        self.more.notify_one();
    }

    fn newest(&self) -> u64 {
        lock(&self.events).keys().next_back().copied().unwrap_or(0)
    }
}

/// How long after the first of them the last one has an event.
pub(crate) async fn fan_out(agent: &Agent, clients: usize, events: usize) -> Result<Value, Error> {
    let caller = agent.client()?;
    let task = begin_long(&caller, PAUSE).await?;
    let mut crowd = Crowd::gather(agent, &task, clients).await?;
    // The first event after all have come is not disturbed by those who came last.
    let mut begun = crowd.got.newest() + 1;
    crowd.until(|got| got.newest() > begun).await?;
    begun += 1;
    measuring();
    let before = deliveries(&crowd);
    let wait = Instant::now();
    while crowd.complete(begun) < events {
        if wait.elapsed() > PATIENCE {
            return Err("some of them miss events".into());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let delivered = deliveries(&crowd) - before;
    let spread = spread(&crowd, begun);
    println!("measured");
    cancel(&caller, &task).await?;
    crowd.end().await?;
    Ok(json!({
        "clients": clients,
        "deliveries": delivered,
        "spread_p50_ms": spread,
    }))
}

fn deliveries(crowd: &Crowd) -> usize {
    lock(&crowd.got.clients).iter().map(Vec::len).sum()
}

/// The middle of the times from the first delivery of an event to its last.
fn spread(crowd: &Crowd, after: u64) -> Option<f64> {
    let events = lock(&crowd.got.events);
    let whole = events.range(after + 1..).map(|(_, event)| event);
    let whole = whole.filter(|(count, ..)| *count >= crowd.size);
    let mut times: Vec<_> = whole.map(|(_, first, last)| *last - *first).collect();
    times.sort_unstable();
    let middle = times.get(times.len() / 2)?;
    Some(middle.as_secs_f64() * 1e3)
}

/// Cuts all of them off again and again while the task goes on, and counts what each has got in the end.
pub(crate) async fn cut(agent: &Agent, clients: usize, cuts: usize) -> Result<Value, Error> {
    let caller = agent.client()?;
    let relay = Relay::start(agent.server).await?;
    let task = begin_long(&caller, PAUSE).await?;
    let mut crowd = Crowd::gather(&agent.behind(relay.address)?, &task, clients).await?;
    measuring();
    for _ in 0..cuts {
        let connections = relay.passed().connections + clients as u64;
        relay.cut();
        // All clients are connected again, and have received an event that is newer than the cut.
        let newest = crowd.got.newest();
        let is_newer = |events: &Vec<u64>| events.last().is_some_and(|last| *last > newest);
        let back = |got: &Got| {
            relay.passed().connections >= connections && lock(&got.clients).iter().all(is_newer)
        };
        crowd.until(back).await?;
    }
    cancel(&caller, &task).await?;
    crowd.end().await?;
    let events = lock(&crowd.got.clients).clone();
    let last = events
        .iter()
        .filter_map(|events| events.last())
        .max()
        .copied()
        .unwrap_or(0);
    let (mut lost, mut doubled, mut received) = (0, 0, 0);
    for events in &events {
        let first = events.first().copied().unwrap_or(last);
        let mut once = events.clone();
        once.sort_unstable();
        once.dedup();
        received += events.len();
        doubled += events.len() - once.len();
        lost += usize::try_from(last - first + 1)?.saturating_sub(once.len());
        doubled += usize::from(!events.is_sorted());
    }
    Ok(json!({
        "clients": clients,
        "cuts": cuts,
        "events": received,
        "lost": lost,
        "doubled": doubled,
    }))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
