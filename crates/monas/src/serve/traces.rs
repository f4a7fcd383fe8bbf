//! Traces: spans are sent to an OpenTelemetry receiver, by OTLP over HTTP.
//!
//! A span is recorded when it has ended, in memory, and sent in the background with all others of the last second. What waits
//! is bounded, so that a receiver that is slow or gone costs spans and nothing else; spans that were lost are counted.
//!
//! Layout: this file gathers and sends; `otlp` writes the messages.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, Uri};
use dial::trace::{EndedSpan, Recorder, Tracer};
use dial::{Backoff, HttpClient, Jitter, Redirects};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::error::Error;
use otlp::Resource;

mod otlp;

/// How long spans gather before they are sent.
const GATHER: Duration = Duration::from_secs(1);

/// How many spans are sent in one request.
const AT_ONCE: usize = 512;

/// How many spans may wait to be sent. Further ones are lost.
const WAITING: usize = 8_192;

/// How often a request is tried that fails with a temporary error, and the pauses between.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);

/// How long the receiver may take to answer.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// The longest answer that is read.
const MAX_ANSWER: usize = 64 << 10;

/// How long sending may go on when the server stops.
const CLOSE_TIME: Duration = Duration::from_secs(3);

/// Where OTLP over HTTP takes spans, below the base URL.
const PATH: &str = "/v1/traces";

/// The spans of a server on their way to a receiver.
#[derive(Debug)]
pub(crate) struct Exporter {
    queue: Arc<Queue>,
    closing: CancellationToken,
    sending: JoinHandle<()>,
}

/// Spans that wait, and the counts of those that do not wait any longer.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: Mutex<Vec<EndedSpan>>,
    filled: Notify,
    sent: AtomicU64,
    lost: AtomicU64,
}

impl Exporter {
    /// Begins to send, if the configuration names a receiver.
    pub(crate) fn start(config: &Config) -> Result<Option<Self>, Error> {
        let Some(receiver) = &config.otlp else {
            return Ok(None);
        };
        let base = receiver.url.trim_end_matches('/');
        let base = base.strip_suffix(PATH).unwrap_or(base);
        let url = format!("{base}{PATH}").parse::<Uri>();
        let Ok(url) = url else {
            return Ok(None);
        };
        let queue: Arc<Queue> = Arc::default();
        let closing = CancellationToken::new();
        let sender = Sender {
            queue: queue.clone(),
            closing: closing.clone(),
            client: config.outbound.dialer()?.http(),
            url,
            headers: receiver.headers.clone(),
            resource: Resource::new([
                ("service.name", "monas".to_owned()),
                ("service.version", env!("CARGO_PKG_VERSION").to_owned()),
                ("service.instance.id", uuid::Uuid::new_v4().to_string()),
            ]),
            is_down: false,
        };
        Ok(Some(Self {
            queue,
            closing,
            sending: tokio::spawn(sender.run()),
        }))
    }

    pub(crate) fn tracer(&self) -> Tracer {
        Tracer::new(self.queue.clone())
    }

    pub(crate) fn queue(&self) -> Arc<Queue> {
        self.queue.clone()
    }

    /// Sends what waits, for a limited time.
    pub(crate) async fn close(mut self) {
        self.closing.cancel();
        if timeout(CLOSE_TIME, &mut self.sending).await.is_err() {
            tracing::warn!("the last spans were not sent: the receiver of traces is too slow");
        }
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        self.sending.abort();
    }
}

impl Recorder for Queue {
    fn record(&self, span: EndedSpan) {
        let mut waiting = self.lock();
        if waiting.len() >= WAITING {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let first = waiting.is_empty();
        waiting.push(span);
        drop(waiting);
        if first {
            self.filled.notify_one();
        }
    }
}

impl Queue {
    /// How many spans were sent, and how many were lost.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (read(&self.sent), read(&self.lost))
    }

