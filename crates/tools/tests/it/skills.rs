//! The skills, called in memory.

use std::fs;

use expect_test::expect;
use serde_json::{Value, json};
use skill::MemoryCall;

use crate::support::Bed;

/// The skills of a project.
fn serve(bed: &Bed) -> MemoryCall {
    MemoryCall::new(tools::skills(&bed.project).unwrap())
}

async fn output(call: &MemoryCall, skill: &str, input: Value) -> Value {
    call.output(skill, input).await.unwrap()
}

#[tokio::test]
async fn a_file_is_written_read_and_found() {
    let bed = Bed::new();
    let call = serve(&bed);
    let input = json!({ "path": "notes/today.md", "content": "rain\nsun\n" });
    let wrote = output(&call, "file-write", input).await;
    assert_eq!(wrote["path"], "/project/notes/today.md");
    assert_eq!(wrote["created"], true);

    let input = json!({ "path": "/project/notes/today.md", "offset": 2, "limit": 1 });
    let read = output(&call, "file-read", input).await;
    let expected = json!({
        "path": "/project/notes/today.md", "content": "sun\n", "total_lines": 2, "size": 9, "hash": wrote["hash"],
    });
    assert_eq!(read, expected);

    let input = json!({ "query": "s.n", "regex": true, "glob": "*.md" });
    let found = output(&call, "file-search", input).await;
    let expected = json!({
        "matches": [{ "path": "/project/notes/today.md", "line": 2, "content": "sun" }],
        "files_searched": 1, "files_skipped": 0,
    });
    assert_eq!(found, expected);
}

#[tokio::test]
async fn what_goes_wrong_is_told_in_words_and_as_a_code() {
    let bed = Bed::new();
    bed.link(&bed.outside, "out");
    let call = serve(&bed);
    for (skill, input, code, said) in [
        (
            "file-read",
            json!({ "path": "../outside/secret.txt" }),
            "invalid-path",
            "could not read \"../outside/secret.txt\": `..` is not allowed in a path",
        ),
        (
            "file-read",
            json!({ "path": "out/secret.txt" }),
            "outside-workspace",
            "could not read /project/out/secret.txt: a symlink leads out of the project",
        ),
        (
            "file-write",
            json!({ "path": "/etc/passwd", "content": "" }),
            "invalid-path",
            "could not write \"/etc/passwd\": outside of the project, which is /project",
        ),
        (
            "file-write",
            json!({ "path": "new.txt", "content": "", "seen": "0" }),
            "changed",
            "could not write /project/new.txt: the file has changed since it was read; read it again",
        ),
        (
            "file-search",
            json!({ "query": "x", "path": "gone" }),
            "not-found",
            "could not search /project/gone: there is no such file",
        ),
    ] {
        let error = call.output(skill, input).await.unwrap_err();
        assert_eq!((error.code(), &*error.to_string()), (code, said));
    }
    bed.check_outside();
}

#[tokio::test]
async fn to_write_needs_approval_and_shows_the_difference() {
    let bed = Bed::new();
    bed.put("poem.txt", "Roses are red,\nviolets are blue.\n");
    let skills = tools::skills(&bed.project).unwrap();
    let marked: Vec<_> = skills
        .iter()
        .filter(|it| it.traits.approval)
        .map(|it| &*it.id)
        .collect();
    assert_eq!(
        marked,
        ["file-write", "file-edit", "file-move", "file-delete"]
    );

    let input = json!({ "path": "poem.txt", "content": "Roses are red,\nviolets are violet.\n" });
    let shown = skills.preview("file-write", input).await.unwrap().unwrap();
    expect![[r#"
        --- a/poem.txt
        +++ b/poem.txt
        @@ -1,2 +1,2 @@
         Roses are red,
        -violets are blue.
        +violets are violet.
    "#]]
    .assert_eq(&shown);
    let now = fs::read_to_string(bed.root.join("poem.txt")).unwrap();
    assert!(now.contains("blue"), "to show is not to do");

    let input = json!({ "path": "../poem.txt", "content": "" });
    let refused = skills.preview("file-write", input).await.unwrap_err();
    assert_eq!(refused.code(), "invalid-path");
    let input = json!({ "path": "poem.txt" });
    assert_eq!(skills.preview("file-read", input).await.unwrap(), None);
}

#[test]
fn every_alias_is_of_a_skill() {
    let skills = tools::skills(&Bed::new().project).unwrap();
    for (alias, id) in tools::ALIASES {
        assert!(skills.get(id).is_some(), "{alias}");
        assert!(skills.get(alias).is_none(), "{alias}");
    }
}

#[test]
fn a_skill_needs_little_and_takes_more() {
    let skills = tools::skills(&Bed::new().project).unwrap();
    for (id, required, fields) in [
        (
            "file-read",
            json!(["path"]),
            vec!["limit", "offset", "path"],
        ),
        (
            "file-write",
            json!(["path", "content"]),
            vec!["append", "content", "path", "seen"],
        ),
        (
            "file-search",
            json!(["query"]),
            vec!["glob", "ignore_case", "limit", "path", "query", "regex"],
        ),
        ("file-list", Value::Null, vec!["glob", "limit", "path"]),
        (
            "file-move",
            json!(["from", "to"]),
            vec!["from", "seen", "to"],
        ),
        ("file-delete", json!(["path"]), vec!["path", "seen"]),
    ] {
        let input = &skills.get(id).unwrap().input;
        assert_eq!(input["required"], required);
        let mut known = Vec::from_iter(input["properties"].as_object().unwrap().keys());
        known.sort();
        assert_eq!(known, fields);
    }
    // Plain text input is the path of file-read and the query of file-search.
    assert_eq!(skills.get("file-read").unwrap().text_field(), Some("path"));
    assert_eq!(
        skills.get("file-search").unwrap().text_field(),
        Some("query")
    );
}
