//! The command line as people and scripts use it, against the real program.

use std::process::Stdio;

use rcgen::CertifiedKey;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use crate::support::program::{Ended, Monas, command, run};
use crate::support::sut::Sut;

/// Asks something of the agent; words are separated by spaces, `_` stands for one.
async fn ask(sut: &Sut, line: &str) -> Ended {
    let url = format!("http://{}", sut.address);
    asked(line, &[("A2ACLI_AGENT_CARD", &url)]).await
}

async fn asked(line: &str, variables: &[(&str, &str)]) -> Ended {
    let home = tempfile::tempdir().unwrap();
    let mut command = command(home.path());
    command.args(line.split(' ').map(|word| word.replace('_', " ")));
    command.envs(variables.iter().copied()).stdin(Stdio::null());
    run(&mut command).await
}

fn json(ended: &Ended) -> Value {
    assert!(ended.status.success(), "{ended:?}");
    serde_json::from_str(&ended.stdout).unwrap()
}

fn lines(ended: &Ended) -> Vec<Value> {
    assert!(ended.status.success(), "{ended:?}");
    let lines = ended.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const TRANSPORTS: [&str; 5] = ["jsonrpc", "rest", "grpc", "capnweb", "websocket"];

#[tokio::test]
async fn a_task_is_sent_watched_cancelled_and_listed_over_different_bindings() {
    let sut = Sut::start().await;
    for (number, binding) in TRANSPORTS.iter().enumerate() {
        let next = |ahead: usize| TRANSPORTS[(number + ahead) % TRANSPORTS.len()];
        let sent = ask(
            &sut,
            &format!("send tck-cancel --async -o json --transport {binding}"),
        )
        .await;
        let task = json(&sent)["task"]["id"].as_str().unwrap().to_owned();
        let watch = format!("task subscribe {task} -o json --transport {}", next(1));
        let watching = ask(&sut, &watch);
        let ending = async {
            // Whether it is watched already makes no difference to how it ends.
            ask(&sut, &format!("task cancel {task} --transport {}", next(2))).await
        };
        let (watched, cancelled) = tokio::join!(watching, ending);
        assert!(
            cancelled.stdout.starts_with("canceled task"),
            "{cancelled:?}"
        );
        if watched.status.success() {
            let last = lines(&watched).pop().unwrap();
            let status = last.get("statusUpdate").or(last.get("task")).unwrap();
            assert_eq!(status["status"]["state"], "TASK_STATE_CANCELED");
        } else {
            assert!(
                watched.stderr.contains("UNSUPPORTED_OPERATION"),
                "{watched:?}"
            );
        }
        let listed = ask(&sut, &format!("task list -o json --transport {}", next(3))).await;
        assert_eq!(json(&listed)["tasks"][0]["id"], task.as_str());
        let got = ask(&sut, &format!("task get {task} -o json --a2a-version 0.3")).await;
        assert_eq!(json(&got)["status"]["state"], "TASK_STATE_CANCELED");
    }
}

#[tokio::test]
async fn a_message_is_answered_streamed_and_waited_for() {
    let sut = Sut::start().await;
    let answer = ask(&sut, "send echo_hello").await;
    assert!(answer.stdout.contains("hello"), "{answer:?}");
    // What an agent says does not command the terminal.
    for stream in ["", " --stream"] {
        let loud = ask(&sut, &format!("send echo_\u{1b}[31mred\u{7}{stream}")).await;
        assert_eq!(loud.stdout, "echo [31mred\n", "{loud:?}");
    }
    let done = ask(&sut, "send task_hello --wait --poll-interval 10ms").await;
    assert!(done.stderr.contains("completed task "), "{done:?}");
    assert_eq!(done.stdout, "task hello\n", "the answer alone: {done:?}");
    let slow = ask(
        &sut,
        "send burst_3_20ms --wait --poll-interval 10ms -o json",
    )
    .await;
    assert_eq!(
        json(&slow)["task"]["status"]["state"],
        "TASK_STATE_COMPLETED"
    );
    let streamed = lines(&ask(&sut, "send burst_5 --stream -o json").await);
    let pieces = streamed
        .iter()
        .filter(|it| it.get("artifactUpdate").is_some());
    assert_eq!(pieces.count(), 5, "{streamed:?}");
    let streamed = ask(&sut, "send tck-stream-001 --stream").await;
    assert!(
        streamed.stdout.contains("Stream hello from TCK"),
        "{streamed:?}"
    );
    assert!(streamed.stderr.contains("completed task"), "{streamed:?}");
    let held = ask(&sut, "send tck-cancel --timeout 200ms").await;
    assert_eq!(held.status.code(), Some(5), "{held:?}");
    // The task goes on, and the user is told its id.
    let listed = json(&ask(&sut, "task list -o json --status working").await);
    let running = listed["tasks"][0]["id"].as_str().unwrap();
    let hint = format!("hint: `monas task subscribe {running}` follows it");
    assert!(held.stderr.contains(&hint), "{held:?}");
}

#[tokio::test]
async fn a_task_that_does_not_complete_is_a_failure_only_with_the_flag() {
    let sut = Sut::start().await;
    // A task that fails was sent all the same.
    let failed = ask(&sut, "send tck-task-failure").await;
    assert_eq!(failed.status.code(), Some(0), "{failed:?}");
    assert!(failed.stderr.contains("failed task"), "{failed:?}");
    assert_eq!(failed.stdout, "", "a failure is no answer");
    for line in [
        "send --fail tck-task-failure",
        "send --fail --stream tck-task-failure",
        "send --fail --wait tck-task-failure",
        "send --fail tck-input-required",
    ] {
        let ended = ask(&sut, line).await;
        assert_eq!(ended.status.code(), Some(6), "{line}: {ended:?}");
        assert!(ended.stderr.contains("error: task "), "{line}: {ended:?}");
    }
    for line in [
        "send --fail task_hello",
        "send --fail --stream task_hello",
        "send --fail echo_hello",
        "send --fail --async tck-cancel",
    ] {
        let ended = ask(&sut, line).await;
        assert_eq!(ended.status.code(), Some(0), "{line}: {ended:?}");
    }
    let failed = json(&ask(&sut, "send tck-task-failure -o json").await);
    let id = failed["task"]["id"].as_str().unwrap();
    let got = ask(&sut, &format!("task get {id} --fail -o json")).await;
    assert_eq!(got.status.code(), Some(6), "{got:?}");
    let said: Value = serde_json::from_str(&got.stderr).unwrap();
    assert_eq!(said["error"]["code"], "TASK_UNFINISHED");
}

#[tokio::test]
async fn a_list_of_tasks_says_what_they_are_about_and_since_when() {
    let sut = Sut::start().await;
    let words = "task_tell_me_about_the_weather_in_Riga_and_whatever_else_there_is_to_say_about_it";
    ask(&sut, &format!("send {words}")).await;
    let listed = ask(&sut, "task list").await;
    let line = listed.stdout.lines().next().unwrap();
    assert!(line.starts_with("completed      20"), "{line}");
    assert!(
        line.ends_with("  task tell me about the weather in Riga and whatever else the…"),
        "{line}"
    );
    assert!(listed.stderr.contains("tasks of "), "{listed:?}");
    let wrong = ask(&sut, "task list --status finished").await;
    assert!(
        wrong.stderr.contains("there are submitted, working"),
        "{wrong:?}"
    );
}

#[tokio::test]
async fn files_and_data_go_there_and_come_back() {
    let sut = Sut::start().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "notes").unwrap();
    let line = format!(
        "send look --file {} --data {{\"a\":1}} --history-length 5 --metadata {{\"b\":2}} -o json",
        path.display()
    );
    let sent = json(&ask(&sut, &line).await);
    let parts = &sent["task"]["history"][0]["parts"];
    assert_eq!(parts[1]["filename"], "notes.txt", "{sent}");
    assert_eq!(parts[1]["mediaType"], "text/plain");
    assert_eq!(parts[2]["data"]["a"], 1);

    let made = json(&ask(&sut, "send tck-artifact-file -o json").await);
    let task = made["task"]["id"].as_str().unwrap();
    let out = folder.path().join("out");
    let download = format!("task download {task} --out {}", out.display());
    let first = ask(&sut, &download).await;
    assert!(first.stdout.contains("output.txt"), "{first:?}");
    assert!(out.join("output.txt").exists());
    let again = ask(&sut, &download).await;
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    assert!(again.stderr.contains("--force"), "{again:?}");
    assert!(
        ask(&sut, &format!("{download} --force"))
            .await
            .status
            .success()
    );
    let none = ask(&sut, &format!("{download} --artifact nothing")).await;
    assert_eq!(none.status.code(), Some(2), "{none:?}");
}

