//! The embedder for tests keeps the contract of embedders.

use super::Words;
use crate::{Embed as _, Error, cosine};

async fn vectors(texts: &[&str]) -> Vec<Vec<f32>> {
    let texts = texts.iter().map(|&text| text.to_owned()).collect();
    Words::new(256).embed(texts).await.unwrap()
}

#[tokio::test]
async fn texts_that_share_words_are_near_and_others_are_not() {
    let of = vectors(&["the red house", "a RED house!", "fish swim"]).await;
    assert!(cosine(&of[0], &of[1]) > 0.5);
    assert!(cosine(&of[0], &of[2]) < 0.1);
    assert!((cosine(&of[0], &of[0]) - 1.0).abs() < 1e-6);
}

#[tokio::test]
async fn a_text_without_words_has_no_direction() {
    assert_eq!(vectors(&["…"]).await, [vec![0.0; 256]]);
}

#[tokio::test]
async fn it_fails_when_it_is_told_to() {
    let words = Words::new(8);
    words.fail(Some(Error::Server("down".to_owned())));
    let failed = words.embed(vec!["a".to_owned()]).await;
    assert_eq!(failed, Err(Error::Server("down".to_owned())));
    words.fail(None);
    assert!(words.embed(vec!["a".to_owned()]).await.is_ok());
}
