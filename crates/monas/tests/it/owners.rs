//! Memory belongs to the caller that said it: the real program with access rules, two callers, a reader and an operator.

mod chains;

use std::path::Path;

use access::Hash;
use axum::body::Body;
use serde_json::{Value, json};

use crate::support::http::{Client, Version};
use crate::support::program::{Monas, living, run};

/// A server with the callers ada, bob, rita (a reader) and root (an operator). The secret of a caller is its name.
async fn server(home: &Path, settings: &str) -> Monas {
    let keeper = "name = 'Keeper'\n[memory]\nreaders = ['rita']\n";
    server_of(home, settings, keeper, &[]).await
}

/// The same with this manifest of the agent at the root, and more arguments.
async fn server_of(home: &Path, settings: &str, agent: &str, arguments: &[&Path]) -> Monas {
    let mut text = format!("{settings}[access.tokens]\ntype = 'bearer'\n");
    for (name, scopes) in [
        ("ada", ""),
        ("bob", ""),
        ("rita", ""),
        ("root", "'operator'"),
    ] {
        let hash = Hash::of(format!("{name}-s3cret"));
        text.push_str(&format!(
            "callers.{name} = {{ secret = '{hash}', scopes = [{scopes}] }}\n"
        ));
    }
    let file = home.join("monas.toml");
    std::fs::write(&file, text).unwrap();
    let manifest = home.join("agent.toml");
    std::fs::write(&manifest, agent).unwrap();
    let mut served = living(home);
    served
        .env_remove("MONAS_OPEN")
        .arg("--config")
        .arg(&file)
        .arg("--agent")
        .arg(&manifest)
        .args(arguments);
    Monas::start(&mut served).await
}

struct As<'a> {
    monas: &'a Monas,
    name: &'a str,
}

impl As<'_> {
    async fn send(&self, method: &str, path: &str, body: String) -> (u16, String) {
        let authority = self.monas.authority();
        let mut client = Client::connect(authority.parse().unwrap(), Version::One).await;
        let mut request = client
            .request(method, authority, path)
            .header("content-type", "application/json")
            .header("a2a-version", "1.0");
        if !self.name.is_empty() {
            request = request.header("authorization", format!("Bearer {}-s3cret", self.name));
        }
        let answer = client.send(request.body(Body::from(body)).unwrap()).await;
        (answer.status.as_u16(), answer.text)
    }

    async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        let (status, text) = self.send("POST", path, body.to_string()).await;
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    /// What the agent answers over A2A.
    async fn say(&self, text: &str) -> String {
        let id = uuid::Uuid::new_v4().to_string();
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {
            "message": { "messageId": id, "role": "ROLE_USER", "parts": [{ "text": text }] },
        }});
        let (status, answer) = self.post("/a2a/jsonrpc", body).await;
        assert_eq!(status, 200, "{answer}");
        answer.to_string()
    }
}

