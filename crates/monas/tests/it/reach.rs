//! Where a server is reached: below a path, from web pages, and what its extended card shows.

use axum::body::Body;
use axum::http::StatusCode;
use capnweb::transport::websocket;
use capnweb::{Any, Capability, Options};
use serde_json::{Value, json};

use crate::support::http::{Answer, Version};
use crate::support::program::{Monas, command, living, run};
use crate::support::server::{Running, config};

async fn ask(server: &Running, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut client = server.client(Version::One).await;
    let mut request = client.request(method, "localhost", path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    client.send(request.body(Body::empty()).unwrap()).await
}

fn urls(card: &str) -> Vec<String> {
    let card: Value = serde_json::from_str(card).unwrap();
    let interfaces = card["supportedInterfaces"].as_array().unwrap();
    let new = interfaces
        .iter()
        .filter(|it| it["protocolVersion"] == "1.0");
    new.map(|it| it["url"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn everything_is_below_the_path_of_the_public_url() {
    let mut config = config();
    config.public_url = Some("https://agents.example//team/agent/".parse().unwrap());
    let server = Running::serve(&config).await;
    assert_eq!(server.url, "https://agents.example/team/agent");
    // A proxy may leave the path in place, or take it away.
    for base in ["/team/agent", ""] {
        for path in ["/", "/healthz", "/.well-known/agent-card.json"] {
            let answer = server.get(&format!("{base}{path}")).await;
            assert_eq!(answer.status, StatusCode::OK, "{base}{path}");
        }
        for below in ["", "/agents/default"] {
            let path = format!("{base}{below}/.well-known/agent-card.json");
            let card = server.get(&path);
            assert_eq!(
                urls(&card.await.text),
                [
                    "https://agents.example/team/agent/a2a/jsonrpc",
                    "https://agents.example/team/agent/a2a/rest",
                    "agents.example",
                    "https://agents.example/team/agent/a2a/capnweb",
                    "wss://agents.example/team/agent/ws/a2a"
                ]
            );
            let path = format!("{base}{below}/a2a/rest/tasks?A2A-Version=1.0");
            let listed = server.get(&path);
            assert_eq!(listed.await.status, StatusCode::OK, "{base}{below}");
            let url = format!("ws://{}{base}{below}/a2a/capnweb", server.address);
            let options = Options::default();
            let session = websocket::connect(&url, Capability::nothing(), &options).await;
            let agent: Capability = session.unwrap().remote::<Any>().into();
            agent.call("listTasks", ()).await.unwrap();
        }
    }
    let page = server.get("/team/agent").await;
    assert!(
        page.text
            .contains("https://agents.example/team/agent/a2a/jsonrpc")
    );
    for path in ["/team/agents", "/team/agent2/healthz", "/team/healthz"] {
        assert_eq!(
            server.get(path).await.status,
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn pages_of_all_origins_may_read_the_card_and_nothing_else_of_an_open_server() {
    let server = Running::serve(&config()).await;
    let page = [("origin", "https://page.example")];
    for path in [
        "/.well-known/agent-card.json",
        "/agents/default/.well-known/agent.json",
    ] {
        let card = ask(&server, "GET", path, &page).await;
        assert_eq!(card.headers["access-control-allow-origin"], "*", "{path}");
        assert!(
            !card
                .headers
                .contains_key("access-control-allow-credentials")
        );
    }
    for path in ["/healthz", "/a2a/rest/tasks", "/metrics"] {
        let answer = ask(&server, "GET", path, &page).await;
        assert!(
            !answer.headers.contains_key("access-control-allow-origin"),
            "{path}"
        );
    }
    let refused = ask(&server, "POST", "/a2a/jsonrpc", &page).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    server.stop().await;
}

/// A configuration file in a folder of its own, and the program with it.
async fn program(file: &str, arguments: &[&str]) -> (Monas, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("monas.toml");
    std::fs::write(&path, file).unwrap();
    let mut serve = command(home.path());
    serve.args(["serve", "--config"]).arg(&path).args(arguments);
    (Monas::start(&mut serve).await, home)
}

#[tokio::test]
async fn commands_on_the_same_machine_reach_a_server_with_a_public_address() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("monas.toml");
    std::fs::write(&path, "public_url = \"https://agents.example/base\"\n").unwrap();
    let mut serve = living(home.path());
    let monas = Monas::start(serve.args(["serve", "--config"]).arg(&path)).await;
    assert_eq!(monas.url, "https://agents.example/base");
    let mut list = living(home.path());
    let listed = run(list.args(["approvals", "--config"]).arg(&path)).await;
    assert!(listed.status.success(), "{listed:?}");
    assert!(listed.stdout.contains("no call waits"), "{listed:?}");
    // A flag that would not be used is an error.
    let mut wrong = living(home.path());
    let wrong = run(wrong.args(["approvals", "--for", "scout", "answer", "x", "yes"])).await;
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    monas.stop().await;
}

fn bearer() -> String {
    let hash = access::Hash::of("token-of-ada");
    format!("[access.tokens]\ntype = \"bearer\"\ncallers = {{ ada = \"{hash}\" }}\n")
}

#[tokio::test]
async fn where_every_call_needs_a_token_pages_of_all_origins_may_call_with_it() {
    let (monas, _home) = program(&bearer(), &[]).await;
    let address = monas.authority().parse().unwrap();
    let mut client = crate::support::http::Client::connect(address, Version::One).await;
    let mut send = async |method: &str, headers: &[(&str, &str)]| {
        let mut request = client.request(method, "localhost", "/a2a/rest/tasks?A2A-Version=1.0");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        client.send(request.body(Body::empty()).unwrap()).await
    };
    let page = ("origin", "https://page.example");
    let asked = ("access-control-request-method", "GET");
    let preflight = send("OPTIONS", &[page, asked]).await;
    assert_eq!(preflight.status, StatusCode::NO_CONTENT);
    let answer = send("GET", &[page, ("authorization", "Bearer token-of-ada")]).await;
    assert_eq!(answer.status, StatusCode::OK);
    let shown = &answer.headers["access-control-allow-origin"];
    assert_eq!(shown, "https://page.example");
    assert!(
        !answer
            .headers
            .contains_key("access-control-allow-credentials")
    );
    let refused = send("GET", &[page]).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    monas.stop().await;
}

#[tokio::test]
async fn all_origins_are_refused_where_a_browser_adds_the_credentials() {
    let hash = access::Hash::of("secret");
    let cookie = format!(
        "{}[access.keys]\ntype = \"apiKey\"\ncookie = \"key\"\ncallers = {{ ada = \"{hash}\" }}\n",
        bearer()
    );
    for file in ["", &*cookie] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("monas.toml");
        std::fs::write(&path, format!("allow_origin = [\"*\"]\n{file}")).unwrap();
        let mut serve = std::process::Command::new(env!("CARGO_BIN_EXE_monas"));
        serve.env_clear().env("HOME", home.path());
        serve.args(["serve", "--config"]).arg(&path);
        let output = serve.args(["--listen", "127.0.0.1:0"]).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{file}");
        assert!(told.contains("list the origins instead"), "{file}: {told}");
    }
    let (monas, _home) = program(&format!("allow_origin = [\"*\"]\n{}", bearer()), &[]).await;
    monas.stop().await;
}

#[tokio::test]
async fn an_extended_card_is_configured_by_a_file() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("extended.json");
    let secret = json!({"id": "secret", "name": "Secret", "description": "For callers that are known.", "tags": ["more"]});
    let more = json!({"description": "All that it can do.", "skills": [secret]});
    std::fs::write(&path, more.to_string()).unwrap();
    let mut config = config();
    config.extended_card = Some(path.clone());
    let server = Running::serve(&config).await;
    let public = server.get("/.well-known/agent-card.json").await.text;
    assert!(!public.contains("Secret"));
    let public: Value = serde_json::from_str(&public).unwrap();
    assert_eq!(public["capabilities"]["extendedAgentCard"], true);
    let url = format!("ws://{}/a2a/capnweb", server.address);
    let session = websocket::connect(&url, Capability::nothing(), &Options::default()).await;
    let session = session.unwrap();
    let agent: Capability = session.remote::<Any>().into();
    let card = agent.call("getExtendedAgentCard", ()).await.unwrap();
    let field = |name: &str| card.field(name).unwrap().clone();
    assert_eq!(field("description").as_str(), Some("All that it can do."));
    let skills = field("skills").as_array().unwrap().len();
    assert_eq!(skills, public["skills"].as_array().unwrap().len() + 1);
    server.stop().await;

    std::fs::write(&path, "no JSON").unwrap();
    let app = monas::Serve::new(monas::serve::demo::app());
    let failed = app.start(&config).await.unwrap_err().to_string();
    assert!(failed.contains("extended.json"), "{failed}");
}
