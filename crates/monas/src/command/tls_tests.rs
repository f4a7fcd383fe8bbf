//! Records that are made, and that none is made twice.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn command(folder: &Path, names: &[&str]) -> TlsCommand {
    TlsCommand {
        names: names.iter().map(|&name| name.to_owned()).collect(),
        folder: folder.join("made/here"),
    }
}

#[test]
fn keys_are_for_their_owner_alone_and_nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let command = command(folder.path(), &["agents.example", "10.0.0.7"]);
    let said = command.perform().unwrap();
    assert!(said.contains("agents.example, 10.0.0.7"), "{said}");
    let mut before = Vec::new();
    for (name, mode) in [
        ("ca-key.pem", 0o600),
        ("ca.pem", 0o644),
        ("key.pem", 0o600),
        ("cert.pem", 0o644),
    ] {
        let path = command.folder.join(name);
        let given = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(given, mode, "{name}");
        before.push((path.clone(), std::fs::read(&path).unwrap()));
    }

    // One file that is left is enough: it may be in use.
    std::fs::remove_file(&before[0].0).unwrap();
    let refused = command.perform().unwrap_err();
    assert!(
        matches!(&refused, Failure::Exists(path) if *path == before[1].0),
        "{refused}"
    );
    assert!(!before[0].0.exists());
    for (path, text) in &before[1..] {
        assert_eq!(std::fs::read(path).unwrap(), *text);
    }
}

#[test]
fn a_name_that_no_certificate_can_have_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let command = command(folder.path(), &["ägypten.example"]);
    let refused = command.perform().unwrap_err();
    assert!(refused.to_string().contains("ägypten.example"), "{refused}");
    assert!(!command.folder.exists());
}