#[tokio::test]
async fn a_caller_sees_what_it_said_and_what_is_public() {
    let home = tempfile::tempdir().unwrap();
    let monas = server(home.path(), "").await;
    let by = |name| As {
        monas: &monas,
        name,
    };
    let (ada, bob, rita, root) = (by("ada"), by("bob"), by("rita"), by("root"));
    let answer = ada.say("remember that my vault code is 4711").await;
    assert!(answer.contains("I will remember"), "{answer}");
    let (status, public) = ada
        .post(
            "/api/memory/store",
            json!({
                "content": "The office of Ada is in Riga.", "public": true,
                "reason": { "confidence": 0.9, "context": "where is the office?", "why": "it is asked often" },
            }),
        )
        .await;
    assert_eq!(
        (status, &public["outcome"]),
        (200, &json!("kept")),
        "{public}"
    );

    // In chat, and in every read of the API.
    assert!(ada.say("recall vault code").await.contains("4711"));
    let query = json!({ "query": "vault code of Ada 4711 Riga" });
    for other in [&bob, &by("")] {
        if other.name.is_empty() {
            let (status, _) = other.post("/api/memory/query", query.clone()).await;
            assert_eq!(status, 401);
            continue;
        }
        assert!(!other.say("recall vault code").await.contains("4711"));
        let (_, found) = other.post("/api/memory/query", query.clone()).await;
        assert_eq!(found["sources"].as_array().unwrap().len(), 1, "{found}");
        assert_eq!(
            found["sources"][0]["content"],
            "The office of Ada is in Riga."
        );
        let (_, found) = other.post("/api/memory/vector-search", query.clone()).await;
        assert!(!found.to_string().contains("4711"), "{found}");
        for path in [
            "export",
            "export?format=cypher",
            "graph",
            "context?task_id=x",
        ] {
            let (status, text) = other
                .send("GET", &format!("/api/memory/{path}"), String::new())
                .await;
            assert_eq!(status, 200, "{path}: {text}");
            assert!(!text.contains("4711"), "{path}: {text}");
        }
    }
    // Readers and operators see it.
    for other in [&rita, &root] {
        let (_, text) = other.send("GET", "/api/memory/export", String::new()).await;
        assert!(text.contains("4711"), "{text}");
        assert!(other.say("recall vault code").await.contains("4711"));
    }

    // Only its caller and operators forget it.
    let (_, all) = root.post("/api/memory/query", query).await;
    let all = all["sources"].as_array().unwrap().iter();
    let mut vault = all.filter(|it| it["content"].as_str().unwrap().starts_with("my vault"));
    let id = vault.next().unwrap()["id"].clone();
    let forget = json!({ "id": id, "why": "bob wants it" });
    let (status, _) = bob.post("/api/memory/forget", forget.clone()).await;
    assert_eq!(status, 404);
    let (status, _) = rita.post("/api/memory/forget", forget.clone()).await;
    assert_eq!(status, 403);
    let (status, said) = ada.post("/api/memory/forget", forget).await;
    assert_eq!((status, &said["forgotten"]), (200, &json!(1)), "{said}");
    monas.stop().await;
}

/// It went wrong: a view of an agent showed its public records to callers that this agent does not admit.
#[tokio::test]
async fn a_view_shows_nothing_of_an_agent_to_callers_that_it_does_not_admit() {
    let home = tempfile::tempdir().unwrap();
    let agents = home.path().join("agents");
    std::fs::create_dir(&agents).unwrap();
    let doc = "name = 'Doc'\nobjectives = ['keep records']\n[access]\ncallers = ['ada']\n";
    std::fs::write(agents.join("doc.toml"), doc).unwrap();
    let viewer = "name = 'Viewer'\nviews = ['doc']\n";
    let arguments = [Path::new("--agents"), &agents];
    let monas = server_of(home.path(), "", viewer, &arguments).await;
    let by = |name| As {
        monas: &monas,
        name,
    };
    let (status, stored) = by("ada")
        .post(
            "/api/memory/store",
            json!({
                "agent": "doc", "content": "The clinic opens at nine.", "public": true,
                "reason": { "confidence": 0.9, "context": "when does the clinic open?", "why": "it is asked often" },
            }),
        )
        .await;
    assert_eq!(status, 200, "{stored}");
    for (name, sees) in [
        ("ada", true),
        ("bob", false),
        ("rita", false),
        ("root", true),
    ] {
        let said = by(name).say("recall when the clinic opens").await;
        assert_eq!(said.contains("opens at nine"), sees, "{name}: {said}");
    }
    monas.stop().await;
}