    fn take(&self) -> Vec<EndedSpan> {
        let mut waiting = self.lock();
        match waiting.len() {
            0..=AT_ONCE => mem::take(&mut *waiting),
            _ => waiting.drain(..AT_ONCE).collect(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<EndedSpan>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task that sends.
struct Sender {
    queue: Arc<Queue>,
    closing: CancellationToken,
    client: HttpClient,
    url: Uri,
    /// Credentials, for receivers that want some.
    headers: HeaderMap,
    resource: Resource,
    /// The last request failed, and the log says so.
    is_down: bool,
}

/// Why a request did not succeed.
enum Refused {
    /// It may succeed later.
    Now(String),
    Always(String),
}

impl Sender {
    async fn run(mut self) {
        loop {
            tokio::select! {
                () = self.queue.filled.notified() => {}
                () = self.closing.cancelled() => {}
            }
            let gathering = tokio::time::sleep(GATHER);
            self.closing.run_until_cancelled(gathering).await;
            loop {
                let spans = self.queue.take();
                if spans.is_empty() {
                    break;
                }
                self.send(&spans).await;
            }
            if self.closing.is_cancelled() {
                return;
            }
        }
    }

    /// Sends a group of spans, or gives them up.
    async fn send(&mut self, spans: &[EndedSpan]) {
        let body = Bytes::from(otlp::request(&self.resource, spans));
        let count = spans.len() as u64;
        let mut backoff = Backoff::new(PAUSE, PAUSE * 4, Jitter::Half);
        let mut attempt = 1;
        let failure = loop {
            let why = match self.post(body.clone()).await {
                Ok(rejected) => {
                    let rejected = rejected.min(count);
                    self.queue
                        .sent
                        .fetch_add(count - rejected, Ordering::Relaxed);
                    self.queue.lost.fetch_add(rejected, Ordering::Relaxed);
                    if mem::take(&mut self.is_down) {
                        tracing::info!(url = %self.url, "trace receiver accepts spans again");
                    }
                    return;
                }
                Err(Refused::Always(why)) => break why,
                Err(Refused::Now(why)) => why,
            };
            if attempt >= ATTEMPTS || self.closing.is_cancelled() {
                break why;
            }
            attempt += 1;
            let pause = tokio::time::sleep(backoff.next_pause());
            self.closing.run_until_cancelled(pause).await;
        };
        self.queue.lost.fetch_add(count, Ordering::Relaxed);
        if !mem::replace(&mut self.is_down, true) {
            tracing::warn!(url = %self.url, failure, "trace receiver does not accept spans; dropping them");
        }
    }

    /// Posts a body; gives how many of its spans were not taken.
    async fn post(&self, body: Bytes) -> Result<u64, Refused> {
        let mut request = Request::new(body);
        *request.method_mut() = axum::http::Method::POST;
        *request.uri_mut() = self.url.clone();
        request.headers_mut().clone_from(&self.headers);
        let kind = HeaderValue::from_static("application/x-protobuf");
        request.headers_mut().insert(CONTENT_TYPE, kind);
        let answer = async {
            let response = self.client.send(request, Redirects::None).await?;
            let status = response.status();
            let body = response.into_body().read(MAX_ANSWER).await?;
            Ok::<_, dial::Error>((status, body))
        };
        let answer = timeout(ANSWER_TIME, answer).await;
        let late = |_| Refused::Now(format!("no answer within {ANSWER_TIME:?}"));
        let answer = answer.map_err(late)?;
        let (status, body) = answer.map_err(|error| Refused::Now(error.to_string()))?;
        if status.is_success() {
            return Ok(match otlp::rejected(&body) {
                Some((rejected, why)) => {
                    tracing::warn!(rejected, why, "the receiver of traces rejected spans");
                    rejected
                }
                None => 0,
            });
        }
        let why = format!("it answered {status}");
        Err(match status {
            // The statuses after which OTLP has a client try again.
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => Refused::Now(why),
            _ => Refused::Always(why),
        })
    }
}
