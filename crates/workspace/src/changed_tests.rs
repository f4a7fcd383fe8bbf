//! Changes of files: deltas, folders, texts that are not kept.

use super::*;

/// A project, in a folder that is removed with the first part.
fn project() -> (tempfile::TempDir, Known) {
    let folder = tempfile::tempdir().unwrap();
    let project = Project::open(folder.path()).unwrap();
    let mut known = Known::new(project);
    known.changes(Touched::Anything).unwrap();
    (folder, known)
}

fn touched(path: &str) -> Touched {
    Touched::Paths(BTreeSet::from([ProjectPath::parse(path).unwrap()]))
}

#[test]
fn deltas_begin_with_an_empty_file_and_go_on_from_what_was_told() {
    let (folder, mut known) = project();
    std::fs::write(folder.path().join("a.txt"), "one\ntwo\n").unwrap();
    let first = known.changes(touched("a.txt")).unwrap().remove(0);
    assert_eq!((first.operation, &first.before), ("created", &None));
    let text = first.deltas.iter().try_fold(String::new(), |text, delta| {
        tools::apply_delta(&text, delta)
    });
    assert_eq!(text.as_deref(), Some("one\ntwo\n"));
    // The same size, and perhaps the same time.
    std::fs::write(folder.path().join("a.txt"), "one\ntoo\n").unwrap();
    let next = known.changes(touched("a.txt")).unwrap().remove(0);
    assert_eq!((next.operation, &next.before), ("modified", &first.after));
    let text = tools::apply_delta("one\ntwo\n", &next.deltas[0]);
    assert_eq!(text.as_deref(), Some("one\ntoo\n"));
    assert!(known.changes(touched("a.txt")).unwrap().is_empty());
    std::fs::remove_file(folder.path().join("a.txt")).unwrap();
    let last = known.changes(touched("a.txt")).unwrap().remove(0);
    assert_eq!((last.operation, &last.after), ("deleted", &None));
}

#[test]
fn a_folder_is_looked_at_whole_when_it_comes_and_goes() {
    let (folder, mut known) = project();
    std::fs::create_dir(folder.path().join("in")).unwrap();
    std::fs::write(folder.path().join("in/a.txt"), "a").unwrap();
    std::fs::write(folder.path().join("in/b.bin"), [0xff, 0x00]).unwrap();
    let came = known.changes(touched("in")).unwrap();
    let paths: Vec<&str> = came.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["/project/in/a.txt", "/project/in/b.bin"]);
    assert!(came[1].deltas.is_empty() && came[1].after.is_none());
    std::fs::remove_dir_all(folder.path().join("in")).unwrap();
    let gone = known.changes(touched("in")).unwrap();
    assert!(gone.iter().all(|it| it.operation == "deleted"), "{gone:?}");
    assert_eq!(gone.len(), 2);
}

#[test]
fn texts_that_are_not_kept_begin_again() {
    let (folder, mut known) = project();
    std::fs::write(folder.path().join("a.txt"), "one\n").unwrap();
    known.changes(touched("a.txt")).unwrap();
    known.kept = MAX_KEPT;
    std::fs::write(folder.path().join("b.txt"), "two\n").unwrap();
    known.changes(touched("b.txt")).unwrap();
    assert_eq!(known.kept, 4);
    std::fs::write(folder.path().join("a.txt"), "three\n").unwrap();
    let change = known.changes(touched("a.txt")).unwrap().remove(0);
    assert_eq!(change.before, None);
    assert_eq!(change.deltas[0].content, "three\n");
}
