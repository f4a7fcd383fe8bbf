//! Several agents on one server: each with its card, its paths and its skills, and its tenant at the root.

use a2a::binding::BINDINGS;
use a2a::client::{Client, Error, Settings, Version};
use a2a::types::{Answer, ListTasksRequest, Message, SendMessageRequest};
use axum::body::Body;
use serde_json::{Value, json};

use crate::support::http::{self, Client as Http};
use crate::support::program::{Monas, command};

const SCOUT: &str = "\
    name = 'Scout'\n\
    description = 'Goes ahead.'\n\
    skills = ['echo']\n";

async fn serve(home: &std::path::Path) -> Monas {
    let folder = home.join("agents");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("scout.toml"), SCOUT).unwrap();
    std::fs::write(folder.join("keeper.toml"), "name = 'Keeper'").unwrap();
    Monas::start(command(home).arg("--agents").arg(&folder)).await
}

fn echo(text: &str) -> SendMessageRequest {
    let mut message = Message::user(uuid::Uuid::new_v4().to_string(), text);
    let metadata = json!({ "urn:monas:a2a:ext:skill:1/skill": "echo" });
    message.metadata = metadata.as_object().cloned().map(Into::into);
    message.into()
}

async fn post(monas: &Monas, path: &str, body: &Value) -> (u16, Value) {
    let mut client = Http::connect(monas.authority().parse().unwrap(), http::Version::One).await;
    let request = client
        .request("POST", monas.authority(), path)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("a2a-version", "1.0")
        .header("mcp-method", "tools/list")
        .header("mcp-protocol-version", "2026-07-28");
    let answer = client
        .send(request.body(Body::from(body.to_string())).unwrap())
        .await;
    let json = serde_json::from_str(&answer.text).unwrap_or_default();
    (answer.status.as_u16(), json)
}

async fn get(monas: &Monas, path: &str) -> Value {
    let mut client = Http::connect(monas.authority().parse().unwrap(), http::Version::One).await;
    let request = client.request("GET", monas.authority(), path);
    let answer = client.send(request.body(Body::empty()).unwrap()).await;
    serde_json::from_str(&answer.text).unwrap()
}

#[tokio::test]
async fn each_agent_is_reached_over_every_binding_below_its_name() {
    let home = tempfile::tempdir().unwrap();
    let monas = serve(home.path()).await;
    let url = format!("{}/agents/scout", monas.url);
    for binding in BINDINGS {
        for version in [Version::V1_0, Version::V0_3] {
            if version == Version::V0_3 && binding.key == "grpc" {
                continue;
            }
            let mut settings = Settings::default();
            settings.bindings = vec![binding.key.to_owned()];
            settings.version = Some(version);
            let client = Client::discover(&url, settings).await.unwrap();
            assert_eq!(client.card().name, "Scout");
            let wire = format!("{} {version}", binding.key);
            let answer = client.send_message(echo(&wire)).await;
            let answer = answer.unwrap_or_else(|error| panic!("{wire}: {error}"));
            assert!(
                !matches!(answer.payload, Answer::Task(ref task) if task.artifacts.is_empty()),
                "{wire}: {answer:?}"
            );
        }
    }
    // Nothing of it is to be seen at the root.
    let root = Client::discover(&monas.url, Settings::default())
        .await
        .unwrap();
    let listed = root.list_tasks(ListTasksRequest::default()).await.unwrap();
    assert_eq!(listed.total_size, 0, "{listed:?}");
    let scouts = ListTasksRequest {
        tenant: "scout".to_owned(),
        ..ListTasksRequest::default()
    };
    let listed = root.list_tasks(scouts).await.unwrap();
    assert_ne!(listed.total_size, 0, "by its tenant it is");
    monas.stop().await;
}

#[tokio::test]
async fn each_agent_has_its_own_card_tools_and_agents_of_acp() {
    let home = tempfile::tempdir().unwrap();
    let monas = serve(home.path()).await;
    let card = get(&monas, "/agents/scout/.well-known/agent-card.json").await;
    assert_eq!(card["name"], "Scout");
    let skills = card["skills"].as_array().unwrap();
    assert_eq!(skills.len(), 1, "{skills:?}");
    let interface = &card["supportedInterfaces"][0];
    let expected = format!("{}/agents/scout/a2a/jsonrpc", monas.url);
    assert_eq!(interface["url"], expected);

    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    } });
    let (status, listed) = post(&monas, "/agents/scout/mcp", &list).await;
    assert_eq!(status, 200, "{listed}");
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 1, "{tools:?}");
    let listed = get(&monas, "/agents/scout/acp/agents").await;
    let others = get(&monas, "/agents/keeper/acp/agents").await;
    let count = |listed: &Value| listed["agents"].as_array().unwrap().len();
    assert!(count(&listed) < count(&others), "{listed} {others}");
    monas.stop().await;
}

#[tokio::test]
async fn an_agent_that_is_not_there_is_not_called() {
    let home = tempfile::tempdir().unwrap();
    let monas = serve(home.path()).await;
    let root = Client::discover(&monas.url, Settings::default())
        .await
        .unwrap();
    let mut request = echo("hello");
    request.tenant = "nobody".to_owned();
    let refused = root.send_message(request).await.unwrap_err();
    assert!(matches!(refused, Error::Refused(_)), "{refused:?}");
    assert!(refused.to_string().contains("nobody"), "{refused}");
    let (status, _) = post(&monas, "/agents/nobody/a2a/jsonrpc", &json!({})).await;
    assert_eq!(status, 404);
    let mut elsewhere = serde_json::to_value(echo("hello")).unwrap();
    elsewhere["tenant"] = "keeper".into();
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": elsewhere });
    let (_, refused) = post(&monas, "/agents/scout/a2a/jsonrpc", &call).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    monas.stop().await;
}
