//! The agent that users get: it remembers, asks before it acts, survives a kill, and says why.

use std::path::Path;

use a2a::client::{Client, Settings};
use a2a::types::{Answer, GetTaskRequest, Message, Part, Task, TaskState};
use axum::body::Body;
use skill::extension;

use crate::support::http;
use crate::support::program::{Monas, living, run};
use crate::support::sut::program;

pub(crate) async fn client(monas: &Monas) -> Client {
    Client::discover(&monas.url, Settings::default())
        .await
        .unwrap()
}

/// Says something, and waits for the task that comes of it to rest.
pub(crate) async fn say(client: &Client, text: &str, about: Option<&Task>) -> Task {
    let mut message = Message::user(uuid::Uuid::new_v4().to_string(), text);
    if let Some(task) = about {
        message.task_id.clone_from(&task.id);
        message.context_id.clone_from(&task.context_id);
    }
    match client.send_message(message.into()).await.unwrap().payload {
        Answer::Task(task) => task,
        other => panic!("{text:?}: {other:?} is no task"),
    }
}

pub(crate) fn state(task: &Task) -> TaskState {
    task.status.as_ref().unwrap().state
}

/// All that a task says.
pub(crate) fn words(task: &Task) -> String {
    let artifacts = task.artifacts.iter().flat_map(|it| &it.parts);
    let status = task.status.as_ref().and_then(|it| it.message.as_ref());
    let parts = artifacts.chain(status.into_iter().flat_map(|it| &it.parts));
    let texts: Vec<_> = parts.filter_map(Part::as_text).collect();
    texts.join("\n")
}

async fn monas(home: &Path, arguments: &[&str]) -> String {
    let ended = run(living(home).args(arguments)).await;
    assert!(ended.status.success(), "{arguments:?}: {ended:?}");
    ended.stdout
}

#[tokio::test]
async fn what_it_is_told_to_remember_it_knows_after_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    let told = say(
        &client(&server).await,
        "remember that Ada likes coffee",
        None,
    )
    .await;
    assert_eq!(state(&told), TaskState::Completed, "{told:?}");
    server.stop().await;

    let server = Monas::start(&mut living(home.path())).await;
    let asked = say(&client(&server).await, "what do you know about Ada?", None).await;
    assert!(words(&asked).contains("Ada likes coffee"), "{asked:?}");
    let found = monas(
        home.path(),
        &["memory", "query", "Which drink would Ada like?"],
    )
    .await;
    assert!(found.contains("Ada likes coffee"), "{found}");
    server.stop().await;
}

#[tokio::test]
async fn it_asks_before_it_writes_a_file_and_goes_on_after_a_kill() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("files/notes.md");
    let folder = home.path().join("files");
    let serve = || {
        let mut command = living(home.path());
        command.arg("--workspace").arg(&folder);
        command
    };
    let server = Monas::start(&mut serve()).await;
    let asked = say(
        &client(&server).await,
        "create notes.md with hello world",
        None,
    )
    .await;
    assert_eq!(state(&asked), TaskState::InputRequired, "{asked:?}");
    assert!(words(&asked).contains("+hello world"), "{}", words(&asked));
    assert!(!file.exists(), "nobody has agreed");
    server.signal("KILL").await;
    server.ended().await;

    let server = Monas::start(&mut serve()).await;
    let client = client(&server).await;
    let request = GetTaskRequest {
        id: asked.id.clone(),
        ..GetTaskRequest::default()
    };
    let waiting = client.get_task(request).await.unwrap();
    assert_eq!(state(&waiting), TaskState::InputRequired);
    assert!(!file.exists());
    let done = say(&client, "yes", Some(&asked)).await;
    assert_eq!(state(&done), TaskState::Completed, "{done:?}");
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(written.trim_end(), "hello world");

    let refused = say(&client, "create secret.md with no", None).await;
    assert_eq!(state(&refused), TaskState::InputRequired);
    let refused = say(&client, "no, keep it", Some(&refused)).await;
    assert_eq!(state(&refused), TaskState::Canceled);
    assert!(words(&refused).contains("keep it"), "{refused:?}");
    assert!(!home.path().join("files/secret.md").exists());
    let read = say(&client, "read notes.md", None).await;
    assert!(words(&read).contains("hello world"), "{read:?}");

    // `why` cites the journal, with a running server and without one.
    let why = monas(home.path(), &["why", &asked.id]).await;
    assert!(why.contains("file-write") && why.contains('['), "{why}");
    server.stop().await;
    let later = monas(home.path(), &["why", &asked.id]).await;
    assert_eq!(later, why);
    let unknown = monas(home.path(), &["why", "did you paint the moon green?"]).await;
    assert!(unknown.contains("I do not know"), "{unknown}");
}

