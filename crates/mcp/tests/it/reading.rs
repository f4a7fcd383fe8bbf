//! Tasks and their artifacts are resources.

use rmcp::model::{ReadResourceRequestParams, ReadResourceResult};
use rmcp::service::ServiceError;
use serde_json::{Value, json};

use crate::support::{BOTH, Bench, Client, User, envelope, refused, request};

async fn read(client: &Client, uri: &str) -> Result<ReadResourceResult, ServiceError> {
    client
        .read_resource(ReadResourceRequestParams::new(uri))
        .await
}

#[tokio::test]
async fn tasks_and_artifacts_are_listed_and_read() {
    let bench = Bench::start().await;
    let client = bench.client(BOTH[0], User::plain()).await;
    let result = client.call_tool(request("count", json!({}))).await.unwrap();
    let task = envelope(&result).1;
    let id = task["id"].as_str().unwrap();
    for wire in BOTH {
        let client = bench.client(wire, User::plain()).await;
        let listed = client.list_all_resources().await.unwrap();
        let uris: Vec<_> = listed.iter().map(|resource| &*resource.uri).collect();
        let made = |name: &str| format!("monas://tasks/{id}/artifacts/{name}");
        let file = made("a%20file%2Ebin");
        assert_eq!(
            uris,
            [&format!("monas://tasks/{id}"), &file, &made("output")]
        );

        let task = read(&client, uris[0]).await.unwrap();
        let task = serde_json::to_value(&task.contents[0]).unwrap();
        let task: Value = serde_json::from_str(task["text"].as_str().unwrap()).unwrap();
        assert_eq!(task["id"], id);
        let file = serde_json::to_value(&read(&client, &file).await.unwrap().contents).unwrap();
        assert_eq!(
            (&file[0]["blob"], &file[0]["mimeType"]),
            (&json!("AQID"), &json!("application/x-count"))
        );
        let output = read(&client, &made("output")).await.unwrap();
        let output = serde_json::to_value(&output.contents[0]).unwrap();
        assert_eq!(output["text"], json!({ "text": "three" }).to_string());
    }
}

#[tokio::test]
async fn what_is_not_there_is_said_so() {
    let bench = Bench::start().await;
    let codes = [-32002, -32602];
    for (wire, code) in BOTH.into_iter().zip(codes) {
        let client = bench.client(wire, User::plain()).await;
        let templates = client.list_all_resource_templates().await.unwrap();
        assert_eq!(templates[0].uri_template, "monas://tasks/{id}");
        for uri in [
            "monas://tasks/none",
            "monas://tasks/none/artifacts/x",
            "file:///etc/passwd",
        ] {
            let error = refused(read(&client, uri).await);
            assert_eq!(error.code.0, code, "{uri}");
        }
    }
}

/// Following `nextCursor` gives every task once.
#[tokio::test]
async fn a_list_has_pages() {
    let bench = Bench::start().await;
    let client = bench.client(BOTH[1], User::plain()).await;
    for number in 0..60 {
        let call = request("greet", json!({ "who": format!("number {number}") }));
        client.call_tool(call).await.unwrap();
    }
    let first = client.list_resources(None).await.unwrap();
    assert_eq!(first.resources.len(), 100);
    assert!(first.next_cursor.is_some());
    assert_eq!(client.list_all_resources().await.unwrap().len(), 120);
}
