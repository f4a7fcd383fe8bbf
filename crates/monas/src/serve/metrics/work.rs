//! The work of agents in figures: tasks, turns, models, memory, webhooks, sessions, spans, and the memory of the process.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::MetricType;

use super::{Measured, counter};

/// The work of a server.
#[derive(Debug)]
pub(super) struct Work(pub(super) Measured);

impl Collector for Work {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.tasks(&mut encoder)?;
        self.models(&mut encoder)?;
        let measured = &self.0;
        let (spaces, records) = measured.memory.loaded();
        let mcp = measured.mcp.iter().map(mcp::Http::open_sessions).sum();
        for (name, help, value) in [
            (
                "monas_memory_spaces",
                "Memories of agents that are loaded.",
                spaces,
            ),
            (
                "monas_memory_records",
                "Records of the memories that are loaded.",
                records,
            ),
            (
                "monas_mirror_waiting",
                "Parts of the graph of memory that wait to be sent to the mirror.",
                measured.memory.unmirrored(),
            ),
            ("monas_mcp_sessions", "Sessions of MCP that are open.", mcp),
            (
                "monas_agents_awake",
                "Agents that are awake.",
                measured.population.awake(),
            ),
        ] {
            gauge(&mut encoder, name, help, value as u64)?;
        }
        self.caches(&mut encoder)?;
        if let Some(bytes) = resident() {
            let help = "Memory of the process that is resident.";
            gauge(&mut encoder, "monas_memory_bytes", help, bytes)?;
        }
        let (sent, lost) = measured.spans.as_ref().map_or((0, 0), |it| it.counts());
        let help = "Spans of traces, sent to the receiver or lost.";
        let counts = [("sent", sent), ("lost", lost)];
        family(&mut encoder, "monas_spans", help, "outcome", &counts)
    }
}

impl Work {
    fn tasks(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let stats = self.0.tasks.stats();
        let help = "Tasks, by each state that they got into.";
        family(encoder, "monas_tasks", help, "state", &stats.tasks)?;
        let help = "Tasks that are being worked on.";
        gauge(encoder, "monas_tasks_running", help, stats.running as u64)?;
        let help = "Turns of agents that began.";
        let kind = MetricType::Counter;
        let mut metric = encoder.encode_descriptor("monas_turns", help, None, kind)?;
        counter(&mut metric, stats.turns)?;
        let help =
            "Deliveries to webhooks: taken, failed attempts, and webhooks that were given up.";
        let webhooks = stats.webhooks;
        let counts = [
            ("delivered", webhooks.delivered),
            ("failed", webhooks.failed),
            ("given_up", webhooks.given_up),
        ];
        family(encoder, "monas_webhooks", help, "outcome", &counts)
    }

    /// The three caches: contents of files, answers of memory, contexts of tasks.
    fn caches(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let files = self.0.files.counts();
        let (recall, context) = self.0.memory.cache_counts();
        let caches = [
            ("files", files.hits, files.misses, files.bytes),
            ("recall", recall.hits, recall.misses, recall.bytes),
            ("context", context.hits, context.misses, context.bytes),
        ];
        let help = "Lookups of caches, by whether they found something that is still valid.";
        let kind = MetricType::Counter;
        let mut metric = encoder.encode_descriptor("monas_cache_lookups", help, None, kind)?;
        for (cache, hits, misses, _) in caches {
            for (outcome, count) in [("hit", hits), ("miss", misses)] {
                let labels = [("cache", cache), ("outcome", outcome)];
                counter(&mut metric.encode_family(&labels)?, count)?;
            }
        }
        let help = "The part of the lookups of a cache that were hits, since the start.";
        let kind = MetricType::Gauge;
        let mut metric = encoder.encode_descriptor("monas_cache_hit_ratio", help, None, kind)?;
        for (cache, hits, misses, _) in caches {
            let ratio = hits as f64 / (hits + misses).max(1) as f64;
            let labels = [("cache", cache)];
            metric.encode_family(&labels)?.encode_gauge(&ratio)?;
        }
        let help = "The bytes that a cache holds, about.";
        let mut metric =
            encoder.encode_descriptor("monas_cache_bytes", help, None, MetricType::Gauge)?;
        for (cache, _, _, bytes) in caches {
            let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
            let labels = [("cache", cache)];
            metric.encode_family(&labels)?.encode_gauge(&bytes)?;
        }
        Ok(())
    }

    fn models(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let metered = self.0.models.read();
        let help = "Requests to language models that have ended.";
        let counts = [
            ("ok", metered.replied),
            ("failed", metered.failed),
            ("over_budget", metered.over_budget),
        ];
        family(encoder, "monas_model_requests", help, "outcome", &counts)?;
        let help = "Tokens that language models have read and written.";
        let counts = [
            ("input", metered.usage.input),
            ("output", metered.usage.output),
        ];
        family(encoder, "monas_model_tokens", help, "kind", &counts)?;
        let help = "What the tokens cost, in millionths of the unit of the prices.";
        let name = "monas_model_cost_microunits";
        let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        counter(&mut metric, metered.cost)
    }
}

/// A counter for each value of a label.
pub(super) fn family(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    label: &str,
    counts: &[(&'static str, u64)],
) -> fmt::Result {
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
    for (value, count) in counts {
        counter(&mut metric.encode_family(&[(label, *value)])?, *count)?;
    }
    Ok(())
}

fn gauge(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: u64) -> fmt::Result {
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    metric.encode_gauge(&i64::try_from(value).unwrap_or(i64::MAX))
}

/// The resident memory of this process, where the system has it in a file.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
