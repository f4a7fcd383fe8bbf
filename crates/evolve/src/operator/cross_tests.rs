use super::*;
use crate::candidate::Content;

#[test]
fn a_child_has_lines_of_both() {
    let text = |lines: &str| vec![lines.replace(' ', "\n") + "\n"];
    let (own, other) = (text("a b c d e f"), text("A b c D e F"));
    let mut random = Random::at(1, 1);
    let mut mixed = 0;
    for _ in 0..50 {
        let Some(edit) = lines(&own, &other, &mut random) else {
            continue;
        };
        let content = Content {
            blocks: own.clone(),
            values: Vec::new(),
        };
        let child = content.edited(&edit).unwrap().blocks.remove(0);
        assert_eq!(child.to_lowercase(), own[0]);
        mixed += usize::from(child != own[0] && child != other[0]);
    }
    assert!(mixed > 30);
}