#[tokio::test]
async fn webhooks_are_made_shown_and_ended_without_their_secrets() {
    let sut = Sut::start().await;
    let asking = json(&ask(&sut, "send tck-input-required -o json").await);
    let task = asking["task"]["id"].as_str().unwrap();
    let about = |what: &str, more: &str| format!("task push-config {what} {task}{more} -o json");
    let set = about(
        "set",
        " --url http://127.0.0.1:9/x --config-id mine --token s3cret --auth-scheme Bearer \
         --auth-credentials s3cret",
    );
    let set = set.split_whitespace().collect::<Vec<_>>().join(" ");
    let made = ask(&sut, &set).await;
    assert_eq!(json(&made)["id"], "mine");
    let shown = ask(&sut, &about("get", " mine")).await;
    assert_eq!(json(&shown)["url"], "http://127.0.0.1:9/x");
    let listed = ask(&sut, &about("list", "")).await;
    assert_eq!(json(&listed)["configs"].as_array().unwrap().len(), 1);
    for ended in [made, shown, listed] {
        assert!(!format!("{ended:?}").contains("s3cret"), "{ended:?}");
    }
    assert!(ask(&sut, &about("delete", " mine")).await.status.success());
    let none = ask(&sut, &format!("task push-config list {task}")).await;
    assert_eq!(none.stdout, "no webhooks\n");
}

