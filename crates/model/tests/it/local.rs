//! Vectors of real weights, next to those of the reference.
//!
//! The weights are in the folder that `MONAS_WEIGHTS` names; `monas models pull all-minilm-l6-v2` fetches them.

use std::path::PathBuf;

use model::local::MiniLm;
use model::{Embed as _, cosine};

fn embedder() -> MiniLm {
    let folder = std::env::var("MONAS_WEIGHTS").expect(
        "MONAS_WEIGHTS names a folder with config.json, tokenizer.json and model.safetensors of all-minilm-l6-v2: \
         run `monas models pull all-minilm-l6-v2`, and name models/all-minilm-l6-v2 in its folder of data",
    );
    MiniLm::open("all-minilm-l6-v2", &PathBuf::from(folder)).unwrap()
}

async fn vectors(texts: &[&str]) -> Vec<Vec<f32>> {
    let texts = texts.iter().map(|&text| text.to_owned()).collect();
    embedder().embed(texts).await.unwrap()
}

/// The first numbers of each vector, by another implementation of the same network (numpy, with the tokenizer of
/// the weights' publisher).
const REFERENCE: [(&str, [f32; 6]); 4] = [
    (
        "A man is eating food.",
        [0.03324, 0.00441, -0.00628, 0.04838, -0.1387, -0.03362],
    ),
    (
        "Someone eats a meal.",
        [0.00032, 0.03447, -0.0116, 0.01307, -0.10565, -0.03605],
    ),
    (
        "The stock market fell today.",
        [0.05121, 0.0157, 0.07028, 0.06919, -0.00422, 0.01718],
    ),
    (
        "Zürich, ☕ & naïve façades",
        [0.04985, 0.05448, 0.04793, 0.00051, 0.07768, -0.06017],
    ),
];

#[tokio::test]
async fn vectors_are_those_of_the_reference() {
    let texts: Vec<&str> = REFERENCE.iter().map(|(text, _)| *text).collect();
    for (vector, (text, expected)) in vectors(&texts).await.iter().zip(REFERENCE) {
        assert_eq!(vector.len(), 384);
        for (number, expected) in vector.iter().zip(expected) {
            assert!(
                (number - expected).abs() < 1e-4,
                "{text}: {:?}",
                &vector[..6]
            );
        }
    }
}

#[tokio::test]
async fn what_means_the_same_is_near_and_what_does_not_is_not() {
    let of = vectors(&REFERENCE.map(|(text, _)| text)).await;
    assert!((cosine(&of[0], &of[1]) - 0.7614).abs() < 1e-3);
    assert!((cosine(&of[0], &of[2]) + 0.0170).abs() < 1e-3);
    assert!((cosine(&of[0], &of[0]) - 1.0).abs() < 1e-5);
}

#[tokio::test]
async fn a_text_is_read_as_far_as_it_can_be() {
    let long = "a word ".repeat(5000);
    let of = vectors(&[&long, "", "\u{0}"]).await;
    assert!(of.iter().flatten().all(|number| number.is_finite()));
}

#[test]
fn a_folder_without_weights_is_said_to_be_none() {
    let error = MiniLm::open("none", &PathBuf::from("there/is/none")).unwrap_err();
    assert!(error.to_string().contains("tokenizer.json"), "{error}");
}
