//! Subscriptions by cursor.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream;
use tokio::sync::mpsc;

use super::{Item, Resumable, Sink, Subscription, cursor_gone};
use crate::convert::Callback;
use crate::describe::Schema;
use crate::{
    Capability, Connection, Error, Interface, Options, Result, Stats, Stub, Target, Value, pair,
};

/// The tables of a session at rest.
const AT_REST: Stats = Stats {
    imports: 1,
    exports: 1,
    pending: 0,
};

fn connect(target: impl Target) -> (Connection, Connection, Stub<Resumable>) {
    let (client, server) = pair(
        Capability::nothing(),
        Capability::new(target),
        &Options::default(),
    );
    let root = client.remote();
    (client, server, root)
}

/// A sink that keeps what it is given, and what it kept, call by call.
fn keeping() -> (Sink, Arc<Mutex<Vec<Vec<String>>>>) {
    let calls = Arc::<Mutex<Vec<Vec<String>>>>::default();
    let kept = calls.clone();
    let sink = Callback::new(move |(items,): (Vec<Item>,)| {
        let cursors = items.into_iter().map(|item| item.cursor).collect();
        kept.lock().expect("whole").push(cursors);
        async {}
    });
    (sink, calls)
}

/// A log of ten events with their numbers as cursors.
fn ten() -> Resumable {
    Resumable::new(|cursor: Option<String>| {
        let after: u32 = match cursor {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| cursor_gone(&cursor))?,
        };
        let items = (after + 1..=10).map(|n| Ok(Item::new(n.to_string(), n)));
        Ok(stream::iter(items))
    })
}

#[tokio::test(start_paused = true)]
async fn a_subscription_brings_what_follows_its_cursor_and_ends() {
    let (_client, _server, log) = connect(ten());
    let (sink, calls) = keeping();
    let subscription = log.subscribe("7".to_owned(), sink).pipeline();
    subscription.ended().await.expect("the log ends");
    assert_eq!(*calls.lock().expect("whole"), [["8", "9", "10"]]);
}

#[tokio::test(start_paused = true)]
async fn a_cursor_that_is_unknown_is_refused_with_its_code() {
    let (_client, _server, log) = connect(ten());
    let (sink, _calls) = keeping();
    let error = log.subscribe("x".to_owned(), sink).await.err();
    let error = error.expect("it is refused");
    assert_eq!(error.code(), Some(super::CURSOR_GONE));
}

#[tokio::test(start_paused = true)]
async fn the_next_call_waits_for_the_answer_to_the_one_before_and_brings_all_that_came_meanwhile() {
    let (events, follow) = mpsc::unbounded_channel::<u32>();
    let follow = Mutex::new(Some(follow));
    let log = Resumable::new(move |_cursor| {
        let follow = follow.lock().expect("whole").take();
        let follow = follow.ok_or_else(|| Error::new("followed already"))?;
        Ok(stream::unfold(follow, async |mut follow| {
            let n = follow.recv().await?;
            Some((Ok(Item::new(n.to_string(), n)), follow))
        }))
    });
    let (_client, _server, log) = connect(log);
    let (arrive, mut arrived) = mpsc::unbounded_channel();
    let sink: Sink = Callback::new(move |(items,): (Vec<Item>,)| {
        let arrive = arrive.clone();
        async move {
            let (answer, answered) = tokio::sync::oneshot::channel::<()>();
            let cursors: Vec<_> = items.into_iter().map(|item| item.cursor).collect();
            let _ = arrive.send((cursors, answer));
            let _ = answered.await;
        }
    });
    let _subscription = log.subscribe(None, sink).await.expect("it is served");
    events.send(1).expect("followed");
    let (cursors, answer) = arrived.recv().await.expect("a call");
    assert_eq!(cursors, ["1"]);
    for n in 2..=4 {
        events.send(n).expect("followed");
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(arrived.try_recv().is_err(), "nothing before the answer");
    answer.send(()).expect("it is waited for");
    assert_eq!(arrived.recv().await.expect("a call").0, ["2", "3", "4"]);
}

#[tokio::test(start_paused = true)]
async fn releasing_a_subscription_stops_following_at_once_and_leaves_nothing() {
    /// Says when it is dropped.
    struct Following(mpsc::UnboundedSender<()>);
    impl Drop for Following {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    let (dropped, mut drops) = mpsc::unbounded_channel();
    let log = Resumable::new(move |_cursor| {
        let following = Following(dropped.clone());
        Ok(stream::unfold(following, async |following| {
            std::future::pending::<()>().await;
            Some((Ok(Item::new("", 0)), following))
        }))
    });
    let (client, server, log) = connect(log);
    let (sink, _calls) = keeping();
    let subscription = log.subscribe(None, sink).await.expect("it is served");
    let ended = subscription.ended();
    drop(subscription);
    drops
        .recv()
        .await
        .expect("the log is not followed any more");
    ended
        .await
        .expect_err("nobody knows how it would have ended");
    drop(log);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!((client.stats(), server.stats()), (AT_REST, AT_REST));
}

#[tokio::test(start_paused = true)]
async fn a_log_that_fails_and_a_sink_that_fails_end_the_subscription_with_their_error() {
    let log = Resumable::new(|cursor: Option<String>| {
        let last = match cursor {
            None => Err(Error::new("the disk is gone")),
            Some(_) => Ok(Item::new("2", 2)),
        };
        Ok(stream::iter([Ok(Item::new("1", 1)), last]))
    });
    let (_client, _server, log) = connect(log);
    let (sink, calls) = keeping();
    let subscription = log.subscribe(None, sink).pipeline();
    let error = subscription.ended().await.expect_err("the log fails");
    assert_eq!(error.message(), "the disk is gone");
    assert_eq!(
        *calls.lock().expect("whole"),
        [["1"]],
        "what came before arrives"
    );

    let sink: Sink =
        Callback::new(|(_items,): (Vec<Item>,)| async { Result::<()>::Err(Error::new("no room")) });
    let subscription = log.subscribe("x".to_owned(), sink).pipeline();
    let error = subscription.ended().await.expect_err("the sink fails");
    assert_eq!(error.message(), "no room");
}

#[tokio::test(start_paused = true)]
async fn a_subscription_can_be_served_in_the_same_process() {
    let (sink, calls) = keeping();
    let items = [Ok(Item::new("1", Value::Null))];
    let subscription: Stub<Subscription> =
        Subscription::start(sink, stream::iter(items)).into_stub();
    subscription.ended().await.expect("the log ends");
    assert_eq!(*calls.lock().expect("whole"), [["1"]]);
}

#[test]
fn the_convention_is_declared_for_typescript() {
    let declared = Schema::of([<Resumable as Interface>::describe()]).typescript();
    let subscribe = "subscribe(cursor: string | null | undefined, \
                     sink: (arg0: { cursor: string; event: any }[]) => void): Promise<RpcStub<Subscription>>;";
    assert!(declared.contains(subscribe), "{declared}");
    assert!(declared.contains("ended(): Promise<void>;"), "{declared}");
}
