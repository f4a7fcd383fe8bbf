//! Where a server is reached: below a path, from web pages, and what its extended card shows.

use axum::body::Body;
use axum::http::StatusCode;
use capnweb::transport::websocket;
use capnweb::{Any, Capability, Options};
use serde_json::{Value, json};

use crate::support::http::{Answer, Version};
use crate::support::program::{Monas, closed, living, run};
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
    let page = server.get("/team/agent/connect").await;
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

/// A configuration file in a folder of its own, and the program with it; callers need credentials.
async fn program(file: &str, arguments: &[&str]) -> (Monas, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("monas.toml");
    std::fs::write(&path, file).unwrap();
    let mut serve = closed(home.path());
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
    assert!(listed.stdout.contains("nothing waits"), "{listed:?}");
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
    // Every method that a route has is allowed: a browser sends no other.
    let allowed = preflight.headers["access-control-allow-methods"].to_str();
    let allowed: Vec<&str> = allowed.unwrap().split(", ").collect();
    let mut other = crate::support::http::Client::connect(address, Version::One).await;
    let request = other.request("GET", "localhost", "/openapi.json");
    let described = other.send(request.body(Body::empty()).unwrap()).await;
    let described: serde_json::Value = serde_json::from_str(&described.text).unwrap();
    let paths = described["paths"].as_object().unwrap().values();
    let methods = paths.flat_map(|it| it.as_object().unwrap().keys());
    for method in
        methods.filter(|it| !["parameters", "summary", "description"].contains(&it.as_str()))
    {
        let method = method.to_uppercase();
        assert!(allowed.contains(&&*method), "{method}: {allowed:?}");
    }
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

    // What a preflight promises for MCP, a call keeps.
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "page", "version": "1"},
    }});
    let request = client
        .request("POST", "localhost", "/mcp")
        .header("origin", "https://page.example")
        .header("authorization", "Bearer token-of-ada")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    let answer = client.send(request.body(Body::from(hello.to_string())).unwrap());
    let answer = answer.await;
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    monas.stop().await;
}

#[tokio::test]
async fn all_origins_are_refused_where_a_browser_adds_the_credentials() {
    let hash = access::Hash::of("secret");
    let cookie = format!(
        "{}[access.keys]\ntype = \"apiKey\"\ncookie = \"key\"\ncallers = {{ ada = \"{hash}\" }}\n",
        bearer()
    );
    for file in ["open = true\n", &*cookie] {
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

/// It went wrong: only the agent at the root could have an extended card.
#[tokio::test]
async fn an_agent_below_the_root_has_the_extended_card_of_its_manifest() {
    let home = tempfile::tempdir().unwrap();
    let agents = home.path().join("agents");
    std::fs::create_dir(&agents).unwrap();
    let manifest = "name = 'Scout'\nobjectives = ['look']\nextended_card = 'scout.json'\n";
    std::fs::write(agents.join("scout.toml"), manifest).unwrap();
    let more = json!({"description": "All that it can do."});
    std::fs::write(agents.join("scout.json"), more.to_string()).unwrap();
    let file = home.path().join("monas.toml");
    std::fs::write(&file, bearer()).unwrap();
    let mut served = living(home.path());
    served
        .env_remove("MONAS_OPEN")
        .arg("--config")
        .arg(&file)
        .arg("--agents")
        .arg(&agents);
    let monas = Monas::start(&mut served).await;
    let address = monas.authority().parse().unwrap();
    let mut client = crate::support::http::Client::connect(address, Version::One).await;
    let mut get = async |path: &str, token: Option<&str>| {
        let mut request = client.request("GET", "localhost", path);
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        client.send(request.body(Body::empty()).unwrap()).await
    };
    let public = get("/agents/scout/.well-known/agent-card.json", None)
        .await
        .text;
    assert!(public.contains("\"extendedAgentCard\":true"), "{public}");
    assert!(!public.contains("All that it can do."), "{public}");
    let path = "/agents/scout/a2a/rest/extendedAgentCard?A2A-Version=1.0";
    assert_eq!(get(path, None).await.status, StatusCode::UNAUTHORIZED);
    let extended = get(path, Some("token-of-ada")).await.text;
    assert!(extended.contains("All that it can do."), "{extended}");
    assert!(extended.contains("/agents/scout/"), "{extended}");
    monas.stop().await;
}

/// It went wrong: the listener did not pass on the address, so that all callers without a name shared one limit.
#[tokio::test]
async fn mcp_sessions_of_callers_without_a_name_are_counted_for_each_address() {
    use crate::support::http::Client;

    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut living(home.path())).await;
    let address = monas.authority().parse().unwrap();
    let post = async |from: &str, session: Option<&str>, body: Value| {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(format!("{from}:0").parse().unwrap()).unwrap();
        let stream = socket.connect(address).await.unwrap();
        let mut client = Client::over(stream, Version::One).await.unwrap();
        let mut request = client
            .request("POST", "localhost", "/mcp")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2025-11-25");
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        client
            .send(request.body(Body::from(body.to_string())).unwrap())
            .await
    };
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "one", "version": "1"},
    }});
    let opened = post("127.0.0.2", None, hello.clone()).await;
    let session = opened.headers["mcp-session-id"].to_str().unwrap();
    // One more than an address may have.
    for _ in 0..=200 {
        let opened = post("127.0.0.1", None, hello.clone()).await;
        assert_eq!(opened.status, StatusCode::OK, "{opened:?}");
    }
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let kept = post("127.0.0.2", Some(session), ready).await;
    assert_eq!(kept.status, StatusCode::ACCEPTED, "{kept:?}");
    monas.stop().await;
}
