//! What is followed over the door.

use serde_json::{Value as Json, json};

use super::{Session, code, command, kind, rest, serve};
use crate::support::program::Monas;

const WRITE: &str = "create notes.md with hello world";

#[tokio::test]
async fn a_chat_with_an_approval_goes_through_the_door() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut serve(home.path())).await;
    let session = Session::open(&monas).await;
    let open = session.authenticate(json!({})).await.unwrap();
    // A new conversation: the client names it with its first command.
    let (window, mut told) = open.follow("followChat", json!({})).await.unwrap();
    let send = async |envelope: Json| {
        let envelope = a2a::binding::capnweb::value::from_json(envelope);
        window.call("send", (envelope,)).await.unwrap();
    };
    let id = uuid::Uuid::new_v4().to_string();
    send(json!({ "id": id, "type": "user_command", "payload": {} })).await;
    let fault = told.until(|it| kind(it) == "error").await;
    assert_eq!(fault["payload"]["data"]["field"], "payload.command");
    send(command("sess_door", WRITE)).await;
    let first = told.until(|it| kind(it) == "user_command").await;
    assert_eq!(first["metadata"]["session_id"], "sess_door");
    let asked = told.until(|it| kind(it) == "approval_request").await;
    let listed = open.call("getApprovals", json!({})).await.unwrap();
    let listed = &listed["approvals"][0];
    assert_eq!(listed["id"], asked["id"]);
    let preview = listed["preview"].as_str().unwrap();
    assert!(preview.contains("+hello world"), "{listed}");
    let answer = json!({ "id": asked["id"], "decision": "approve" });
    open.call("postApprovalsById", answer).await.unwrap();
    told.until(|it| kind(it) == "task_completed").await;
    let written = std::fs::read_to_string(home.path().join("files/notes.md")).unwrap();
    assert_eq!(written.trim_end(), "hello world");

    // The whole session, and from a cursor the rest: as REST has it.
    let fields = json!({ "id": "sess_door" });
    let all = open.call("getSessionsByIdMessages", fields).await.unwrap();
    let all = all["messages"].as_array().unwrap();
    for (what, expected) in [
        (json!({ "session_id": "sess_door" }), &all[..]),
        (
            json!({ "session_id": "sess_door", "cursor": all[2]["metadata"]["cursor"] }),
            &all[3..],
        ),
    ] {
        let (_window, mut told) = open.follow("followChat", what).await.unwrap();
        let mut seen = Vec::new();
        while seen.last().is_none_or(|it| kind(it) != "session_restored") {
            seen.extend(told.next().await.as_array().unwrap().clone());
        }
        seen.pop();
        assert_eq!(seen, expected);
    }
    // What was said is found, with the event to jump to.
    let found = open
        .call("getSearch", json!({ "query": "HELLO" }))
        .await
        .unwrap();
    let found = &found["found"];
    let place = found.as_array().unwrap().last().unwrap();
    assert_eq!(
        (&place["session_id"], &place["message_id"]),
        (&json!("sess_door"), &first["id"])
    );
    let event = json!({ "event": place["event"] });
    let event = open.call("getJournalByEvent", event).await.unwrap();
    assert_eq!(event["kind"], "heard", "{event}");
    monas.stop().await;
}

#[tokio::test]
async fn an_answer_over_rest_is_told_to_those_who_follow_the_questions() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut serve(home.path())).await;
    let open = Session::open(&monas)
        .await
        .authenticate(json!({}))
        .await
        .unwrap();
    let (_subscription, mut told) = open.follow("followQuestions", json!({})).await.unwrap();
    assert_eq!(told.next().await, json!({ "waiting": [] }));
    let body = json!({ "command": WRITE, "session_id": "s1" });
    let (status, sent) = rest(&monas, None, "POST", "/api/agent/command", body).await;
    assert_eq!(status, 200, "{sent}");
    let change = told.until(|it| it["waiting"] != json!([])).await;
    let waiting = &change["waiting"][0];
    assert_eq!(
        (&waiting["kind"], &waiting["skill"]),
        (&json!("approval"), &json!("file-write"))
    );
    assert!(
        waiting["preview"]
            .as_str()
            .unwrap()
            .contains("+hello world"),
        "{waiting}"
    );
    assert!(waiting["event"].as_u64().is_some_and(|it| it > 0));
    // One that comes later is told of what waits already, with its preview.
    let (_late, mut late) = open.follow("followQuestions", json!({})).await.unwrap();
    assert_eq!(late.next().await["waiting"], change["waiting"]);
    let path = format!("/api/approvals/{}", waiting["id"].as_str().unwrap());
    let body = json!({ "decision": "reject", "reason": "not now" });
    let (status, answered) = rest(&monas, None, "POST", &path, body).await;
    assert_eq!(status, 200, "{answered}");
    for told in [&mut told, &mut late] {
        let change = told.until(|it| it.get("answered").is_some()).await;
        let answered = &change["answered"];
        assert_eq!(answered["id"], waiting["id"]);
        assert_eq!(
            (&answered["decision"], &answered["reason"]),
            (&json!("reject"), &json!("not now"))
        );
        assert_eq!(change["waiting"], json!([]));
    }
    assert!(!home.path().join("files/notes.md").exists());
    monas.stop().await;
}