#[tokio::test]
async fn a_forged_source_and_an_import_by_others_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let monas = server(home.path(), "").await;
    let by = |name| As {
        monas: &monas,
        name,
    };
    let (ada, bob, root) = (by("ada"), by("bob"), by("root"));
    let reason = |source: &str| json!({ "source": source, "confidence": 1.0, "context": "tea", "why": "she said so" });
    let store = "/api/memory/store";
    for source in ["user:ada", "agent:scout", "own"] {
        let body = json!({ "content": "Ada drinks tea.", "reason": reason(source) });
        let (status, refused) = bob.post(store, body).await;
        assert_eq!((status, &refused["code"]), (403, &json!("forged_source")));
        let body = json!({ "content": "Ada drinks tea.", "metadata": { "source": source } });
        let (status, refused) = bob.post(store, body).await;
        assert_eq!(status, 403, "{refused}");
    }
    let body = json!({ "content": "Ada drinks tea.", "reason": reason("user:bob") });
    let (status, stored) = bob.post(store, body).await;
    assert_eq!(status, 200, "{stored}");
    // An operator names another source; the journal says which caller it was.
    let body = json!({ "content": "Cleo sells lamps.", "reason": reason("user:ada") });
    let (status, stored) = root.post(store, body).await;
    assert_eq!(status, 200, "{stored}");
    let (_, seen) = ada.send("GET", "/api/memory/export", String::new()).await;
    assert!(
        seen.contains("Cleo sells lamps.") && !seen.contains("drinks tea"),
        "{seen}"
    );
    let (_, why) = root
        .send(
            "GET",
            "/api/agent/why?question=Cleo%20sells%20lamps",
            String::new(),
        )
        .await;
    assert!(why.contains("root had me remember"), "{why}");
    assert!(why.contains("as the word of user:ada"), "{why}");

    let (_, export) = root.send("GET", "/api/memory/export", String::new()).await;
    for (caller, expected) in [(&bob, 403), (&root, 200)] {
        let (status, said) = caller
            .send("POST", "/api/memory/import", export.clone())
            .await;
        assert_eq!(status, expected, "{said}");
    }
    let blank = json!({ "content": "x", "agent": " " });
    let (status, said) = root.post(store, blank).await;
    assert_eq!(status, 404, "{said}");
    monas.stop().await;
}

/// It went wrong: with `open = true` a caller without credentials exported memory and read the metrics.
#[tokio::test]
async fn an_open_door_shows_the_anonymous_caller_nothing_of_others() {
    let home = tempfile::tempdir().unwrap();
    let monas = server(home.path(), "open = true\n").await;
    let by = |name| As {
        monas: &monas,
        name,
    };
    let (ada, stranger) = (by("ada"), by(""));
    ada.say("remember that my vault code is 4711").await;
    for path in [
        "/metrics",
        "/api/memory/export",
        "/api/memory/graph",
        "/api/boards",
    ] {
        let (status, text) = stranger.send("GET", path, String::new()).await;
        assert_eq!(status, 401, "{path}: {text}");
        let (status, text) = ada.send("GET", path, String::new()).await;
        assert_eq!(status, 200, "{path}: {text}");
    }
    assert!(!stranger.say("recall vault code").await.contains("4711"));
    assert!(
        !stranger
            .say("what do you know about vault")
            .await
            .contains("4711")
    );
    monas.stop().await;
}

/// The law is asked about every write, and the journal has it without its text.
#[tokio::test]
async fn the_law_judges_what_callers_store_and_the_journal_has_no_text_of_it() {
    let home = tempfile::tempdir().unwrap();
    let law = home.path().join("keeper.law.toml");
    std::fs::write(
        &law,
        "[[memory.rules]]\ncondition = {}\naction = 'discard'\n",
    )
    .unwrap();
    let manifest = home.path().join("agent.toml");
    let text = "name = 'Keeper'\nlaw = 'keeper.law.toml'\n";
    std::fs::write(&manifest, text).unwrap();
    let monas = Monas::start(living(home.path()).arg("--agent").arg(&manifest)).await;
    let anonymous = As {
        monas: &monas,
        name: "",
    };
    let body = json!({ "content": "Bob lives in Lisbon." });
    let (status, refused) = anonymous.post("/api/memory/store", body).await;
    assert_eq!(
        (status, &refused["code"]),
        (422, &json!("law")),
        "{refused}"
    );
    let said = anonymous.say("remember that Ada likes coffee").await;
    assert!(said.contains("discards it"), "{said}");
    let (_, export) = anonymous
        .send("GET", "/api/memory/export", String::new())
        .await;
    assert_eq!(export, "");
    monas.stop().await;

    // From the command line, too.
    let added = run(living(home.path()).args(["memory", "add", "Bob lives in Lisbon."])).await;
    assert!(added.stderr.contains("discards it"), "{added:?}");
}

