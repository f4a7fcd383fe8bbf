//! The list of agents and their manifests.

use serde_json::json;

use crate::support::Bench;

#[tokio::test]
async fn ping_needs_no_credentials() {
    let bench = Bench::start().await;
    assert_eq!(bench.get("/ping").await.ok(), json!({}));
}

#[tokio::test]
async fn every_skill_is_an_agent_and_so_is_the_agent_as_a_whole() {
    let bench = Bench::start().await;
    let listed = bench.get("/agents").await.ok();
    let names = listed["agents"].as_array().unwrap().iter();
    let names: Vec<_> = names.map(|agent| agent["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "test-agent",
            "echo",
            "approve",
            "slow",
            "boom",
            "crash",
            "chat",
            "make"
        ]
    );
    let whole = &listed["agents"][0];
    assert_eq!(whole["description"], "Does what tests need.");
    assert_eq!(
        whole["metadata"]["capabilities"].as_array().unwrap().len(),
        7
    );
}

#[tokio::test]
async fn agents_come_in_pages_where_that_is_asked_for() {
    let bench = Bench::start().await;
    let page = bench.get("/agents?limit=2&offset=3").await.ok();
    let names: Vec<_> = page["agents"].as_array().unwrap().iter().collect();
    assert_eq!([&names[0]["name"], &names[1]["name"]], ["slow", "boom"]);
    let beyond = bench.get("/agents?offset=100").await.ok();
    assert_eq!(beyond, json!({ "agents": [] }));
    for wrong in [
        "limit=0",
        "limit=1001",
        "limit=x",
        "offset=-1",
        "offset=1.5",
    ] {
        let refused = bench.get(&format!("/agents?{wrong}")).await.refused();
        assert_eq!(refused, (422, "invalid_input".to_owned()), "{wrong}");
    }
}

#[tokio::test]
async fn a_manifest_has_what_the_skill_says_of_itself() {
    let bench = Bench::start().await;
    let manifest = bench.get("/agents/echo").await.ok();
    let said = &manifest["metadata"]["annotations"]["urn:monas:acp:skill:1"];
    assert_eq!(said["examples"], json!(["say hello"]));
    assert_eq!(said["input_schema"]["required"], json!(["text"]));
    assert_eq!(said["output_schema"]["type"], "string");
    assert_eq!(manifest["metadata"]["tags"], json!(["test"]));
    assert_eq!(manifest["description"], "Says what it was told.");
    let takes = json!(["text/plain", "application/json"]);
    assert_eq!(manifest["input_content_types"], takes);
    assert_eq!(manifest["output_content_types"], json!(["text/plain"]));
}

#[tokio::test]
async fn an_unknown_agent_is_not_found() {
    let bench = Bench::start().await;
    let missing = bench.get("/agents/nobody").await;
    assert_eq!(missing.refused(), (404, "not_found".to_owned()));
    assert_eq!(missing.json()["message"], "agent \"nobody\" not found");
}
