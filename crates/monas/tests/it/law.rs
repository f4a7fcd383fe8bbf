//! The law of a living agent: how and by which callers it is changed, and what an edited manifest does.

use std::path::Path;

use a2a::client::{Client as Caller, Settings};
use a2a::types::{Answer, Message, Part, Struct};
use access::Hash;
use axum::body::Body;
use serde_json::{Value, json};

use crate::support::http::{Client, Version};
use crate::support::program::{Ended, Monas, living, run};

async fn monas(home: &Path, arguments: &[&str]) -> Ended {
    run(living(home).args(arguments)).await
}

/// The standard output of a command that succeeds.
async fn said(home: &Path, arguments: &[&str]) -> String {
    let ended = monas(home, arguments).await;
    assert!(ended.status.success(), "{arguments:?}: {ended:?}");
    ended.stdout
}

async fn request(
    server: &Monas,
    method: &str,
    path: &str,
    bearer: Option<&str>,
    body: Value,
) -> (u16, Value) {
    let mut client = Client::connect(server.authority().parse().unwrap(), Version::One).await;
    let mut request = client
        .request(method, server.authority(), path)
        .header("content-type", "application/json");
    if let Some(bearer) = bearer {
        request = request.header("authorization", format!("Bearer {bearer}"));
    }
    let body = match body {
        Value::Null => Body::empty(),
        body => Body::from(body.to_string()),
    };
    let answer = client.send(request.body(body).unwrap()).await;
    let body = serde_json::from_str(&answer.text).unwrap_or_default();
    (answer.status.as_u16(), body)
}

/// No command, route or letter could change a law after birth.
#[tokio::test]
async fn a_law_is_changed_with_a_reason_from_the_command_line_and_by_rest() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let server = Monas::start(&mut living(home)).await;
    let place = "memory.rules[0].condition.min_confidence";
    let set = said(
        home,
        &[
            "law",
            "set",
            place,
            "0.8",
            "--why",
            "a wrong claim was believed",
        ],
    )
    .await;
    assert_eq!(
        set,
        "law of default, version 2\nmemory.rules.0.condition.min_confidence: 0.7 -> 0.8\n"
    );
    let rule = r#"{"skill": "terminal", "then": "ask"}"#;
    said(
        home,
        &[
            "law",
            "set",
            "skill_selection",
            "+=",
            rule,
            "--why",
            "it is powerful",
        ],
    )
    .await;

    let body = json!({ "path": "attention.turns", "value": 2, "why": "one model" });
    let (status, reply) = request(&server, "PUT", "/api/agent/law", None, body).await;
    assert_eq!((status, &reply["to"]), (200, &json!(4)), "{reply}");
    let document = json!({
        "target": "memory_rules[tool_results]", "change": "minConfidence += 0.1",
        "justification": "recent contradiction detected",
    });
    let (status, reply) = request(&server, "PUT", "/api/agent/law", None, document).await;
    assert_eq!(status, 200, "{reply}");

    for (body, status, expected) in [
        (
            json!({ "path": "frozen.axioms", "value": [], "why": "x" }),
            409,
            "is frozen",
        ),
        (
            json!({ "path": "attention.turns", "value": 0, "why": "x" }),
            422,
            "from 1 to 64",
        ),
        (
            json!({ "path": "attention.turns", "value": 3, "why": " " }),
            422,
            "justification",
        ),
        (
            json!({ "path": "atention", "value": 3, "why": "x" }),
            422,
            "the law has no atention",
        ),
        (
            json!({ "path": "attention.turns", "why": "x" }),
            422,
            "missing field `value`",
        ),
    ] {
        let (got, reply) = request(&server, "PUT", "/api/agent/law", None, body).await;
        assert_eq!(got, status, "{reply}");
        let message = reply["error"].as_str().unwrap();
        assert!(message.contains(expected), "{message}");
    }
    let without = monas(home, &["law", "set", "attention.turns", "3"]).await;
    assert!(without.stderr.contains("--why"), "{without:?}");

    let history = said(home, &["law", "history"]).await;
    assert_eq!(history.lines().count(), 5, "{history}");
    assert!(
        history.contains("by operator: a wrong claim was believed"),
        "{history}"
    );
    let diff = said(home, &["law", "diff"]).await;
    assert!(
        diff.starts_with("version 4 to 5, by operator: recent contradiction detected\n"),
        "{diff}"
    );
    server.stop().await;
    // The same without a server, and nothing is lost.
    assert_eq!(said(home, &["law", "history"]).await, history);
    said(
        home,
        &[
            "law",
            "set",
            "attention.turns",
            "--why",
            "slower",
            "--",
            "-=",
            "1",
        ],
    )
    .await;
    let shown = said(home, &["law", "show"]).await;
    assert!(shown.starts_with("law of default, version 6"), "{shown}");
    assert!(shown.contains("1 request at a time"), "{shown}");
}

