//! A call of a skill is made with the permissions of the caller it is made for.

use access::{Permission, Role};
use serde_json::{Value, json};

use super::{Caller, closed};
use crate::support::program::Monas;

/// Skills of the living agent, with the permission that each needs and an input.
fn skills() -> [(&'static str, Option<Permission>, Value); 11] {
    [
        ("about", None, json!({ "topic": "self" })),
        ("recall", None, json!({ "question": "Riga" })),
        (
            "file-read",
            Some(Permission::ReadFiles),
            json!({ "path": "notes.md" }),
        ),
        ("file-list", Some(Permission::ReadFiles), json!({})),
        (
            "file-search",
            Some(Permission::ReadFiles),
            json!({ "query": "rain" }),
        ),
        (
            "file-write",
            Some(Permission::WriteFiles),
            json!({ "path": "new.md", "content": "x" }),
        ),
        (
            "file-edit",
            Some(Permission::WriteFiles),
            json!({ "path": "notes.md", "diff": "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n" }),
        ),
        (
            "file-move",
            Some(Permission::WriteFiles),
            json!({ "from": "notes.md", "to": "old.md" }),
        ),
        (
            "file-delete",
            Some(Permission::WriteFiles),
            json!({ "path": "notes.md" }),
        ),
        (
            "terminal-run",
            Some(Permission::ExecuteCommands),
            json!({ "command": "true" }),
        ),
        (
            "remember",
            Some(Permission::Remember),
            json!({ "text": "Ada lives in Riga" }),
        ),
    ]
}

async fn start(home: &std::path::Path) -> Monas {
    std::fs::create_dir_all(home.join("workspace")).unwrap();
    std::fs::write(home.join("workspace/notes.md"), "rain\n").unwrap();
    Monas::start(&mut closed(home)).await
}

/// How many calls wait for a person.
async fn waiting(caller: &Caller<'_>) -> usize {
    let answer = caller.send("GET", "/api/approvals", &Value::Null).await;
    let listed: Value = serde_json::from_str(&answer.text).unwrap();
    listed["approvals"].as_array().unwrap().len()
}

#[tokio::test]
async fn each_role_may_have_the_skills_called_that_its_permissions_allow() {
    let home = tempfile::tempdir().unwrap();
    let monas = start(home.path()).await;
    for role in Role::ALL {
        let caller = Caller::with(&monas, role);
        for (skill, permission, input) in skills() {
            let allowed = permission.is_none_or(|it| role.permissions().has(it));
            let a2a = caller.call(skill, &input).await;
            let params = json!({ "name": skill, "arguments": input });
            let mcp = caller.mcp("tools/call", params).await;
            let part = json!({ "content_type": "application/json", "content": input.to_string() });
            let run = json!({
                "agent_name": skill, "input": [{ "role": "user", "parts": [part] }],
            });
            let acp = caller.send("POST", "/acp/runs", &run).await;
            let about = format!("{skill} as {role}:\n{a2a}\n{mcp}\n{}", acp.text);
            match permission.filter(|_| !allowed) {
                None => {
                    assert!(a2a["error"].is_null() && mcp["error"].is_null(), "{about}");
                    assert!(acp.status.is_success(), "{about}");
                }
                Some(permission) => {
                    let name = permission.name();
                    let data = &a2a["error"]["data"][0];
                    assert_eq!(a2a["error"]["code"], -31403, "{about}");
                    assert_eq!(data["metadata"]["permission"], name, "{about}");
                    assert_eq!(mcp["error"]["code"], -31403, "{about}");
                    assert_eq!(mcp["error"]["data"]["permission"], name, "{about}");
                    assert_eq!(acp.status, 403, "{about}");
                    assert!(acp.text.contains(name), "{about}");
                }
            }
        }
        // What was refused was not asked about, either.
        assert_eq!(waiting(&caller).await > 0, role > Role::Viewer, "{role}");
    }
    assert!(home.path().join("workspace/notes.md").exists());
    assert!(!home.path().join("workspace/new.md").exists());
    monas.stop().await;
}

#[tokio::test]
async fn a_viewer_may_talk_and_have_files_read_and_is_told_what_is_missing_for_more() {
    let home = tempfile::tempdir().unwrap();
    let monas = start(home.path()).await;
    let vera = Caller::named(&monas, "vera", Role::Viewer);
    let said = vera.say("hello").await.to_string();
    assert!(said.contains("TASK_STATE_COMPLETED"), "{said}");
    let read = vera.say("read notes.md").await.to_string();
    assert!(read.contains("rain"), "{read}");
    for (text, permission) in [
        ("write \"sun\" into notes.md", "write_files"),
        ("delete notes.md", "write_files"),
        ("remember that my vault code is 4711", "remember"),
    ] {
        let told = vera.say(text).await.to_string();
        assert!(told.contains(permission), "{text}: {told}");
        assert!(
            !told.contains("TASK_STATE_INPUT_REQUIRED"),
            "{text}: {told}"
        );
    }
    assert_eq!(waiting(&vera).await, 0);
    let notes = std::fs::read_to_string(home.path().join("workspace/notes.md"));
    assert_eq!(notes.unwrap(), "rain\n");
    // Nothing of it is remembered by way of the conversation.
    let olga = Caller::with(&monas, Role::Operator);
    let all = olga.send("GET", "/api/memory/export", &Value::Null).await;
    assert!(!all.text.contains("4711"), "{}", all.text);
    monas.stop().await;
}

/// The state of a task in a reply.
fn state(reply: &Value) -> &str {
    reply["result"]["task"]["status"]["state"]
        .as_str()
        .unwrap_or_default()
}

#[tokio::test]
async fn an_operator_answers_for_others_a_user_for_itself_and_why_names_the_person_and_the_grant() {
    let home = tempfile::tempdir().unwrap();
    let monas = start(home.path()).await;
    let [ada, bob] = ["ada", "bob"].map(|name| Caller::named(&monas, name, Role::User));
    let olga = Caller::named(&monas, "olga", Role::Operator);
    let write = |path: &str| json!({ "path": path, "content": "sun" });
    let asked = ada.call("file-write", &write("notes/a.md")).await;
    assert_eq!(state(&asked), "TASK_STATE_INPUT_REQUIRED", "{asked}");
    let listed = ada.send("GET", "/api/approvals", &Value::Null).await;
    let listed: Value = serde_json::from_str(&listed.text).unwrap();
    let id = listed["approvals"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/api/approvals/{id}");

    // For another user it does not exist; a viewer may answer nothing.
    let unknown = bob
        .send(
            "POST",
            "/api/approvals/none",
            &json!({ "decision": "approve" }),
        )
        .await;
    let hers = bob
        .send("POST", &path, &json!({ "decision": "approve" }))
        .await;
    assert_eq!(
        (hers.status, unknown.status.as_u16()),
        (unknown.status, 404)
    );
    assert_eq!(
        hers.text.replace(&id, "ID"),
        unknown.text.replace("none", "ID")
    );
    let viewer = Caller::named(&monas, "ada", Role::Viewer);
    let refused = viewer
        .send("POST", &path, &json!({ "decision": "approve" }))
        .await;
    assert_eq!(refused.status, 403);
    let answer = json!({ "message": {
        "messageId": "v", "role": "ROLE_USER", "taskId": asked["result"]["task"]["id"],
        "parts": [{ "text": "approve" }],
    }});
    let again = viewer.rpc("/a2a/jsonrpc", "SendMessage", answer).await;
    assert_eq!(state(&again), "TASK_STATE_INPUT_REQUIRED", "{again}");
    assert!(
        again.to_string().contains("lacks the permission approve"),
        "{again}"
    );

    let granting = json!({ "decision": "approve", "field": "path", "prefix": "notes" });
    let answered = olga.send("POST", &path, &granting).await;
    assert_eq!(answered.status, 200, "{}", answered.text);
    let task = asked["result"]["task"]["id"].as_str().unwrap();
    let why = async |task: &str| {
        let answer = olga
            .send(
                "GET",
                &format!("/api/agent/why?question={task}"),
                &Value::Null,
            )
            .await;
        serde_json::from_str::<Value>(&answer.text).unwrap()["text"].to_string()
    };
    let get = async |task: &str| loop {
        let reply = ada
            .rpc("/a2a/jsonrpc", "GetTask", json!({ "id": task }))
            .await;
        let state = reply["result"]["status"]["state"]
            .as_str()
            .unwrap()
            .to_owned();
        if state == "TASK_STATE_COMPLETED" {
            break;
        }
        assert_ne!(state, "TASK_STATE_FAILED", "{reply}");
        tokio::task::yield_now().await;
    };
    get(task).await;
    let text = why(task).await;
    assert!(
        text.contains("olga (permission operate) approved it"),
        "{text}"
    );

    // The grant ends at the border of a path: `notes` is not `notes-secret`.
    let passed = ada.call("file-write", &write("notes/b.md")).await;
    assert_eq!(state(&passed), "TASK_STATE_COMPLETED", "{passed}");
    let secret = ada.call("file-write", &write("notes-secret/b.md")).await;
    assert_eq!(state(&secret), "TASK_STATE_INPUT_REQUIRED", "{secret}");
    let text = why(passed["result"]["task"]["id"].as_str().unwrap()).await;
    let named = format!("the grant {id} covers it, to which olga agreed");
    assert!(text.contains(&named), "{text}");

    // Others do not see the grant; its caller and an operator do, and may revoke it.
    let path = format!("/api/grants/{id}");
    let bobs = bob.send("DELETE", &path, &Value::Null).await;
    assert_eq!(bobs.status, 404, "{}", bobs.text);
    let listed = ada.send("GET", "/api/grants", &Value::Null).await;
    let listed: Value = serde_json::from_str(&listed.text).unwrap();
    assert_eq!(listed["grants"][0]["agreed"], "olga", "{listed}");
    assert_eq!(listed["grants"][0]["uses"], 1, "{listed}");
    assert!(listed["grants"][0]["event"].is_u64(), "{listed}");
    let revoked = olga.send("DELETE", &path, &Value::Null).await;
    assert_eq!(revoked.status, 200, "{}", revoked.text);
    let asked = ada.call("file-write", &write("notes/c.md")).await;
    assert_eq!(state(&asked), "TASK_STATE_INPUT_REQUIRED", "{asked}");
    monas.stop().await;
}

#[tokio::test]
async fn a_viewer_is_a_viewer_after_a_restart_also_where_an_operator_has_agreed() {
    let home = tempfile::tempdir().unwrap();
    let monas = start(home.path()).await;
    let olga = Caller::named(&monas, "olga", Role::Operator);
    for (path, value) in [
        (
            "skill_selection",
            json!([{ "skill": "file-read", "then": "ask" }]),
        ),
        (
            "procedures",
            json!([{ "name": "copying", "when": "copy {path}", "steps": [
                { "skill": "file-read", "input": { "path": "{path}" } },
                { "skill": "file-write", "input": { "path": "copy.md", "content": "rain" } },
            ]}]),
        ),
    ] {
        let change = json!({ "path": path, "value": value, "why": "a test" });
        let changed = olga.send("PUT", "/api/agent/law", &change).await;
        assert_eq!(changed.status, 200, "{}", changed.text);
    }
    let vera = Caller::named(&monas, "vera", Role::Viewer);
    let asked = vera.say("copy notes.md").await;
    assert_eq!(state(&asked), "TASK_STATE_INPUT_REQUIRED", "{asked}");
    let task = asked["result"]["task"]["id"].as_str().unwrap();
    monas.signal("KILL").await;
    drop(monas.ended().await);

    let monas = Monas::start(&mut closed(home.path())).await;
    let olga = Caller::named(&monas, "olga", Role::Operator);
    let listed = olga.send("GET", "/api/approvals", &Value::Null).await;
    let listed: Value = serde_json::from_str(&listed.text).unwrap();
    let id = listed["approvals"][0]["id"].as_str().unwrap();
    let approved = json!({ "decision": "approve" });
    let answered = olga
        .send("POST", &format!("/api/approvals/{id}"), &approved)
        .await;
    assert_eq!(answered.status, 200, "{}", answered.text);
    let vera = Caller::named(&monas, "vera", Role::Viewer);
    let ended = loop {
        let reply = vera
            .rpc("/a2a/jsonrpc", "GetTask", json!({ "id": task }))
            .await;
        let state = reply["result"]["status"]["state"].as_str().unwrap();
        if !matches!(state, "TASK_STATE_INPUT_REQUIRED" | "TASK_STATE_WORKING") {
            break reply.to_string();
        }
        tokio::task::yield_now().await;
    };
    assert!(ended.contains("write_files"), "{ended}");
    assert!(!home.path().join("workspace/copy.md").exists());
    monas.stop().await;
}
