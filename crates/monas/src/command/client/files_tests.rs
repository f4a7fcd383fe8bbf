//! Names that a peer chose lead nowhere else.

use a2a::types::{Artifact, Part};

use super::files::{self, base_name};

#[test]
fn a_name_never_leads_out_of_its_folder() {
    for (given, kept) in [
        ("../../etc/passwd", "passwd"),
        ("/etc/passwd", "passwd"),
        ("..", ""),
        ("a\\..\\b.txt", "b.txt"),
        ("c:evil\n.txt", "cevil.txt"),
        (".bashrc", "bashrc"),
    ] {
        assert_eq!(base_name(given), kept, "{given}");
    }
}

#[test]
fn parts_become_files_with_names_of_their_own() {
    let named = Part {
        filename: "../out.txt".to_owned(),
        ..Part::raw(b"hello".to_vec())
    };
    let picture = Part {
        media_type: "image/png".to_owned(),
        ..Part::raw(b"png".to_vec())
    };
    // It went wrong: a picture that a tool server had named was written without an ending.
    let photo = Part {
        filename: "content-0".to_owned(),
        media_type: "image/jpeg".to_owned(),
        ..Part::raw(b"jpeg".to_vec())
    };
    let artifact = Artifact {
        artifact_id: "a-1".to_owned(),
        name: "report".to_owned(),
        parts: vec![
            Part::text("x"),
            Part::text("y"),
            named,
            picture,
            photo,
            Part::url("https://a.example/x"),
        ],
        ..Artifact::default()
    };
    let names: Vec<_> = files::of(&artifact)
        .into_iter()
        .map(|file| file.name)
        .collect();
    assert_eq!(
        names,
        ["report.txt", "out.txt", "report-2.png", "content-0.jpeg"]
    );
}

#[test]
fn a_file_is_not_replaced_by_accident() {
    let folder = tempfile::tempdir().unwrap();
    let file = |text: &str| files::File {
        name: "a.txt".to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let path = files::write(folder.path(), &file("one"), false).unwrap();
    let refused = files::write(folder.path(), &file("two"), false).unwrap_err();
    assert!(refused.to_string().contains("--force"), "{refused}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
    files::write(folder.path(), &file("two"), true).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
}
