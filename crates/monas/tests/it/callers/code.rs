//! Files that an agent reads and writes are in its graph memory: the context of a task has their symbols, for the caller of
//! the task if it may read files, and they go with the file.

use std::time::Duration;

use axum::body::Body;
use model::scripted::Turn;
use serde_json::{Value, json};

use super::Callers;
use crate::support::http::{Client, Version};

const SOURCE: &str = "\
use std::fs;

pub struct Ledger;

impl Ledger {
    pub fn post_entry(&self) {
        check_balance();
        fs::remove_file(\"x\").ok();
    }
}

fn check_balance() {}
";

/// How long anything may take.
const SOON: Duration = Duration::from_secs(60);

/// The reply to a caller with this token.
async fn ask(callers: &Callers, token: &str, method: &str, path: &str, body: &Value) -> Value {
    let authority = callers.monas.authority();
    let mut client = Client::connect(authority.parse().unwrap(), Version::One).await;
    let request = client.request(method, authority, path);
    let request = request
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {token}"));
    let body = match method {
        "GET" => Body::empty(),
        _ => Body::from(body.to_string()),
    };
    let answer = client.send(request.body(body).unwrap()).await;
    serde_json::from_str(&answer.text).unwrap_or_else(|_| panic!("{answer:?}"))
}

/// Says something, answers the approval that it leads to, and gives the id of the task once it is completed.
async fn do_it(callers: &Callers, words: &str) -> String {
    let task = callers.say("ada", "c1", words).await;
    let id = task["id"].as_str().unwrap().to_owned();
    let done = async {
        loop {
            let waiting = callers.ask("ada", "GET", "/api/approvals", &Value::Null);
            let waiting = waiting.await;
            let mut approvals = waiting["approvals"].as_array().unwrap().iter();
            if let Some(approval) = approvals.find(|it| it["task"] == *id) {
                let path = format!("/api/approvals/{}", approval["id"].as_str().unwrap());
                let decision = json!({ "decision": "approve" });
                callers.ask("ada", "POST", &path, &decision).await;
            }
            let task = callers.call("ada", "GetTask", json!({ "id": id })).await;
            if task["result"]["status"]["state"] == "TASK_STATE_COMPLETED" {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let done = tokio::time::timeout(SOON, done).await;
    done.expect("the task is completed in time");
    id
}

/// The code references of a task, as a caller sees them.
async fn references(callers: &Callers, token: &str, task: &str) -> Vec<Value> {
    let path = format!("/api/memory/context?task_id={task}");
    let context = ask(callers, token, "GET", &path, &Value::Null).await;
    let found = context["code_references"].as_array();
    found.unwrap_or_else(|| panic!("{context}")).clone()
}

fn symbols(reference: &Value) -> Vec<&str> {
    let symbols = reference["metadata"]["symbols"].as_array().unwrap().iter();
    symbols.map(|it| it["name"].as_str().unwrap()).collect()
}

async fn graph(callers: &Callers, token: &str, topic: &str) -> String {
    let path = format!("/api/memory/graph?topic={topic}");
    ask(callers, token, "GET", &path, &Value::Null)
        .await
        .to_string()
}

#[tokio::test]
async fn a_file_that_an_agent_writes_is_in_its_memory_until_it_is_deleted() {
    let callers = Callers::start().await;
    let input = json!({ "path": "src/ledger.rs", "content": SOURCE });
    callers.replies(Turn::calls("file-write", input));
    callers.replies(Turn::text("The ledger is written."));
    let task = do_it(&callers, "Write the ledger, please.").await;

    let found = references(&callers, "token-of-ada", &task).await;
    let [reference] = &found[..] else {
        panic!("one file: {found:?}");
    };
    assert_eq!(reference["id"], "code:src/ledger.rs");
    assert_eq!(reference["type"], "code");
    assert_eq!(reference["task_id"], *task);
    let metadata = &reference["metadata"];
    assert_eq!(metadata["path"], "/project/src/ledger.rs");
    assert_eq!(
        (&metadata["language"], &metadata["deed"]),
        (&json!("rust"), &json!("written"))
    );
    assert_eq!(
        symbols(reference),
        ["Ledger", "post_entry", "check_balance"]
    );
    assert_eq!(metadata["imports"], json!(["std::fs"]));
    let called = json!({ "from": "post_entry", "to": "check_balance" });
    assert!(
        metadata["calls"].as_array().unwrap().contains(&called),
        "{metadata}"
    );
    let shown = graph(&callers, "token-of-ada", "post_entry").await;
    assert!(
        shown.contains("CALLS") && shown.contains("src/ledger.rs"),
        "{shown}"
    );
    let question = json!({ "query": "where is check_balance called?" });
    let answer = ask(
        &callers,
        "token-of-ada",
        "POST",
        "/api/memory/query",
        &question,
    )
    .await;
    let entities = answer["entities"].as_array().unwrap();
    assert!(entities.contains(&json!("check_balance")), "{answer}");

    // Another caller reads the same files, and not the tasks of ada.
    assert_eq!(
        references(&callers, "token-of-bob", &task).await,
        Vec::<Value>::new()
    );
    let shown = graph(&callers, "token-of-bob", "post_entry").await;
    assert!(shown.contains("src/ledger.rs"), "{shown}");
    // A credential that was lent without the permission to read files shows none.
    let wanted = json!({ "permissions": ["remember"] });
    let lent = ask(
        &callers,
        "token-of-ada",
        "POST",
        "/api/capabilities",
        &wanted,
    )
    .await;
    let lent = lent["token"].as_str().unwrap_or_else(|| panic!("{lent}"));
    assert_eq!(references(&callers, lent, &task).await, Vec::<Value>::new());
    let shown = graph(&callers, lent, "post_entry").await;
    assert!(!shown.contains("src/ledger.rs"), "{shown}");
    let forget = json!({ "id": "code:src/ledger.rs", "why": "a test" });
    let refused = ask(
        &callers,
        "token-of-bob",
        "POST",
        "/api/memory/forget",
        &forget,
    )
    .await;
    assert_eq!(refused["code"], "denied", "{refused}");

    // Another program changes the file: its new symbols are shown, the old ones are not.
    let file = callers.home.path().join("workspace/src/ledger.rs");
    std::fs::write(&file, "fn audit_all() {}\n").unwrap();
    let found = references(&callers, "token-of-ada", &task).await;
    assert_eq!(symbols(&found[0]), ["audit_all"]);
    let shown = graph(&callers, "token-of-ada", "post_entry").await;
    assert!(!shown.contains("src/ledger.rs"), "{shown}");

    callers.replies(Turn::calls(
        "file-delete",
        json!({ "path": "src/ledger.rs" }),
    ));
    callers.replies(Turn::text("It is deleted."));
    let deleting = do_it(&callers, "Delete the ledger, please.").await;
    for task in [&task, &deleting] {
        let found = references(&callers, "token-of-ada", task).await;
        assert_eq!(found, Vec::<Value>::new());
    }
    let shown = graph(&callers, "token-of-ada", "audit_all").await;
    assert!(!shown.contains("src/ledger.rs"), "{shown}");
    callers.monas.stop().await;
}

#[tokio::test]
async fn a_file_that_an_agent_reads_is_in_its_memory_until_it_is_forgotten() {
    let callers = Callers::start().await;
    std::fs::write(
        callers.home.path().join("workspace/tool.py"),
        "def press():\n    run()\n",
    )
    .unwrap();
    callers.replies(Turn::calls("file-read", json!({ "path": "tool.py" })));
    callers.replies(Turn::text("It has one function."));
    let task = do_it(&callers, "What is in tool.py?").await;
    let found = references(&callers, "token-of-ada", &task).await;
    assert_eq!(symbols(&found[0]), ["press"]);
    assert_eq!(found[0]["metadata"]["deed"], "read");
    let forget = json!({ "id": "code:tool.py", "why": "a test" });
    let gone = ask(
        &callers,
        "token-of-olga",
        "POST",
        "/api/memory/forget",
        &forget,
    )
    .await;
    assert_eq!(gone["success"], true, "{gone}");
    assert_eq!(
        references(&callers, "token-of-ada", &task).await,
        Vec::<Value>::new()
    );
    callers.monas.stop().await;
}

/// The lookups of a cache by outcome, as `/metrics` has them.
async fn lookups(callers: &Callers, cache: &str, outcome: &str) -> u64 {
    let text = callers
        .send("olga", "GET", "/metrics", &Value::Null)
        .await
        .text;
    let name = format!("monas_cache_lookups_total{{cache=\"{cache}\",outcome=\"{outcome}\"}} ");
    let line = text.lines().find_map(|it| it.strip_prefix(&name));
    line.unwrap_or_else(|| panic!("{name} in {text}"))
        .parse()
        .unwrap()
}

#[tokio::test]
async fn caches_are_counted_and_give_nothing_old() {
    let callers = Callers::start().await;
    let file = callers.home.path().join("workspace/notes.md");
    std::fs::write(&file, "# One\n").unwrap();
    let content = async || {
        let path = "/api/files/content?path=notes.md";
        let reply = ask(&callers, "token-of-ada", "GET", path, &Value::Null).await;
        reply["content"].as_str().unwrap().to_owned()
    };
    // A file is kept a moment after its last change.
    let hit = async {
        while lookups(&callers, "files", "hit").await == 0 {
            assert_eq!(content().await, "# One\n");
        }
    };
    let hit = tokio::time::timeout(SOON, hit).await;
    hit.expect("a file that is read again is in the cache");
    std::fs::write(&file, "# Two\n").unwrap();
    assert_eq!(content().await, "# Two\n");

    let stored = json!({ "type": "conversation", "content": "The bridge is red.",
        "metadata": { "task_id": "task-7" } });
    let context = async || {
        let path = "/api/memory/context?task_id=task-7";
        let reply = ask(&callers, "token-of-ada", "GET", path, &Value::Null).await;
        reply["previous_conversations"].as_array().unwrap().len()
    };
    let recall = async || {
        let question = json!({ "query": "Which colour has the bridge?", "noted": false });
        let path = "/api/memory/query";
        let reply = ask(&callers, "token-of-ada", "POST", path, &question).await;
        reply["sources"].as_array().unwrap().len()
    };
    for (name, count) in [("first", 1), ("second", 2)] {
        let mut stored = stored.clone();
        stored["content"] = format!("The {name} bridge is red.").into();
        ask(
            &callers,
            "token-of-ada",
            "POST",
            "/api/memory/store",
            &stored,
        )
        .await;
        for cache in ["context", "recall"] {
            let before = lookups(&callers, cache, "hit").await;
            for _ in 0..2 {
                let found = match cache {
                    "context" => context().await,
                    _ => recall().await,
                };
                assert_eq!(found, count, "{cache}");
            }
            assert_eq!(lookups(&callers, cache, "hit").await, before + 1, "{cache}");
        }
    }
    callers.monas.stop().await;
}
