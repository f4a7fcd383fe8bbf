//! Vectors: the scan agrees with the exact product.

use proptest::prelude::*;

use super::vectors::Vectors;

fn unit(vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-3);
    vector.into_iter().map(|x| x / length).collect()
}

fn scanned(vectors: &Vectors, asked: &[f32]) -> Vec<f32> {
    let mut near = vec![7.0];
    vectors.scan(asked, &mut near);
    near
}

proptest! {
    #[test]
    fn the_scan_is_nearly_exact(
        rows in proptest::collection::vec(proptest::collection::vec(-1.0_f32..1.0, 32), 1..20),
        asked in proptest::collection::vec(-1.0_f32..1.0, 32),
    ) {
        let mut vectors = Vectors::default();
        for (slot, row) in rows.iter().enumerate() {
            vectors.insert(slot as u32, &unit(row.clone()));
        }
        let asked = unit(asked);
        for (slot, near) in scanned(&vectors, &asked).into_iter().enumerate() {
            let exact = vectors.near(slot as u32, &asked);
            prop_assert_eq!(near.is_finite(), exact.is_some());
            if let Some(exact) = exact {
                prop_assert!((near - exact).abs() < 0.03, "{} and {}", near, exact);
            }
        }
    }
}

#[test]
fn a_vector_of_another_embedder_is_not_taken_in() {
    let mut vectors = Vectors::default();
    assert!(vectors.insert(3, &[1.0, 0.0]));
    assert!(!vectors.insert(4, &[1.0, 0.0, 0.0]));
    assert!(!vectors.insert(5, &[0.0, 0.0]));
    assert_eq!(
        (vectors.count(), vectors.has(3), vectors.has(4)),
        (1, true, false)
    );
    assert!(scanned(&vectors, &[1.0, 0.0, 0.0]).is_empty());
    vectors.remove(3);
    assert_eq!((vectors.count(), vectors.near(3, &[1.0, 0.0])), (0, None));
}
