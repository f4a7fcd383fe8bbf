//! `/metrics`: what sessions of objects do, in the text form that Prometheus reads.

use std::fmt::{self, Display, Write as _};

use axum::Router;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::IntoResponse as _;
use axum::routing::get;
use capnweb::observe::{CallStats, Metrics, Snapshot, TIME_BOUNDS};

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;

/// The one address. How many labels there are does not depend on what callers send.
pub(crate) fn routes(metrics: Metrics) -> Router {
    let show = async move || {
        let headers = [
            (CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8"),
            (CACHE_CONTROL, "no-store"),
        ];
        (headers, Page(metrics.snapshot()).to_string()).into_response()
    };
    Router::new().route("/metrics", get(show))
}

struct Page(Snapshot);

impl Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Snapshot {
            sessions,
            sessions_opened,
            sessions_parked,
            tables,
            calls,
            ..
        } = &self.0;
        head(f, "capnweb_sessions", "gauge", "Sessions that are open.")?;
        writeln!(f, "capnweb_sessions {sessions}")?;
        head(
            f,
            "capnweb_sessions_parked",
            "gauge",
            "Open sessions that have nothing to do.",
        )?;
        writeln!(f, "capnweb_sessions_parked {sessions_parked}")?;
        head(f, "capnweb_sessions_total", "counter", "Sessions so far.")?;
        writeln!(f, "capnweb_sessions_total {sessions_opened}")?;
        head(
            f,
            "capnweb_table_entries",
            "gauge",
            "Entries in the tables of all sessions.",
        )?;
        for (table, entries) in [
            ("imports", tables.imports),
            ("exports", tables.exports),
            ("pending", tables.pending),
        ] {
            writeln!(f, "capnweb_table_entries{{table=\"{table}\"}} {entries}")?;
        }
        head(f, "capnweb_calls_in_flight", "gauge", "Calls under way.")?;
        for call in calls {
            writeln!(
                f,
                "capnweb_calls_in_flight{{{}}} {}",
                Labels(call),
                call.in_flight
            )?;
        }
        head(
            f,
            "capnweb_calls_total",
            "counter",
            "Calls that have ended.",
        )?;
        for call in calls {
            for (outcome, count) in [
                ("succeeded", call.succeeded),
                ("failed", call.failed),
                ("cancelled", call.cancelled),
            ] {
                let labels = Labels(call);
                writeln!(
                    f,
                    "capnweb_calls_total{{{labels},outcome=\"{outcome}\"}} {count}"
                )?;
            }
        }
        head(
            f,
            "capnweb_call_bytes_total",
            "counter",
            "Bytes of calls, roughly.",
        )?;
        for call in calls {
            for (what, bytes) in [
                ("arguments", call.argument_bytes),
                ("answers", call.answer_bytes),
            ] {
                let labels = Labels(call);
                writeln!(
                    f,
                    "capnweb_call_bytes_total{{{labels},of=\"{what}\"}} {bytes}"
                )?;
            }
        }
        head(
            f,
            "capnweb_call_seconds",
            "histogram",
            "How long calls took.",
        )?;
        calls.iter().try_for_each(|call| times(f, call))
    }
}

fn head(f: &mut fmt::Formatter<'_>, name: &str, kind: &str, help: &str) -> fmt::Result {
    writeln!(f, "# HELP {name} {help}\n# TYPE {name} {kind}")
}

/// Each bound counts all that took no longer.
fn times(f: &mut fmt::Formatter<'_>, call: &CallStats) -> fmt::Result {
    let labels = Labels(call);
    let mut sum = 0;
    for (bound, count) in TIME_BOUNDS.iter().zip(call.times) {
        sum += count;
        let bound = bound.as_secs_f64();
        writeln!(
            f,
            "capnweb_call_seconds_bucket{{{labels},le=\"{bound}\"}} {sum}"
        )?;
    }
    let ended = call.ended();
    let time = call.time.as_secs_f64();
    writeln!(
        f,
        "capnweb_call_seconds_bucket{{{labels},le=\"+Inf\"}} {ended}"
    )?;
    writeln!(f, "capnweb_call_seconds_sum{{{labels}}} {time}")?;
    writeln!(f, "capnweb_call_seconds_count{{{labels}}} {ended}")
}

/// What was called.
struct Labels<'a>(&'a CallStats);

impl Display for Labels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CallStats {
            interface, member, ..
        } = self.0;
        write!(f, "interface=\"{interface}\",member=\"")?;
        for letter in member.chars() {
            match letter {
                '"' | '\\' => write!(f, "\\{letter}")?,
                '\n' => f.write_str("\\n")?,
                letter => f.write_char(letter)?,
            }
        }
        f.write_char('"')
    }
}