#[tokio::test]
async fn boards_are_read_and_added_to_over_rest_and_from_the_command_line() {
    let home = tempfile::tempdir().unwrap();
    let monas = server(home.path(), "").await;
    let by = |name| As {
        monas: &monas,
        name,
    };
    let claim = json!({ "kind": "claim", "text": "The bridge is closed.", "confidence": 0.8 });
    let (status, posted) = by("ada").post("/api/boards/harbour", claim.clone()).await;
    assert_eq!((status, &posted["place"]), (200, &json!(1)), "{posted}");
    let mut forged = claim.clone();
    forged["agent"] = "scout".into();
    let (status, refused) = by("bob").post("/api/boards/harbour", forged).await;
    assert_eq!((status, &refused["code"]), (403, &json!("forged_source")));
    let (status, _) = by("bob").post("/api/boards/Not%20one", claim).await;
    assert_eq!(status, 422);
    let (status, _) = by("bob")
        .send("GET", "/api/boards/empty", String::new())
        .await;
    assert_eq!(status, 404);
    let board = async |arguments: &[&str]| {
        let ended = run(living(home.path())
            .arg("board")
            .args(arguments)
            .env("A2ACLI_BEARER", "bob-s3cret"))
        .await;
        assert!(ended.status.success(), "{ended:?}");
        ended.stdout
    };
    let said = board(&["post", "harbour", "open it", "--kind", "request"]).await;
    assert_eq!(said, "letter 2 of harbour\n");
    assert_eq!(board(&["list"]).await, "harbour\n");
    assert_eq!(
        board(&["read", "harbour"]).await,
        "1  user:ada (claim, 0.80 sure): The bridge is closed.\n2  user:bob (request): open it\n"
    );
    monas.stop().await;
    // Without a server, the data is opened.
    assert!(
        board(&["read", "harbour", "--after", "1"])
            .await
            .starts_with("2  user:bob")
    );
}

/// It went wrong: `ask-agent` sent a text without a letter, which the other agent kept as the word of a user.
#[tokio::test]
async fn what_agents_say_to_each_other_counts_as_theirs() {
    let home = tempfile::tempdir().unwrap();
    let agents = home.path().join("agents");
    std::fs::create_dir(&agents).unwrap();
    let scout = "name = 'Scout'\nobjectives = ['look around']\n";
    std::fs::write(agents.join("scout.toml"), scout).unwrap();
    let monas = Monas::start(living(home.path()).arg("--agents").arg(&agents)).await;
    let anonymous = As {
        monas: &monas,
        name: "",
    };
    let reason = json!({ "confidence": 0.9, "context": "the bridge", "why": "it is asked often" });
    let body = json!({ "agent": "scout", "content": "The bridge is closed.", "reason": reason });
    let (status, stored) = anonymous.post("/api/memory/store", body).await;
    assert_eq!(status, 200, "{stored}");
    let said = anonymous.say("ask scout to recall the bridge").await;
    assert!(said.contains("The bridge is closed."), "{said}");
    let export = async |agent: &str| {
        let path = format!("/api/memory/export?agent={agent}");
        anonymous.send("GET", &path, String::new()).await.1
    };
    let (asker, asked) = (export("default").await, export("scout").await);
    assert!(asker.contains("\"source\":\"agent:scout\""), "{asker}");
    assert!(asked.contains("\"source\":\"agent:default\""), "{asked}");
    assert!(!asker.contains("user:agent") && !asked.contains("user:agent"));

    // Over A2A boards are skills.
    let posted = anonymous
        .say("/board-post board=harbour text=\"The bridge is closed.\"")
        .await;
    assert!(posted.contains("letter 1"), "{posted}");
    let read = anonymous.say("/board-read board=harbour").await;
    // The agent writes it, for the caller who asked for it.
    let letter = "1. default (for anonymous): The bridge is closed.";
    assert!(read.contains(letter), "{read}");
    let read = run(living(home.path()).args(["board", "read", "harbour"])).await;
    assert!(
        read.stdout.contains("default for anonymous (claim"),
        "{read:?}"
    );
    monas.stop().await;
}

