//! Files are changed by diffs, and changes are taken back.

use std::fs;

use expect_test::expect;
use proptest::prelude::*;
use serde_json::{Value, json};
use similar::TextDiff;
use skill::{MemoryCall, Registry};
use tools::history::HistoryLimits;
use tools::{Accepted, Error, History, Hunk, PatchProblem, ProjectPath, apply};

use crate::support::{Bed, names};

const DIFF: &str = "\
--- a/poem.txt
+++ b/poem.txt
@@ -1,3 +1,3 @@
-one
+ONE
 two
 three
@@ -7,3 +7,4 @@
 seven
 eight
+and a half
 nine
";

fn poem() -> String {
    let words = "one two three four five six seven eight nine ten";
    words.split(' ').map(|it| format!("{it}\n")).collect()
}

#[test]
fn hunks_are_found_where_they_moved_to_and_reported_one_by_one() {
    let patched = apply(&poem(), DIFF, &Accepted::All).unwrap();
    assert_eq!((patched.lines_added, patched.lines_removed), (2, 1));
    assert!(
        patched.content.starts_with("ONE\ntwo")
            && patched.content.contains("eight\nand a half\nnine")
    );

    let moved = format!("zero\n\n{}", poem());
    let patched = apply(&moved, DIFF, &Accepted::All).unwrap();
    let at = |line, offset, fuzz| Hunk::Applied { line, offset, fuzz };
    assert_eq!(patched.hunks, [at(3, 2, 0), at(9, 2, 0)]);

    // The context of the second hunk differs at its end.
    let other = poem().replace("nine", "neun");
    let patched = apply(&other, DIFF, &Accepted::All).unwrap();
    assert_eq!(patched.hunks, [at(1, 0, 0), at(7, 0, 1)]);
    assert!(patched.content.contains("eight\nand a half\nneun"));

    let only = apply(&poem(), DIFF, &Accepted::Only(vec![2])).unwrap();
    assert_eq!(only.hunks, [Hunk::LeftOut, at(7, 0, 0)]);
    assert!(only.content.starts_with("one\n") && only.content.contains("and a half"));

    let windows = poem().replace('\n', "\r\n");
    let patched = apply(&windows, DIFF, &Accepted::All).unwrap();
    assert!(patched.content.contains("eight\r\nand a half\r\nnine\r\n"));
}

#[test]
fn what_does_not_fit_is_named_and_changes_nothing() {
    let refuse =
        |text: &str, diff: &str, accepted: &Accepted| apply(text, diff, accepted).unwrap_err();
    let other = poem().replace("eight", "acht");
    assert_eq!(
        refuse(&other, DIFF, &Accepted::All),
        PatchProblem::NoPlace(vec![2])
    );
    assert_eq!(
        refuse("", DIFF, &Accepted::All),
        PatchProblem::NoPlace(vec![1, 2])
    );
    assert_eq!(
        refuse(&poem(), DIFF, &Accepted::Only(vec![3])),
        PatchProblem::NoSuchHunk {
            number: 3,
            hunks: 2
        }
    );
    for (diff, said) in [
        ("hello", "not a unified diff"),
        ("--- a\n+++ b\n", "not a unified diff"),
        (&*format!("{DIFF}{DIFF}"), "more than one file"),
        (
            "--- a\n+++ b\n@@ -1,9999999999999999999999 +1 @@\n",
            "not a unified diff",
        ),
    ] {
        let refused = refuse(&poem(), diff, &Accepted::All).to_string();
        assert!(refused.contains(said), "{diff:?}: {refused}");
    }
}

proptest! {
    /// A diff from any text to any other, applied to the first, gives the second.
    #[test]
    fn a_diff_applied_is_the_other_text(
        old in "([abc]{0,2}\n){0,30}[abc]?",
        new in "([abc]{0,2}\n){0,30}[abc]?",
    ) {
        let diff = TextDiff::from_lines(&old, &new).unified_diff().header("a", "b").to_string();
        if old != new {
            prop_assert_eq!(apply(&old, &diff, &Accepted::All).unwrap().content, new);
        }
    }
}

fn history(bed: &Bed) -> History {
    History::open(
        bed.project.clone(),
        bed.root.parent().unwrap().join("changes"),
    )
    .unwrap()
}

async fn call(skills: &Registry, skill: &str, input: Value) -> Value {
    let entry = skills.entry(skill).unwrap();
    let bound = entry.bind(input).await.unwrap();
    entry.preview(bound.clone()).await.unwrap();
    MemoryCall::new(skills.clone())
        .output(skill, bound)
        .await
        .unwrap()
}

