//! Which caller sees, forgets and supports which records.

use std::sync::Arc;

use memory::{Access, Content, Error, Handle, Layer, Outcome, Recall, Viewer};

use crate::support::{belief, in_memory};

fn caller(space: &Handle, name: &str) -> Handle {
    space.seen_by(Viewer::Caller(name.into()))
}

async fn found(space: &Handle, question: &str) -> Vec<String> {
    let answer = space.recall(Recall::new(question)).await.unwrap();
    let hits = answer.hits.iter();
    hits.map(|hit| hit.record.content.text.clone()).collect()
}

#[tokio::test]
async fn a_caller_sees_its_own_records_and_public_ones() {
    let memory = in_memory();
    let space = memory.space("scout").unwrap();
    let (ada, bob, stranger) = (
        caller(&space, "ada"),
        caller(&space, "bob"),
        caller(&space, ""),
    );
    let pin = ada
        .keep(belief("My PIN is 4711.", "user:ada"))
        .await
        .unwrap();
    let mut tea = belief("Ada drinks tea in Lisbon.", "user:ada");
    tea.content.public = true;
    ada.keep(tea).await.unwrap();
    ada.observe(Content::text("Ada met Rosa in Porto about the PIN."))
        .await
        .unwrap();

    assert_eq!(found(&ada, "Ada PIN Porto").await.len(), 3);
    for other in [&bob, &stranger] {
        assert_eq!(
            found(other, "Ada PIN Porto Lisbon").await,
            ["Ada drinks tea in Lisbon."]
        );
        let picture = other.graph(None, 50).await.unwrap();
        assert!(
            picture.nodes.iter().all(|node| node.name != "Rosa"),
            "{picture:?}"
        );
        let porto = other.graph(Some("Porto"), 50).await.unwrap();
        assert!(porto.nodes.is_empty(), "{porto:?}");
        let answer = other.recall(Recall::new("Porto")).await.unwrap();
        let private = |name: &str| matches!(name, "Porto" | "Rosa" | "PIN");
        let entities = &answer.entities;
        assert!(entities.iter().all(|it| !private(&it.name)), "{entities:?}");
        let relations = &answer.relations;
        let secret = relations
            .iter()
            .any(|it| private(&it.from) || private(&it.to));
        assert!(!secret, "{relations:?}");
        let cypher = other.cypher().await.unwrap();
        assert!(
            !cypher.contains("4711") && !cypher.contains("Rosa"),
            "{cypher}"
        );
        assert_eq!(other.records(|_| true).await.unwrap().len(), 1);
        assert!(other.get(pin.id()).await.unwrap().is_none());
        let forgotten = other.forget(pin.id(), "bob wants it").await;
        assert!(matches!(forgotten, Err(Error::Unknown(_))), "{forgotten:?}");
        assert!(other.import(Vec::new()).await.is_err());
    }
    // A reader sees all, and forgets its own.
    let reader = space.seen_by(Viewer::Reader("rita".into()));
    assert_eq!(reader.records(|_| true).await.unwrap().len(), 3);
    let forgotten = reader.forget(pin.id(), "rita wants it").await;
    assert!(
        matches!(forgotten, Err(Error::NotOwner(_))),
        "{forgotten:?}"
    );
    assert_eq!(ada.forget(pin.id(), "it has changed").await.unwrap(), 1);
    memory.close().await;
}

#[tokio::test]
async fn the_outcome_of_a_write_tells_nothing_about_other_callers() {
    let memory = in_memory();
    let space = memory.space("scout").unwrap();
    let (ada, bob) = (caller(&space, "ada"), caller(&space, "bob"));
    ada.keep(belief("The PIN of Ada is 4711.", "user:ada"))
        .await
        .unwrap();
    for guess in ["The PIN of Ada is 4711.", "The PIN of Ada is 4712."] {
        let outcome = caller(&space, guess)
            .keep(belief(guess, "user:guess"))
            .await
            .unwrap();
        assert!(matches!(outcome, Outcome::Kept(_)), "{guess}: {outcome:?}");
    }
    // What is public is compared with.
    let mut public = belief("The bridge is closed.", "user:ada");
    public.content.public = true;
    ada.keep(public).await.unwrap();
    let outcome = bob
        .keep(belief("The bridge is closed.", "user:bob"))
        .await
        .unwrap();
    assert!(matches!(outcome, Outcome::Corroborated(_)), "{outcome:?}");
    memory.close().await;
}

