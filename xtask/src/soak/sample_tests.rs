//! Figures of the server are added up by name.

use super::*;

#[test]
fn only_lines_of_that_name_are_added() {
    let metrics = "# HELP a b\na 2\nab 3\nc{x=\"1\"} 4\nc{x=\"2\"} 5\n";
    assert_eq!((sum(metrics, "a "), sum(metrics, "c{")), (2.0, 9.0));
}
