//! Reading, writing and previews of single files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use expect_test::{Expect, expect};
use tools::{Error, Lines, Project, ProjectPath};

use crate::support::{Bed, names};

fn path(text: &str) -> ProjectPath {
    ProjectPath::parse(text).unwrap()
}

#[test]
fn a_new_project_is_for_its_owner_and_welcomes_once() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("deep/workspace");
    let project = Project::open(&root).unwrap();
    assert!(project.is_new());
    project.welcome().unwrap();
    assert_eq!(
        fs::metadata(&root).unwrap().permissions().mode() & 0o777,
        0o700
    );
    assert_eq!(names(&root), ["WELCOME.md"]);
    let welcome = fs::read_to_string(root.join("WELCOME.md")).unwrap();
    assert!(welcome.starts_with("# Welcome\n"), "{welcome}");

    fs::remove_file(root.join("WELCOME.md")).unwrap();
    let again = Project::open(&root).unwrap();
    assert!(!again.is_new());
    again.welcome().unwrap();
    assert_eq!(names(&root), Vec::<String>::new());
}

#[test]
fn a_project_that_is_no_folder_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let failed = Project::open(&file).unwrap_err();
    assert!(matches!(failed, Error::Folder { .. }), "{failed}");
}

#[test]
fn a_file_is_read_by_lines() {
    let bed = Bed::new();
    bed.put("file.txt", "one\ntwo\r\nthree");
    for (lines, content, next) in [
        (Lines::all(), "one\ntwo\r\nthree", None),
        (Lines::all().take(1), "one\n", Some(2)),
        (Lines::from(2).take(1), "two\r\n", Some(3)),
        (Lines::from(3).take(9), "three", None),
        (Lines::from(4), "", None),
    ] {
        let text = bed.project.read(&path("file.txt"), lines).unwrap();
        assert_eq!((&*text.content, text.next), (content, next));
        assert_eq!((text.lines, text.bytes, text.cut), (3, 14, false));
    }
    bed.put("empty.txt", "");
    let text = bed.read("empty.txt").unwrap();
    assert_eq!((&*text.content, text.lines, text.next), ("", 0, None));
}

#[test]
fn what_is_no_text_is_not_read() {
    let bed = Bed::new();
    bed.put("image", [0x89, b'P', 0xff, 0xfe]);
    bed.put("folder/file.txt", "");
    for (path, problem) in [
        ("image", "/project/image: not UTF-8 text"),
        ("nothing", "/project/nothing: there is no such file"),
        (
            "nothing/at/all",
            "/project/nothing/at/all: there is no such file",
        ),
        ("folder", "/project/folder: it is a folder"),
        (".", "/project: it is a folder"),
        (
            "image/x",
            "/project/image/x: it is below something that is not a folder",
        ),
    ] {
        assert_eq!(bed.read(path).unwrap_err().to_string(), problem);
    }
}

#[test]
fn a_file_is_written_with_its_folders() {
    let bed = Bed::new();
    let new = bed.write("/project/a/b/c.txt", "one\n").unwrap();
    assert!(new.created && new.changed);
    assert_eq!(
        fs::read_to_string(bed.root.join("a/b/c.txt")).unwrap(),
        "one\n"
    );
    let same = bed.write("a/b/c.txt", "one\n").unwrap();
    assert!(!same.created && !same.changed);
    assert_eq!(same.hash, new.hash);
    let other = bed.write("a/b/c.txt", "two\n").unwrap();
    assert!(!other.created && other.changed);
    assert_eq!(other.hash, bed.read("a/b/c.txt").unwrap().hash);
    assert_eq!(names(&bed.root.join("a/b")), ["c.txt"]);
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let bed = Bed::new();
    bed.put("folder/file.txt", "old");
    let long = format!("folder/{}", "x".repeat(255));
    bed.write(&long, "fits").unwrap();
    for (path, problem) in [
        ("folder", "/project/folder: it is a folder"),
        (".", "/project: it is a folder"),
        (
            "folder/file.txt/x",
            "/project/folder/file.txt/x: it is below something that is not a folder",
        ),
    ] {
        assert_eq!(bed.write(path, "new").unwrap_err().to_string(), problem);
    }
    assert_eq!(names(&bed.root.join("folder")), ["file.txt", &long[7..]]);
    assert_eq!(names(&bed.root), ["folder"]);
}