#[tokio::test]
async fn the_journal_is_followed_from_any_event_and_read_at_any() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut serve(home.path())).await;
    let open = Session::open(&monas)
        .await
        .authenticate(json!({}))
        .await
        .unwrap();
    let (window, mut chat) = open.follow("followChat", json!({})).await.unwrap();
    let say = async |words: &str| {
        let envelope = a2a::binding::capnweb::value::from_json(command("s1", words));
        window.call("send", (envelope,)).await.unwrap();
    };
    say("remember that Ada likes tea").await;
    chat.until(|it| kind(it) == "task_completed").await;
    let (subscription, mut told) = open
        .follow("followJournal", json!({ "after": 0 }))
        .await
        .unwrap();
    let mut all: Vec<Json> = Vec::new();
    let numbers = |records: &[Json]| -> Vec<u64> {
        records
            .iter()
            .map(|it| it["event"].as_u64().unwrap())
            .collect()
    };
    let last = open
        .call("getJournal", json!({ "limit": 1 }))
        .await
        .unwrap();
    let last = last["last"].as_u64().unwrap();
    while (all.len() as u64) < last {
        all.extend(told.next().await.as_array().unwrap().clone());
    }
    assert_eq!(numbers(&all)[..4], [1, 2, 3, 4]);
    // Let go of: nothing more is told, and a cursor goes on where it ended.
    drop(subscription);
    let cursor = all.len() as u64;
    say("what does Ada like?").await;
    chat.until(|it| kind(it) == "task_completed").await;
    let (_subscription, mut told) = open
        .follow("followJournal", json!({ "after": cursor }))
        .await
        .unwrap();
    let rest = told.next().await;
    assert_eq!(rest[0]["event"], cursor + 1);
    all.extend(rest.as_array().unwrap().clone());

    // By page: the newest first, without a gap, and by kind.
    let mut paged: Vec<Json> = Vec::new();
    let mut before = json!(null);
    loop {
        let fields = json!({ "limit": 7, "before": before });
        let page = open.call("getJournal", fields).await.unwrap();
        paged.extend(page["events"].as_array().unwrap().clone());
        match page.get("next") {
            Some(next) => before = next.clone(),
            None => break,
        }
    }
    paged.reverse();
    assert_eq!(paged[..all.len()], all[..]);
    let heard = json!({ "kinds": ["heard"], "after": 0 });
    let heard = open.call("getJournal", heard).await.unwrap();
    let heard = heard["events"].as_array().unwrap().clone();
    assert_eq!(heard.len(), 2);
    assert!(
        heard[0]["text"]
            .as_str()
            .unwrap()
            .contains("remember that Ada likes tea")
    );

    // An event says why; the state at it is read.
    let event = heard[1]["event"].clone();
    let one = open
        .call("getJournalByEvent", json!({ "event": event }))
        .await
        .unwrap();
    let why = one["why"].as_array().unwrap();
    assert!(why.iter().any(|it| it["event"] == event), "{one}");
    assert!(!one["changes"].as_array().unwrap().is_empty());
    let fields = json!({ "event": event });
    let state = open.call("getJournalByEventState", fields).await.unwrap();
    assert_eq!(
        (&state["event"], &state["working"]),
        (&event, &json!(1)),
        "{state}"
    );
    let now = open.call("getAgentStatus", json!({})).await.unwrap();
    assert_eq!(now["working"], 0);
    assert_eq!(state["law_hash"], now["law"][0]);
    let thought = paged.iter().rfind(|it| it["kind"] == "thought").unwrap();
    let fields = json!({ "event": thought["event"] });
    let prompt = open.call("getJournalByEventPrompt", fields).await.unwrap();
    let text = prompt["messages"].to_string();
    assert!(text.contains("what does Ada like?"), "{prompt}");
    let error = open
        .call("getJournalByEventPrompt", json!({ "event": 1 }))
        .await;
    assert_eq!(code(&error.unwrap_err()), ("no_thought".to_owned(), 404));
    let error = open
        .call("getJournalByEvent", json!({ "event": 99_999 }))
        .await;
    assert_eq!(code(&error.unwrap_err()), ("not_found".to_owned(), 404));
    monas.stop().await;
}

