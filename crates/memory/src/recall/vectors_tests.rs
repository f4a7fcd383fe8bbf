//! Vectors: the scan agrees with the exact product.

use proptest::prelude::*;

use super::vectors::Vectors;

fn unit(vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-3);
    vector.into_iter().map(|x| x / length).collect()
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
        for (slot, near) in vectors.scan(&asked).into_iter().enumerate() {
            let exact = vectors.near(slot as u32, &asked);
            prop_assert_eq!(near.is_some(), exact.is_some());
            if let (Some(near), Some(exact)) = (near, exact) {
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
    assert_eq!(vectors.scan(&[1.0, 0.0, 0.0]), []);
    vectors.remove(3);
    assert_eq!((vectors.count(), vectors.near(3, &[1.0, 0.0])), (0, None));
}