#[test]
fn permissions_stay_and_read_only_files_are_left_alone() {
    let bed = Bed::new();
    let file = bed.put("run.sh", "one");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o750)).unwrap();
    bed.write("run.sh", "two").unwrap();
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o7777,
        0o750
    );
    fs::set_permissions(&file, fs::Permissions::from_mode(0o440)).unwrap();
    let failed = bed.write("run.sh", "three").unwrap_err();
    assert_eq!(failed.to_string(), "/project/run.sh: permission denied");
    assert_eq!(fs::read_to_string(&file).unwrap(), "two");
}

#[test]
fn a_file_that_has_changed_since_it_was_seen_is_left_alone() {
    let bed = Bed::new();
    bed.put("file.txt", "one");
    let at = path("file.txt");
    let seen = bed.read("file.txt").unwrap().hash;
    bed.project.write(&at, "two", Some(&seen)).unwrap();
    let late = bed.project.write(&at, "three", Some(&seen)).unwrap_err();
    assert_eq!(
        late.to_string(),
        "/project/file.txt: the file has changed since it was read; read it again"
    );
    // Writing the content that is already there succeeds.
    let again = bed.project.write(&at, "two", Some(&seen)).unwrap();
    assert!(!again.changed);
    let gone = bed
        .project
        .write(&path("gone.txt"), "x", Some(&seen))
        .unwrap_err();
    assert!(matches!(gone, Error::Changed(_)), "{gone}");
    assert_eq!(names(&bed.root), ["file.txt"]);
}

fn check_diff(old: Option<&[u8]>, new: &str, expected: &Expect) {
    let bed = Bed::new();
    if let Some(old) = old {
        bed.put("src/file.txt", old);
    }
    expected.assert_eq(&bed.diff("src/file.txt", new).unwrap());
    // A preview changes nothing.
    assert_eq!(bed.root.join("src").exists(), old.is_some());
}

#[test]
fn a_diff_shows_what_would_change() {
    let old = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9";
    check_diff(
        Some(old),
        new,
        &expect![[r#"
        --- a/src/file.txt
        +++ b/src/file.txt
        @@ -2,8 +2,8 @@
         2
         3
         4
        -5
        +five
         6
         7
         8
        -9
        +9
        \ No newline at end of file
    "#]],
    );
    check_diff(
        None,
        "new\n",
        &expect![[r#"
        --- /dev/null
        +++ b/src/file.txt
        @@ -0,0 +1 @@
        +new
    "#]],
    );
    check_diff(
        None,
        "",
        &expect![[r#"
        /project/src/file.txt is created as an empty file.
    "#]],
    );
    check_diff(
        Some(old),
        "",
        &expect![[r#"
        --- a/src/file.txt
        +++ b/src/file.txt
        @@ -1,9 +0,0 @@
        -1
        -2
        -3
        -4
        -5
        -6
        -7
        -8
        -9
    "#]],
    );
    check_diff(
        Some(b"same\n"),
        "same\n",
        &expect![[r#"
        /project/src/file.txt has this content already.
    "#]],
    );
    check_diff(
        Some(&[0xff, 0xfe]),
        "text\u{1b}\n",
        &expect![[r#"
        /project/src/file.txt is not text and is replaced as a whole.
        --- a/src/file.txt
        +++ b/src/file.txt
        @@ -0,0 +1 @@
        +text\u{1b}
    "#]],
    );
}

#[test]
fn a_diff_that_could_not_be_written_fails_as_writing_would() {
    let bed = Bed::new();
    bed.put("folder/file.txt", "old");
    for path in ["folder", ".", "folder/file.txt/x"] {
        let diff = bed.diff(path, "new").unwrap_err().to_string();
        assert_eq!(diff, bed.write(path, "new").unwrap_err().to_string());
    }
}

#[test]
fn a_file_of_any_content_is_made_once_and_read_up_to_a_size() {
    let bed = Bed::new();
    let path = ProjectPath::parse("pictures/one.png").unwrap();
    bed.project.create(&path, &[0xff, 0, 1]).unwrap();
    assert_eq!(bed.project.read_bytes(&path, 3).unwrap(), [0xff, 0, 1]);
    let again = bed.project.create(&path, b"x");
    assert!(matches!(again, Err(Error::Exists(_))), "{again:?}");
    let large = bed.project.read_bytes(&path, 2);
    assert!(matches!(large, Err(Error::TooLarge { .. })), "{large:?}");
    bed.link(&bed.outside, "out");
    let outside = ProjectPath::parse("out/new.txt").unwrap();
    assert!(bed.project.create(&outside, b"x").is_err());
    bed.check_outside();
}