#[tokio::test]
async fn a_proposal_waits_for_a_person_and_survives_a_kill() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let server = Monas::start(&mut living(home)).await;
    let place = "memory.rules[0].condition.min_confidence";
    let why = ["--why", "a wrong claim was believed"];
    let propose = [&["law", "propose", place, "+=", "0.1"][..], &why[..]].concat();
    let proposed = said(home, &propose).await;
    assert!(
        proposed.starts_with("proposal 1 by operator, awaiting-approval: it waits for a person"),
        "{proposed}"
    );
    assert!(
        proposed.contains("test: 0 episodes: 0 better"),
        "{proposed}"
    );
    let (status, busy) = request(
        &server,
        "POST",
        "/api/agent/law/propose",
        None,
        json!({ "target": "attention.recall", "change": 2, "justification": "it is enough" }),
    )
    .await;
    assert_eq!(status, 409, "{busy}");
    server.signal("KILL").await;
    server.ended().await;

    let server = Monas::start(&mut living(home)).await;
    let proposals = said(home, &["law", "proposals"]).await;
    assert!(
        proposals.contains("proposal 1 by operator, awaiting-approval"),
        "{proposals}"
    );
    assert!(
        proposals.contains("refused: proposal 1 is under way"),
        "{proposals}"
    );
    let approved = said(home, &["law", "approve"]).await;
    assert!(approved.contains("adopted as version 2"), "{approved}");
    server.signal("KILL").await;
    server.ended().await;

    let server = Monas::start(&mut living(home)).await;
    let shown = said(home, &["law", "show"]).await;
    assert!(shown.starts_with("law of default, version 2"), "{shown}");
    // Axioms, authority and a missing reason are refused with a code of their own, and recorded.
    for (path, value, expected) in [
        ("frozen.change_every", "1", "is frozen"),
        ("attention.turns", "0", "it must be from 1 to 64"),
        (
            "skill_selection",
            r#"[{"skill": "terminal", "then": "allow"}]"#,
            "no new authority",
        ),
    ] {
        let arguments = [&["law", "propose", path, value][..], &why[..]].concat();
        let refused = monas(home, &arguments).await;
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        assert!(refused.stderr.contains(expected), "{refused:?}");
        let listed = said(home, &["law", "proposals"]).await;
        assert!(listed.contains(expected), "{listed}");
    }
    let ask = r#"{"skill": "terminal", "then": "ask"}"#;
    let (status, major) = request(
        &server,
        "POST",
        "/api/agent/law/propose",
        None,
        json!({ "target": "skill_selection", "change": format!("+= {ask}"), "justification": "it is powerful" }),
    )
    .await;
    assert_eq!(
        (status, &major["standing"], &major["major"]),
        (200, &json!("rate-limited"), &json!(true))
    );
    let rejected = said(home, &["law", "reject", "--why", "it is in the manifest"]).await;
    assert!(
        rejected.contains("rejected by operator: it is in the manifest"),
        "{rejected}"
    );
    assert!(!monas(home, &["law", "approve"]).await.status.success());

    let back = said(home, &["law", "rollback", "--why", "it was better before"]).await;
    assert!(back.starts_with("law of default, version 3"), "{back}");
    assert!(back.contains("min_confidence: 0.8 -> 0.7"), "{back}");
    let history = said(home, &["law", "history"]).await;
    assert!(
        history.contains("back to version 1: it was better before"),
        "{history}"
    );
    let nothing = said(home, &["law", "reflect"]).await;
    assert!(nothing.starts_with("nothing to propose"), "{nothing}");
    server.stop().await;
}

