//! Handles that outlive their sessions.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures_util::stream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::{CONNECTION_LOST, NOT_CONNECTED, Reconnect, Reconnecting, Settings};
use crate::connection::Shared;
use crate::resume::{Item, Sink, Subscription, cursor_gone};
use crate::{
    Capability, Connection, Error, Options, Result, Stats, Stub, Tasks, Value, pair, target,
};

/// The tables of a session at rest.
const AT_REST: Stats = Stats {
    imports: 1,
    exports: 1,
    pending: 0,
};

/// A server that can be cut off, and refuse to be connected to.
#[derive(Default)]
struct World {
    /// How many of the next attempts are refused.
    refuse: AtomicU32,
    /// How many of the next sessions answer nothing.
    deaf: AtomicU32,
    attempts: AtomicU32,
    /// Both ends of the present session.
    session: Mutex<Option<(Connection, Connection)>>,
    /// Every session there was.
    all: Mutex<Vec<Weak<Shared>>>,
    tasks: Tasks,
    log: Log,
    served: AtomicU32,
    rooms: AtomicU32,
    rooms_open: AtomicUsize,
}

/// Events that outlive every session.
struct Log(watch::Sender<u32>);

impl Default for Log {
    fn default() -> Self {
        Self(watch::channel(0).0)
    }
}

struct Root(Arc<World>);

#[target(pub(crate))]
impl Root {
    pub fn double(&self, n: f64) -> f64 {
        self.0.served.fetch_add(1, Ordering::Relaxed);
        n * 2.0
    }

    pub async fn hang(&self) -> Result<()> {
        self.0.served.fetch_add(1, Ordering::Relaxed);
        std::future::pending().await
    }

    /// Hangs when it is first called.
    pub async fn hang_once(&self) -> f64 {
        if self.0.served.fetch_add(1, Ordering::Relaxed) == 0 {
            std::future::pending::<()>().await;
        }
        1.0
    }

    pub fn refuse(&self) -> Result<()> {
        Err(Error::new("no").with_code("refused"))
    }

    /// A room; the first is refused.
    pub fn room(&self) -> Result<Room> {
        if self.0.rooms.fetch_add(1, Ordering::Relaxed) == 0 {
            return Err(Error::new("full").with_code("full"));
        }
        self.0.rooms_open.fetch_add(1, Ordering::Relaxed);
        Ok(Room(self.0.clone()))
    }

    /// The numbers from 1 on, as the log gets them.
    pub fn subscribe(&self, cursor: Option<String>, sink: Sink<u32>) -> Result<Subscription> {
        let after: u32 = match cursor {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| cursor_gone(&cursor))?,
        };
        let log = self.0.log.0.subscribe();
        let events = stream::unfold((log, after), async |(mut log, after)| {
            log.wait_for(|last| *last > after).await.ok()?;
            let n = after + 1;
            Some((Ok(Item::new(n.to_string(), n)), (log, n)))
        });
        Ok(Subscription::start(sink, events))
    }
}

struct Room(Arc<World>);

#[target(pub(crate))]
impl Room {
    /// A closet of the room.
    pub fn closet(&self) -> Closet {
        Closet
    }

    #[getter]
    pub fn number(&self) -> u32 {
        self.0.rooms.load(Ordering::Relaxed)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.0.rooms_open.fetch_sub(1, Ordering::Relaxed);
    }
}

struct Closet;

#[target(pub(crate))]
impl Closet {
    pub fn look(&self) -> &str {
        "dark"
    }
}

impl World {
    fn connect(self: &Arc<Self>) -> Result<Connection> {
        self.attempts.fetch_add(1, Ordering::Relaxed);
        if take_one(&self.refuse) {
            return Err(Error::new("refused"));
        }
        let options = Options::default().tasks(self.tasks.clone());
        if take_one(&self.deaf) {
            return Ok(Connection::new(Capability::nothing(), &options));
        }
        let (client, server) = pair(
            Capability::nothing(),
            Root(self.clone()).into_stub(),
            &options,
        );
        let mut all = self.all.lock().expect("whole");
        all.push(Arc::downgrade(client.shared()));
        all.push(Arc::downgrade(server.shared()));
        *self.session.lock().expect("whole") = Some((client.clone(), server));
        Ok(client)
    }

    fn start(self: &Arc<Self>, settings: Settings) -> Reconnecting<Root> {
        let world = self.clone();
        let settings = Settings {
            seed: Some(7),
            ..settings
        };
        Reconnect::new(move || std::future::ready(world.connect()))
            .settings(settings)
            .tasks(self.tasks.clone())
            .start()
    }