#[tokio::test]
async fn what_was_approved_is_what_is_written() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("files");
    let serve = || {
        let mut command = living(home.path());
        command.arg("--workspace").arg(&folder);
        command
    };
    let server = Monas::start(&mut serve()).await;
    let file = folder.join("notes.md");
    std::fs::write(&file, "one\n").unwrap();
    let switch = async |server: &Monas, what: &str| {
        let address = server.authority().parse().unwrap();
        let mut client = http::Client::connect(address, http::Version::One).await;
        let request = client.request("POST", "localhost", &format!("/api/agent/{what}"));
        client.send(request.body(Body::empty()).unwrap()).await
    };
    let first = client(&server).await;
    let asked = say(&first, "create notes.md with two", None).await;
    assert!(words(&asked).contains("-one"), "{}", words(&asked));
    // The answer comes in a pause, and the file becomes another one before its end.
    switch(&server, "pause").await;
    let answered = tokio::spawn({
        let (first, asked) = (client(&server).await, asked.clone());
        async move { say(&first, "yes", Some(&asked)).await }
    });
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    std::fs::write(&file, "SOMETHING IMPORTANT\n").unwrap();
    switch(&server, "resume").await;
    let ended = answered.await.unwrap();
    assert_eq!(state(&ended), TaskState::Failed, "{ended:?}");
    assert!(words(&ended).contains("has changed"), "{ended:?}");
    let now = std::fs::read_to_string(&file).unwrap();
    assert_eq!(now, "SOMETHING IMPORTANT\n");

    // A grant for a folder is not carried elsewhere by a symlink in it.
    std::fs::create_dir(folder.join("docs")).unwrap();
    std::fs::write(folder.join("secret.md"), "secret\n").unwrap();
    std::os::unix::fs::symlink("../secret.md", folder.join("docs/link.md")).unwrap();
    let asked = say(&first, "create docs/a.md with x", None).await;
    let granted = r#"{"decision":"approve","prefix":"docs/"}"#;
    let done = say(&first, granted, Some(&asked)).await;
    assert_eq!(state(&done), TaskState::Completed, "{done:?}");
    let done = say(&first, "create docs/b.md with x", None).await;
    assert_eq!(state(&done), TaskState::Completed, "{done:?}");
    let asked = say(&first, "create docs/link.md with x", None).await;
    assert_eq!(state(&asked), TaskState::InputRequired, "{asked:?}");
    assert!(words(&asked).contains("a/secret.md"), "{}", words(&asked));
    server.stop().await;
}

