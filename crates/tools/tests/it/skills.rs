//! The skills, called as tasks of an agent.

use std::fs;
use std::sync::Arc;

use a2a::server::{Config, Server, TABLES};
use a2a::service::{Call, Service as _};
use a2a::types::{Answer, Content, Task, TaskState};
use access::Principal;
use expect_test::expect;
use serde_json::{Value, json};
use skill::{Agent, Manifest, Options, extension};
use store::Store;

use crate::support::Bed;

/// An agent with the skills of a project.
async fn serve(bed: &Bed) -> Server {
    let mut options = Options::default();
    options.skills = tools::skills(&bed.project).unwrap();
    let agent = Agent::create(Manifest::new("Test"), options).unwrap();
    let config = Config::new(agent.card());
    let server = Server::start(config, Arc::new(agent), Store::memory(TABLES)).await;
    server.unwrap()
}

async fn call(server: &Server, skill: &str, input: Value) -> Task {
    let message = extension::call(uuid::Uuid::new_v4().to_string(), skill, input);
    let by = Call::by(Principal::anonymous());
    let sent = server.send_message(by, message.into()).await.unwrap();
    match sent.payload {
        Answer::Task(task) => task,
        other => panic!("{other:?}"),
    }
}

fn state(task: &Task) -> TaskState {
    task.status.as_ref().unwrap().state
}

async fn output(server: &Server, skill: &str, input: Value) -> Value {
    let task = call(server, skill, input).await;
    assert_eq!(state(&task), TaskState::Completed, "{task:?}");
    match &task.artifacts[0].parts[0].content {
        Content::Data(data) => data.0.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_file_is_written_read_and_found() {
    let bed = Bed::new();
    let server = serve(&bed).await;
    let input = json!({ "path": "notes/today.md", "content": "rain\nsun\n" });
    let wrote = output(&server, "file-write", input).await;
    assert_eq!(wrote["path"], "/project/notes/today.md");
    assert_eq!(wrote["created"], true);

    let input = json!({ "path": "/project/notes/today.md", "offset": 2, "limit": 1 });
    let read = output(&server, "file-read", input).await;
    let expected = json!({
        "path": "/project/notes/today.md", "content": "sun\n", "total_lines": 2, "size": 9, "hash": wrote["hash"],
    });
    assert_eq!(read, expected);

    let input = json!({ "query": "s.n", "regex": true, "glob": "*.md" });
    let found = output(&server, "file-search", input).await;
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
    let server = serve(&bed).await;
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
            "could not write /project/new.txt has changed since it was read",
        ),
        (
            "file-search",
            json!({ "query": "x", "path": "gone" }),
            "not-found",
            "could not search /project/gone: there is no such file",
        ),
    ] {
        let task = call(&server, skill, input).await;
        assert_eq!(state(&task), TaskState::Failed);
        assert_eq!(extension::failure_code(&task).unwrap(), code);
        let message = task.status.unwrap().message.unwrap();
        assert_eq!(message.parts[0].as_text().unwrap(), said);
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
    assert_eq!(marked, ["file-write"]);

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
            vec!["content", "path", "seen"],
        ),
        (
            "file-search",
            json!(["query"]),
            vec!["glob", "ignore_case", "limit", "path", "query", "regex"],
        ),
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