    fn cut(&self) {
        let session = self.session.lock().expect("whole").take();
        if let Some((client, server)) = session {
            client.end(Error::new("cut"));
            server.end(Error::new("cut"));
        }
    }

    fn sessions_alive(&self) -> usize {
        let all = self.all.lock().expect("whole");
        all.iter().filter(|one| one.strong_count() > 0).count()
    }
}

fn take_one(of: &AtomicU32) -> bool {
    let taken = of.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
    taken.is_ok()
}

async fn number(root: &Reconnecting<Root>) -> Result<f64> {
    root.call(|root| root.double(21.0)).await
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_the_first_session_and_for_the_next() {
    let world = Arc::new(World::default());
    world.refuse.store(3, Ordering::Relaxed);
    let root = world.start(Settings::default());
    assert!(!root.is_connected());
    assert_eq!(number(&root).await.expect("in the first"), 42.0);
    assert_eq!((root.sessions(), root.is_connected()), (1, true));
    world.cut();
    assert_eq!(number(&root).await.expect("in the second"), 42.0);
    assert_eq!(root.sessions(), 2);
}

#[tokio::test(start_paused = true)]
async fn waits_between_attempts_grow_up_to_the_longest() {
    let world = Arc::new(World::default());
    world.refuse.store(u32::MAX, Ordering::Relaxed);
    let _root = world.start(Settings::default());
    let longest = Settings::default().longest_wait;
    let mut waits = Vec::new();
    let (mut seen, mut since) = (0, Instant::now());
    while waits.len() < 30 {
        sleep(Duration::from_millis(1)).await;
        let attempts = world.attempts.load(Ordering::Relaxed);
        if attempts != seen {
            seen = attempts;
            waits.push(since.elapsed());
            since = Instant::now();
        }
    }
    let bounds = waits.iter().skip(1).zip(0..);
    for (wait, attempt) in bounds {
        let bound = (Duration::from_millis(200) * 2_u32.pow(attempt.min(12))).min(longest);
        assert!(
            *wait <= bound + Duration::from_millis(2),
            "{wait:?} after {attempt}"
        );
    }
    assert!(waits.iter().any(|wait| *wait > longest / 2), "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_does_not_answer_is_not_published() {
    let world = Arc::new(World::default());
    world.deaf.store(2, Ordering::Relaxed);
    let root = world.start(Settings::default());
    let begun = Instant::now();
    assert_eq!(number(&root).await.expect("in the third"), 42.0);
    assert_eq!(root.sessions(), 1);
    assert!(begun.elapsed() >= 2 * Settings::default().attempt_limit);
}

#[tokio::test(start_paused = true)]
async fn a_session_with_a_failed_probe_is_not_published() {
    let world = Arc::new(World::default());
    let failures = Arc::new(AtomicU32::new(2));
    let connect = {
        let world = world.clone();
        move || std::future::ready(world.connect())
    };
    let root: Reconnecting<Root> = Reconnect::new(connect)
        .probe(move |root: Stub<Root>| {
            let failing = take_one(&failures);
            async move {
                root.double(1.0).await?;
                if failing {
                    Err(Error::new("not yet"))
                } else {
                    Ok(())
                }
            }
        })
        .start();
    assert_eq!(number(&root).await.expect("in the third"), 42.0);
    assert_eq!(root.sessions(), 1);
    assert_eq!(world.attempts.load(Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn a_call_under_way_fails_with_a_code_of_its_own_and_is_not_made_again() {
    let world = Arc::new(World::default());
    let root = world.start(Settings::default());
    let call = root.call(|root| root.hang());
    let cut = async {
        while world.served.load(Ordering::Relaxed) == 0 {
            sleep(Duration::from_millis(1)).await;
        }
        world.cut();
    };
    let error = tokio::join!(call, cut).0.expect_err("it is lost");
    assert_eq!(error.code(), Some(CONNECTION_LOST));
    assert_eq!(
        error.message(),
        "the connection was lost while the call was under way"
    );
    assert!(matches!(error.prop("cause"), Some(Value::Error(cause)) if cause.message() == "cut"));
    number(&root).await.expect("the next session serves");
    assert_eq!(world.served.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_does_no_harm_twice_is_made_again() {
    let world = Arc::new(World::default());
    let root = world.start(Settings::default());
    let call = root.retry(|root| root.hang_once());
    let cut = async {
        while world.served.load(Ordering::Relaxed) == 0 {
            sleep(Duration::from_millis(1)).await;
        }
        world.cut();
    };
    assert_eq!(tokio::join!(call, cut).0.expect("it is answered"), 1.0);
    assert_eq!(world.served.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ends_every_session_is_given_up() {
    let world = Arc::new(World::default());
    let root = world.start(Settings {
        retries: 3,
        ..Settings::default()
    });
    let ending = world.clone();
    let end = tokio::spawn(async move {
        let mut seen = 0;
        loop {
            sleep(Duration::from_millis(1)).await;
            let served = ending.served.load(Ordering::Relaxed);
            if served != seen {
                seen = served;
                ending.cut();
            }
        }
    });
    let error = root.retry(|root| root.hang()).await.expect_err("given up");
    end.abort();
    assert_eq!(error.code(), Some(CONNECTION_LOST));
    assert_eq!(world.served.load(Ordering::Relaxed), 4);
}

#[tokio::test(start_paused = true)]
async fn what_the_peer_answers_is_not_taken_for_a_lost_connection() {
    let world = Arc::new(World::default());
    let root = world.start(Settings::default());
    let error = root.retry(|root| root.refuse()).await.expect_err("refused");
    assert_eq!(error.code(), Some("refused"));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_finds_no_connection_for_too_long_fails_and_says_why() {
    let world = Arc::new(World::default());
    world.refuse.store(u32::MAX, Ordering::Relaxed);
    let root = world.start(Settings::default());
    let begun = Instant::now();
    let error = number(&root).await.expect_err("there is no connection");
    assert_eq!(error.code(), Some(NOT_CONNECTED));
    assert!(
        matches!(error.prop("cause"), Some(Value::Error(cause)) if cause.message() == "refused")
    );
    assert_eq!(begun.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn calls_fail_when_the_tasks_were_stopped() {
    let world = Arc::new(World::default());
    let root = world.start(Settings::default());
    number(&root).await.expect("it is connected");
    world.tasks.stop().await;
    let error = number(&root).await.expect_err("nothing runs any more");
    assert_eq!(error.code(), Some(NOT_CONNECTED));
}

#[tokio::test(start_paused = true)]
async fn children_are_derived_once_in_each_session_and_again_when_that_failed() {
    let world = Arc::new(World::default());
    let root = world.start(Settings::default());
    let room = root.derive(|root| root.room());
    let closet = room.derive(|room| room.closet());
    let error = closet.call(|closet| closet.look()).await;
    assert_eq!(error.expect_err("full").code(), Some("full"));
    for _ in 0..3 {
        let seen = closet.call(|closet| closet.look()).await;
        assert_eq!(seen.expect("derived again"), "dark");
        assert_eq!(room.call(|room| room.number()).await.expect("derived"), 2);
    }
    world.cut();
    assert_eq!(room.call(|room| room.number()).await.expect("derived"), 3);
    let seen = closet.call(|closet| closet.look()).await;
    assert_eq!(seen.expect("from the same room"), "dark");
    assert_eq!(world.rooms.load(Ordering::Relaxed), 3);

    drop((room, closet));
    while world.rooms_open.load(Ordering::Relaxed) > 0 {
        sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_the_last_handle_ends_the_session_and_the_task() {
    let world = Arc::new(World::default());
    let root = world.start(Settings::default());
    number(&root).await.expect("it is connected");
    let (client, _server) = world.session.lock().expect("whole").take().expect("one");
    let shared = Arc::downgrade(client.shared());
    drop(client);
    drop(root);
    let stopped = timeout(Duration::from_secs(5), async {
        while !world.tasks.is_empty() || shared.strong_count() > 0 {
            sleep(Duration::from_millis(1)).await;
        }
    });
    stopped.await.expect("nothing is left");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_cursor_ends_the_events_with_its_error() {
    let world = Arc::new(World::default());
    let root = world.start(Settings::default());
    let mut events = root.resume(Some("x".to_owned()), |root, cursor, sink| {
        root.subscribe(cursor, sink)
    });
    let error = events
        .next()
        .await
        .expect("an error")
        .expect_err("an error");
    assert_eq!(error.code(), Some(crate::resume::CURSOR_GONE));
    assert!(events.next().await.is_none());
}

/// Runs the log under a subscriber while sessions are cut at random, and gives what arrived.
async fn cut_at_random(seed: u64, count: u32) -> (Vec<u32>, u64) {
    let mut random = Random(seed);
    let world = Arc::new(World::default());
    let settings = Settings {
        first_wait: Duration::from_millis(3),
        longest_wait: Duration::from_millis(20),
        ..Settings::default()
    };
    let root = world.start(settings);
    let mut events = root.resume(None, |root, cursor, sink| root.subscribe(cursor, sink));
    let load = {
        let world = world.clone();
        async move {
            for _ in 0..count {
                world.log.0.send_modify(|last| *last += 1);
                match random.below(40) {
                    0 => world.cut(),
                    1..8 => sleep(Duration::from_millis(random.below(10))).await,
                    8..20 => tokio::task::yield_now().await,
                    _ => {}
                }
                if random.below(200) == 0 {
                    world.refuse.store(2, Ordering::Relaxed);
                }
            }
        }
    };
    let load = tokio::spawn(load);
    let mut arrived = Vec::new();
    let mut random = Random(!seed);
    while arrived.len() < count as usize {
        // Giving up the wait now and then loses nothing either.
        let patience = Duration::from_millis(1 + random.below(5));
        let Ok(next) = timeout(patience, events.next()).await else {
            continue;
        };
        let item = next
            .expect("the log does not end")
            .expect("and does not fail");
        assert_eq!(item.cursor, item.event.to_string());
        arrived.push(item.event);
        if random.below(30) == 0 {
            sleep(Duration::from_millis(random.below(20))).await;
        }
    }
    load.await.expect("the load ends");
    let more = timeout(Duration::from_secs(60), events.next()).await;
    assert!(more.is_err(), "there is nothing after the last: {more:?}");
    drop(events);
    let (client, server) = world.session.lock().expect("whole").clone().expect("one");
    sleep(Duration::from_secs(1)).await;
    assert_eq!((client.stats(), server.stats()), (AT_REST, AT_REST));
    (arrived, root.sessions())
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        // Xorshift, with something added so that no seed is nothing.
        let mut state = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15).max(1);
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.0 = state;
        (state >> 16) % bound
    }
}

#[tokio::test(start_paused = true)]
async fn no_event_is_lost_or_doubled_when_sessions_are_cut_at_random() {
    let mut sessions = 0;
    for seed in 0..20 {
        let (arrived, ended) = cut_at_random(seed, 2000).await;
        assert!(arrived.into_iter().eq(1..=2000), "seed {seed}");
        sessions += ended;
    }
    assert!(
        sessions > 400,
        "{sessions} sessions are too few to prove anything"
    );
}

#[tokio::test(start_paused = true)]
async fn a_thousand_sessions_leave_nothing_behind() {
    let world = Arc::new(World::default());
    world.rooms.store(1, Ordering::Relaxed);
    let root = world.start(Settings {
        first_wait: Duration::from_millis(1),
        ..Settings::default()
    });
    let room = root.derive(|root| root.room());
    let mut events = root.resume(None, |root, cursor, sink| root.subscribe(cursor, sink));
    for turn in 1..=1000_u32 {
        world.log.0.send_modify(|last| *last += 1);
        let item = events.next().await.expect("an event").expect("an event");
        assert_eq!(item.event, turn);
        room.call(|room| room.number())
            .await
            .expect("there is a room");
        let hanging = timeout(Duration::from_millis(1), root.call(|root| root.hang()));
        assert!(hanging.await.is_err());
        if turn % 2 == 0 {
            world.cut();
        } else {
            world
                .session
                .lock()
                .expect("whole")
                .take()
                .expect("one")
                .0
                .abort(Error::new("bye"));
        }
    }
    root.call(|root| root.double(1.0))
        .await
        .expect("there is a session");
    assert_eq!(root.sessions(), 1001);
    drop(events);
    drop(room);
    sleep(Duration::from_secs(1)).await;
    let (client, server) = world.session.lock().expect("whole").clone().expect("one");
    assert_eq!((client.stats(), server.stats()), (AT_REST, AT_REST));
    assert_eq!(world.sessions_alive(), 2, "the two ends of the last");
    assert_eq!(world.rooms_open.load(Ordering::Relaxed), 0);
    // The thousand calls that hang outlive their sessions, as the protocol wants. Beside them there are the
    // task that keeps the session and the two that join its ends.
    assert_eq!(world.tasks.len(), 1003);
    drop((client, server));
    drop(root);
    world.session.lock().expect("whole").take();
    world.tasks.stop().await;
    assert_eq!(world.sessions_alive(), 0);
    assert_eq!(
        Arc::strong_count(&world),
        1,
        "nothing holds the server's state"
    );
}
