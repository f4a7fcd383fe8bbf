//! Waiting for something that comes about by itself.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use capnweb::{Connection, Stats};

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// What the tables of a session hold when nothing is in use: the main object of each side.
pub(crate) const AT_REST: Stats = Stats {
    imports: 1,
    exports: 1,
    pending: 0,
};

/// Reads again and again until the value is as expected; fails with the last one.
pub(crate) async fn eventually<T: PartialEq + Debug>(
    what: &str,
    expected: T,
    mut read: impl AsyncFnMut() -> T,
) {
    let end = Instant::now() + PATIENCE;
    loop {
        let value = read().await;
        if value == expected {
            return;
        }
        assert!(
            Instant::now() < end,
            "{what}: expected {expected:?}, still {value:?}"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What a value is once it has begun to change and does so no more.
pub(crate) async fn steady<T: PartialEq + Default>(mut read: impl AsyncFnMut() -> T) -> T {
    let mut value = T::default();
    loop {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let now = read().await;
        if now == value && now != T::default() {
            return value;
        }
        value = now;
    }
}

/// Asserts that a session gets back to having nothing in use.
pub(crate) async fn assert_at_rest(session: &Connection) {
    eventually("the tables", AT_REST, async || session.stats()).await;
}

/// The output of a future that must not take long.
pub(crate) async fn soon<F: IntoFuture>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(PATIENCE, future.into_future()).await {
        Ok(output) => output,
        Err(_) => panic!("{what}: nothing after {PATIENCE:?}"),
    }
}
