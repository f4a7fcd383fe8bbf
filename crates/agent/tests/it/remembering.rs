//! Beliefs of an agent: their sources, and their confidence.

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
    let model = Scripted::new([Turn::calls("remember", reason), Turn::text("Done.")]);
    let mut law = Law::default();
    law.clarification.min_grounded = 0.0;
    let bench = world.begin_with(law, Some(Arc::new(model))).await;
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

#[tokio::test]
async fn what_a_person_asks_to_be_remembered_is_kept_without_the_model() {
    let world = World::new();
    let model = Scripted::new([Turn::text("That is nice to know.")]);
    let bench = world
        .begin_with(Law::default(), Some(Arc::new(model)))
        .await;
    let task = bench.say("Please remember that my badge is 5512").await;
    assert_eq!(output(&task), "I will remember: my badge is 5512");
    let kept = held(&bench, "my badge is 5512").await;
    assert_eq!(kept.source(), Some("user:ada"));
    // A question is for the model.
    let task = bench.say("remember that time in Riga?").await;
    assert_eq!(output(&task), "That is nice to know.");
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
    let bridge = held(&bench, text).await;
    assert_eq!(sources(&bridge), ["agent:ranger"]);
}

async fn tell(bench: &Bench, agent: &str, letter: &Letter) {
    let mut message = said("peers", "");
    message.parts = vec![letter.part()];
    bench.send_by(&principal(agent), message).await;
}

#[tokio::test]
async fn a_model_that_gives_no_reason_is_told_so_and_a_person_needs_none() {
    let world = World::new();
    let text = "Ada prefers the window seat";
    let reason =
        json!({ "text": text, "context": "where does Ada sit?", "why": "she asked for it twice" });
    let model = Scripted::new([
        Turn::calls("remember", json!({ "text": text })),
        Turn::calls("remember", reason),
        Turn::text("Noted."),
    ]);
    let mut law = Law::default();
    law.clarification.min_grounded = 0.0;
    let model = Arc::new(model);
    let bench = world.begin_with(law, Some(model.clone())).await;
    bench.say("She moved to the window again.").await;
    let told = format!("{:?}", model.requests()[1].messages);
    assert!(
        told.contains("context is missing; why is missing"),
        "{told}"
    );
    let record = held(&bench, text).await;
    assert_eq!(record.source(), Some("own"));
    assert_eq!(record.owner(), Some("ada"));

    // A person's request is its reason.
    let task = bench
        .call("remember", json!({ "text": "Bob likes tea" }))
        .await;
    assert!(
        output(&task).contains("I will remember"),
        "{}",
        output(&task)
    );
    let record = held(&bench, "Bob likes tea").await;
    let reason = &record.kept().unwrap().reason;
    assert_eq!(
        (reason.source(), reason.context(), reason.why()),
        (
            "user:ada",
            "remember that Bob likes tea",
            "they asked for it"
        )
    );
    let task = bench
        .call("remember", json!({ "text": "what is the time?" }))
        .await;
    assert!(output(&task).contains("not knowledge"), "{}", output(&task));
    // Neither is a command that the agent itself would remember.
    let ada = access::Principal::named("ada");
    let reason = memory::Reason::new("own", 0.9, "the lights", "it came up").unwrap();
    let offer = agent::MemoryInput {
        content: memory::Content::text("turn off the lights"),
        lasting: Some((memory::Lasting::Belief, reason)),
        from: Vec::new(),
    };
    let refused = bench.handle.store(&ada, offer).await.unwrap_err();
    assert!(refused.to_string().contains("not knowledge"), "{refused}");
}

#[tokio::test]
async fn what_is_stored_is_in_the_journal_by_its_hash_and_known_to_why() {
    let world = World::new();
    let bench = world.begin().await;
    bench
        .call("remember", json!({ "text": "the vault code is zebra" }))
        .await;
    let history = bench.handle.history().await.unwrap();
    let journal = serde_json::to_string(&history.iter().map(|(_, it)| it).collect::<Vec<_>>());
    let journal = journal.unwrap();
    assert!(!journal.contains("zebra"), "{journal}");
    let stored = journal.contains("\"event\":\"stored\"") && journal.contains("\"hash\":");
    assert!(stored, "{journal}");
    let why = bench.handle.why("the vault code is zebra").await.unwrap();
    let text = why.text();
    assert!(
        text.contains("ada had me remember") && text.contains("user:ada"),
        "{text}"
    );

    // Forgetting is whole, and is known, too.
    let record = held(&bench, "the vault code is zebra").await;
    let ada = access::Principal::named("ada");
    bench
        .handle
        .forget(&ada, &record.id, "it has changed")
        .await
        .unwrap();
    let why = bench
        .handle
        .why(&format!("why record {}?", record.id))
        .await
        .unwrap();
    let text = why.text();
    assert!(
        text.contains("ada had me forget") && !text.contains("zebra"),
        "{text}"
    );
    bench.handle.check().await.unwrap();
}

