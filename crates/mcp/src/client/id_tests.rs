//! Every tool gets a valid id that no other tool has.

use std::collections::HashSet;

use proptest::prelude::*;

use super::mint;

fn one(server: &str, tool: &str) -> String {
    mint(&[(server, tool)], |_| false).remove(0)
}

#[test]
fn names_become_labels() {
    assert_eq!(one("files", "read_file"), "files-read-file");
    assert_eq!(one("My Server", "Größe!!x"), "my-server-gr-e-x");
    assert_eq!(one("a", "__"), "a");
}

#[test]
fn an_id_that_a_skill_has_gets_another_end_and_always_the_same() {
    let taken = |id: &str| id == "files-read-file";
    let first = mint(&[("files", "read_file")], taken);
    assert!(
        first[0].starts_with("files-read-file-") && first[0].len() == 24,
        "{first:?}"
    );
    assert_eq!(first, mint(&[("files", "read_file")], taken));
    assert_ne!(first, mint(&[("files", "read.file")], taken));
}

#[test]
fn a_server_cannot_get_an_id_that_another_server_would_have() {
    let ids = mint(&[("a", "b-c"), ("a-b", "c"), ("a", "d")], |_| false);
    assert!(
        ids[0].starts_with("a-b-c-") && ids[1].starts_with("a-b-c-"),
        "{ids:?}"
    );
    assert_ne!(ids[0], ids[1]);
    assert_eq!(ids[2], "a-d");
}

proptest! {
    #[test]
    fn every_name_becomes_the_id_of_a_skill(server in ".{0,80}", tool in ".{0,200}", taken: bool) {
        let ids = mint(&[(&server, &tool), (&server, "other")], |_| taken);
        prop_assert!(ids.iter().all(|id| skill::is_label(id)), "{:?}", ids);
        let different: HashSet<_> = ids.iter().collect();
        prop_assert!(different.len() == 2 || tool == "other");
    }
}