#[tokio::test]
async fn behind_access_operators_alone_change_a_law() {
    let home = tempfile::tempdir().unwrap();
    let config = format!(
        "[access.tokens]\ntype = 'bearer'\ncallers.ada = '{}'\n\
         callers.bob = {{ secret = '{}', scopes = ['operator'] }}\n",
        Hash::of("one"),
        Hash::of("two")
    );
    let file = home.path().join("monas.toml");
    std::fs::write(&file, config).unwrap();
    let mut served = living(home.path());
    served.env_remove("MONAS_OPEN").arg("--config").arg(&file);
    let server = Monas::start(&mut served).await;
    let body = json!({ "path": "attention.turns", "value": 2, "why": "one model" });
    for (bearer, expected) in [(None, 401), (Some("one"), 403), (Some("two"), 200)] {
        let put = request(&server, "PUT", "/api/agent/law", bearer, body.clone()).await;
        assert_eq!(put.0, expected, "{put:?}");
        let accept = json!({ "why": "x" });
        let accept = request(&server, "POST", "/api/agent/law/accept", bearer, accept).await;
        let nothing = if expected == 200 { 409 } else { expected };
        assert_eq!(accept.0, nothing, "{accept:?}");
    }
    // A letter is judged by its sender.
    let letter = json!({
        "kind": "proposal", "justification": "one at a time", "target": "attention.turns", "change": 1,
        "provenance": { "id": "1", "agent": "mail", "at": 0 },
    });
    for (bearer, expected) in [
        ("one", "ada may not change my law"),
        ("two", "My law is version 3 now: attention.turns: 2 -> 1."),
    ] {
        let settings = Settings::default().bearer(bearer).unwrap();
        let caller = Caller::discover(&server.url, settings).await.unwrap();
        let mut message = Message::user(uuid::Uuid::new_v4().to_string(), "");
        let mut part = Part::data(letter.clone());
        let mut metadata = Struct::default();
        metadata.insert("urn:monas:a2a:ext:letter:1".to_owned(), true.into());
        part.metadata = Some(metadata);
        message.parts = vec![part];
        let answer = caller.send_message(message.into()).await.unwrap();
        let Answer::Task(task) = answer.payload else {
            panic!("no task");
        };
        let text = format!("{task:?}");
        assert!(text.contains(expected), "{text}");
    }
    server.stop().await;
}

#[tokio::test]
async fn an_edited_manifest_is_offered_and_accepted() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("agents");
    std::fs::create_dir(&folder).unwrap();
    let folder_text = folder.to_string_lossy().into_owned();
    let home = home.path();
    let write = |name: &str, sky: &str| {
        let manifest = format!(
            "name = '{name}'\nobjectives = ['look ahead']\naxioms = ['The sky is {sky}.']\n"
        );
        std::fs::write(folder.join("scout.toml"), manifest).unwrap();
    };
    let serve = async || Monas::start(living(home).arg("--agents").arg(&folder)).await;
    write("Scout", "blue");
    serve().await.stop().await;

    write("Ranger", "red");
    let mut server = serve().await;
    let logged = server.logged("was edited").await;
    assert!(
        logged.contains("monas law accept --for scout --why"),
        "{logged}"
    );
    let offered = r#"frozen.axioms.0: "The sky is blue." -> "The sky is red.""#;
    let diff = said(home, &["law", "diff", "--for", "scout"]).await;
    assert!(diff.contains(offered), "{diff}");
    assert!(
        diff.ends_with("to accept it: monas law accept --for scout --why REASON\n"),
        "{diff}"
    );
    let (_, status) = request(
        &server,
        "GET",
        "/api/agent/status?agent=scout",
        None,
        Value::Null,
    )
    .await;
    assert_eq!(status["offered"], json!([offered]), "{status}");
    let axioms = async || {
        let query = [
            "memory",
            "query",
            "What colour is the sky?",
            "--for",
            "scout",
        ];
        let known = said(home, &query).await;
        ["blue", "red"].map(|it| known.contains(&format!("The sky is {it}.")))
    };
    assert_eq!(axioms().await, [true, false], "nothing is accepted yet");
    said(
        home,
        &["law", "accept", "--for", "scout", "--why", "it is evening"],
    )
    .await;
    assert_eq!(axioms().await, [false, true]);
    let history = said(home, &["law", "history", "--for", "scout"]).await;
    assert!(history.contains("by operator: it is evening"), "{history}");
    let again = monas(home, &["law", "accept", "--for", "scout", "--why", "x"]).await;
    assert!(again.stderr.contains("nothing is offered"), "{again:?}");
    server.stop().await;

    // Without a server the manifests of the configuration are compared.
    write("Ranger", "green");
    let offline = ["law", "diff", "--for", "scout", "--agents", &folder_text];
    let diff = said(home, &offline).await;
    assert!(diff.contains("\"The sky is green.\""), "{diff}");
    let accept = [
        "law",
        "accept",
        "--for",
        "scout",
        "--why",
        "spring",
        "--agents",
        &folder_text,
    ];
    said(home, &accept).await;
    let server = serve().await;
    assert_eq!(axioms().await, [false, false]);
    server.stop().await;
}

