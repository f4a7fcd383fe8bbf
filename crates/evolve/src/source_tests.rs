use super::*;

const TEXT: &str = "a\n// EVOLVE-BLOCK-START one\nb\n// EVOLVE-BLOCK-END\nc\n<!-- EVOLVE-BLOCK-START -->\n<!-- EVOLVE-BLOCK-END -->\n";

#[test]
fn only_the_inside_of_blocks_changes() {
    let source = Source::parse("x.rs", TEXT).unwrap();
    assert_eq!(source.blocks, ["b\n", ""]);
    assert_eq!(source.assemble(&source.blocks).0, TEXT);
    let (text, ranges) = source.assemble(&["new".to_owned(), "second\n".to_owned()]);
    assert_eq!(&text[ranges[0].clone()], "new");
    let again = Source::parse("x.rs", &text).unwrap();
    assert_eq!(again.blocks, ["new\n", "second\n"]);
}

#[test]
fn a_file_without_markers_is_one_block() {
    let source = Source::parse("x.py", "print('EVOLVE-BLOCK-START')\n").unwrap();
    assert_eq!(source.blocks.len(), 1);
    assert_eq!(
        source.assemble(&source.blocks).0,
        "print('EVOLVE-BLOCK-START')\n"
    );
}

#[test]
fn markers_that_do_not_match_are_refused_with_their_line() {
    for (text, line) in [
        ("# EVOLVE-BLOCK-START\nx\n", 1),
        ("x\n# EVOLVE-BLOCK-END\n", 2),
        ("# EVOLVE-BLOCK-START\n# EVOLVE-BLOCK-START\n", 2),
    ] {
        let refused = Source::parse("x.py", text).unwrap_err().to_string();
        assert!(refused.contains(&format!("line {line}")), "{refused}");
    }
}