#[tokio::test]
async fn the_card_is_shown_for_people_and_for_programs() {
    let sut = Sut::start().await;
    let text = ask(&sut, "card get").await;
    assert!(
        text.stdout.contains("interfaces:") && text.stdout.contains("JSONRPC 1.0"),
        "{text:?}"
    );
    let whole = json(&ask(&sut, "card get -o json").await);
    assert!(whole["supportedInterfaces"].is_array());
    let chosen = ask(&sut, "card get --transport grpc -v").await;
    assert!(chosen.stderr.contains("over GRPC 1.0"), "{chosen:?}");
}

#[tokio::test]
async fn what_goes_wrong_has_a_code_a_word_and_a_hint() {
    let sut = Sut::start().await;
    let missing = ask(&sut, "task get nothing").await;
    assert_eq!(missing.status.code(), Some(1), "{missing:?}");
    assert!(
        missing.stderr.contains("hint: `monas task list`"),
        "{missing:?}"
    );
    let missing = ask(&sut, "task get nothing -o json").await;
    let said: Value = serde_json::from_str(&missing.stderr).unwrap();
    assert_eq!(said["error"]["code"], "TASK_NOT_FOUND");
    assert_eq!(said["error"]["a2aCode"], -32001);
    for (line, code) in [
        ("send", 2),
        ("send x --stream --wait", 2),
        ("send x --data {", 2),
        ("send x --metadata 7", 2),
        ("send x --transport pigeon", 2),
        ("send x --a2a-version 7", 2),
        ("send x --timeout soon", 2),
        ("task list --status odd", 2),
        ("task", 2),
        ("send x --file /no/such/file", 1),
        ("send x --trusted-keys /no/such/file", 1),
    ] {
        let ended = ask(&sut, line).await;
        assert_eq!(ended.status.code(), Some(code), "{line}: {ended:?}");
        assert!(!ended.stderr.is_empty(), "{line}");
    }
    let nobody = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().to_string()
    };
    let ended = asked("send x", &[("A2ACLI_AGENT_CARD", &nobody)]).await;
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    assert!(ended.stderr.contains("is the server running?"), "{ended:?}");
}