#[tokio::test]
async fn an_axiom_that_is_too_long_to_be_shown_keeps_the_server_from_starting() {
    let home = tempfile::tempdir().unwrap();
    let manifest = home.path().join("one.toml");
    let axioms = format!("name = 'One'\naxioms = ['{}']\n", "x".repeat(1_001));
    std::fs::write(&manifest, axioms).unwrap();
    let ended = run(living(home.path()).arg("--agent").arg(&manifest)).await;
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("one.toml: frozen.axioms.0 is 1001 bytes long: it may have 1000 bytes"),
        "{ended:?}"
    );
}

#[tokio::test]
async fn a_further_agent_with_an_axiom_that_is_too_long_keeps_down_itself_alone() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("agents");
    std::fs::create_dir(&folder).unwrap();
    let axioms = format!("name = 'Long'\naxioms = ['{}']\n", "x".repeat(1_001));
    std::fs::write(folder.join("long.toml"), axioms).unwrap();
    let other = "name = 'Other'\nobjectives = ['look around']\n";
    std::fs::write(folder.join("other.toml"), other).unwrap();
    let mut server = Monas::start(living(home.path()).arg("--agents").arg(&folder)).await;
    let logged = server.logged("not started").await;
    assert!(
        logged.contains("long.toml") && logged.contains("it may have 1000 bytes"),
        "{logged}"
    );
    for (id, expected) in [("other", 200), ("long", 404)] {
        let card = format!("/agents/{id}/.well-known/agent-card.json");
        let (status, _) = request(&server, "GET", &card, None, Value::Null).await;
        assert_eq!(status, expected, "{id}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_twin_keeps_down_itself_alone() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("agents");
    std::fs::create_dir(&folder).unwrap();
    for (id, objective) in [
        ("ranger", "Look, ahead."),
        ("scout", "look ahead"),
        ("third", "look back"),
    ] {
        let manifest = format!("name = '{id}'\nobjectives = ['{objective}']\n");
        std::fs::write(folder.join(format!("{id}.toml")), manifest).unwrap();
    }
    let mut server = Monas::start(living(home.path()).arg("--agents").arg(&folder)).await;
    let logged = server.logged("not started").await;
    assert!(
        logged.contains("scout") && logged.contains("[modes.scout]"),
        "{logged}"
    );
    let asked = ["send", "-a", &server.url, "ask Scot to greet me"];
    let asked = monas(home.path(), &asked).await;
    // What a failed task says is no answer.
    let said = asked.stdout.clone() + &asked.stderr;
    assert!(
        said.contains("there is no other agent \"Scot\"; there are ranger, third"),
        "{asked:?}"
    );
    for (id, expected) in [("ranger", 200), ("third", 200), ("scout", 404)] {
        let card = format!("/agents/{id}/.well-known/agent-card.json");
        let (status, _) = request(&server, "GET", &card, None, Value::Null).await;
        assert_eq!(status, expected, "{id}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_mode_is_chosen_by_a_message() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("one.toml");
    let manifest = "name = 'One'\n[modes.quiet]\ndescription = 'It only remembers.'\n\
                    instructions = 'Answer in one word.'\nskills = ['remember', 'recall']\n";
    std::fs::write(&file, manifest).unwrap();
    let server = Monas::start(living(home.path()).arg("--agent").arg(&file)).await;
    let home = home.path();
    let card = Caller::discover(&server.url, Settings::default())
        .await
        .unwrap();
    let extensions = &card.card().capabilities.as_ref().unwrap().extensions;
    let declared = extensions
        .iter()
        .find(|it| it.uri == "urn:monas:a2a:ext:agent:1");
    let declared = json!(declared.expect("the card has the modes").params);
    assert_eq!(
        declared["modes"]["quiet"],
        json!({ "description": "It only remembers.", "skills": ["remember", "recall"] })
    );
    let send = async |arguments: &[&str], text: &str| {
        let base = ["send", "-a", &server.url];
        monas(home, &[&base[..], arguments, &[text]].concat()).await
    };
    let kept = send(&["--mode", "quiet"], "remember that Ada likes coffee").await;
    assert!(kept.stdout.contains("Ada likes coffee"), "{kept:?}");
    // State and memory are those of the agent, whichever mode it is in.
    let known = send(&[], "what do you know about Ada?").await;
    assert!(known.stdout.contains("Ada likes coffee"), "{known:?}");
    let listed = send(&["--mode", "quiet"], "create notes.md with hello").await;
    assert!(
        !listed.stdout.contains("input required"),
        "no skill for it in this mode: {listed:?}"
    );
    let asked = send(&[], "create notes.md with hello").await;
    assert_ne!(listed.stdout, asked.stdout);
    let unknown = send(&["--mode", "loud"], "hello").await;
    assert!(!unknown.status.success());
    assert!(
        unknown
            .stderr
            .contains("there is no mode \"loud\"; there are quiet"),
        "{unknown:?}"
    );
    server.stop().await;
}

/// A timer of 6 s ran each 10 s.
#[tokio::test]
async fn a_timer_keeps_its_period() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    let timer = r#"{"name": "often", "every": 1, "request": "recall tea"}"#;
    said(
        home.path(),
        &["law", "set", "timers", "+=", timer, "--why", "a test"],
    )
    .await;
    // Ten seconds by the clock of the server: from the first time to the eleventh.
    let begun = async || {
        let (_, status) = request(&server, "GET", "/api/agent/status", None, Value::Null).await;
        status["timers"]["often"].as_i64()
    };
    let (first, start) = loop {
        if let Some(at) = begun().await {
            break (at, std::time::Instant::now());
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    let last = loop {
        let at = begun().await.unwrap();
        if at >= first + 4_000 {
            break at;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    assert_eq!((last - first) % 1_000, 0, "on its grid");
    let passed = start.elapsed();
    assert!(passed < std::time::Duration::from_secs(8), "{passed:?}");
    server.stop().await;
}

/// Waits until a reply has something.
async fn until<T>(server: &Monas, path: &str, found: impl Fn(&Value) -> Option<T>) -> T {
    let look = async {
        loop {
            let (status, reply) = request(server, "GET", path, None, Value::Null).await;
            assert_eq!(status, 200, "{reply}");
            if let Some(found) = found(&reply) {
                return found;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    let waited = tokio::time::timeout(std::time::Duration::from_secs(60), look).await;
    waited.unwrap_or_else(|_| panic!("{path} never had it"))
}

/// Reflection was on demand only, and what it proposed failed its test where most episodes had nothing to do with it.
#[tokio::test]
async fn an_agent_proposes_by_itself_what_people_taught_it_by_rejections() {
    let home = tempfile::tempdir().unwrap();
    let law = home.path().join("law.toml");
    std::fs::write(&law, "[frozen]\nreflect_every = 7\n").unwrap();
    let manifest = home.path().join("agent.toml");
    std::fs::write(&manifest, "name = 'Scout'\nlaw = 'law.toml'\n").unwrap();
    let server = Monas::start(living(home.path()).arg("--agent").arg(&manifest)).await;
    let command = async |text: String| {
        let body = json!({ "command": text });
        let (status, sent) = request(&server, "POST", "/api/agent/command", None, body).await;
        assert_eq!(status, 200, "{sent}");
    };
    let ended = async |all: u64| {
        until(&server, "/api/agent/self", |reply| {
            let ends = reply["requests"].as_object()?.values();
            let ended: u64 = ends.filter_map(Value::as_u64).sum();
            (ended == all).then_some(())
        })
        .await;
    };
    for number in 0..4 {
        command("what time is it?".to_owned()).await;
        ended(number + 1).await;
    }
    for number in 0..3 {
        command(format!("create notes-{number}.md with hello")).await;
        let id = until(&server, "/api/approvals", |reply| {
            reply["approvals"][0]["id"].as_str().map(str::to_owned)
        })
        .await;
        let path = format!("/api/approvals/{id}");
        let no = json!({ "answer": "no" });
        let (status, reply) = request(&server, "POST", &path, None, no).await;
        assert_eq!(status, 200, "{reply}");
        ended(5 + number).await;
    }
    let proposal = until(&server, "/api/agent/law/proposals", |reply| {
        let proposal = &reply["proposals"][0];
        (proposal["standing"] == "awaiting-approval").then(|| proposal.clone())
    })
    .await;
    assert_eq!(proposal["by"], "reflection", "{proposal}");
    assert_eq!(proposal["evidence"].as_array().unwrap().len(), 3);
    let home = home.path();
    let approved = said(home, &["law", "approve"]).await;
    assert!(approved.contains("adopted as version 2"), "{approved}");
    command("create notes-9.md with hello".to_owned()).await;
    ended(8).await;
    let of = said(home, &["self"]).await;
    assert!(
        of.contains("reflection changed my law: people rejected file-write"),
        "{of}"
    );
    let nothing = said(home, &["reflect"]).await;
    assert!(nothing.starts_with("nothing to propose"), "{nothing}");
    let (_, waiting) = request(&server, "GET", "/api/approvals", None, Value::Null).await;
    assert_eq!(waiting["approvals"], json!([]), "it does not ask for it");
    server.stop().await;
}
