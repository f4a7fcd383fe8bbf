//! Symlinks, hard links and special files cannot lead out of a project.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tools::{Error, Kind, Query};

use crate::support::{Bed, SECRET, names, soon};

pub(crate) fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

/// A project with symlinks that lead out, and paths through them.
fn holes(bed: &Bed) -> Vec<&'static str> {
    bed.put("here/file.txt", "inside");
    bed.link(&bed.outside, "absolute");
    bed.link("../outside", "relative");
    bed.link("../../outside", "here/relative");
    bed.link("/", "everything");
    bed.link("..", "above");
    bed.link("../..", "here/above");
    bed.link("here/../../outside", "detour");
    bed.link("absolute", "chain");
    bed.link("chain", "longer");
    bed.link(bed.outside.join("secret.txt"), "file");
    bed.link("../outside/secret.txt", "here/file");
    bed.link("../outside/new.txt", "dangling");
    bed.link("/proc/self/root", "magic");
    bed.link("/proc/self/cwd", "here/magic");
    bed.link(&bed.root, "itself");
    vec![
        "absolute/secret.txt",
        "absolute/deep/secret.txt",
        "absolute/new.txt",
        "absolute/new/new.txt",
        "relative/secret.txt",
        "relative/new.txt",
        "here/relative/secret.txt",
        "everything/etc/passwd",
        "everything/tmp/new.txt",
        "above/outside/secret.txt",
        "above/outside/new.txt",
        "here/above/outside/secret.txt",
        "detour/secret.txt",
        "chain/secret.txt",
        "longer/deep/new.txt",
        "file",
        "magic/etc/passwd",
        "here/magic/Cargo.toml",
        // A path that leaves the project and comes back in is refused, too.
        "itself/here/file.txt",
    ]
}

#[test]
fn no_symlink_leads_out() {
    let bed = Bed::new();
    for path in holes(&bed) {
        for failed in [
            bed.read(path).unwrap_err(),
            bed.diff(path, "x").unwrap_err(),
            bed.write(path, "x").unwrap_err(),
        ] {
            assert!(matches!(failed, Error::Outside(_)), "{path}: {failed}");
            assert_eq!(
                failed.to_string(),
                format!("/project/{path}: a symlink leads out of the project")
            );
        }
        assert!(!bed.try_all(path).contains(SECRET));
    }
    bed.check_outside();
}

#[test]
fn a_symlink_that_leads_nowhere_outside_makes_nothing_there() {
    let bed = Bed::new();
    holes(&bed);
    for path in ["dangling", "here/file/x"] {
        bed.read(path).unwrap_err();
        bed.write(path, "x").unwrap_err();
    }
    bed.check_outside();
}

#[test]
fn a_search_goes_through_no_symlink() {
    let bed = Bed::new();
    holes(&bed);
    assert_eq!(bed.find(&Query::new(SECRET)), Vec::<String>::new());
    assert_eq!(
        bed.find(&Query::new("inside")),
        ["/project/here/file.txt:1:inside"]
    );
}

#[test]
fn a_gitignore_that_leads_out_is_not_read() {
    let bed = Bed::new();
    fs::write(bed.outside.join("secret.txt"), "file.txt\n").unwrap();
    bed.link("../outside/secret.txt", ".gitignore");
    bed.put("file.txt", "inside");
    assert_eq!(
        bed.find(&Query::new("inside")),
        ["/project/file.txt:1:inside"]
    );
}

#[test]
fn symlinks_that_stay_inside_are_followed() {
    let bed = Bed::new();
    bed.put("real/file.txt", "inside");
    bed.link("real", "folder");
    bed.link("real/file.txt", "file");
    assert_eq!(bed.read("folder/file.txt").unwrap().content, "inside");
    assert_eq!(bed.read("file").unwrap().content, "inside");
    bed.write("file", "changed").unwrap();
    assert_eq!(bed.read("real/file.txt").unwrap().content, "changed");
    let link = fs::symlink_metadata(bed.root.join("file")).unwrap();
    assert!(link.is_symlink(), "the symlink is still one");
    bed.write("folder/new.txt", "new").unwrap();
    assert_eq!(bed.read("real/new.txt").unwrap().content, "new");
}

#[test]
fn symlinks_in_a_circle_come_to_an_end() {
    let bed = Bed::new();
    bed.link("two", "one");
    bed.link("one", "two");
    bed.link(".", "self");
    bed.read("one").unwrap_err();
    bed.write("one/x", "x").unwrap_err();
    bed.write("one", "x").unwrap_err();
    bed.put("file.txt", "inside");
    assert_eq!(
        bed.read("self/self/self/file.txt").unwrap().content,
        "inside"
    );
    assert_eq!(bed.find(&Query::new("inside")).len(), 1);
}

#[test]
fn pipes_sockets_and_devices_are_refused_and_not_waited_for() {
    let bed = Bed::new();
    pipe(&bed.root.join("pipe"));
    let _socket = UnixListener::bind(bed.root.join("socket")).unwrap();
    bed.put("file.txt", "inside");
    bed.link("pipe", "link");
    soon(move || {
        for path in ["pipe", "socket", "link"] {
            for failed in [
                bed.read(path).unwrap_err(),
                bed.diff(path, "x").unwrap_err(),
                bed.write(path, "x").unwrap_err(),
            ] {
                let special = matches!(
                    failed,
                    Error::Kind {
                        kind: Kind::Special,
                        ..
                    }
                );
                assert!(special, "{path}: {failed}");
            }
            let mut query = Query::new("x");
            query.path = tools::ProjectPath::parse(path).unwrap();
            bed.project.search(&query, &|| false).unwrap_err();
        }
        assert_eq!(bed.find(&Query::new("inside")).len(), 1);
        // /dev has devices already; creating one would need root.
        let devices = tools::Project::open(Path::new("/dev")).unwrap();
        for name in ["zero", "null", "full"] {
            let path = tools::ProjectPath::parse(name).unwrap();
            let failed = devices.read(&path, tools::Lines::all()).unwrap_err();
            assert_eq!(
                failed.to_string(),
                format!("/project/{name}: it is neither a file nor a folder")
            );
        }
    });
}

#[test]
fn a_file_that_is_also_outside_keeps_its_content_there() {
    let bed = Bed::new();
    fs::hard_link(bed.outside.join("secret.txt"), bed.root.join("shared.txt")).unwrap();
    bed.write("shared.txt", "changed").unwrap();
    assert_eq!(bed.read("shared.txt").unwrap().content, "changed");
    bed.check_outside();
}

#[test]
fn a_file_does_not_stay_one_that_runs_as_its_owner() {
    let bed = Bed::new();
    let path = bed.put("run", "#!/bin/sh\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o6755)).unwrap();
    bed.write("run", "#!/bin/sh\nid\n").unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o755
    );
}

#[test]
fn the_project_stays_the_folder_it_was_opened_as() {
    let bed = Bed::new();
    bed.put("file.txt", "inside");
    let away = bed.root.with_extension("away");
    fs::rename(&bed.root, &away).unwrap();
    symlink(&bed.outside, &bed.root).unwrap();
    assert_eq!(bed.read("file.txt").unwrap().content, "inside");
    bed.read("secret.txt").unwrap_err();
    bed.write("new.txt", "new").unwrap();
    assert_eq!(names(&away), ["file.txt", "new.txt"]);
    fs::remove_file(&bed.root).unwrap();
    fs::rename(&away, &bed.root).unwrap();
    bed.check_outside();
}
