//! `/metrics`: what the server does, in the OpenMetrics text that Prometheus reads.
//!
//! The numbers live where they are counted; [`Collector`]s read them at each scrape. The text is written by
//! `prometheus-client`.

use std::fmt;
use std::sync::Arc;

use access::Outcome;
use agent::Population;
use axum::Router;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::IntoResponse as _;
use axum::routing::get;
use capnweb::observe::{CallStats, Metrics, Snapshot, TIME_BOUNDS};
use memory::Memory;
use model::layer::Meter;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use store::Store;
use tools::FileCache;

use crate::serve::calls::CallDesk;
use crate::serve::calls::counted::BOUNDS;
use crate::serve::traces::Queue;
use work::Work;

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;

mod work;

/// Where the numbers are.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) sessions: Metrics,
    pub(crate) mcp: Vec<mcp::Http>,
    pub(crate) store: Store,
    pub(crate) desk: Arc<CallDesk>,
    pub(crate) tasks: a2a::Server,
    pub(crate) memory: Memory,
    pub(crate) files: FileCache,
    pub(crate) population: Population,
    pub(crate) models: Arc<Meter>,
    /// None where no traces are sent.
    pub(crate) spans: Option<Arc<Queue>>,
}

/// The route of `/metrics`. How many labels there are does not depend on what callers send.
pub(crate) fn routes(measured: Measured) -> Router {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Requests(measured.desk.clone())));
    registry.register_collector(Box::new(Sessions(measured.sessions.clone())));
    registry.register_collector(Box::new(Journal(measured.store.clone())));
    registry.register_collector(Box::new(Work(measured)));
    let registry = Arc::new(registry);
    let show = async move || {
        let headers = [
            (
                CONTENT_TYPE,
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
            ),
            (CACHE_CONTROL, "no-store"),
        ];
        let mut page = String::new();
        text::encode(&mut page, &registry).expect("a String takes every text");
        (headers, page).into_response()
    };
    Router::new().route("/metrics", get(show))
}

/// The calls of all wires.
#[derive(Debug)]
struct Requests(Arc<CallDesk>);

impl Collector for Requests {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let numbers = self.0.counted.numbers();
        let help = "Calls that have ended, on all wires.";
        let mut metric =
            encoder.encode_descriptor("monas_requests", help, None, MetricType::Counter)?;
        for (kind, count) in &numbers.calls {
            let labels = [
                ("wire", kind.wire),
                ("version", kind.version),
                ("operation", &*kind.operation),
                ("outcome", kind.outcome.name()),
            ];
            counter(&mut metric.encode_family(&labels.to_vec())?, *count)?;
        }
        let help = "How long calls took, up to their answer or to the beginning of their stream.";
        let kind = MetricType::Histogram;
        let mut metric = encoder.encode_descriptor("monas_request_seconds", help, None, kind)?;
        for (wire, times) in &numbers.times {
            let bounds = BOUNDS.into_iter().chain([f64::MAX]);
            let buckets: Vec<(f64, u64)> = bounds.zip(times.buckets).collect();
            let labels = vec![("wire", *wire)];
            let mut family = metric.encode_family(&labels)?;
            let (sum, count) = (times.seconds, times.count);
            family.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)?;
        }
        let limited = |outcome| {
            let calls = numbers.calls.iter();
            let calls = calls.filter(|(kind, _)| kind.outcome == outcome);
            calls.map(|(_, count)| count).sum::<u64>()
        };
        let help =
            "Limits that were reached: calls a second, budgets, refusals that are written down.";
        let mut counts = vec![
            ("calls", limited(Outcome::Limited)),
            ("refusals_written", self.0.unwritten()),
        ];
        counts.extend(self.0.budgets.exceeded());
        work::family(&mut encoder, "monas_limits_hit", help, "limit", &counts)
    }
}

/// What the store has done since it was opened.
#[derive(Debug)]
struct Journal(Store);

impl Collector for Journal {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let stats = self.0.stats();
        for (name, help, count) in [
            ("store_commits", "Transactions.", stats.commits),
            (
                "store_batches",
                "Batches acknowledged; several can share a transaction.",
                stats.batches,
            ),
            (
                "store_events",
                "Events appended to the journal.",
                stats.events,
            ),
        ] {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            counter(&mut metric, count)?;
        }
        Ok(())
    }
}

