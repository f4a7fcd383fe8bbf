//! How long to wait, by the clock of the runtime.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use tokio::time::{Instant, sleep};

use super::{Timed, Times};
use crate::scripted::{Failure, Scripted, Turn};
use crate::{Delta, Deltas, Embed, End, Error, Model, Request, Vectors};

const TIMES: Times = Times {
    next: Duration::from_secs(10),
    whole: Duration::from_secs(60),
};

/// A model that says a word every so often, without an end.
#[derive(Debug)]
struct Drip(Duration);

impl Model for Drip {
    fn name(&self) -> &str {
        "drip"
    }

    fn reply(&self, _request: Request) -> Deltas {
        let pause = self.0;
        Box::pin(
            stream::repeat_with(move || sleep(pause)).then(|pause| async move {
                pause.await;
                Ok(Delta::Text("drip ".to_owned()))
            }),
        )
    }
}

fn timed(model: impl Model) -> Timed<dyn Model> {
    Timed::new(Arc::new(model), TIMES)
}

#[tokio::test(start_paused = true)]
async fn a_reply_without_a_next_piece_times_out() {
    for turn in [
        Turn::fails(Failure::Silence),
        Turn::text("so").fail(Failure::Silence),
    ] {
        let model = timed(Scripted::new([turn]));
        let begun = Instant::now();
        let failed = model.ask(Request::new("?")).await;
        assert_eq!(failed, Err(Error::TimedOut(TIMES.next)));
        assert_eq!(begun.elapsed().as_secs(), 10);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_without_an_end_times_out() {
    let model = timed(Drip(Duration::from_secs(9)));
    let begun = Instant::now();
    let deltas: Vec<_> = model.reply(Request::new("?")).collect().await;
    assert_eq!(deltas.len(), 7);
    assert_eq!(deltas[6], Err(Error::TimedOut(TIMES.whole)));
    assert_eq!(begun.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn the_clock_starts_when_the_question_is_asked() {
    let model = timed(Scripted::new([Turn::text("here")]));
    let deltas = model.reply(Request::new("?"));
    sleep(Duration::from_secs(3600)).await;
    let deltas: Vec<_> = deltas.collect().await;
    assert_eq!(deltas.last(), Some(&Ok(Delta::End(End::Said))));
}

#[tokio::test(start_paused = true)]
async fn an_embedder_has_all_its_time_for_all_texts() {
    #[derive(Debug)]
    struct Stuck;
    impl Embed for Stuck {
        fn name(&self) -> &str {
            "stuck"
        }
        fn embed(&self, _texts: Vec<String>) -> Vectors {
            Box::pin(std::future::pending())
        }
    }
    let embedder = Timed::<dyn Embed>::new(Arc::new(Stuck), TIMES);
    let failed = embedder.embed(vec![]).await;
    assert_eq!(failed, Err(Error::TimedOut(TIMES.whole)));
}
