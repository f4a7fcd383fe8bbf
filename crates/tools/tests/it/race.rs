//! Folders of a path are replaced by symlinks while operations resolve it.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use tools::{Error, Query};

use crate::attack::pipe;
use crate::support::{Bed, SECRET, soon};

/// How often each outcome is seen before a race is over.
const ENOUGH: usize = 50;

/// Swaps two names atomically in a loop while an operation runs in a loop, until each outcome was seen often enough. The
/// swapping thread pauses while the lock is held.
fn race(one: &Path, other: &Path, mut attempt: impl FnMut(&Mutex<()>) -> bool) {
    let over = AtomicBool::new(false);
    let still = Mutex::new(());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let _swapping = still.lock().unwrap();
                renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
            }
        });
        // The other thread ends even if an attempt panics.
        let _end = End(&over);
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut seen = [0, 0];
        while seen.iter().any(|&count| count < ENOUGH) {
            seen[usize::from(attempt(&still))] += 1;
            assert!(
                Instant::now() < deadline,
                "too few of one outcome: {seen:?}"
            );
        }
    });
}

struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A folder `d` in the project, and a symlink `l` that leads out.
fn swapped_folders(bed: &Bed) -> (std::path::PathBuf, std::path::PathBuf) {
    bed.put("d/secret.txt", "inside");
    bed.put("d/deep/secret.txt", "inside");
    bed.link(&bed.outside, "l");
    (bed.root.join("d"), bed.root.join("l"))
}

fn is_outside(error: &Error) -> bool {
    matches!(error, Error::Outside(_))
}

#[test]
fn reading_through_a_folder_that_is_swapped_reads_nothing_outside() {
    let bed = Bed::new();
    let (one, other) = swapped_folders(&bed);
    race(&one, &other, |_| match bed.read("d/deep/secret.txt") {
        Ok(text) => {
            assert_eq!(text.content, "inside");
            true
        }
        Err(error) => {
            assert!(is_outside(&error), "{error}");
            false
        }
    });
    bed.check_outside();
}

#[test]
fn writing_through_a_folder_that_is_swapped_writes_nothing_outside() {
    let bed = Bed::new();
    let (one, other) = swapped_folders(&bed);
    let mut count = 0;
    race(&one, &other, |_| {
        count += 1;
        let new = format!("d/new-{}/{count}.txt", count % 7);
        let outcomes = [
            bed.write("d/secret.txt", &format!("inside {count}")),
            bed.write(&new, "new"),
        ];
        outcomes.iter().all(Result::is_ok)
    });
    bed.check_outside();
}

#[test]
fn a_file_that_is_swapped_with_a_symlink_is_not_read_outside() {
    let bed = Bed::new();
    let one = bed.put("file.txt", "inside");
    bed.link("../outside/secret.txt", "link.txt");
    race(&one, &bed.root.join("link.txt"), |_| {
        match bed.diff("file.txt", "inside and more") {
            Ok(diff) => assert!(!diff.contains(SECRET), "{diff}"),
            Err(error) => assert!(is_outside(&error), "{error}"),
        }
        match bed.read("file.txt") {
            Ok(text) => {
                assert_eq!(text.content, "inside");
                true
            }
            Err(error) => {
                assert!(is_outside(&error), "{error}");
                false
            }
        }
    });
    bed.check_outside();
}

#[test]
fn a_file_that_is_swapped_with_a_symlink_is_not_written_outside() {
    let bed = Bed::new();
    let one = bed.put("file.txt", "inside");
    let other = bed.root.join("link.txt");
    let is_link = |path: &Path| fs::symlink_metadata(path).unwrap().is_symlink();
    bed.link("../outside/secret.txt", "link.txt");
    let mut count = 0;
    race(&one, &other, |still| {
        count += 1;
        let written = bed.write("file.txt", &format!("inside {count}"));
        // A write may replace the symlink itself; the next attempt needs a new symlink.
        let _still = still.lock().unwrap();
        if [&one, &other].iter().all(|path| !is_link(path)) {
            bed.link("../outside/secret.txt", "next.txt");
            fs::rename(bed.root.join("next.txt"), &other).unwrap();
        }
        written.is_ok()
    });
    bed.check_outside();
}

#[test]
fn searching_a_folder_that_is_swapped_finds_nothing_outside() {
    let bed = Bed::new();
    let (one, other) = swapped_folders(&bed);
    let mut query = Query::new("(?i)secret|inside");
    query.syntax = tools::Syntax::Regex;
    query.path = tools::ProjectPath::parse("d").unwrap();
    race(&one, &other, |_| {
        match bed.project.search(&query, &|| false) {
            Ok(found) => {
                assert!(
                    found.hits.iter().all(|hit| hit.text == "inside"),
                    "{:?}",
                    found.hits
                );
                true
            }
            Err(_) => false,
        }
    });
    bed.check_outside();
}

#[test]
fn a_file_that_is_swapped_with_a_pipe_is_not_waited_for() {
    let bed = Bed::new();
    let one = bed.put("file.txt", "inside");
    let other = bed.root.join("pipe");
    pipe(&other);
    soon(move || {
        race(&one, &other, |_| match bed.read("file.txt") {
            Ok(text) => {
                assert_eq!(text.content, "inside");
                true
            }
            Err(error) => {
                assert!(matches!(error, Error::Kind { .. }), "{error}");
                false
            }
        });
    });
}

#[test]
fn readers_see_the_old_content_or_the_new() {
    let bed = Bed::new();
    let contents = ["a".repeat(100_000), "b".repeat(50_000)];
    bed.write("file.txt", &contents[0]).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut turn = 0;
            while !over.load(Ordering::Relaxed) {
                turn += 1;
                bed.write("file.txt", &contents[turn % 2]).unwrap();
            }
        });
        let _end = End(&over);
        let mut seen = [0, 0];
        let deadline = Instant::now() + Duration::from_secs(60);
        while seen.iter().any(|&count| count < ENOUGH) {
            let read = fs::read_to_string(bed.root.join("file.txt")).unwrap();
            let which = contents.iter().position(|content| *content == read);
            seen[which.expect("it is whole")] += 1;
            assert!(
                Instant::now() < deadline,
                "too few of one content: {seen:?}"
            );
        }
    });
}
