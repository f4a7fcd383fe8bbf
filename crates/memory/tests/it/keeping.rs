//! Durability of acknowledged records with their reasons, and the rights of handles.

use memory::{
    Access, Content, Error, Keep, Lasting, Layer, Memory, Options, Outcome, Recall, TABLES, export,
};
use proptest::prelude::*;
use store::Store;

use crate::support::{belief, in_memory, open, reason, said};

#[tokio::test]
async fn everything_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (memory, store) = open(folder.path());
    let space = memory.space("scout").unwrap();
    let seen = space
        .observe(said("s", "Ada", "The gate code is 4711."))
        .await
        .unwrap();
    let mut keep = belief("The gate code is 4711.", "user:ada");
    keep.from = vec![seen.clone()];
    let kept = space.keep(keep).await.unwrap();
    let gone = space
        .observe(Content::text("A passing remark."))
        .await
        .unwrap();
    space.forget(&gone, "asked to").await.unwrap();
    memory.close().await;
    store.close().await;

    let (memory, store) = open(folder.path());
    let space = memory.space("scout").unwrap();
    let mut recall = Recall::new("Which code opens the gate?");
    recall.layers = vec![Layer::Belief];
    let answer = space.recall(recall).await.unwrap();
    let hit = &answer.hits[0];
    assert_eq!(&hit.record.id, kept.id());
    let reason = &hit.record.kept().unwrap().reason;
    assert_eq!(
        (reason.source(), reason.why()),
        ("user:ada", "it may be asked")
    );
    assert_eq!(hit.provenance[0].id, seen);
    assert!(space.get(&gone).await.unwrap().is_none());
    assert_eq!(space.audit().await.unwrap().forgotten, 1);
    memory.close().await;
    store.close().await;
}

#[tokio::test]
async fn what_was_forgotten_is_not_recalled_after_a_restart_either() {
    let folder = tempfile::tempdir().unwrap();
    let (memory, store) = open(folder.path());
    let space = memory.space("scout").unwrap();
    let id = space
        .observe(Content::text("The secret word is xylophone."))
        .await
        .unwrap();
    space.forget(&id, "it was a secret").await.unwrap();
    memory.close().await;
    store.close().await;
    let (memory, store) = open(folder.path());
    let space = memory.space("scout").unwrap();
    assert!(
        space
            .recall(Recall::new("xylophone"))
            .await
            .unwrap()
            .hits
            .is_empty()
    );
    memory.close().await;
    store.close().await;
}

#[tokio::test]
async fn an_agent_reads_its_axioms_and_only_governors_write_them() {
    let memory = in_memory();
    let space = memory.space("scout").unwrap();
    let axiom = || Keep {
        layer: Lasting::Axiom,
        ..belief("The agent does no harm.", "operator")
    };
    assert!(matches!(
        space.keep(axiom()).await,
        Err(Error::Denied { .. })
    ));
    let governing = space.clone().governed(&memory);
    let kept = governing.keep(axiom()).await.unwrap();
    assert!(matches!(
        space.forget(kept.id(), "a whim").await,
        Err(Error::Denied { .. })
    ));
    let against = space
        .keep(belief("The agent does harm.", "user:eve"))
        .await
        .unwrap();
    assert!(matches!(against, Outcome::Doubted(_)));
    assert_eq!(governing.forget(kept.id(), "repealed").await.unwrap(), 1);
    memory.close().await;
}

#[tokio::test]
async fn a_shared_space_allows_what_it_was_shared_for_and_never_more() {
    let memory = in_memory();
    let own = memory.space("library").unwrap();
    own.observe(Content::text("The archive opens at nine."))
        .await
        .unwrap();
    let reader = own.shared(Access::Read);
    assert_eq!(
        reader
            .recall(Recall::new("archive"))
            .await
            .unwrap()
            .hits
            .len(),
        1
    );
    let denied = reader.observe(Content::text("x")).await.unwrap_err();
    assert_eq!(
        denied.to_string(),
        "observe in library: it is shared for reading only"
    );
    let adder = own.shared(Access::Append);
    let id = adder
        .observe(Content::text("The archive closes at five."))
        .await
        .unwrap();
    assert!(matches!(
        adder.forget(&id, "oops").await,
        Err(Error::Denied { .. })
    ));
    assert!(matches!(
        reader.shared(Access::Own).observe(Content::text("x")).await,
        Err(Error::Denied { .. })
    ));
    // Spaces are separate.
    let other = memory.space("scout").unwrap();
    assert!(
        other
            .recall(Recall::new("archive"))
            .await
            .unwrap()
            .hits
            .is_empty()
    );
    let mut names = memory.names().await.unwrap();
    names.sort();
    assert_eq!(names, ["library"]);
    memory.close().await;
}

