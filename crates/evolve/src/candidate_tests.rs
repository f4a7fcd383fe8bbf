use super::*;
use crate::source::Source;

fn component(text: &str) -> Component {
    Component::of_files("c", vec![Source::parse("x.py", text).unwrap()])
}

fn replace(from: usize, to: usize, text: &str) -> Edit {
    let replacement = Replacement {
        block: 0,
        from,
        to,
        text: text.to_owned(),
    };
    Edit {
        replacements: vec![replacement],
        values: Vec::new(),
    }
}

#[test]
fn an_edit_that_changes_nothing_has_the_same_hash() {
    let component = component("# EVOLVE-BLOCK-START\na = 1\n# EVOLVE-BLOCK-END\n");
    let origin = component.content();
    let hash = check(&component, &origin, 0).unwrap();
    let same = origin.edited(&replace(6, 6, "  # a comment\n\n")).unwrap();
    assert_eq!(check(&component, &same, 0).unwrap(), hash);
    let other = origin.edited(&replace(4, 5, "2")).unwrap();
    assert_ne!(check(&component, &other, 0).unwrap(), hash);
}

#[test]
fn a_candidate_with_a_marker_or_a_fault_of_syntax_is_refused_before_it_is_run() {
    let component = component("# EVOLVE-BLOCK-START\na = 1\n# EVOLVE-BLOCK-END\n");
    let origin = component.content();
    let marked = origin
        .edited(&replace(0, 0, "# EVOLVE-BLOCK-END\n"))
        .unwrap();
    assert_eq!(check(&component, &marked, 0).unwrap_err(), Unfit::Marker);
    let broken = origin.edited(&replace(4, 5, "(")).unwrap();
    assert_eq!(check(&component, &broken, 0).unwrap_err(), Unfit::Syntax);
    assert_eq!(origin.edited(&replace(4, 50, "2")), None);
}