#[tokio::test]
async fn the_skill_shows_and_applies_a_diff_and_undo_takes_it_back_also_after_other_changes() {
    let bed = Bed::new();
    let file = bed.put("poem.txt", poem());
    let read = || fs::read_to_string(&file).unwrap();
    let history = history(&bed);
    let skills = tools::skills_with_history(&history).unwrap();
    let input = json!({ "path": "poem.txt", "diff": DIFF, "hunks": [1] });
    let edited = call(&skills, "file-edit", input).await;
    assert_eq!(edited["says"], "/project/poem.txt: 1 hunk applied, +1 -1");
    assert_eq!(edited["hunks"][1], json!({ "number": 2, "applied": false }));
    assert!(read().starts_with("ONE\n"));

    // Another place of the file changes; only the change of the agent is taken back.
    fs::write(&file, read().replace("ten", "TEN")).unwrap();
    let undo = skills.entry("undo").unwrap();
    let bound = undo.bind(json!({})).await.unwrap();
    expect![[r#"
        --- a/poem.txt
        +++ b/poem.txt
        @@ -1,4 +1,4 @@
        -ONE
        +one
         two
         three
         four
    "#]]
    .assert_eq(&undo.preview(bound.clone()).await.unwrap().unwrap());
    let undone = MemoryCall::new(skills.clone())
        .output("undo", bound)
        .await
        .unwrap();
    assert_eq!(
        undone["says"],
        "/project/poem.txt is as it was before the change."
    );
    assert_eq!(read(), poem().replace("ten", "TEN"));

    // Undoing is a change, too.
    let again = json!({ "change": undone["change"] });
    call(&skills, "undo", again).await;
    assert!(read().starts_with("ONE\n") && read().ends_with("TEN\n"));
}

#[tokio::test]
async fn writes_moves_and_deletions_are_taken_back_and_what_changed_since_is_left() {
    let bed = Bed::new();
    let history = history(&bed);
    let skills = tools::skills_with_history(&history).unwrap();
    call(
        &skills,
        "file-write",
        json!({ "path": "a/new.md", "content": "rain\n" }),
    )
    .await;
    call(
        &skills,
        "file-move",
        json!({ "from": "a/new.md", "to": "b.md" }),
    )
    .await;
    call(&skills, "file-delete", json!({ "path": "b.md" })).await;
    assert_eq!(names(&bed.root), ["a"]);
    let changes = history.changes(10);
    let made: Vec<&str> = changes.iter().map(|it| &*it.skill).collect();
    assert_eq!(made, ["file-delete", "file-move", "file-write"]);
    // A new history reads what an earlier one recorded, as after a restart.
    let later = self::history(&bed);
    later.undo("ada", &changes[0].id, None).unwrap();
    assert_eq!(fs::read_to_string(bed.root.join("b.md")).unwrap(), "rain\n");
    later.undo("ada", &changes[1].id, None).unwrap();
    assert_eq!(names(&bed.root.join("a")), ["new.md"]);

    bed.put("a/new.md", "by a person\n");
    let refused = later.undo("ada", &changes[2].id, None).unwrap_err();
    assert!(matches!(refused, Error::NotUndone { .. }), "{refused}");
    assert_eq!(
        fs::read_to_string(bed.root.join("a/new.md")).unwrap(),
        "by a person\n"
    );
    bed.put("a/new.md", "rain\n");
    let (_, seen) = later.preview(&changes[2].id).unwrap();
    let refused = later
        .undo("ada", &changes[2].id, Some("other"))
        .unwrap_err();
    assert!(matches!(refused, Error::Changed(_)), "{refused}");
    later.undo("ada", &changes[2].id, Some(&seen)).unwrap();
    assert_eq!(names(&bed.root.join("a")), Vec::<String>::new());
    for wrong in ["", "../x", "00", "no"] {
        assert!(matches!(later.get(wrong), Err(Error::NoChange(_))));
    }
}

#[test]
fn a_history_is_bounded() {
    let bed = Bed::new();
    let mut limits = HistoryLimits::default();
    limits.changes = 3;
    let folder = bed.root.parent().unwrap().join("changes");
    let history = History::with_limits(bed.project.clone(), &folder, limits).unwrap();
    let path = ProjectPath::parse("a.txt").unwrap();
    for number in 0..6 {
        let content = format!("{number}\n");
        history
            .write(("ada", "file-write"), &path, &content, None)
            .unwrap();
    }
    assert_eq!(history.changes(100).len(), 3);
    assert_eq!(names(&folder).len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// A client that applies deltas holds exactly the file, over 1,000 random edits of it.
    #[test]
    fn a_client_that_applies_deltas_has_the_file_after_each_of_a_thousand_edits(
        edits in prop::collection::vec((0_usize..60, 0_usize..5, "([ab]{0,2}\n){0,4}[ab]?"), 1_000),
    ) {
        let path = ProjectPath::parse("a.txt").unwrap();
        let (mut file, mut client) = (String::new(), String::new());
        for (at, cut, text) in edits {
            let begin = file.len().min(at);
            let end = file.len().min(begin + cut);
            let next = format!("{}{text}{}", &file[..begin], &file[end..]);
            for delta in tools::deltas(&path, &file, &next) {
                let sent = serde_json::to_string(&delta).unwrap();
                let delta = serde_json::from_str(&sent).unwrap();
                client = tools::apply_delta(&client, &delta).unwrap();
            }
            file = next.chars().take(400).collect();
            if file.len() < next.len() {
                for delta in tools::deltas(&path, &next, &file) {
                    client = tools::apply_delta(&client, &delta).unwrap();
                }
            }
            prop_assert_eq!(&client, &file);
        }
    }
}
