//! The trail in a store: written in groups, checked, trimmed, and what shows in it.

use access::{Origin, Principal};
use store::Column;

use super::*;

static OTHER: Table = Table {
    name: "other",
    columns: &[Column::text("unused")],
    indexes: &[],
};

fn config() -> config::Config {
    config::Config::new(config::Data::Memory)
}

fn asked(caller: &str, operation: &'static str) -> CallRecord {
    CallRecord {
        origin: Origin::on("test/wire"),
        caller: Principal::named(caller),
        version: "1",
        operation: operation.into(),
    }
}

fn store() -> Store {
    Store::memory(&[&ENDS, &OTHER])
}

/// Records calls, and closes the trail.
async fn record(store: &Store, config: &config::Config, calls: &[(&str, &'static str)]) {
    let trail = Trail::start(config, store).await.unwrap();
    let recorder = trail.recorder().unwrap();
    for (caller, operation) in calls {
        let asked = asked(caller, operation);
        recorder.record(
            &asked,
            Outcome::Ok,
            Duration::from_micros(7),
            SystemTime::now(),
        );
    }
    trail.close().await;
}

async fn links(store: &Store) -> Vec<(u64, String)> {
    let read = store.read(|view| {
        let first = view.stream(&stream())?.map_or(1, |it| it.first);
        view.events(&stream(), first - 1, usize::MAX)
    });
    let links = read.await.unwrap();
    let text = |it: &store::Entry| String::from_utf8(it.payload().to_vec()).unwrap();
    links.iter().map(|it| (it.sequence(), text(it))).collect()
}

#[tokio::test]
async fn a_trail_goes_on_after_a_restart_and_is_whole() {
    let store = store();
    record(&store, &config(), &[("ada", "one"), ("ben", "two")]).await;
    record(&store, &config(), &[("ada", "three")]).await;
    let report = reading::check(&store).await.unwrap();
    assert_eq!(
        (&report["whole"], &report["records"]),
        (&true.into(), &3.into())
    );
    let links = links(&store).await;
    let line: Value = serde_json::from_str(access::audit::line(&links[2].1).unwrap()).unwrap();
    assert_eq!(line["operation"], "three");
    assert_eq!(
        (&line["caller"], &line["micros"]),
        (&"ada".into(), &7.into())
    );
}

#[tokio::test]
async fn a_line_that_was_altered_or_removed_shows() {
    for damage in ["altered", "removed"] {
        let store = store();
        record(
            &store,
            &config(),
            &[("ada", "one"), ("ben", "two"), ("cy", "three")],
        )
        .await;
        // What somebody with the file could do: write the stream anew.
        let mut links = links(&store).await;
        match damage {
            "altered" => links[1].1 = links[1].1.replace("ben", "eve"),
            _ => drop(links.pop()),
        }
        let events = links.into_iter().map(|it| NewEvent::new(it.1)).collect();
        let batch = Batch::new().forget(&stream());
        store.commit(batch).await.unwrap();
        let batch = Batch::new().append(&stream(), 0, events);
        store.commit(batch).await.unwrap();
        let report = reading::check(&store).await.unwrap();
        assert_eq!(report["whole"], false, "{damage}: {report}");
        let at = if damage == "altered" { 2 } else { 3 };
        assert_eq!(report["at"], at, "{damage}: {report}");
    }
}

#[tokio::test]
async fn old_lines_go_and_the_rest_is_whole() {
    let store = store();
    let mut config = config();
    config.audit.keep_count = 2;
    record(
        &store,
        &config,
        &[("a", "1"), ("a", "2"), ("a", "3"), ("a", "4"), ("a", "5")],
    )
    .await;
    let numbers: Vec<u64> = links(&store).await.into_iter().map(|it| it.0).collect();
    assert_eq!(numbers, [4, 5]);
    let report = reading::check(&store).await.unwrap();
    assert_eq!(
        (&report["whole"], &report["records"]),
        (&true.into(), &2.into())
    );
    record(&store, &config, &[("a", "6")]).await;
    assert_eq!(reading::check(&store).await.unwrap()["whole"], true);
}

#[test]
fn what_a_caller_chose_cannot_break_a_line() {
    let call = Recorded {
        asked: asked("eve\u{202e}\n\u{1b}[2J", "op"),
        outcome: Outcome::Denied,
        time: Duration::ZERO,
        at: SystemTime::UNIX_EPOCH,
    };
    let line = line(&call);
    assert!(!line.contains(crate::log::is_harmful), "{line}");
    assert!(line.contains("1970-01-01T00:00:00Z"), "{line}");
}