/// An import is one event for each batch, and judged by the law: it keeps its speed.
#[tokio::test]
async fn an_import_is_one_event_for_each_batch() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut living(home.path())).await;
    let anonymous = As {
        monas: &monas,
        name: "",
    };
    let lines: String = (0..2000)
        .map(|number| {
            let record = json!({
                "id": format!("{number:032}"), "text": format!("Item {number} lies in box {}.", number % 97),
                "type": "note", "source": "user:ada", "recorded": 1, "standing": "observed",
            });
            format!("{record}\n")
        })
        .collect();
    let (status, said) = anonymous.send("POST", "/api/memory/import", lines).await;
    assert_eq!(status, 200, "{said}");
    assert!(said.contains("\"imported\":2000"), "{said}");
    let (_, status) = anonymous
        .send("GET", "/api/agent/status", String::new())
        .await;
    let status: Value = serde_json::from_str(&status).unwrap();
    let events = status["event"].as_u64().unwrap();
    assert!(events < 10, "{status}");
    let why = "/api/agent/why?question=00000000000000000000000000001234";
    let (_, why) = anonymous.send("GET", why, String::new()).await;
    assert!(why.contains("anonymous had me remember"), "{why}");
    monas.stop().await;
}

/// It went wrong: a full disk was 500 for everything that an agent records, which no client tries again.
#[tokio::test]
async fn where_no_space_is_left_the_api_is_unavailable_and_reads_go_on() {
    let home = tempfile::tempdir().unwrap();
    let settings = "[store]\nmax_data = '2MiB'\n";
    let monas = server(home.path(), settings).await;
    let root = As {
        monas: &monas,
        name: "root",
    };
    let mut refused = None;
    for number in 0..200 {
        let content = format!("Box {number}: {}", "tea ".repeat(5_000));
        let (status, answer) = root
            .post("/api/memory/store", json!({ "content": content }))
            .await;
        if status != 200 {
            refused = Some((status, answer));
            break;
        }
    }
    let (status, answer) = refused.unwrap();
    assert_eq!((status, &answer["code"]), (503, &json!("full")), "{answer}");
    // What is small may have fitted in still.
    let mut refused = None;
    for number in 0..2_000 {
        let switch = if number % 2 == 0 { "pause" } else { "resume" };
        let path = format!("/api/agent/{switch}");
        let (status, answer) = root.post(&path, json!({})).await;
        if status != 200 {
            refused = Some((status, answer));
            break;
        }
    }
    let (status, answer) = refused.unwrap();
    assert_eq!((status, &answer["code"]), (503, &json!("full")), "{answer}");
    let why = answer["error"].as_str().unwrap();
    assert!(why.contains("no space is left"), "{why}");
    let (status, ready) = root.send("GET", "/readyz", String::new()).await;
    assert_eq!(status, 503, "{ready}");
    let (status, found) = root
        .post("/api/memory/query", json!({ "query": "Box 0" }))
        .await;
    assert_eq!(status, 200, "{found}");
    monas.stop().await;
}
