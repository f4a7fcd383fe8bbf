//! When to ask again, and when not, by the clock of the runtime.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::time::Instant;

use super::{Patience, Retry};
use crate::scripted::{Failure, Scripted, Turn, Words};
use crate::{Delta, Embed as _, Error, Model, Request};

fn patient(turns: impl IntoIterator<Item = Turn>) -> (Scripted, Retry<dyn Model>) {
    let script = Scripted::new(turns);
    let inner: Arc<dyn Model> = Arc::new(script.clone());
    (script, Retry::new(inner, Patience::default()))
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn what_may_pass_is_asked_again_with_growing_pauses() {
    let (script, model) = patient([
        Turn::fails(Failure::Server),
        Turn::fails(Failure::Cut),
        Turn::fails(Failure::RateLimited(None)),
        Turn::text("at last"),
    ]);
    let begun = Instant::now();
    assert_eq!(model.ask(Request::new("?")).await.unwrap().text, "at last");
    assert_eq!(script.requests(), vec![Request::new("?"); 4]);
    // 0.5, 1 and 2 seconds, each at least by half.
    let waited = begun.elapsed();
    assert!(
        waited >= SECOND * 7 / 4 && waited <= SECOND * 7 / 2,
        "{waited:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_retry_waits_as_long_as_the_provider_says() {
    let (_, model) = patient([
        Turn::fails(Failure::RateLimited(Some(SECOND * 7))),
        Turn::text("now"),
    ]);
    let begun = Instant::now();
    assert_eq!(model.ask(Request::new("?")).await.unwrap().text, "now");
    assert_eq!(begun.elapsed().as_secs(), 7);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_asks_for_too_long_a_pause_is_not_retried() {
    let hour = Duration::from_secs(3600);
    let (script, model) = patient([Turn::fails(Failure::RateLimited(Some(hour)))]);
    let begun = Instant::now();
    let failed = model.ask(Request::new("?")).await.unwrap_err();
    assert!(matches!(failed, Error::RateLimited { retry_after, .. } if retry_after == Some(hour)));
    assert_eq!(
        (script.requests().len(), begun.elapsed()),
        (1, Duration::ZERO)
    );
}

#[tokio::test(start_paused = true)]
async fn patience_ends() {
    let (script, model) = patient(vec![Turn::fails(Failure::Server); 9]);
    assert!(matches!(
        model.ask(Request::new("?")).await,
        Err(Error::Server(_))
    ));
    assert_eq!((script.requests().len(), script.left()), (4, 5));
}

#[tokio::test(start_paused = true)]
async fn what_will_not_pass_is_not_asked_again() {
    for failure in [Failure::Auth, Failure::Refused, Failure::Malformed] {
        let (script, model) = patient([Turn::fails(failure), Turn::text("never")]);
        assert!(model.ask(Request::new("?")).await.is_err());
        assert_eq!(script.left(), 1, "{failure:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_has_begun_is_not_begun_again() {
    let (script, model) = patient([Turn::text("half").fail(Failure::Cut), Turn::text("whole")]);
    let deltas: Vec<_> = model.reply(Request::new("?")).collect().await;
    assert_eq!(deltas[0], Ok(Delta::Text("half".to_owned())));
    assert!(matches!(deltas[1..], [Err(Error::Cut(_))]));
    assert_eq!(script.left(), 1);
}

#[tokio::test(start_paused = true)]
async fn embedders_are_asked_again_too() {
    let words = Arc::new(Words::new(8));
    words.fail(Some(Error::Server("down".to_owned())));
    let embedder = Retry::<dyn crate::Embed>::new(words.clone(), Patience::default());
    let asked = embedder.embed(vec!["a".to_owned()]);
    let mended = async {
        tokio::time::sleep(Duration::from_millis(600)).await;
        words.fail(None);
    };
    let (vectors, ()) = tokio::join!(asked, mended);
    assert_eq!(vectors.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn all_attempts_together_end_before_a_client_gives_up() {
    let (_, model) = patient([Turn::fails(Failure::Silence), Turn::text("too late")]);
    let begun = Instant::now();
    let failed = model.ask(Request::new("?")).await.unwrap_err();
    assert_eq!(failed.code(), "timed-out");
    assert_eq!(begun.elapsed(), Patience::default().within);
    assert!(begun.elapsed() < SECOND * 300);
}
