//! Spans of calls, as a subscriber sees them.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::tracing::field::{Field, Visit};
use ::tracing::span::{Attributes, Id, Record};
use ::tracing::{Event, Level, Metadata, Subscriber};
use expect_test::{Expect, expect};

use super::*;
use crate::testing::Peers;
use crate::{Connection, Options, target};

/// Keeps the fields of every span.
#[derive(Clone)]
struct Spans {
    level: Level,
    fields: Arc<Mutex<BTreeMap<u64, String>>>,
    last: Arc<AtomicU64>,
}

impl Spans {
    fn at(level: Level) -> Self {
        Self {
            level,
            fields: Arc::default(),
            last: Arc::default(),
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "so that tests read well")]
    fn check(&self, expected: Expect) {
        let spans = self.fields.lock().expect("no test panics here");
        let lines: Vec<_> = spans.values().map(|fields| fields.trim_start()).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    fn note(&self, id: &Id, values: impl FnOnce(&mut dyn Visit)) {
        struct Fields<'a>(&'a mut String);

        impl Visit for Fields<'_> {
            fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
                // Sizes depend on the machine.
                if !field.name().ends_with("_bytes") {
                    write!(self.0, " {field}={value:?}").expect("a string takes it");
                }
            }
        }

        let mut spans = self.fields.lock().expect("no test panics here");
        values(&mut Fields(spans.entry(id.into_u64()).or_default()));
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.level && metadata.target() == "capnweb"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = Id::from_u64(self.last.fetch_add(1, Ordering::SeqCst) + 1);
        self.note(&id, |fields| span.record(fields));
        id
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        self.note(span, |fields| values.record(fields));
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, _event: &Event<'_>) {}

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

struct Shop;

#[target(pub(crate))]
impl Shop {
    pub fn price(&self, item: String) -> Result<f64> {
        match item.as_str() {
            "tea" => Ok(2.5),
            _ => Err(Error::range_error("no such item").with_code("not_found")),
        }
    }

    pub async fn brew(&self) {
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}

fn shop() -> Peers {
    let options = Options::default().layer(Tracing::new());
    let mut peers = Peers::new();
    peers.server = Connection::new(Shop.into_stub(), &options);
    peers
}

#[tokio::test(start_paused = true)]
async fn each_call_is_a_span() {
    let spans = Spans::at(Level::DEBUG);
    let _guard = ::tracing::subscriber::set_default(spans.clone());
    let peers = shop();
    let stub = peers.stub();
    peers
        .wait(stub.call("price", ("tea",)))
        .await
        .expect("it has a price");
    peers
        .wait(stub.call("price", ("gold",)))
        .await
        .expect_err("none");
    peers
        .wait(stub.call("a name of theirs", ()))
        .await
        .expect_err("none");
    peers.wait(stub.call("brew", ())).await.expect("it is done");
    spans.check(expect![[r#"
        kind=Method interface="Shop" member="price" milliseconds=0.0 outcome="ok" imports=1 exports=2 pending=0
        kind=Method interface="Shop" member="price" milliseconds=0.0 outcome="error" code="not_found" imports=1 exports=2 pending=0
        kind=Absent interface="Shop" member="other" milliseconds=0.0 outcome="error" imports=1 exports=2 pending=0
        kind=Method interface="Shop" member="brew" milliseconds=250.0 outcome="ok" imports=1 exports=2 pending=1"#]]);
}

#[test]
fn nothing_is_computed_for_traces_without_a_subscriber() {
    let spans = Spans::at(Level::INFO);
    let _guard = ::tracing::subscriber::set_default(spans.clone());
    let options = Options::default().layer(Tracing::new());
    let connection = Connection::new(Shop.into_stub(), &options);
    connection.receive(r#"["push",["pipeline",0,["price"],["tea"]]]"#);
    connection.receive(r#"["pull",1]"#);
    assert_eq!(connection.take_outgoing(), [r#"["resolve",1,2.5]"#]);
    spans.check(expect![""]);
}
