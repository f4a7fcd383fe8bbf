//! One call after the other, by as many callers as wanted.

use std::time::{Duration, Instant};

use a2a::client::Client;
use a2a::types::{Answer, Part};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::agent::message;
use crate::{Error, measuring};

/// How long the server works before it is measured.
const WARM_UP: Duration = Duration::from_secs(1);

const ECHO: &str = "echo hello";

pub(crate) async fn measure(clients: Vec<Client>, seconds: f64) -> Result<Value, Error> {
    for_a_while(&clients, WARM_UP).await?;
    measuring();
    let started = Instant::now();
    let mut times = for_a_while(&clients, Duration::from_secs_f64(seconds)).await?;
    let seconds = started.elapsed().as_secs_f64();
    times.sort_unstable();
    let part = |part: usize| {
        let time = times.get((times.len() * part / 100).min(times.len().saturating_sub(1)));
        time.map(|time| time.as_secs_f64() * 1e6)
    };
    Ok(json!({
        "calls": times.len(),
        "calls_per_s": times.len() as f64 / seconds,
        "p50_us": part(50),
        "p99_us": part(99),
    }))
}

async fn for_a_while(clients: &[Client], time: Duration) -> Result<Vec<Duration>, Error> {
    let end = Instant::now() + time;
    let mut working = JoinSet::new();
    for client in clients {
        let client = client.clone();
        working.spawn(async move {
            let mut times = Vec::new();
            while Instant::now() < end {
                let started = Instant::now();
                echo(&client).await?;
                times.push(started.elapsed());
            }
            Ok::<_, Error>(times)
        });
    }
    let mut times = Vec::new();
    while let Some(ended) = working.join_next().await {
        times.append(&mut ended??);
    }
    Ok(times)
}

/// A small message, answered by a small message.
pub(crate) async fn echo(client: &Client) -> Result<(), Error> {
    let answer = client.send_message(message(ECHO)).await?.payload;
    match &answer {
        Answer::Message(message) if message.parts.first().and_then(Part::as_text) == Some(ECHO) => {
            Ok(())
        }
        other => Err(format!("no echo: {other:?}").into()),
    }
}
