//! Properties of every ranking.

use proptest::prelude::*;

use super::question::Question;
use super::rank::{Ranked, rank};
use super::weights::Weights;
use crate::record::{Content, Record, RecordId, Standing, Usage};
use crate::space::{Change, Derived, Space};

const WORDS: [&str; 12] = [
    "harbour", "boat", "Ada", "choir", "June", "Lisbon", "varnish", "cat", "sings", "what", "oak",
    "2024",
];

fn sentence() -> impl Strategy<Value = String> {
    let word = prop::sample::select(&WORDS[..]);
    (prop::collection::vec(word, 1..6), any::<bool>())
        .prop_map(|(words, asks)| words.join(" ") + if asks { "?" } else { "." })
}

fn space(turns: &[(String, u8, u8)]) -> Space {
    let mut space = Space::default();
    for (number, (text, session, speaker)) in turns.iter().enumerate() {
        let mut content = Content::text(text.clone());
        content.session = (*session > 0).then(|| session.to_string());
        content.speaker = ["Ada", "Bob", ""]
            .get(usize::from(*speaker))
            .map(|it| (*it).to_owned());
        content.occurred = Some(1_717_900_000_000 + number as i64 * 86_400_000);
        let mut vector = vec![0.1; 8];
        vector[number % 8] = 1.0;
        let id = RecordId::new(number.to_string());
        space.apply(Change::Insert(Record {
            id: id.clone(),
            content,
            recorded: 0,
            standing: Standing::Observed,
            usage: Usage::default(),
            echo: None,
        }));
        space.apply(Change::Derive(
            id,
            Derived::Vector("any".to_owned(), vector),
        ));
    }
    space
}

fn ranked(
    space: &Space,
    question: &str,
    limit: usize,
    vector: Option<&[f32]>,
    allowed: &dyn Fn(u32) -> bool,
) -> Vec<Ranked> {
    let question = Question::of(question, space.graph());
    rank(
        space.corpus(),
        &question,
        vector,
        &Weights::default(),
        limit,
        allowed,
    )
}

proptest! {
    #[test]
    fn a_ranking_is_sorted_explained_allowed_and_the_beginning_of_a_longer_one(
        turns in prop::collection::vec((sentence(), 0..4_u8, 0..3_u8), 1..40),
        question in sentence(),
        limit in 1..20_usize,
        forbidden in 0..40_u32,
        by_vector in any::<bool>(),
    ) {
        let space = space(&turns);
        let asked = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let vector = by_vector.then_some(&asked[..]);
        let allowed = |slot| slot != forbidden;
        let some = ranked(&space, &question, limit, vector, &allowed);
        prop_assert!(some.len() <= limit);
        for pair in some.windows(2) {
            prop_assert!(pair[0].score >= pair[1].score);
        }
        for it in &some {
            prop_assert!(it.slot != forbidden && it.score > 0.0 && it.score.is_finite());
            let sum: f32 = it.signs().iter().map(|(_, part)| part).sum();
            prop_assert!((sum - it.score).abs() < 1e-3, "{} and {}", sum, it.score);
        }
        let all = ranked(&space, &question, 1000, vector, &allowed);
        prop_assert_eq!(&all[..some.len()], &some[..]);
        prop_assert_eq!(ranked(&space, &question, limit, vector, &allowed), some);
    }

    #[test]
    fn what_has_a_word_of_the_question_is_found(
        turns in prop::collection::vec((sentence(), 0..4_u8, 0..3_u8), 1..40),
        word in prop::sample::select(&["harbour", "boat", "choir", "varnish", "oak"][..]),
    ) {
        let space = space(&turns);
        let found: Vec<u32> = ranked(&space, word, 1000, None, &|_| true).iter().map(|it| it.slot).collect();
        for (slot, (text, ..)) in turns.iter().enumerate() {
            prop_assert!(!text.contains(word) || found.contains(&(slot as u32)), "{text}");
        }
    }

    #[test]
    fn what_was_taken_out_leaves_no_trace(
        turns in prop::collection::vec((sentence(), 0..4_u8, 0..3_u8), 2..30),
        question in sentence(),
    ) {
        // After a record is removed, a space ranks as if it had never been added.
        let (_, before) = turns.split_last().unwrap();
        let mut shrunk = space(&turns);
        let last = RecordId::new((turns.len() - 1).to_string());
        let record = shrunk.get(&last).unwrap().clone();
        for change in crate::decide::forget(&shrunk, &record, "a test", 0) {
            shrunk.apply(change);
        }
        let scores = |space: &Space| -> Vec<u32> {
            ranked(space, &question, 1000, None, &|_| true).iter().map(|it| it.slot).collect()
        };
        let mut one = scores(&shrunk);
        let mut other = scores(&space(before));
        one.sort_unstable();
        other.sort_unstable();
        prop_assert_eq!(one, other);
    }
}