/// What Cap'n Web sessions do.
#[derive(Debug)]
struct Sessions(Metrics);

impl Collector for Sessions {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        write(&self.0.snapshot(), encoder)
    }
}

fn write(snapshot: &Snapshot, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
    let calls = &snapshot.calls;
    let one = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);

    let help = "Sessions that are open.";
    let mut metric =
        encoder.encode_descriptor("capnweb_sessions", help, None, MetricType::Gauge)?;
    metric.encode_gauge(&one(snapshot.sessions))?;
    let help = "Open sessions that have nothing to do.";
    let mut metric =
        encoder.encode_descriptor("capnweb_sessions_parked", help, None, MetricType::Gauge)?;
    metric.encode_gauge(&one(snapshot.sessions_parked))?;
    // As a counter its family would have the name of the gauge above, which OpenMetrics forbids.
    let help = "Sessions so far.";
    let mut metric =
        encoder.encode_descriptor("capnweb_sessions_total", help, None, MetricType::Unknown)?;
    metric.encode_gauge(&i64::try_from(snapshot.sessions_opened).unwrap_or(i64::MAX))?;

    let help = "Entries in the tables of all sessions.";
    let mut metric =
        encoder.encode_descriptor("capnweb_table_entries", help, None, MetricType::Gauge)?;
    let tables = &snapshot.tables;
    for (table, entries) in [
        ("imports", tables.imports),
        ("exports", tables.exports),
        ("pending", tables.pending),
    ] {
        metric
            .encode_family(&[("table", table)])?
            .encode_gauge(&one(entries))?;
    }

    let help = "Calls under way.";
    let mut metric =
        encoder.encode_descriptor("capnweb_calls_in_flight", help, None, MetricType::Gauge)?;
    for call in calls {
        let in_flight = i64::try_from(call.in_flight).unwrap_or(i64::MAX);
        metric
            .encode_family(&labels(call).to_vec())?
            .encode_gauge(&in_flight)?;
    }

    let help = "Calls that have ended.";
    let mut metric = encoder.encode_descriptor("capnweb_calls", help, None, MetricType::Counter)?;
    for call in calls {
        for (outcome, count) in [
            ("succeeded", call.succeeded),
            ("failed", call.failed),
            ("cancelled", call.cancelled),
        ] {
            let labels = with(call, "outcome", outcome);
            counter(&mut metric.encode_family(&labels)?, count)?;
        }
    }

    let help = "Bytes of calls, approximately.";
    let mut metric =
        encoder.encode_descriptor("capnweb_call_bytes", help, None, MetricType::Counter)?;
    for call in calls {
        for (of, bytes) in [
            ("arguments", call.argument_bytes),
            ("answers", call.answer_bytes),
        ] {
            counter(&mut metric.encode_family(&with(call, "of", of))?, bytes)?;
        }
    }

    let help = "How long calls took.";
    let mut metric =
        encoder.encode_descriptor("capnweb_call_seconds", help, None, MetricType::Histogram)?;
    for call in calls {
        let bounds = TIME_BOUNDS.iter().map(std::time::Duration::as_secs_f64);
        // The last bucket has no bound, which the library writes as `+Inf`.
        let buckets: Vec<(f64, u64)> = bounds.chain([f64::MAX]).zip(call.times).collect();
        let labels = labels(call).to_vec();
        let mut family = metric.encode_family(&labels)?;
        let time = call.time.as_secs_f64();
        family.encode_histogram::<NoLabelSet>(time, call.ended(), &buckets, None)?;
    }
    Ok(())
}

fn counter(metric: &mut MetricEncoder<'_>, count: u64) -> fmt::Result {
    metric.encode_counter::<NoLabelSet, u64, u64>(&count, None)
}

/// What was called. The library writes values as they are, so they are escaped here.
fn labels(call: &CallStats) -> [(&'static str, String); 2] {
    let member = call.member.replace('\\', r"\\").replace('"', "\\\"");
    let member = member.replace('\n', r"\n");
    [("interface", call.interface.to_owned()), ("member", member)]
}

fn with(call: &CallStats, name: &'static str, value: &str) -> Vec<(&'static str, String)> {
    let mut labels = labels(call).to_vec();
    labels.push((name, value.to_owned()));
    labels
}