#[tokio::test]
async fn tasks_files_and_the_wire_are_followed() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut serve(home.path())).await;
    let open = Session::open(&monas)
        .await
        .authenticate(json!({}))
        .await
        .unwrap();
    let (_files, mut files) = open.follow("followFiles", json!({})).await.unwrap();
    let (_wire, mut wire) = open
        .follow("followWire", json!({ "wire": "api" }))
        .await
        .unwrap();
    let body = json!({ "command": WRITE, "session_id": "s1" });
    let (_, sent) = rest(&monas, None, "POST", "/api/agent/command", body).await;
    let call = wire
        .until(|it| it["operation"] == "POST /api/agent/command")
        .await;
    assert_eq!(
        (&call["wire"], &call["outcome"]),
        (&json!("api"), &json!("ok"))
    );
    assert!(call["request"].as_str().is_some_and(|it| !it.is_empty()));
    assert!(!call.to_string().contains("hello world"), "no content");

    let task = json!({ "id": sent["task_id"] });
    let (_task, mut events) = open.follow("followTask", task.clone()).await.unwrap();
    let first = events.next().await;
    assert_eq!(first[0]["task"]["id"], sent["task_id"]);
    let (_q, mut questions) = open.follow("followQuestions", json!({})).await.unwrap();
    let waiting = questions.until(|it| it["waiting"] != json!([])).await;
    let answer = json!({ "id": waiting["waiting"][0]["id"], "decision": "approve" });
    open.call("postApprovalsById", answer).await.unwrap();
    let done = |it: &Json| it["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED";
    events.until(done).await;
    let change = files.until(|it| it["path"] == "/project/notes.md").await;
    assert_eq!(change["operation"], "created");
    // A change from outside is seen, too.
    std::fs::write(home.path().join("files/outside.txt"), "x").unwrap();
    files.until(|it| it["path"] == "/project/outside.txt").await;

    let shown = open.call("getTasksById", task.clone()).await.unwrap();
    assert_eq!(shown["status"]["state"], "TASK_STATE_COMPLETED");
    let listed = json!({ "state": "TASK_STATE_COMPLETED", "limit": 5 });
    let listed = open.call("getTasks", listed).await.unwrap();
    assert_eq!(listed["tasks"][0]["id"], sent["task_id"]);
    let ended = open.call("postTasksByIdCancel", task).await.unwrap_err();
    assert!((400..500).contains(&code(&ended).1), "{ended:?}");
    // What the agent changed is listed and taken back.
    let changes = open.call("getFilesChanges", json!({})).await.unwrap();
    assert_eq!(changes["changes"][0]["operation"], "created");
    let undone = open.call("postFilesUndo", json!({})).await.unwrap();
    assert_eq!(undone["path"], "/project/notes.md");
    assert!(!home.path().join("files/notes.md").exists());
    let diff =
        "--- a/outside.txt\n+++ b/outside.txt\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n";
    let fields = json!({ "path": "outside.txt", "diff": diff });
    let applied = open.call("postFilesDiff", fields).await.unwrap();
    assert_eq!(
        (&applied["lines_added"], &applied["lines_removed"]),
        (&json!(1), &json!(1))
    );
    let now = std::fs::read_to_string(home.path().join("files/outside.txt")).unwrap();
    assert_eq!(now, "y\n");
    monas.stop().await;
}
