//! Reads, writes and previews are bounded.

use std::fs::File;

use tools::{Error, Limits, Lines, ProjectPath};

use crate::support::{Bed, names, soon};

fn small() -> Bed {
    let mut limits = Limits::default();
    limits.file_bytes = 1000;
    limits.write_bytes = 100;
    limits.answer_bytes = 10;
    limits.diff_bytes = 200;
    Bed::with(limits)
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let bed = small();
    bed.put("fits", "x".repeat(1000));
    bed.put("large", "x".repeat(1001));
    // A sparse file takes no space on disk, and reading it would fill the memory.
    let hole = File::create(bed.root.join("hole")).unwrap();
    hole.set_len(1 << 40).unwrap();
    assert!(bed.read("fits").is_ok());
    soon(move || {
        for (path, problem) in [
            (
                "large",
                "/project/large: 1001 bytes are too many, the limit is 1000",
            ),
            (
                "hole",
                "/project/hole: 1099511627776 bytes are too many, the limit is 1000",
            ),
        ] {
            assert_eq!(bed.read(path).unwrap_err().to_string(), problem);
            assert_eq!(bed.diff(path, "x").unwrap_err().to_string(), problem);
        }
        // Replacing the file does not read it.
        bed.write("hole", "x").unwrap();
    });
}

#[test]
fn a_reading_is_gone_on_with_until_all_is_read() {
    let bed = small();
    bed.put("file.txt", "1234\n5678\n9\nabcdefghi\nxyz\n");
    let path = ProjectPath::parse("file.txt").unwrap();
    let mut parts = Vec::new();
    let mut next = Some(1);
    while let Some(line) = next {
        let text = bed.project.read(&path, Lines::from(line)).unwrap();
        assert!(!text.cut);
        parts.push(text.content);
        next = text.next;
    }
    assert_eq!(parts, ["1234\n5678\n", "9\n", "abcdefghi\n", "xyz\n"]);
}

#[test]
fn a_line_that_is_too_long_is_cut_between_letters() {
    let bed = small();
    bed.put("file.txt", format!("{}\nnext\n", "ä€".repeat(10)));
    let text = bed.read("file.txt").unwrap();
    assert_eq!(
        (&*text.content, text.cut, text.next),
        ("ä€ä€", true, Some(2))
    );
}

#[test]
fn what_is_too_large_is_not_written() {
    let bed = small();
    bed.write("file.txt", &"x".repeat(100)).unwrap();
    for failed in [
        bed.write("file.txt", &"y".repeat(101)).unwrap_err(),
        bed.diff("file.txt", &"y".repeat(101)).unwrap_err(),
        bed.write("new/file.txt", &"y".repeat(101)).unwrap_err(),
    ] {
        assert!(
            matches!(
                failed,
                Error::TooLarge {
                    bytes: 101,
                    limit: 100,
                    ..
                }
            ),
            "{failed}"
        );
    }
    assert_eq!(names(&bed.root), ["file.txt"]);
}

#[test]
fn a_diff_that_is_too_long_is_none() {
    let bed = small();
    bed.put("file.txt", "\u{1b}\n".repeat(50));
    let diff = bed.diff("file.txt", "x\n");
    assert!(matches!(diff, Err(Error::TooMuch { .. })), "{diff:?}");
}

#[test]
fn a_diff_of_nothing_in_common_takes_no_longer_than_it_may() {
    let bed = Bed::new();
    let lines = |seed: u64| -> String {
        let number = |at: u64| (at * 2_654_435_761 + seed) % 1_000_003;
        (0..200_000).map(|at| format!("{}\n", number(at))).collect()
    };
    bed.put("file.txt", lines(1));
    let new = lines(7);
    soon(move || bed.diff("file.txt", &new).unwrap_err());
}
