//! What an agent holds on to, from whom, and what makes it surer.

use std::sync::Arc;

use agent::message::claim;
use agent::{Law, Letter, principal};
use memory::Record;
use model::scripted::{Scripted, Turn};
use serde_json::json;

use crate::support::{Bench, World, output, said};

/// The lasting record with this text.
async fn held(bench: &Bench, text: &str) -> Arc<Record> {
    let space = bench.memory.space("scout").unwrap();
    let found = space.records(|it| it.content.text == text && it.kept().is_some());
    found.await.unwrap().first().cloned().unwrap()
}

fn sources(record: &Record) -> Vec<&str> {
    let kept = record.kept().unwrap();
    kept.support.iter().map(|it| &*it.source).collect()
}

/// It went wrong: the guard looked for the source `agent`, while the agent's own words are `own`. So recalled words that
/// the model said again made the belief surer.
#[tokio::test]
async fn its_own_recalled_words_support_no_belief() {
    let world = World::new();
    let reason = json!({ "text": "Ada likes coffee", "context": "what does Ada like?", "why": "it came up" });
    let model = Scripted::new([
        Turn::calls("remember", json!({ "text": "Ada likes coffee" })),
        Turn::text("I will."),
        Turn::calls("remember", reason),
        Turn::text("Done."),
    ]);
    let model = Arc::new(model);
    let bench = world.begin_with(Law::default(), Some(model)).await;
    bench.say("remember that Ada likes coffee").await;
    let before = held(&bench, "Ada likes coffee").await;
    assert_eq!(before.source(), Some("user:ada"));

    // The request recalls the belief, and the model keeps it in its own name.
    bench
        .say("what to offer her tomorrow, tea or coffee?")
        .await;
    let after = held(&bench, "Ada likes coffee").await;
    assert_eq!(after.kept().unwrap().reason.confidence(), 0.9);
    assert_eq!(sources(&after), [""; 0]);
    let space = bench.memory.space("scout").unwrap();
    let own = space.records(|it| it.source() == Some("own"));
    assert!(own.await.unwrap().is_empty(), "an echo is not kept");
}

/// It went wrong: words of other agents (`agent:NAME`) were taken for echoes of the agent's own.
#[tokio::test]
async fn another_agent_that_says_the_same_supports_a_belief() {
    let trusted = json!([{ "agent": "ranger", "trust": 0.9 }, { "agent": "scribe", "trust": 0.9 }]);
    let law = Law {
        agent_choice: serde_json::from_value(trusted).unwrap(),
        ..Law::default()
    };
    let world = World::new();
    let bench = world.begin_with(law, None).await;
    let text = "The bridge is closed.";
    tell(&bench, "scribe", &claim("scribe", "1", text, 0.9, 0)).await;
    let task = bench.say("recall the bridge").await;
    assert!(output(&task).contains("0.81 sure"), "{}", output(&task));
    tell(&bench, "ranger", &claim("ranger", "2", text, 0.9, 0)).await;
    let bridge = held(&bench, text).await;
    assert_eq!(sources(&bridge), ["agent:ranger"]);
    assert!(bridge.kept().unwrap().reason.confidence() > 0.85);
    // A second time it says nothing new.
    tell(&bench, "ranger", &claim("ranger", "3", text, 0.9, 0)).await;
    assert_eq!(sources(&held(&bench, text).await), ["agent:ranger"]);
}

async fn tell(bench: &Bench, agent: &str, letter: &Letter) {
    let mut message = said("peers", "");
    message.parts = vec![letter.part()];
    bench.send_by(&principal(agent), message).await;
}