/// Once the words of a forgotten record stayed: in the requests to remember and to forget it, which were observations, in
/// the last question of other records, in the history of memory, and in the journal.
#[tokio::test]
async fn what_is_forgotten_is_gone_from_memory_and_from_the_journal() {
    let world = World::new();
    let bench = world.begin().await;
    bench.say("remember that the vault is green").await;
    bench.say("remember that the vault code is zebra77").await;
    let known = bench.say("what is the vault code?").await;
    assert!(output(&known).contains("zebra77"), "{}", output(&known));
    // Another caller says the same; that stays.
    let bob = "remember that the vault code is zebra77";
    bench.send_by("bob", said("bobs", bob)).await;
    let gone = bench.say("forget that the vault code is zebra77").await;
    assert!(
        output(&gone).starts_with("I have forgotten"),
        "{}",
        output(&gone)
    );

    let of_bob = |text: &str| text.contains("bob");
    let space = bench.memory.space("scout").unwrap();
    for record in space.records(|_| true).await.unwrap() {
        let line = memory::export::line(&record).unwrap();
        assert!(!line.contains("zebra77") || of_bob(&line), "{line}");
    }
    let moved = store::StreamId::new("memory/scout");
    let moved = bench.store.read(move |view| view.events(&moved, 0, 1000));
    for entry in moved.await.unwrap() {
        let line = String::from_utf8_lossy(entry.payload()).into_owned();
        assert!(!line.contains("zebra77"), "{line}");
    }
    let history = bench.handle.history().await.unwrap();
    let (mut marks, mut speaker) = (0, String::new());
    for (number, record) in &history {
        if let agent::EventKind::Heard(heard) = &record.event.what {
            speaker.clone_from(&heard.from);
        }
        let line = serde_json::to_string(record).unwrap();
        marks += usize::from(line.contains("[forgotten "));
        let stays = speaker == "bob";
        assert!(!line.contains("zebra77") || stays, "{number}: {line}");
    }
    assert!(marks >= 4, "requests, calls, results and answers: {marks}");
    let (life, _) = bench.handle.state().await.unwrap();
    let (replayed, _) = bench.handle.replay().await.unwrap();
    assert_eq!(life, replayed, "the journal adds up to the state");
    let why = bench.handle.why("why did you do that?").await.unwrap();
    assert!(!why.text().is_empty());
    bench.handle.check().await.unwrap();
    bench.killed().await;

    let bench = world.begin().await;
    let answer = bench.say("what is the vault code?").await;
    assert!(!output(&answer).contains("zebra77 (belief from user:ada"));
    let asked = bench.say("what have you been doing?").await;
    assert!(!output(&asked).contains("zebra77"), "{}", output(&asked));
}

#[tokio::test]
async fn questions_and_commands_are_not_recalled_as_knowledge() {
    let world = World::new();
    let bench = world.begin().await;
    for _ in 0..2 {
        for asked in [
            "what do you know about Zed?",
            "recall Zed",
            "hello Zed, how are you?",
            "copy Zed.md to Zed2.md",
            "what's the name of Zed's dog",
        ] {
            let task = bench.say(asked).await;
            let said = output(&task);
            let told = ["observation from", "working from"];
            assert!(!told.iter().any(|it| said.contains(it)), "{asked}: {said}");
        }
    }
    bench.say("Zed keeps bees near Arvo.").await;
    let task = bench.say("recall Zed").await;
    assert!(
        output(&task).contains("Zed keeps bees near Arvo."),
        "{}",
        output(&task)
    );
}

#[tokio::test]
async fn a_contradiction_is_told_when_it_is_noticed_and_a_speculation_is_marked() {
    let world = World::new();
    let bench = world.begin().await;
    for (told, then) in [
        (
            "remember that Ada lives in Paris",
            "remember that Ada lives in London",
        ),
        ("remember that Bob likes tea", "remember that Bob hates tea"),
        (
            "remember that the wifi password is hunter2",
            "remember that the wifi password is hunter3",
        ),
    ] {
        bench.say(told).await;
        let task = bench.say(then).await;
        let (said, held) = (output(&task), told.trim_start_matches("remember that "));
        assert!(
            said.contains("contradicts") && said.contains(held),
            "{said}"
        );
    }
    let space = bench.memory.space("scout").unwrap();
    assert_eq!(space.audit().await.unwrap().contradictions, 3);

    let task = bench.say("remember that maybe Cleo keeps bees").await;
    assert!(output(&task).contains("hypothesis"), "{}", output(&task));
    let task = bench.say("recall Cleo").await;
    assert!(
        output(&task).contains("(hypothesis from user:ada"),
        "{}",
        output(&task)
    );
}

/// It went wrong: only requests that began with one of 44 verbs were known as such, and others became beliefs.
#[tokio::test]
async fn what_is_asked_for_is_never_believed() {
    let world = World::new();
    let said = ["turn off the lights", "buy milk", "Ada lives in Riga"];
    let model = Scripted::new(said.map(|_| Turn::text("All right.")));
    let mut law = Law::default();
    law.update[0].confidence = 1.0;
    let bench = world.begin_with(law, Some(Arc::new(model))).await;
    for text in said {
        bench.say(text).await;
    }
    let space = bench.memory.space("scout").unwrap();
    let held = space.records(|it| it.kept().is_some()).await.unwrap();
    let held: Vec<&str> = held.iter().map(|it| it.content.text.as_str()).collect();
    assert_eq!(held, ["Ada lives in Riga"]);
}

/// It went wrong: the journal was written after memory, so that a crash between the two left a record that it did not know.
#[tokio::test]
async fn what_is_about_to_be_stored_is_in_the_journal_first() {
    let world = World::new();
    let bench = world.begin().await;
    // From here on nothing can be written to memory, as if the process had ended.
    bench.memory.close().await;
    let text = "the vault code is zebra";
    let task = bench.call("remember", json!({ "text": text })).await;
    assert!(
        !output(&task).contains("I will remember"),
        "{}",
        output(&task)
    );
    let why = bench.handle.why(text).await.unwrap().text();
    assert!(why.contains("ada wanted me to remember that"), "{why}");
    let history = bench.handle.history().await.unwrap();
    let journal: Vec<_> = history.iter().map(|(_, it)| it).collect();
    assert!(!serde_json::to_string(&journal).unwrap().contains("zebra"));
}