#[tokio::test]
async fn settings_are_shown_with_their_sources_and_without_secrets() {
    let variables = [
        ("A2ACLI_BEARER", "s3cret"),
        ("A2ACLI_TRANSPORT", "grpc,rest"),
    ];
    let shown = asked("config show --api-key s3cret -o json", &variables).await;
    assert!(!shown.stdout.contains("s3cret"), "{shown:?}");
    let shown = json(&shown);
    assert_eq!(shown["bearer"]["source"], "A2ACLI_BEARER");
    assert_eq!(shown["api-key"]["source"], "--api-key");
    assert_eq!(shown["transport"]["value"], "grpc, rest");
    assert_eq!(shown["agent-card"]["source"], "default");
}

#[tokio::test]
async fn a_shell_completes_command_lines() {
    for shell in ["bash", "zsh", "fish"] {
        let script = asked(&format!("completion {shell}"), &[]).await;
        assert!(script.stdout.contains("push-config"), "{shell}");
    }
    assert_eq!(asked("completion smoke", &[]).await.status.code(), Some(2));
}

#[tokio::test]
async fn an_encrypted_agent_is_reached_over_every_binding_by_clients_that_trust_it() {
    let folder = tempfile::tempdir().unwrap();
    let CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (
        folder.path().join("cert.pem"),
        folder.path().join("key.pem"),
    );
    std::fs::write(&certificate, cert.pem()).unwrap();
    std::fs::write(&key, signing_key.serialize_pem()).unwrap();
    let mut serve = command(folder.path());
    serve.arg("--data").arg(folder.path().join("data"));
    serve
        .arg("--tls-cert")
        .arg(&certificate)
        .arg("--tls-key")
        .arg(&key);
    let server = Monas::start(&mut serve).await;
    let url = &server.url;
    assert!(url.starts_with("https://"), "{url}");
    for version in ["1.0", "0.3"] {
        for binding in TRANSPORTS {
            let send =
                format!("send task_hello -a {url} --transport {binding} --a2a-version {version}");
            let trusting = format!("{send} --ca-cert {}", certificate.display());
            for line in [trusting, format!("{send} --insecure")] {
                let ended = asked(&line, &[]).await;
                assert!(ended.stderr.contains("completed task"), "{line}: {ended:?}");
            }
        }
    }
    let stranger = asked(&format!("send task_hello -a {url}"), &[]).await;
    assert_eq!(stranger.status.code(), Some(3), "{stranger:?}");
    assert!(stranger.stderr.contains("certificate"), "{stranger:?}");
}

#[tokio::test]
async fn a_conversation_goes_on_where_the_agent_asked() {
    let sut = Sut::start().await;
    let home = tempfile::tempdir().unwrap();
    let mut command = command(home.path());
    command.args(["chat", "-a", &format!("http://{}", sut.address)]);
    let mut process = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    input
        .write_all(
            b"echo hello\n\n/help\ntck-multi-turn\n/task\nmore\n/new\n/task\n/exit\nnever said\n",
        )
        .await
        .unwrap();
    let output = process.wait_with_output().await.unwrap();
    let (out, err) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(output.status.success(), "{out}\n{err}");
    assert!(
        out.contains("hello") && !out.contains("never said"),
        "{out}"
    );
    assert!(
        err.contains("/new ") && err.contains("no task waits"),
        "{err}"
    );
    // The task that asked has an id, and what happened says no more than that.
    assert!(!err.contains("working task"), "{err}");
}