#[tokio::test]
async fn records_of_earlier_versions_belong_to_the_caller_that_their_source_names() {
    let memory = in_memory();
    let space = memory.space("scout").unwrap();
    for (text, source) in [
        ("Ada repairs boats.", "user:ada"),
        ("Strangers sing songs.", "user:anonymous"),
        ("It rains in Riga.", "tool:weather"),
    ] {
        space.keep(belief(text, source)).await.unwrap();
    }
    let line = memory::export::line(&space.records(|_| true).await.unwrap()[0]).unwrap();
    assert!(
        !line.contains("owner") && !line.contains("public"),
        "{line}"
    );
    let seen = async |name| -> Vec<String> {
        let records = caller(&space, name).records(|_| true).await.unwrap();
        records.iter().map(|it| it.content.text.clone()).collect()
    };
    assert_eq!(seen("ada").await, ["Ada repairs boats."]);
    assert_eq!(seen("").await, ["Strangers sing songs."]);
    assert_eq!(space.records(|_| true).await.unwrap().len(), 3);
    memory.close().await;
}

/// It went wrong: a recall through a view counted as use, and uses promote records.
#[tokio::test]
async fn a_handle_for_reading_leaves_no_trace_of_use() {
    let memory = in_memory();
    let space = memory.space("doc").unwrap();
    let view = space.shared(Access::Read);
    let id = space
        .observe(Content::text("Cleo keeps bees near Arvo."))
        .await
        .unwrap();
    for _ in 0..4 {
        assert_eq!(found(&view, "who keeps bees?").await.len(), 1);
    }
    // A write has the uses before it counted.
    space
        .keep(belief("Ada likes coffee.", "user:ada"))
        .await
        .unwrap();
    let record = space.get(&id).await.unwrap().unwrap();
    assert_eq!(
        (record.usage.times, record.layer()),
        (0, Layer::Observation)
    );
    memory.close().await;
}

#[tokio::test]
async fn a_speculation_is_a_hypothesis_until_another_source_confirms_it() {
    let memory = in_memory();
    let space = memory.space("scout").unwrap();
    let keep = async |text: &str, source: &str| space.keep(belief(text, source)).await.unwrap();
    let maybe = keep("Maybe Ada likes coffee.", "user:bob").await;
    assert!(matches!(maybe, Outcome::Supposed(_)), "{maybe:?}");
    let record = async || -> Arc<memory::Record> { space.get(maybe.id()).await.unwrap().unwrap() };
    assert_eq!(record().await.layer(), Layer::Hypothesis);
    let audit = space.audit().await.unwrap();
    assert_eq!(
        (
            audit.layers["hypothesis"],
            audit.layers["belief"],
            audit.hypotheses
        ),
        (1, 0, 1)
    );

    // It contradicts nothing, and a second speculation makes no belief of it.
    let hates = keep("Perhaps Ada hates coffee.", "user:cleo").await;
    assert!(matches!(hates, Outcome::Supposed(_)), "{hates:?}");
    keep("I think Ada might like coffee", "user:dan").await;
    assert_eq!(record().await.layer(), Layer::Hypothesis);

    let said = keep("Ada likes coffee.", "user:ada").await;
    assert_eq!(said, Outcome::Corroborated(maybe.id().clone()));
    assert_eq!(record().await.layer(), Layer::Belief);
    assert_eq!(record().await.kept().unwrap().support.len(), 2);
    memory.close().await;
}

#[tokio::test]
async fn questions_and_commands_are_never_promoted() {
    let memory = in_memory();
    let space = memory.space("scout").unwrap();
    let texts = [
        "recall Ada and her boats",
        "does Ada repair boats?",
        "Ada repairs boats in Riga.",
    ];
    for text in texts {
        for source in ["user:ada", "user:bob", "user:cleo"] {
            let mut content = Content::text(text);
            content.source = Some(source.to_owned());
            space.observe(content).await.unwrap();
        }
    }
    // A write has the uses before it counted; the first ones lead into working memory, the second ones out of it.
    for sky in ["The sky is blue.", "Snow is white."] {
        for text in texts.iter().cycle().take(30) {
            space.recall(Recall::new(*text)).await.unwrap();
        }
        space.keep(belief(sky, "user:ada")).await.unwrap();
    }
    let beliefs = space
        .records(|it| it.layer() == Layer::Belief)
        .await
        .unwrap();
    let mut beliefs: Vec<&str> = beliefs.iter().map(|it| &*it.content.text).collect();
    beliefs.sort_unstable();
    assert_eq!(
        beliefs,
        [
            "Ada repairs boats in Riga.",
            "Snow is white.",
            "The sky is blue."
        ]
    );
    memory.close().await;
}

#[tokio::test]
async fn a_write_that_prevails_names_what_it_contradicts() {
    let memory = in_memory();
    let space = memory.space("scout").unwrap();
    let paris = space
        .keep(belief("Ada lives in Paris.", "user:ada"))
        .await
        .unwrap();
    let london = space
        .keep(belief("Ada lives in London.", "user:ada"))
        .await
        .unwrap();
    assert_eq!(
        london,
        Outcome::Prevailed(london.id().clone(), vec![paris.id().clone()])
    );
    let audit = space.audit().await.unwrap();
    assert_eq!(
        (audit.contradictions, audit.unsettled, audit.uncertain),
        (1, 0, 1)
    );
    assert!(audit.clean());
    memory.close().await;
}