#[tokio::test]
async fn an_answer_before_a_kill_is_none_to_what_has_changed_meanwhile() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("files");
    let serve = || {
        let mut command = living(home.path());
        command.arg("--workspace").arg(&folder);
        command
    };
    let server = Monas::start(&mut serve()).await;
    let file = folder.join("notes.md");
    std::fs::write(&file, "one\n").unwrap();
    let switch = async |server: &Monas, what: &str| {
        let address = server.authority().parse().unwrap();
        let mut client = http::Client::connect(address, http::Version::One).await;
        let request = client.request("POST", "localhost", &format!("/api/agent/{what}"));
        client.send(request.body(Body::empty()).unwrap()).await
    };
    let look = async |client: &Client, asked: &Task| {
        let request = GetTaskRequest {
            id: asked.id.clone(),
            ..GetTaskRequest::default()
        };
        client.get_task(request).await.unwrap()
    };
    let first = client(&server).await;
    let asked = say(&first, "create notes.md with two", None).await;
    // In a pause the answer waits between the person and the write.
    switch(&server, "pause").await;
    let answered = tokio::spawn({
        let (first, asked) = (client(&server).await, asked.clone());
        async move { say(&first, "yes", Some(&asked)).await }
    });
    let is_there = |task: &Task| task.history.iter().any(|it| it.text() == "yes");
    while !is_there(&look(&first, &asked).await) {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    server.signal("KILL").await;
    server.ended().await;
    // Its call ended with the server.
    drop(answered.await);
    std::fs::write(&file, "SOMETHING IMPORTANT\n").unwrap();

    let server = Monas::start(&mut serve()).await;
    switch(&server, "resume").await;
    let first = client(&server).await;
    let shown = loop {
        let now = look(&first, &asked).await;
        if state(&now).is_terminal() || words(&now).contains("-SOMETHING IMPORTANT") {
            break now;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    let now = std::fs::read_to_string(&file).unwrap();
    assert_eq!(now, "SOMETHING IMPORTANT\n", "{shown:?}");
    assert_eq!(state(&shown), TaskState::InputRequired, "{shown:?}");
    let done = say(&first, "yes", Some(&asked)).await;
    assert_eq!(state(&done), TaskState::Completed, "{done:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap().trim_end(), "two");
    server.stop().await;
}

#[tokio::test]
async fn its_law_can_be_read() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    let law = monas(home.path(), &["law", "show"]).await;
    assert!(law.starts_with("law of default, version 1 ("), "{law}");
    let history = monas(home.path(), &["law", "history"]).await;
    assert_eq!(history.lines().count(), 1, "{history}");
    assert_eq!(
        monas(home.path(), &["law", "diff"]).await,
        "nothing changed\n"
    );
    server.stop().await;
    assert_eq!(monas(home.path(), &["law", "show"]).await, law);
    let nowhere = home.path().join("nowhere");
    let looked = run(living(home.path())
        .args(["law", "show", "--data"])
        .arg(&nowhere))
    .await;
    assert!(looked.stderr.contains("no such folder"), "{looked:?}");
    assert!(!nowhere.exists(), "who looks makes nothing");
    let nobody = run(living(home.path()).args(["law", "show", "--for", "nobody"])).await;
    assert!(!nobody.status.success());
    assert!(
        nobody.stderr.contains("there is no agent \"nobody\""),
        "{nobody:?}"
    );
}

#[tokio::test]
async fn an_agent_that_is_another_one_again_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("agents");
    std::fs::create_dir(&folder).unwrap();
    let manifest = "name = 'Scout'\nobjectives = ['look ahead']\n";
    std::fs::write(folder.join("scout.toml"), manifest).unwrap();
    let twin =
        "name = 'Ranger'\ndescription = 'Others call it so.'\nobjectives = ['Look  ahead']\n";
    std::fs::write(folder.join("ranger.toml"), twin).unwrap();
    let mut server = Monas::start(living(home.path()).arg("--agents").arg(&folder)).await;
    let logged = server.logged("not started").await;
    assert!(
        logged.contains("would be \\\"ranger\\\" again")
            || logged.contains("would be \"ranger\" again"),
        "{logged}"
    );
    server.stop().await;
    std::fs::remove_file(folder.join("ranger.toml")).unwrap();
    // A law may lie beside its manifest, and what it holds to be true is remembered.
    let manifest = format!("{manifest}law = 'scout.law.toml'\n");
    std::fs::write(folder.join("scout.toml"), manifest).unwrap();
    let law = "[frozen]\naxioms = ['The sky is blue.']\n";
    std::fs::write(folder.join("scout.law.toml"), law).unwrap();

    let server = Monas::start(living(home.path()).arg("--agents").arg(&folder)).await;
    let url = format!("{}/agents/scout", server.url);
    let scout = Client::discover(&url, Settings::default()).await.unwrap();
    let told = say(&scout, "remember that the bridge is closed", None).await;
    assert_eq!(state(&told), TaskState::Completed, "{told:?}");
    let sky = [
        "memory",
        "query",
        "What colour is the sky?",
        "--for",
        "scout",
    ];
    let known = monas(home.path(), &sky).await;
    assert!(known.contains("The sky is blue."), "{known}");
    let first = client(&server).await;
    let asked = say(&first, "what do you know about the bridge?", None).await;
    assert!(
        !words(&asked).contains("closed"),
        "memories are their own: {asked:?}"
    );
    let asked = say(&first, "ask scout to recall the bridge", None).await;
    assert!(words(&asked).contains("closed"), "{asked:?}");
    server.stop().await;
}

#[tokio::test]
async fn a_question_of_another_agent_is_asked_here_and_each_agent_knows_its_caller() {
    let home = tempfile::tempdir().unwrap();
    let (folder, files) = (home.path().join("agents"), home.path().join("files"));
    std::fs::create_dir(&folder).unwrap();
    let manifest = "name = 'Scribe'\nobjectives = ['write things down']\nworkspace = 'default'\n";
    std::fs::write(folder.join("scribe.toml"), manifest).unwrap();
    let mut serve = living(home.path());
    serve.arg("--agents").arg(&folder);
    let server = Monas::start(serve.arg("--workspace").arg(&files)).await;
    let at = async |path: &str| {
        let url = format!("{}{path}", server.url);
        Client::discover(&url, Settings::default()).await
    };
    // The agent at the root is also below its id; an unknown id has no agent.
    let first = at("/agents/default").await.unwrap();
    let nobody = at("/agents/scrib").await.unwrap_err().to_string();
    assert!(nobody.contains("there is none at"), "{nobody}");

    let asked = say(&first, "ask scribe to create list.md with milk", None).await;
    assert_eq!(state(&asked), TaskState::InputRequired, "{asked:?}");
    let question = words(&asked);
    assert!(
        question.contains("scribe asks: May I call file-write?"),
        "{question}"
    );
    assert!(question.contains("+milk"), "{question}");
    assert!(!files.join("list.md").exists());
    assert!(
        question.contains("The agent default asks for this call."),
        "{question}"
    );
    let done = say(&first, "yes please", Some(&asked)).await;
    assert_eq!(state(&done), TaskState::Completed, "one question: {done:?}");
    let written = std::fs::read_to_string(files.join("list.md")).unwrap();
    assert_eq!(written.trim_end(), "milk");
    let why = ["why", "why is there a list?", "--for", "scribe"];
    let why = monas(home.path(), &why).await;
    assert!(why.contains("agent:default asked: create list.md"), "{why}");
    assert!(
        why.contains("anonymous, through agent:default approved it."),
        "{why}"
    );
    // A refusal is one at both ends of the chain.
    let asked = say(&first, "ask scribe to create other.md with tea", None).await;
    let refused = say(&first, "no, I drink coffee", Some(&asked)).await;
    assert_eq!(state(&refused), TaskState::Canceled, "{refused:?}");
    assert!(words(&refused).contains("I drink coffee"), "{refused:?}");
    // What another agent asks is listed for the caller who must answer, and is answered there or at the other agent.
    for (agent, list) in [("default", "questions"), ("scribe", "approvals")] {
        let request = format!("ask scribe to create {agent}.md with tea");
        let asked = say(&first, &request, None).await;
        let listed = ["approvals", "-o", "json", "--for", agent];
        let listed = monas(home.path(), &listed).await;
        let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
        let waits = &listed[list][0];
        let id = waits["id"].as_str().unwrap();
        assert_eq!(uuid::Uuid::parse_str(id).unwrap().get_version_num(), 4);
        if list == "questions" {
            assert_eq!(waits["task"], asked.id.as_str(), "{listed}");
            let shown = monas(home.path(), &["approvals"]).await;
            assert!(
                shown.contains("scribe asks: May I call file-write?"),
                "{shown}"
            );
        }
        let answer = ["approvals", "answer", id, "yes", "--for", agent];
        let answered = monas(home.path(), &answer).await;
        assert_eq!(answered, format!("answered, see task {}\n", asked.id));
        let done = loop {
            let request = GetTaskRequest {
                id: asked.id.clone(),
                ..GetTaskRequest::default()
            };
            let now = first.get_task(request).await.unwrap();
            if state(&now).is_terminal() {
                break now;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        };
        assert_eq!(state(&done), TaskState::Completed, "{done:?}");
        assert!(files.join(format!("{agent}.md")).exists());
    }
    // The agent that passed it on knows who agreed.
    let why = monas(home.path(), &["why", "why is there default.md?"]).await;
    assert!(why.contains("anonymous answered: yes"), "{why}");
    let itself = say(&first, "ask default to sing", None).await;
    assert!(words(&itself).contains("no other agent"), "{itself:?}");
    server.stop().await;
}

#[tokio::test]
async fn a_caller_that_may_not_call_an_agent_may_not_look_into_it_either() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("agents");
    std::fs::create_dir(&folder).unwrap();
    let manifest =
        "name = 'Scribe'\nobjectives = ['write']\n[access]\ncallers = ['ada', 'agent:default']\n";
    std::fs::write(folder.join("scribe.toml"), manifest).unwrap();
    let hash = |token: &str| access::Hash::of(token).to_string();
    let access = format!(
        "[access.tokens]\ntype = 'bearer'\n[access.tokens.callers]\nbob = '{}'\n\
         ada = {{ secret = '{}', scopes = ['operator'] }}\neve = {{ secret = '{}', scopes = ['operator'] }}\n",
        hash("token-of-bob"),
        hash("token-of-ada"),
        hash("token-of-eve"),
    );
    let file = home.path().join("monas.toml");
    std::fs::write(&file, access).unwrap();
    let mut serve = living(home.path());
    serve
        .env_remove("MONAS_OPEN")
        .arg("--agents")
        .arg(&folder)
        .arg("--config")
        .arg(&file);
    let server = Monas::start(&mut serve).await;
    let status = async |token: &str, path: &str| {
        let address = server.authority().parse().unwrap();
        let mut client = http::Client::connect(address, http::Version::One).await;
        let request = client
            .request("GET", "localhost", path)
            .header("authorization", format!("Bearer {token}"));
        client
            .send(request.body(Body::empty()).unwrap())
            .await
            .status
    };
    for path in ["/api/agent/law", "/api/memory/audit"] {
        let private = format!("{path}?agent=scribe");
        assert_eq!(status("token-of-ada", &private).await, 200, "{path}");
        assert_eq!(status("token-of-eve", &private).await, 403, "{path}");
        assert_eq!(status("token-of-eve", path).await, 200, "{path}");
    }
    // A user sees its own part of the status; the journal of all is for an operator.
    assert_eq!(status("token-of-bob", "/api/agent/status").await, 200);
    assert_eq!(status("token-of-bob", "/api/agent/law").await, 403);
    assert_eq!(status("token-of-bob", "/api/memory/audit").await, 200);
    // A caller on the list of a manifest can be another agent, which authenticates itself.
    let settings = Settings::default().bearer("token-of-bob").unwrap();
    let first = Client::discover(&server.url, settings).await.unwrap();
    let asked = say(&first, "ask scribe to recall anything", None).await;
    assert!(words(&asked).contains("I remember nothing"), "{asked:?}");
    server.stop().await;
}

#[tokio::test]
async fn what_waits_is_listed_and_answered_by_its_caller_or_an_operator() {
    let home = tempfile::tempdir().unwrap();
    let hash = |token: &str| access::Hash::of(token).to_string();
    let access = format!(
        "[access.tokens]\ntype = 'bearer'\n[access.tokens.callers]\nada = '{}'\nbob = '{}'\n\
         eve = {{ secret = '{}', scopes = ['operator'] }}\n",
        hash("token-of-ada"),
        hash("token-of-bob"),
        hash("token-of-eve"),
    );
    let file = home.path().join("monas.toml");
    std::fs::write(&file, access).unwrap();
    let (folder, file) = (home.path().join("files"), file.to_str().unwrap());
    let mut serve = living(home.path());
    serve
        .env_remove("MONAS_OPEN")
        .args(["--config", file])
        .arg("--workspace")
        .arg(&folder);
    let server = Monas::start(&mut serve).await;
    let settings = Settings::default().bearer("token-of-ada").unwrap();
    let ada = Client::discover(&server.url, settings).await.unwrap();
    let ask = async |token: &str, arguments: &[&str]| {
        let mut command = living(home.path());
        command
            .args(arguments)
            .args(["--config", file, "--bearer", token]);
        run(&mut command).await
    };
    let ended = async |task: &Task| loop {
        let id = task.id.clone();
        let now = ada.get_task(GetTaskRequest {
            id,
            ..GetTaskRequest::default()
        });
        let now = now.await.unwrap();
        if state(&now).is_terminal() {
            break now;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };

    let asked = say(&ada, "create notes/a.md with hello", None).await;
    let listed = ask("token-of-ada", &["approvals", "-o", "json"]).await;
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    let first = &listed["approvals"][0];
    let id = first["id"].as_str().unwrap();
    assert_eq!(uuid::Uuid::parse_str(id).unwrap().get_version_num(), 4);
    assert_eq!(
        (&first["by"], &first["task"]),
        (&"ada".into(), &asked.id.as_str().into())
    );
    // What is agreed to is seen in the list, too.
    assert!(
        first["preview"].as_str().unwrap().contains("+hello"),
        "{first}"
    );
    let shown = ask("token-of-ada", &["approvals"]).await;
    assert!(shown.stdout.contains("  | +hello"), "{shown:?}");
    // For another caller it does not exist.
    let other = ask("token-of-bob", &["approvals"]).await;
    assert_eq!(other.stdout, "nothing waits for an answer\n");
    let other = ask("token-of-bob", &["approvals", "answer", id, "yes"]).await;
    assert!(other.stderr.contains("no approval"), "{other:?}");
    let unclear = ask("token-of-ada", &["approvals", "answer", id, "perhaps"]).await;
    assert!(unclear.stderr.contains("answer yes or no"), "{unclear:?}");
    // An operator answers for the caller, and is named.
    let prefix = r#"{"decision":"approve","prefix":"notes/"}"#;
    let answered = ask("token-of-eve", &["approvals", "answer", id, prefix]).await;
    assert!(answered.status.success(), "{answered:?}");
    let done = ended(&asked).await;
    assert_eq!(state(&done), TaskState::Completed, "{done:?}");
    let why = ask("token-of-eve", &["why", &asked.id]).await;
    assert!(
        why.stdout.contains("eve (permission operate) approved it."),
        "{why:?}"
    );

    let done = say(&ada, "create notes/b.md with hello", None).await;
    assert_eq!(
        state(&done),
        TaskState::Completed,
        "it is granted: {done:?}"
    );
    let none = ask("token-of-bob", &["grant", "list"]).await;
    assert_eq!(none.stdout, "no grants\n");
    let grants = ask("token-of-ada", &["grant", "list"]).await;
    assert!(grants.stdout.starts_with(id), "{grants:?}");
    let foreign = ask("token-of-bob", &["grant", "revoke", id]).await;
    assert!(foreign.stderr.contains("there is no grant"), "{foreign:?}");
    let revoked = ask("token-of-ada", &["grant", "revoke", id]).await;
    assert_eq!(revoked.stdout, "revoked\n", "{revoked:?}");
    let asked = say(&ada, "create notes/c.md with hello", None).await;
    assert_eq!(state(&asked), TaskState::InputRequired, "{asked:?}");
    server.stop().await;
}

/// A tool server with a tool that is named like a skill for files, and one that only reads.
const TOOL_SERVER: &str = r#"
import json, sys
schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
tools = [
    {"name": "write", "description": "Writes.", "inputSchema": schema},
    {"name": "look", "description": "Looks.", "inputSchema": schema, "annotations": {"readOnlyHint": True}},
]
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, reply = message.get("method"), {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        info = {"name": "t", "version": "1"}
        reply["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "tools/list":
        reply["result"] = {"tools": tools}
    elif method == "tools/call":
        open(sys.argv[1], "a").write(message["params"]["name"] + "\n")
        reply["result"] = {"content": [{"type": "text", "text": "done"}]}
    else:
        reply["error"] = {"code": -32601, "message": "unknown method"}
    print(json.dumps(reply), flush=True)
"#;

#[tokio::test]
async fn tools_of_servers_are_asked_about_and_take_no_id_of_a_skill() {
    let home = tempfile::tempdir().unwrap();
    let (script, calls) = (home.path().join("tools.py"), home.path().join("calls"));
    std::fs::write(&script, TOOL_SERVER).unwrap();
    std::fs::write(&calls, "").unwrap();
    let manifest = home.path().join("agent.toml");
    let text = format!(
        "name = 'Caller'\n[mcp.file]\ncommand = {:?}\nargs = [{script:?}, {calls:?}]\n",
        program("MONAS_PYTHON", "python3"),
    );
    std::fs::write(&manifest, text).unwrap();
    let server = Monas::start(living(home.path()).arg("--agent").arg(&manifest)).await;
    let client = client(&server).await;
    let skills = &client.card().skills;
    assert!(
        skills.iter().any(|it| it.id == "file-write"),
        "the skill is there"
    );
    let tool = skills.iter().find(|it| it.id.starts_with("file-write-"));
    let tool = tool.expect("the tool has the end of a hash").id.clone();
    let call = async |skill: &str| {
        let id = uuid::Uuid::new_v4().to_string();
        let call = extension::call(id, skill, serde_json::json!({ "text": "it" }));
        match client.send_message(call.into()).await.unwrap().payload {
            Answer::Task(task) => task,
            other => panic!("{other:?} is no task"),
        }
    };
    let looked = call("file-look").await;
    assert_eq!(state(&looked), TaskState::Completed, "{looked:?}");
    let asked = call(&tool).await;
    assert_eq!(state(&asked), TaskState::InputRequired, "{asked:?}");
    assert_eq!(std::fs::read_to_string(&calls).unwrap(), "look\n");
    let done = say(&client, "yes please", Some(&asked)).await;
    assert_eq!(state(&done), TaskState::Completed, "{done:?}");
    assert_eq!(std::fs::read_to_string(&calls).unwrap(), "look\nwrite\n");
    server.stop().await;
}
