//! `/metrics`, its documentation, and the dashboard that shows it.

use std::collections::BTreeSet;
use std::path::Path;

use regex::Regex;
use serde_json::Value;

use crate::support::agent::{Sent, call};
use crate::support::http::Version;
use crate::support::server::{Running, config};

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name);
    std::fs::read_to_string(path).unwrap()
}

/// The metrics that a query of the dashboard reads.
fn names(query: &str) -> BTreeSet<String> {
    let names = Regex::new(r"\b(?:monas|store|capnweb)_[a-z_]+").unwrap();
    names
        .find_iter(query)
        .map(|it| it.as_str().to_owned())
        .collect()
}

/// The name of a metric without what the kind of the metric adds.
fn family(name: &str) -> &str {
    let suffixes = ["_total", "_bucket", "_sum", "_count"];
    let found = suffixes.iter().find_map(|it| name.strip_suffix(it));
    found.unwrap_or(name)
}

#[tokio::test]
async fn what_the_dashboard_shows_exists_and_every_metric_is_documented() {
    let server = Running::living(&config()).await;
    let mut client = server.client(Version::One).await;
    let sent = Sent {
        id: "m-1",
        text: "remember that Ada likes tea",
        task: "",
    };
    call(&mut client, "SendMessage", sent.request()).await;
    let page = server.get("/metrics").await.text;
    let has = |line: &str| {
        assert!(
            page.lines().any(|it| it.starts_with(line)),
            "{line}\n{page}"
        )
    };
    has("monas_tasks_total{state=\"submitted\"} 1");
    has("monas_tasks_total{state=\"completed\"} 1");
    has("monas_turns_total 1");
    has("monas_tasks_running 0");
    has("monas_memory_spaces 1");
    let number = |name: &str| {
        let line = page.lines().find_map(|it| it.strip_prefix(name));
        line.and_then(|it| it.trim().parse::<u64>().ok())
    };
    assert!(number("monas_memory_records") >= Some(1), "{page}");
    assert!(number("store_commits_total") >= Some(2), "{page}");
    assert!(number("monas_memory_bytes") > Some(1 << 20), "{page}");

    let types = page.lines().filter_map(|it| it.strip_prefix("# TYPE "));
    let shown: BTreeSet<&str> = types.filter_map(|it| it.split(' ').next()).collect();
    let dashboard: Value = serde_json::from_str(&document("grafana.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let queries = panels.flat_map(|it| it["targets"].as_array().unwrap());
    let mut seen = 0;
    for query in queries {
        for name in names(query["expr"].as_str().unwrap()) {
            seen += 1;
            let exists = shown.contains(&*name) || shown.contains(family(&name));
            assert!(
                exists,
                "the dashboard shows {name}, which is none of {shown:?}"
            );
        }
    }
    assert!(seen >= 12, "{seen}");
    let operations = document("operations.md");
    for name in shown {
        let documented = operations.contains(&format!("`{name}`"));
        assert!(documented, "docs/operations.md does not explain `{name}`");
    }
    server.stop().await;
}