#[tokio::test]
async fn bad_input_is_refused_with_what_is_wrong() {
    let memory = in_memory();
    let space = memory.space("scout").unwrap();
    let long = "x".repeat(memory::limits::MAX_TEXT + 1);
    for (content, expected) in [
        (Content::text("  "), "remember this: text is empty"),
        (Content::text(long), "remember this: text is too long"),
    ] {
        assert_eq!(
            space.observe(content).await.unwrap_err().to_string(),
            expected
        );
    }
    assert!(memory.space("").is_err() && memory.space("a/b").is_err());
    let mut recall = Recall::new("");
    assert!(space.recall(recall.clone()).await.is_err());
    recall.question = "what?".into();
    recall.limit = 0;
    assert!(space.recall(recall).await.is_err());
    assert!(
        space
            .forget(&memory::RecordId::new("nobody"), "why")
            .await
            .is_err()
    );
    memory.close().await;
    assert!(matches!(
        space.observe(Content::text("late")).await,
        Err(Error::Closed)
    ));
}

#[tokio::test]
async fn an_export_builds_the_same_memory_elsewhere() {
    let memory = in_memory();
    let space = memory.space("scout").unwrap();
    let seen = space
        .observe(said("s", "Ada", "Bob lives in Lisbon."))
        .await
        .unwrap();
    let mut keep = belief("Bob lives in Lisbon.", "user:ada");
    keep.from = vec![seen];
    space.keep(keep).await.unwrap();
    space
        .keep(belief("Bob lives in Porto.", "user:bob"))
        .await
        .unwrap();
    let records = space.records(|_| true).await.unwrap();
    let lines: Vec<String> = records
        .iter()
        .map(|record| export::line(record).unwrap())
        .collect();
    let text = lines.join("\n");

    let elsewhere = in_memory();
    let copy = elsewhere.space("copy").unwrap();
    assert_eq!(copy.import(export::parse(&text).unwrap()).await.unwrap(), 3);
    assert_eq!(copy.import(export::parse(&text).unwrap()).await.unwrap(), 0);
    let again = copy.records(|_| true).await.unwrap();
    assert_eq!(records, again);
    assert!(copy.audit().await.unwrap().clean());
    assert!(
        copy.cypher()
            .await
            .unwrap()
            .contains("MERGE (a)-[r:LIVE_IN]->(b)")
    );
    let bad = export::parse("{\"id\": 3}").unwrap_err().to_string();
    assert!(bad.starts_with("use line 1: "), "{bad}");
    // An import cannot leave out the reason either.
    let without = text.replace("\"why\":\"it may be asked\"", "\"why\":\" \"");
    let refused = export::parse(&without).unwrap_err().to_string();
    assert!(refused.contains("why is missing"), "{refused}");
    elsewhere.close().await;
    memory.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_writers_at_once_all_find_what_they_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let (memory, store) = open(folder.path());
    let space = memory.space("scout").unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..16 {
        let space = space.clone();
        tasks.spawn(async move {
            for number in 0..20 {
                let text = format!("writer{writer} noted number{number}");
                space.observe(Content::text(text)).await.unwrap();
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    let transactions = store.stats().commits;
    assert!(transactions < 320, "{transactions} commits for 320 writes");
    let answer = space.recall(Recall::new("writer7 number13")).await.unwrap();
    assert_eq!(answer.hits[0].record.content.text, "writer7 noted number13");
    memory.close().await;
    store.close().await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The process ends after a given number of commits: every acknowledged record is there after the restart, and the
    /// audit is clean.
    #[test]
    fn a_crash_at_any_point_loses_nothing_that_was_acknowledged(
        deeds in proptest::collection::vec((0..6_usize, any::<bool>()), 1..14),
        commits in 0..14_usize,
        unanswered in any::<bool>(),
    ) {
        const SAYINGS: [&str; 6] = [
            "Bob lives in Lisbon.", "Bob lives in Porto.", "Ada likes tea.", "Ada does not like tea.",
            "The API listens on port 80.", "As I said, Bob lives in Lisbon",
        ];
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (store, steps) = Store::with_manual_writer(TABLES);
            let memory = Memory::open(store.clone(), Options::default());
            let space = memory.space("scout").unwrap();
            let mut acknowledged = Vec::new();
            let mut left = commits;
            for (number, (said, lasting)) in deeds.into_iter().enumerate() {
                let text = SAYINGS[said];
                let deed = async {
                    if lasting {
                        let source = format!("user:{number}");
                        space.keep(Keep::belief(text, reason(&source))).await.map(|it| it.id().clone())
                    } else {
                        space.observe(Content::text(text)).await
                    }
                };
                tokio::pin!(deed);
                let done = loop {
                    tokio::select! {
                        biased;
                        done = &mut deed => break Some(done),
                        () = tokio::task::yield_now() => {}
                    }
                    if !steps.waiting().is_empty() {
                        if left == 0 {
                            break None;
                        }
                        left -= 1;
                        steps.commit();
                    }
                };
                match done {
                    Some(id) => acknowledged.push((id.unwrap(), text)),
                    None => break,
                }
            }
            // The process ends: waiting writes are lost, committed ones are not.
            if unanswered {
                steps.commit_unanswered();
            }
            steps.lose();
            drop(memory);
            let memory = Memory::open(store, Options::default());
            let space = memory.space("scout").unwrap();
            for (id, _) in &acknowledged {
                assert!(space.get(id).await.unwrap().is_some(), "{id} was acknowledged and is gone");
            }
            assert!(space.audit().await.unwrap().clean());
            memory.close().await;
        });
    }
}
