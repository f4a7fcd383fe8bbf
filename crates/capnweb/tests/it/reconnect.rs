//! Handles that reconnect, over real sockets that are cut at random, from Rust and from TypeScript.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use capnweb::reconnect::{CONNECTION_LOST, Reconnect, Reconnecting, Settings};
use capnweb::resume::{Item, Sink, Subscription, cursor_gone};
use capnweb::{Capability, Options, Result, Server, Tasks, target};
use futures_util::stream;
use tokio::sync::watch;

use crate::support::cutting::Cutting;
use crate::support::eventually::{eventually, soon};
use crate::support::serving::Serving;
use crate::support::typescript;

/// A log that outlives every session, and what is open of it.
struct World {
    log: watch::Sender<u32>,
    following: Arc<AtomicUsize>,
    rooms: Arc<AtomicUsize>,
}

struct Root(Arc<World>);

#[target(pub(crate))]
impl Root {
    pub fn double(&self, n: f64) -> f64 {
        n * 2.0
    }

    pub async fn hang(&self) -> Result<()> {
        std::future::pending().await
    }

    pub fn room(&self) -> Room {
        Room(Open::new(&self.0.rooms))
    }

    /// The numbers from 1 on, as the log gets them.
    pub fn subscribe(&self, cursor: Option<String>, sink: Sink<u32>) -> Result<Subscription> {
        let after: u32 = match cursor {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| cursor_gone(&cursor))?,
        };
        let open = Open::new(&self.0.following);
        let follow = (self.0.log.subscribe(), after, open);
        let events = stream::unfold(follow, async |(mut log, after, open)| {
            log.wait_for(|last| *last > after).await.ok()?;
            let n = after + 1;
            Some((Ok(Item::new(n.to_string(), n)), (log, n, open)))
        });
        Ok(Subscription::start(sink, events))
    }
}

struct Room(#[expect(dead_code, reason = "held, to be counted")] Open);

#[target(pub(crate))]
impl Room {
    pub fn look(&self) -> &str {
        "a room"
    }
}

/// Counts itself while it is there.
struct Open(Arc<AtomicUsize>);

impl Open {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The log, served through a proxy that cuts, with something new in it all the time.
struct Cut {
    world: Arc<World>,
    tasks: Tasks,
    cutting: Cutting,
    serving: Serving,
}

impl Cut {
    async fn start(seed: u64, count: u32) -> Self {
        let world = Arc::new(World {
            log: watch::channel(0).0,
            following: Arc::default(),
            rooms: Arc::default(),
        });
        let tasks = Tasks::new();
        let options = Options::default().tasks(tasks.clone());
        let served = world.clone();
        let server = Server::new(move |_headers| Root(served.clone())).options(options);
        let serving = Serving::start(Router::new().route("/rpc", server.route())).await;
        let cutting = Cutting::start(serving.address, seed, 8000, 60).await;
        let log = world.clone();
        tokio::spawn(async move {
            for _ in 0..count {
                log.log.send_modify(|last| *last += 1);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
        Self {
            world,
            tasks,
            cutting,
            serving,
        }
    }

    fn url(&self) -> String {
        format!("ws://{}/rpc", self.cutting.address)
    }

    /// Asserts that sessions were cut, and that nothing is left of them.
    async fn finish(self) {
        assert!(self.cutting.cuts() >= 20, "only {}", self.cutting.cuts());
        let left = async || {
            let World {
                following, rooms, ..
            } = &*self.world;
            (
                following.load(Ordering::Relaxed),
                rooms.load(Ordering::Relaxed),
                self.tasks.len(),
            )
        };
        eventually("what is left of the sessions", (0, 0, 0), left).await;
        self.tasks.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_client_loses_and_doubles_no_event_when_its_sockets_are_cut() {
    const COUNT: u32 = 1500;
    for seed in [1, 2] {
        let cut = Cut::start(seed, COUNT).await;
        let tasks = Tasks::new();
        let options = Options::default().tasks(tasks.clone());
        let root: Reconnecting<Root> =
            Reconnect::websocket(cut.url(), Capability::nothing(), &options)
                .settings(Settings {
                    first_wait: Duration::from_millis(2),
                    longest_wait: Duration::from_millis(20),
                    retries: 1000,
                    seed: Some(seed),
                    ..Settings::default()
                })
                .start();
        let room = root.derive(|root| root.room());
        let calls = {
            let (root, room) = (root.clone(), room.clone());
            tokio::spawn(async move {
                loop {
                    assert_eq!(root.retry(|root| root.double(4.0)).await.unwrap(), 8.0);
                    match room.call(|room| room.look()).await {
                        Ok(seen) => assert_eq!(seen, "a room"),
                        Err(error) => assert_eq!(error.code(), Some(CONNECTION_LOST)),
                    }
                }
            })
        };
        let mut events = root.resume(None, |root, cursor, sink| root.subscribe(cursor, sink));
        for expected in 1..=COUNT {
            let item = soon("an event", events.next()).await.unwrap().unwrap();
            assert_eq!(item.event, expected);
        }
        calls.abort();
        assert!(calls.await.unwrap_err().is_cancelled());
        assert!(root.sessions() > 10, "only {} sessions", root.sessions());
        drop((events, room, root));
        eventually("our tasks", 0, async || tasks.len()).await;
        cut.finish().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_in_good_order_is_a_lost_connection_as_well() {
    let cut = Cut::start(4, 1).await;
    let url = format!("ws://{}/rpc", cut.serving.address);
    let root: Reconnecting<Root> =
        Reconnect::websocket(url, Capability::nothing(), &Options::default()).start();
    let mut events = root.resume(None, |root, cursor, sink| root.subscribe(cursor, sink));
    soon("an event", events.next()).await.unwrap().unwrap();
    let call = root.call(|root| root.hang());
    let stop = async {
        eventually("the calls", true, async || cut.tasks.len() >= 3).await;
        cut.tasks.stop().await;
    };
    let error = soon("the end", async { tokio::join!(call, stop).0 })
        .await
        .unwrap_err();
    assert_eq!(error.code(), Some(CONNECTION_LOST), "{error:?}");
    let next = tokio::time::timeout(Duration::from_millis(200), events.next()).await;
    assert!(
        next.is_err(),
        "the events wait for the next server: {next:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_typescript_client_loses_and_doubles_no_event_when_its_sockets_are_cut() {
    typescript::compiled().await;
    let cut = Cut::start(3, 1500).await;
    let said = typescript::run("tests/dist/reconnect.js", &[&cut.url(), "1500"]).await;
    assert_eq!(said, "1500 events, each once\n");
    cut.finish().await;
}
