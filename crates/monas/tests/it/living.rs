//! The agent that users get: it remembers, asks before it acts, survives a kill, and says why.

use std::path::Path;

use a2a::client::{Client, Settings};
use a2a::types::{Answer, GetTaskRequest, Message, Part, Task, TaskState};
use axum::body::Body;

use crate::support::http;
use crate::support::program::{Monas, living, run};

async fn client(monas: &Monas) -> Client {
    Client::discover(&monas.url, Settings::default())
        .await
        .unwrap()
}

/// Says something, and waits for the task that comes of it to rest.
async fn say(client: &Client, text: &str, about: Option<&Task>) -> Task {
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

fn state(task: &Task) -> TaskState {
    task.status.as_ref().unwrap().state
}

/// All that a task says.
fn words(task: &Task) -> String {
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
    let refused = say(&client, "no", Some(&refused)).await;
    assert_ne!(state(&refused), TaskState::InputRequired);
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
    let manifest = "name = 'Scribe'\nobjectives = ['write things down']\n";
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
    let done = say(&first, "Yes.", Some(&asked)).await;
    assert_eq!(state(&done), TaskState::Completed, "{done:?}");
    let written = std::fs::read_to_string(files.join("list.md")).unwrap();
    assert_eq!(written.trim_end(), "milk");
    let why = ["why", "why is there a list?", "--for", "scribe"];
    let why = monas(home.path(), &why).await;
    assert!(why.contains("agent:default asked: create list.md"), "{why}");
    assert!(why.contains("agent:default approved it."), "{why}");
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
    // What others asked of an agent is for an operator to see.
    assert_eq!(status("token-of-bob", "/api/agent/status").await, 403);
    assert_eq!(status("token-of-bob", "/api/memory/audit").await, 200);
    // A caller on the list of a manifest can be another agent, which authenticates itself.
    let settings = Settings::default().bearer("token-of-bob").unwrap();
    let first = Client::discover(&server.url, settings).await.unwrap();
    let asked = say(&first, "ask scribe to recall anything", None).await;
    assert!(words(&asked).contains("I remember nothing"), "{asked:?}");
    server.stop().await;
}
