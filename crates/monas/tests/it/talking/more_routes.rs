//! Routes beside the document: skills, records of the memory, the time of laws, titles of tasks.

use serde_json::{Value, json};

use super::{Window, rest, serve};
use crate::support::program::Monas;

async fn get(server: &Monas, path: &str) -> (u16, Value) {
    rest(server, "GET", path, Value::Null).await
}

#[tokio::test]
async fn skills_records_laws_and_tasks_say_what_a_page_shows() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let (status, told) = get(&server, "/api/agent/tools").await;
    assert_eq!(status, 200, "{told}");
    let tools = told["tools"].as_array().unwrap();
    let write = tools.iter().find(|it| it["id"] == "file-write").unwrap();
    assert_eq!(
        (
            &write["requires_approval"],
            &write["permission"],
            &write["allowed"]
        ),
        (&json!(true), &json!("write_files"), &json!(true))
    );
    assert_eq!(write["input"]["type"], "object");

    let (_, laws) = get(&server, "/api/agent/laws").await;
    let at = laws["versions"][0]["at"].as_str().unwrap();
    assert!(at.ends_with('Z') && at.len() >= 20, "{laws}");

    let mut window = Window::open(&server).await;
    window.command("tea", "remember that Ada likes tea").await;
    window.until("task_completed").await;
    window
        .command("tea", "remember that Bob likes coffee")
        .await;
    window.until("task_completed").await;
    let (_, tasks) = get(&server, "/api/tasks").await;
    let titles: Vec<&Value> = tasks["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["title"])
        .collect();
    assert!(
        titles.contains(&&json!("remember that Ada likes tea")),
        "{titles:?}"
    );

    let (status, all) = get(&server, "/api/memory/records").await;
    assert_eq!(status, 200, "{all}");
    let records = all["records"].as_array().unwrap();
    assert_eq!(all["total"], records.len());
    let holds = |words: &str| {
        records
            .iter()
            .any(|it| it["content"].as_str().unwrap().contains(words))
    };
    assert!(holds("Ada likes tea") && holds("Bob likes coffee"), "{all}");
    // Page by page it is the same.
    let mut paged = Vec::new();
    let mut path = "/api/memory/records?limit=1".to_owned();
    loop {
        let (_, page) = get(&server, &path).await;
        paged.extend(page["records"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else {
            break;
        };
        path = format!("/api/memory/records?limit=1&before={next}");
    }
    assert_eq!(&paged, records);
    let layer = records[0]["layer"].as_str().unwrap();
    let (_, some) = get(&server, &format!("/api/memory/records?layer={layer}")).await;
    let some = some["records"].as_array().unwrap();
    assert!(some.iter().all(|it| it["layer"] == layer) && !some.is_empty());
    for (query, field) in [("layer=moon", "layer"), ("limit=0", "limit")] {
        let (status, refused) = get(&server, &format!("/api/memory/records?{query}")).await;
        assert_eq!((status, &refused["field"]), (422, &json!(field)));
    }
    let (status, _) = get(&server, "/api/memory/records?before=nothing").await;
    assert_eq!(status, 404);
    server.stop().await;
}
