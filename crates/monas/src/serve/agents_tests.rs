//! Ids of agents, and folders of manifests.

use super::{read, unfit};

#[test]
fn an_id_is_a_label_that_no_address_of_the_protocol_has() {
    for id in ["scout", "a", "agent-7", &"x".repeat(63)] {
        assert_eq!(unfit(id), None, "{id}");
    }
    let long = "x".repeat(64);
    for id in [
        "",
        "v1",
        "default",
        "tasks",
        "agents",
        "extendedAgentCard",
        "message:send",
        "Scout",
        "-a",
        "a-",
        "a/b",
        "a.b",
        &long,
    ] {
        assert!(unfit(id).is_some(), "{id}");
    }
}

#[test]
fn a_folder_is_read_in_order_and_what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in [
        ("b.toml", "name = 'B'"),
        ("a.toml", "name = 'A'"),
        ("notes.md", "nothing"),
        ("a.law.toml", "[frozen]"),
    ] {
        std::fs::write(folder.path().join(file), text).unwrap();
    }
    let found = read(folder.path()).unwrap();
    let found: Vec<_> = found.iter().map(|(id, _, it)| (&**id, &*it.name)).collect();
    assert_eq!(found, [("a", "A"), ("b", "B")]);
    std::fs::write(folder.path().join("c.toml"), "nam = 'C'").unwrap();
    let error = read(folder.path()).unwrap_err().to_string();
    assert!(error.contains("c.toml") && error.contains("nam"), "{error}");
    assert!(read(&folder.path().join("none")).is_err());
}
