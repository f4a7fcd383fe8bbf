//! Recall: filters, signs, provenance and the cache.

use memory::{Content, Layer, Mode, Noted, Recall, Sign, parse_time};

use crate::support::{belief, in_memory, said};

async fn harbour() -> (memory::Memory, memory::Handle) {
    let memory = in_memory();
    let space = memory.space("scout").unwrap();
    let turns = [
        (
            "s1",
            "Mira",
            "How is the new workshop treating you?",
            "2024-03-04",
        ),
        (
            "s1",
            "Jonas",
            "Windy. The roof is finally on, so I can begin.",
            "2024-03-04",
        ),
        ("s1", "Mira", "What will you make there?", "2024-03-04"),
        (
            "s1",
            "Jonas",
            "Small wooden dinghies, like my grandfather in Lisbon did.",
            "2024-03-04",
        ),
        (
            "s2",
            "Mira",
            "I joined a choir, we rehearse on Thursdays.",
            "2024-04-11",
        ),
        (
            "s2",
            "Jonas",
            "I adopted a grey cat called Bilge.",
            "2024-04-11",
        ),
        ("s3", "Mira", "The concert was a success.", "2024-06-10"),
        (
            "s3",
            "Jonas",
            "The varnish arrived, so I stayed at home.",
            "2024-06-10",
        ),
    ];
    for (session, speaker, text, day) in turns {
        let mut content = said(session, speaker, text);
        content.occurred = parse_time(day);
        content.task = (session == "s2").then(|| "task-1".to_owned());
        space.observe(content).await.unwrap();
    }
    (memory, space)
}

fn texts(answer: &memory::RecallAnswer) -> Vec<&str> {
    answer
        .hits
        .iter()
        .map(|hit| &*hit.record.content.text)
        .collect()
}

#[tokio::test]
async fn every_hit_explains_its_score() {
    let (memory, space) = harbour().await;
    let answer = space
        .recall(Recall::new("What is the cat of Jonas called?"))
        .await
        .unwrap();
    assert_eq!(texts(&answer)[0], "I adopted a grey cat called Bilge.");
    let hit = &answer.hits[0];
    assert_eq!(hit.signs[0].0, Sign::Words);
    assert!(hit.signs.iter().any(|(sign, _)| *sign == Sign::Speaker));
    let sum: f32 = answer.hits[0].signs.iter().map(|(_, part)| part).sum();
    assert!((sum - hit.score).abs() < 1e-4, "{sum} and {}", hit.score);
    assert_eq!(answer.retriever, "words");
    memory.close().await;
}

#[tokio::test]
async fn an_answer_that_shares_no_word_is_found_beside_the_question_it_answers() {
    let (memory, space) = harbour().await;
    let answer = space
        .recall(Recall::new("What does Jonas make in the workshop?"))
        .await
        .unwrap();
    assert!(
        texts(&answer)[..3].contains(&"Small wooden dinghies, like my grandfather in Lisbon did.")
    );
    memory.close().await;
}

#[tokio::test]
async fn a_date_in_the_question_finds_what_happened_then() {
    let (memory, space) = harbour().await;
    let answer = space
        .recall(Recall::new("What happened in June 2024?"))
        .await
        .unwrap();
    assert!(texts(&answer)[0].contains("concert") || texts(&answer)[0].contains("varnish"));
    memory.close().await;
}

#[tokio::test]
async fn filters_narrow_by_layer_source_time_task_and_tokens() {
    let (memory, space) = harbour().await;
    space
        .keep(belief("Jonas has a cat.", "user:jonas"))
        .await
        .unwrap();
    let ask = |change: fn(&mut Recall)| {
        let mut recall = Recall::new("Jonas cat choir concert roof");
        change(&mut recall);
        recall.noted = Noted::Look;
        space.recall(recall)
    };
    let beliefs = ask(|it| it.layers = vec![Layer::Belief]).await.unwrap();
    assert_eq!(texts(&beliefs), ["Jonas has a cat."]);
    assert!(beliefs.hits[0].confidence.is_some());
    let by_source = ask(|it| it.sources = vec!["user:jonas".into()])
        .await
        .unwrap();
    assert_eq!(by_source.hits.len(), 1);
    let early = ask(|it| it.until = parse_time("2024-04-01")).await.unwrap();
    assert!(
        early
            .hits
            .iter()
            .all(|hit| hit.record.content.session.as_deref() == Some("s1"))
    );
    let of_task = ask(|it| it.task = Some("task-1".into())).await.unwrap();
    assert!(!of_task.hits.is_empty() && of_task.hits.len() <= 2);
    let few = ask(|it| it.tokens = Some(12)).await.unwrap();
    let size: usize = texts(&few).iter().map(|text| text.len().div_ceil(4)).sum();
    assert!(size <= 12 && !few.hits.is_empty());
    memory.close().await;
}

#[tokio::test]
async fn modes_look_from_entities_or_from_themes() {
    let (memory, space) = harbour().await;
    for mode in [Mode::Local, Mode::Global, Mode::Hybrid] {
        let mut recall = Recall::new("Who was in Lisbon?");
        recall.mode = mode;
        let answer = space.recall(recall).await.unwrap();
        assert!(texts(&answer)[0].contains("Lisbon"), "{mode:?}");
        assert!(answer.entities.iter().any(|node| node.name == "Lisbon"));
        let relation = answer
            .relations
            .iter()
            .find(|it| it.from == "Jonas" && it.to == "Lisbon");
        assert_eq!(relation.unwrap().sources.len(), 1);
    }
    memory.close().await;
}

#[tokio::test]
async fn a_cached_answer_is_made_anew_after_a_write() {
    let (memory, space) = harbour().await;
    let ask = || {
        let mut recall = Recall::new("Where is the anchor?");
        recall.noted = Noted::Look;
        space.recall(recall)
    };
    let before = ask().await.unwrap();
    assert!(std::sync::Arc::ptr_eq(&before, &ask().await.unwrap()));
    space
        .observe(Content::text("The anchor is in the shed."))
        .await
        .unwrap();
    assert_eq!(
        texts(&ask().await.unwrap())[0],
        "The anchor is in the shed."
    );
    memory.close().await;
}

#[tokio::test]
async fn a_graph_and_a_context_can_be_drawn() {
    let (memory, space) = harbour().await;
    let picture = space.graph(Some("Lisbon"), 20).await.unwrap();
    assert!(picture.nodes.iter().any(|node| node.name == "Jonas"));
    assert!(!picture.edges.is_empty());
    assert!(space.graph(None, 20).await.unwrap().nodes.len() > 2);
    let context = space.context("task-1", 10).await.unwrap();
    assert_eq!(context.conversations.len(), 2);
    assert!(context.concepts.contains(&"Bilge".to_owned()));
    memory.close().await;
}
