//! Properties of every ranking.

use proptest::prelude::*;

use super::Mode;
use super::question::Question;
use super::rank::{Ranked, Ranker};
use super::rank_reference;
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
    Ranker::default().rank(
        space.corpus(),
        &question,
        vector,
        &Weights::default(),
        limit,
        allowed,
    )
}

fn forget(space: &mut Space, number: usize) {
    let id = RecordId::new(number.to_string());
    let record = space.get(&id).unwrap().clone();
    for change in crate::decide::forget(space, &record, "a test", 0) {
        space.apply(change);
    }
}

/// More records than there are candidates, so that the best have to be selected from them.
#[test]
fn a_ranking_of_a_large_space_equals_the_plain_reference() {
    let mut state = 42_u32;
    let mut roll = |sides: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % sides
    };
    let turns: Vec<(String, u8, u8)> = (0..5000)
        .map(|_| {
            let words: Vec<&str> = (0..1 + roll(9)).map(|_| WORDS[roll(12)]).collect();
            (words.join(" "), roll(200) as u8, roll(3) as u8)
        })
        .collect();
    let space = space(&turns);
    let direction: Vec<f32> = (0..8).map(|_| roll(100) as f32 / 50.0 - 1.0).collect();
    let (weights, allowed) = (Weights::default(), |slot| slot % 3 > 0);
    let mut ranker = Ranker::default();
    for asked in [
        "Ada sings in Lisbon in June 2024?",
        "oak",
        "what?",
        "the boat, recently",
    ] {
        for vector in [None, Some(&direction[..])] {
            let question = Question::of(asked, space.graph());
            let corpus = space.corpus();
            let plain = rank_reference::rank(corpus, &question, vector, &weights, 100, &allowed);
            let ours = ranker.rank(corpus, &question, vector, &weights, 100, &allowed);
            assert_eq!(ours, plain, "{asked}");
        }
    }
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
        forget(&mut shrunk, turns.len() - 1);
        let scores = |space: &Space| -> Vec<u32> {
            ranked(space, &question, 1000, None, &|_| true).iter().map(|it| it.slot).collect()
        };
        let mut one = scores(&shrunk);
        let mut other = scores(&space(before));
        one.sort_unstable();
        other.sort_unstable();
        prop_assert_eq!(one, other);
    }

    #[test]
    fn a_ranking_equals_the_plain_reference_to_the_last_bit(
        turns in prop::collection::vec((sentence(), 0..4_u8, 0..3_u8), 1..60),
        questions in prop::collection::vec((sentence(), any::<bool>(), any::<bool>()), 1..4),
        forgotten in prop::collection::hash_set(0..60_usize, 0..8),
        mode in prop::sample::select(&[Mode::Hybrid, Mode::Local, Mode::Global][..]),
        limit in 1..80_usize,
        forbidden in 0..60_u32,
        direction in prop::collection::vec(-1.0_f32..1.0, 8),
    ) {
        let mut space = space(&turns);
        for number in forgotten.into_iter().filter(|it| *it < turns.len()) {
            forget(&mut space, number);
        }
        let weights = mode.adjust(&Weights::default());
        let allowed = |slot| slot != forbidden && space.at(slot).is_some();
        // One ranker for all questions: what one leaves behind must not show in the next.
        let mut ranker = Ranker::default();
        for (text, newest, by_vector) in questions {
            let text = if newest { text + " recently" } else { text };
            let question = Question::of(&text, space.graph());
            let vector = by_vector.then_some(&direction[..]);
            let corpus = space.corpus();
            let plain = rank_reference::rank(corpus, &question, vector, &weights, limit, &allowed);
            let ours = ranker.rank(corpus, &question, vector, &weights, limit, &allowed);
            prop_assert_eq!(ours, plain);
        }
    }
}
