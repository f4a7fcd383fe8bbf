//! Files are listed, moved and deleted, and nothing outside is.

use std::fs;

use expect_test::expect;
use serde_json::{Value, json};
use skill::{MemoryCall, Registry};
use tools::{Error, ProjectPath};

use crate::support::{Bed, names};

fn skills(bed: &Bed) -> Registry {
    tools::skills(&bed.project).unwrap()
}

/// What a person is told of what a skill gave.
async fn told(bed: &Bed, skill: &str, input: Value) -> String {
    let skills = skills(bed);
    let output = MemoryCall::new(skills.clone()).output(skill, input).await;
    skills.entry(skill).unwrap().tell(&output.unwrap()).unwrap()
}

/// The error of a call as the gate makes it: the input is bound first.
async fn refused(bed: &Bed, skill: &str, input: Value) -> String {
    let skills = skills(bed);
    let bound = match skills.entry(skill).unwrap().bind(input).await {
        Ok(bound) => bound,
        Err(error) => return error.to_string(),
    };
    let output = MemoryCall::new(skills).output(skill, bound).await;
    output.unwrap_err().to_string()
}

fn path(text: &str) -> ProjectPath {
    ProjectPath::parse(text).unwrap()
}

#[tokio::test]
async fn what_a_skill_gives_is_told_in_lines_and_not_as_json() {
    let bed = Bed::new();
    bed.put("notes.md", "rain\nsun\n");
    bed.put("src/main.rs", "fn main() {}\n");
    bed.link("notes.md", "again");
    expect![[r#"
        again (a link)
        notes.md  9 bytes
        src/
        1 file and 1 folder in /project."#]]
    .assert_eq(&told(&bed, "file-list", json!({})).await);
    expect![[r#"
        src/main.rs  13 bytes
        1 file in /project."#]]
    .assert_eq(&told(&bed, "file-list", json!({ "glob": "*.rs" })).await);
    expect!["There is nothing of that kind in /project."]
        .assert_eq(&told(&bed, "file-list", json!({ "glob": "*.py" })).await);
    expect![[r#"
        rain
        sun
    "#]]
    .assert_eq(&told(&bed, "file-read", json!({ "path": "notes.md" })).await);
    expect![[r#"
        rain
        … /project/notes.md goes on with line 2 of 2."#]]
    .assert_eq(&told(&bed, "file-read", json!({ "path": "notes.md", "limit": 1 })).await);
    expect!["src/main.rs:1: fn main() {}"]
        .assert_eq(&told(&bed, "file-search", json!({ "query": "main" })).await);
    expect!["Nothing found: I looked into 2 files."]
        .assert_eq(&told(&bed, "file-search", json!({ "query": "xyzzy" })).await);
}

#[tokio::test]
async fn a_folder_with_more_than_is_asked_for_says_so() {
    let bed = Bed::new();
    for number in 0..5 {
        bed.put(&format!("{number}.txt"), "x");
    }
    let listed = told(&bed, "file-list", json!({ "limit": 2 })).await;
    assert!(
        listed.ends_with("That is not all: there are more lines."),
        "{listed}"
    );
}

#[tokio::test]
async fn a_file_is_moved_into_a_folder_or_renamed_and_overwrites_nothing() {
    let bed = Bed::new();
    bed.put("notes.md", "rain\n");
    bed.put("archive/old.md", "old\n");
    let skills = skills(&bed);
    let entry = skills.entry("file-move").unwrap();
    let into = json!({ "from": "notes.md", "to": "archive" });
    let bound = entry.bind(into).await.unwrap();
    assert_eq!(bound["to"], "archive/notes.md");
    assert_eq!(
        entry.preview(bound.clone()).await.unwrap().unwrap(),
        "This would move /project/notes.md to /project/archive/notes.md."
    );
    let call = MemoryCall::new(skills.clone());
    let moved = call.output("file-move", bound.clone()).await.unwrap();
    assert_eq!(moved["changed"], true);
    // Begun again after a restart.
    let again = call.output("file-move", bound).await.unwrap();
    assert_eq!(again["changed"], false);
    assert_eq!(names(&bed.root.join("archive")), ["notes.md", "old.md"]);

    // A slash at the end means a folder, also one that is made by the move.
    let made = json!({ "from": "archive/notes.md", "to": "drafts/" });
    let bound = entry.bind(made).await.unwrap();
    assert_eq!(bound["to"], "drafts/notes.md");
    call.output("file-move", bound).await.unwrap();
    let back = json!({ "from": "drafts/notes.md", "to": "archive/" });
    call.output("file-move", back).await.unwrap();
    assert_eq!(names(&bed.root.join("archive")), ["notes.md", "old.md"]);

    let taken = json!({ "from": "archive/notes.md", "to": "archive/old.md" });
    assert_eq!(
        refused(&bed, "file-move", taken).await,
        "could not move /project/archive/old.md: a file or folder with this name exists"
    );
    assert_eq!(
        refused(
            &bed,
            "file-move",
            json!({ "from": "gone.md", "to": "here.md" })
        )
        .await,
        "could not move /project/gone.md: there is no such file"
    );
    assert_eq!(
        fs::read_to_string(bed.root.join("archive/old.md")).unwrap(),
        "old\n"
    );
}

#[tokio::test]
async fn a_file_is_deleted_as_it_was_seen() {
    let bed = Bed::new();
    let file = bed.put("notes.md", "rain\n");
    let skills = skills(&bed);
    let entry = skills.entry("file-delete").unwrap();
    let bound = entry.bind(json!({ "path": "notes.md" })).await.unwrap();
    let shown = entry.preview(bound.clone()).await.unwrap().unwrap();
    assert!(
        shown.starts_with("This would delete /project/notes.md (5 bytes) for good:"),
        "{shown}"
    );
    assert!(shown.contains("-rain"), "{shown}");
    assert!(file.exists(), "to show is not to do");

    bed.put("notes.md", "sun\n");
    let call = MemoryCall::new(skills.clone());
    let changed = call.output("file-delete", bound).await.unwrap_err();
    assert_eq!(changed.code(), "changed");

    let bound = entry.bind(json!({ "path": "notes.md" })).await.unwrap();
    let deleted = call.output("file-delete", bound.clone()).await.unwrap();
    assert_eq!(deleted["says"], "/project/notes.md is deleted.");
    assert!(!file.exists());
    let again = call.output("file-delete", bound).await.unwrap();
    assert_eq!(again["says"], "/project/notes.md was deleted already.");
    assert_eq!(
        refused(&bed, "file-delete", json!({ "path": "notes.md" })).await,
        "could not delete /project/notes.md: there is no such file"
    );
}

#[test]
fn a_folder_is_deleted_when_it_is_empty_and_the_project_never() {
    let bed = Bed::new();
    bed.put("drafts/one.md", "x");
    let refused = bed.project.delete(&path("drafts"), None).unwrap_err();
    assert!(matches!(refused, Error::NotEmpty(_)), "{refused}");
    bed.project.delete(&path("drafts/one.md"), None).unwrap();
    assert!(bed.project.delete(&path("drafts"), None).unwrap());
    let refused = bed.project.delete(&path("."), None).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "/project: it is the folder of the project itself"
    );
    assert_eq!(names(&bed.root), Vec::<String>::new());
}

#[test]
fn a_symlink_is_deleted_and_moved_itself_and_not_what_it_leads_to() {
    let bed = Bed::new();
    bed.link(bed.outside.join("secret.txt"), "leak");
    bed.link(&bed.outside, "out");
    bed.project
        .rename(&path("leak"), &path("kept"), None)
        .unwrap();
    bed.project.delete(&path("kept"), None).unwrap();
    for (from, to) in [("out/secret.txt", "here"), ("here.txt", "out/here.txt")] {
        bed.put("here.txt", "x");
        let refused = bed
            .project
            .rename(&path(from), &path(to), None)
            .unwrap_err();
        assert!(matches!(refused, Error::Outside(_)), "{refused}");
    }
    let refused = bed
        .project
        .delete(&path("out/secret.txt"), None)
        .unwrap_err();
    assert!(matches!(refused, Error::Outside(_)), "{refused}");
    let refused = bed.project.list(&path("out"), None, 10).unwrap_err();
    assert!(matches!(refused, Error::Outside(_)), "{refused}");
    bed.check_outside();
}

#[tokio::test]
async fn text_is_added_at_the_end_on_a_line_of_its_own() {
    let bed = Bed::new();
    let file = bed.put("shopping.md", "milk\nbread");
    let skills = skills(&bed);
    let input = json!({ "path": "shopping.md", "content": "eggs", "append": true });
    let entry = skills.entry("file-write").unwrap();
    let bound = entry.bind(input).await.unwrap();
    assert_eq!(bound["content"], "milk\nbread\neggs\n");
    let shown = entry.preview(bound.clone()).await.unwrap().unwrap();
    assert!(
        shown.contains("+eggs") && !shown.contains("-milk"),
        "{shown}"
    );
    let call = MemoryCall::new(skills.clone());
    let wrote = call.output("file-write", bound).await.unwrap();
    assert_eq!(wrote["says"], "/project/shopping.md: changed, 16 bytes");
    assert_eq!(fs::read_to_string(file).unwrap(), "milk\nbread\neggs\n");
}

#[tokio::test]
async fn a_symlink_is_previewed_as_itself_and_a_folder_is_not_moved_into_itself() {
    let bed = Bed::new();
    bed.put("notes.md", "rain\n");
    bed.put("src/main.rs", "x");
    bed.link("notes.md", "again");
    let skills = skills(&bed);
    let entry = skills.entry("file-delete").unwrap();
    let bound = entry.bind(json!({ "path": "again" })).await.unwrap();
    let shown = entry.preview(bound).await.unwrap().unwrap();
    assert_eq!(shown, "This would delete /project/again for good.");
    assert_eq!(
        refused(&bed, "file-move", json!({ "from": "src", "to": "src" })).await,
        "could not move /project/src: a folder cannot be moved into itself"
    );
    // What was read is moved into a folder, too.
    let seen = bed.read("notes.md").unwrap().hash;
    let input = json!({ "from": "notes.md", "to": "src", "seen": seen });
    let bound = skills
        .entry("file-move")
        .unwrap()
        .bind(input)
        .await
        .unwrap();
    assert_eq!(bound["to"], "src/notes.md");
}
