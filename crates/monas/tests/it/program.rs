//! The process: how it starts, what it says, how it ends.

use axum::body::Body;
use http_body_util::BodyExt as _;
use rcgen::CertifiedKey;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;

use crate::support::agent::{Sent, texts};
use crate::support::http::{Client, Version};
use crate::support::program::{Ended, Monas, closed, command, living, run};

fn home() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// What it says when it does not start, and that it ends with this code.
async fn complaint(home: &TempDir, arguments: &[&str], code: i32) -> String {
    let Ended { status, stderr, .. } = run(command(home.path()).args(arguments)).await;
    assert_eq!(status.code(), Some(code), "{stderr}");
    stderr
}

#[tokio::test]
async fn says_what_it_does_and_stops_when_told_to() {
    let home = home();
    for signal in ["TERM", "INT"] {
        let mut monas = Monas::start(&mut command(home.path())).await;
        let log = monas.logged("serving").await;
        let data = home.path().join(".local/share/monas");
        for expected in [
            &*monas.url,
            data.to_str().unwrap(),
            "JSONRPC, HTTP+JSON, GRPC",
        ] {
            assert!(log.contains(expected), "{expected} in {log}");
        }
        monas.signal(signal).await;
        let (code, log) = monas.ended().await;
        assert_eq!(code, Some(0), "{log}");
        assert!(log.contains("stopping"), "{log}");
        assert!(log.contains("stopped"), "{log}");
    }
}

#[tokio::test]
async fn says_what_is_wrong_with_an_address() {
    let home = home();
    let monas = Monas::start(&mut command(home.path())).await;
    let taken = monas.authority();
    let data = home.path().join("other");
    let arguments = ["--listen", taken, "--data", data.to_str().unwrap()];
    let said = complaint(&home, &arguments, 1).await;
    assert!(
        said.starts_with(&format!("monas: could not listen on {taken}: ")),
        "{said}"
    );
    assert_eq!(
        complaint(&home, &["--listen", "0.0.0.0:8080"], 2).await,
        "monas: could not listen on 0.0.0.0:8080: only loopback addresses are allowed; others need open = false and a public_url of https\n"
    );
    monas.stop().await;
}

#[tokio::test]
async fn says_what_is_wrong_with_a_setting_and_where() {
    let home = home();
    let file = home.path().join("monas.toml");
    std::fs::write(&file, "open = true\nlisten = \"here\"\n").unwrap();
    let said = complaint(&home, &["--config", file.to_str().unwrap()], 2).await;
    let expected = format!(
        "monas: could not use {}:2: listen: expected an address and a port, such as 127.0.0.1:8080, localhost:8080 or 8080\n",
        file.display()
    );
    assert_eq!(said, expected);

    assert_eq!(
        complaint(&home, &["serve", "--max-connections", "0"], 2).await,
        "monas: could not use --max-connections=\"0\": expected a number above 0\n"
    );
    let Ended { status, stderr, .. } = run(command(home.path()).env("MONAS_OPEN", "perhaps")).await;
    assert_eq!(status.code(), Some(2));
    assert_eq!(
        stderr,
        "monas: could not use MONAS_OPEN=\"perhaps\": expected true or false\n"
    );

    let said = complaint(&home, &["--listn", "127.0.0.1:0"], 2).await;
    assert!(said.contains("'--listen'"), "{said}");
    let said = complaint(&home, &["--tls-cert", "missing", "--tls-key", "missing"], 2).await;
    assert!(
        said.starts_with("monas: could not read missing: No such file"),
        "{said}"
    );
}

#[tokio::test]
async fn everything_that_a_file_names_is_looked_for_beside_it() {
    let (home, elsewhere) = (home(), home());
    let folder = home.path().join("settings");
    std::fs::create_dir_all(folder.join("others")).unwrap();
    std::fs::write(
        folder.join("others/scout.toml"),
        "name = 'Scout'\nobjectives = ['find paths']",
    )
    .unwrap();
    std::fs::write(
        folder.join("monas.toml"),
        "data = 'kept'\nworkspace = 'files'\nagents = 'others'\n",
    )
    .unwrap();
    let mut program = living(home.path());
    program.current_dir(elsewhere.path());
    let monas = Monas::start(program.arg("--config").arg(folder.join("monas.toml"))).await;
    for made in ["kept", "files"] {
        assert!(folder.join(made).is_dir(), "{made}");
    }
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    monas.stop().await;
}

#[tokio::test]
async fn a_name_or_a_port_is_enough_to_listen() {
    let home = home();
    for address in ["localhost:0", "0"] {
        let monas = Monas::start_at(address, &mut command(home.path())).await;
        assert!(monas.url.starts_with("http://127.0.0.1:"), "{}", monas.url);
        monas.stop().await;
    }
    let said = complaint(&home, &["--log", "banana"], 2).await;
    assert!(
        said.contains("--log=\"banana\": expected error, warn"),
        "{said}"
    );
    let said = complaint(&home, &["--model-url", "http://localhost:1/v1"], 2).await;
    assert!(said.contains("model.url without model.name"), "{said}");
}

#[tokio::test]
async fn a_misspelt_file_of_a_law_is_named_with_the_one_that_was_meant() {
    let home = home();
    let file = home.path().join("agent.toml");
    std::fs::write(&file, "name = 'x'\nlaw = 'scuot.law.toml'\n").unwrap();
    std::fs::write(home.path().join("scout.law.toml"), "").unwrap();
    let ended = run(living(home.path()).arg("--agent").arg(&file)).await;
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    for part in [
        "scuot.law.toml: No such file",
        &*format!("(`law` of {})", file.display()),
        "did you mean \"scout.law.toml\"?",
    ] {
        assert!(ended.stderr.contains(part), "{part}: {ended:?}");
    }
}

#[tokio::test]
async fn says_what_is_wrong_with_a_manifest() {
    let home = home();
    let file = home.path().join("agent.toml");
    for (text, problem) in [
        (
            "name = 'x'\nskills = ['echo', 'task', 'echo']",
            "the manifest names skill \"echo\" twice",
        ),
        (
            "name = 'x'\nskills = ['fly']",
            "there is no skill \"fly\"; there are ",
        ),
        (
            "name = 'x'\nskills = ['ecko']",
            "there is no skill \"ecko\"; did you mean \"echo\"?",
        ),
        (
            "name = 'x'\n[modes.brief]\nskills = ['ecko']",
            "modes.brief.skills: there is no skill \"ecko\"; did you mean \"echo\"?",
        ),
        (
            "[attention]\nturns = 2",
            "it is a law, not a manifest: give it a name that ends in .law.toml",
        ),
    ] {
        std::fs::write(&file, text).unwrap();
        let said = complaint(&home, &["--agent", file.to_str().unwrap()], 2).await;
        let expected = format!("monas: could not read {}: {problem}", file.display());
        assert!(said.starts_with(&expected), "{said}");
    }
    let folder = home.path().join("agents");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("Scout.toml"), "name = 'Scout'").unwrap();
    let said = complaint(&home, &["--agents", folder.to_str().unwrap()], 2).await;
    assert!(
        said.contains(
            "Scout.toml: the name of the file is the id of the agent, and \"Scout\" cannot be one"
        ),
        "{said}"
    );
}

#[tokio::test]
async fn finds_its_file_in_the_users_folder() {
    let home = home();
    let folder = home.path().join(".config/monas");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("monas.toml"), "lisen = 1\n").unwrap();
    let said = complaint(&home, &[], 2).await;
    assert!(
        said.contains("monas.toml:1: `lisen` is not a setting; did you mean `listen`?"),
        "{said}"
    );
}

#[tokio::test]
async fn warns_of_variables_that_are_almost_settings() {
    let home = home();
    let mut monas = Monas::start(command(home.path()).env("MONAS_LISTN", "x")).await;
    monas
        .logged("MONAS_LISTN is not a setting; did you mean MONAS_LISTEN?")
        .await;
    monas.stop().await;
}

#[tokio::test]
async fn helps() {
    let home = home();
    for arguments in [["--help"].as_slice(), &["serve", "--help"]] {
        let Ended { status, stdout, .. } = run(command(home.path()).args(arguments)).await;
        assert_eq!(status.code(), Some(0));
        for expected in [
            "--listen <ADDRESS>",
            "MONAS_LISTEN",
            "127.0.0.1:8080",
            "--open",
            "--tls-cert <FILE>",
        ] {
            assert!(stdout.contains(expected), "{expected}\n{stdout}");
        }
    }
    let Ended { stdout, .. } = run(command(home.path()).arg("--version")).await;
    assert_eq!(stdout, format!("monas {}\n", env!("CARGO_PKG_VERSION")));
}

#[tokio::test]
async fn a_second_server_on_the_same_data_is_refused_and_told_which_process_has_it() {
    let home = home();
    let monas = Monas::start(&mut closed(home.path())).await;
    let folder = home.path().join(".local/share/monas");
    let said = complaint(&home, &["--listen", "127.0.0.1:0"], 1).await;
    let expected = format!(
        "monas: could not open {}: in use by the server {} (process {}); stop that process, or use another folder\n",
        folder.display(),
        monas.url,
        monas.id()
    );
    assert!(said.ends_with(&expected), "{said}");
    monas.stop().await;
    // Once it has gone the folder is free.
    Monas::start(&mut closed(home.path())).await.stop().await;
}

#[tokio::test]
async fn the_commands_on_its_page_work_as_they_are() {
    let home = home();
    let monas = Monas::start(living(home.path()).env_remove("MONAS_OPEN")).await;
    let token = run(living(home.path()).arg("token")).await.stdout;
    let page = shell(&format!("curl -sS {}/connect", monas.url), "").await;
    let commands: Vec<String> = page
        .split("<pre>")
        .skip(1)
        .map(|rest| unescape(rest.split_once("</pre>").unwrap().0))
        .collect();
    let curl = |what: &str| {
        let mut fitting = commands.iter().filter(|command| command.contains(what));
        fitting
            .next()
            .unwrap_or_else(|| panic!("no {what} in {commands:#?}"))
    };
    for (what, expected) in [
        ("\"SendMessage\"", "recall: Looks for"),
        ("\"SendStreamingMessage\"", "TASK_STATE_COMPLETED"),
        ("/message:send", "recall: Looks for"),
        ("/message:stream", "TASK_STATE_COMPLETED"),
        ("/a2a/rest/tasks", r#""totalSize":4"#),
        ("/mcp", r#""name":"recall""#),
        ("/acp/agents", r#""name":"recall""#),
        ("/api/agents", r#""path":"/agents/default""#),
        ("/api/agent/status", r#""state":"idle""#),
        ("/api/memory/audit", r#""records":"#),
    ] {
        let command = curl(what);
        assert!(command.starts_with("curl "), "{command}");
        let answer = shell(command, token.trim_end()).await;
        assert!(answer.contains(expected), "{command}\n{answer}");
    }
    // Each is the whole of a call, too: reflection tells grpcurl the rest.
    let grpcurl = curl("lf.a2a.v1.A2AService/SendMessage");
    assert!(grpcurl.starts_with("grpcurl -plaintext "), "{grpcurl}");
    assert!(grpcurl.contains(monas.authority()), "{grpcurl}");
    assert_eq!(curl("monas token"), "export TOKEN=$(monas token)");
    let chat = curl("monas chat ");
    assert_eq!(*chat, format!("monas chat --server {}", monas.url));
    monas.stop().await;
}

/// What a command prints, as a user's shell runs it that has this token.
async fn shell(command: &str, token: &str) -> String {
    let output = Command::new("sh")
        .args(["-c", command])
        .env("TOKEN", token)
        .output()
        .await
        .unwrap();
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command}\n{problem}\n(apt install curl, if it is missing)"
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The text that HTML stands for.
fn unescape(html: &str) -> String {
    let text = html
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"");
    text.replace("&#39;", "'").replace("&amp;", "&")
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let home = home();
    let mut monas = Monas::start(&mut command(home.path())).await;
    // A request that is under way and does not go on: the server asks for its body in vain.
    let mut stream = TcpStream::connect(monas.authority()).await.unwrap();
    stream
        .write_all(
            b"POST /a2a/jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
              Expect: 100-continue\r\nContent-Length: 9\r\n\r\n",
        )
        .await
        .unwrap();
    let mut answer = [0; 25];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100 Continue\r\n\r\n");

    monas.signal("TERM").await;
    monas.logged("stopping").await;
    monas.signal("INT").await;
    let (code, log) = monas.ended().await;
    assert_eq!(code, Some(130), "{log}");
    assert!(!log.contains("stopped"), "{log}");
}

#[tokio::test]
async fn a_stream_goes_on_where_a_killed_server_left_it() {
    let home = home();
    let mut monas = Monas::start(&mut command(home.path())).await;
    let address = monas.authority().parse().unwrap();
    let mut client = Client::connect(address, Version::One).await;
    let sent = Sent {
        id: "1",
        text: "burst 40 10ms",
        ..Sent::default()
    };
    let request = client
        .request("POST", "localhost", "/a2a/rest/message:stream")
        .header("content-type", "application/json")
        .header("a2a-version", "1.0")
        .body(Body::from(sent.request().to_string()));
    let mut body = client.open(request.unwrap()).await.unwrap().into_body();
    let mut seen = String::new();
    while !seen.contains("\"c5 \"") {
        let frame = body.frame().await.unwrap().unwrap();
        seen += std::str::from_utf8(&frame.into_data().unwrap()).unwrap();
    }
    monas.signal("KILL").await;
    assert_eq!(monas.ended().await.0, None);
    // What arrived and was not looked at yet has been seen as well, up to the last whole event.
    while let Some(Ok(frame)) = body.frame().await {
        seen += std::str::from_utf8(&frame.into_data().unwrap()).unwrap();
    }
    let mut events = events(&seen[..seen.rfind("\n\n").unwrap()]);
    let task = events[0].1["task"]["id"].as_str().unwrap().to_owned();
    let cursor = events.last().unwrap().0;

    monas = Monas::start(&mut command(home.path())).await;
    let address = monas.authority().parse().unwrap();
    let mut client = Client::connect(address, Version::One).await;
    let request = client
        .request(
            "GET",
            "localhost",
            &format!("/a2a/rest/tasks/{task}:subscribe"),
        )
        .header("a2a-version", "1.0")
        .header("last-event-id", cursor)
        .body(Body::empty());
    let rest = client.send(request.unwrap()).await;
    events.extend(self::events(&rest.text));

    let numbers: Vec<u64> = events.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    let pieces = events
        .iter()
        .map(|(_, event)| texts(&event["artifactUpdate"]["artifact"]["parts"]));
    let expected: String = (0..40).map(|piece| format!("c{piece} ")).collect();
    assert_eq!(pieces.collect::<String>(), expected);
    let last = &events.last().unwrap().1["statusUpdate"]["status"]["state"];
    assert_eq!(last, "TASK_STATE_COMPLETED");
    monas.stop().await;
}

/// The events of a stream, with their numbers.
fn events(text: &str) -> Vec<(u64, Value)> {
    let mut events = Vec::new();
    let mut number = 0;
    for line in text.lines() {
        if let Some(id) = line.strip_prefix("id: ") {
            number = id.parse().unwrap();
        } else if let Some(data) = line.strip_prefix("data: ") {
            events.push((number, serde_json::from_str(data).unwrap()));
        }
    }
    events
}

#[tokio::test]
async fn serves_over_tls_with_the_files_it_is_given() {
    let home = home();
    let CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (home.path().join("cert.pem"), home.path().join("key.pem"));
    std::fs::write(&certificate, cert.pem()).unwrap();
    std::fs::write(&key, signing_key.serialize_pem()).unwrap();
    let mut command = command(home.path());
    let monas = Monas::start(
        command
            .arg("--tls-cert")
            .arg(&certificate)
            .arg("--tls-key")
            .arg(&key),
    )
    .await;
    assert!(monas.url.starts_with("https://127.0.0.1:"), "{}", monas.url);
    for version in ["--http1.1", "--http2"] {
        let curl = format!(
            "curl -sS {version} --cacert {} {}",
            certificate.display(),
            monas.url
        );
        assert_eq!(
            shell(&format!("{curl}/healthz"), "").await,
            r#"{"status":"ok"}"#
        );
        let card = shell(&format!("{curl}/.well-known/agent-card.json"), "").await;
        assert!(
            card.contains(&format!("\"url\":\"{}/a2a/rest\"", monas.url)),
            "{card}"
        );
    }
    monas.stop().await;
}

#[tokio::test]
async fn logs_calls_of_objects_when_asked_to() {
    let home = home();
    let mut monas = Monas::start(command(home.path()).args(["--log", "info,capnweb=debug"])).await;
    let call = r#"["push",["pipeline",0,["getAgentCard"],[]]]"#;
    let post = format!("curl -sS -X POST -d '{call}' {}/a2a/capnweb", monas.url);
    shell(&post, "").await;
    let log = monas.logged("call{").await;
    let line = log.lines().last().unwrap();
    for part in [
        "DEBUG",
        "interface=\"Agent\"",
        "member=\"getAgentCard\"",
        "outcome=\"ok\"",
        "milliseconds=",
    ] {
        assert!(line.contains(part), "{part} in {line}");
    }
    monas.stop().await;
}

#[tokio::test]
async fn logs_what_was_refused_without_its_query() {
    let home = home();
    let mut monas = Monas::start(command(home.path()).args(["--log", "debug"])).await;
    shell(&format!("curl -sS '{}/nothing?secret=1'", monas.url), "").await;
    let log = monas.logged("request refused").await;
    let line = log.lines().last().unwrap();
    assert!(
        line.contains("method=GET path=\"/nothing\" status=404"),
        "{line}"
    );
    assert!(!log.contains("secret"), "{log}");
    monas.stop().await;
}

/// An empty key was used as the key, and an empty database was taken for a new one.
#[tokio::test]
async fn a_torn_key_and_an_emptied_database_are_refused() {
    let home = home();
    Monas::start(&mut command(home.path())).await.stop().await;
    let data = home.path().join(".local/share/monas");
    let key = std::fs::read(data.join("mcp.key")).unwrap();
    assert_eq!(key.len(), 48);
    assert!(!data.join("mcp.key.new").exists());
    std::fs::write(data.join("mcp.key"), &key[..10]).unwrap();
    let said = complaint(&home, &["--listen", "127.0.0.1:0"], 1).await;
    assert!(
        said.contains("mcp.key has 10 bytes instead of 48"),
        "{said}"
    );
    std::fs::write(data.join("mcp.key"), &key).unwrap();
    std::fs::write(data.join("monas.db"), "").unwrap();
    let said = complaint(&home, &["--listen", "127.0.0.1:0"], 1).await;
    assert!(
        said.contains("it is empty, and mcp.key beside it"),
        "{said}"
    );
    assert_eq!(std::fs::read(data.join("monas.db")).unwrap(), b"");
    std::fs::remove_file(data.join("monas.db")).unwrap();
    Monas::start(&mut command(home.path())).await.stop().await;
}

/// Once a key of tokens with three bytes was used without a word: tokens of an admin could be made by trying them all.
#[tokio::test]
async fn a_torn_key_of_tokens_is_refused() {
    let home = home();
    Monas::start(&mut closed(home.path())).await.stop().await;
    let path = home.path().join(".local/share/monas/tokens.key");
    let key = std::fs::read(&path).unwrap();
    std::fs::write(&path, "abc").unwrap();
    let ended = run(closed(home.path()).args(["--listen", "127.0.0.1:0"])).await;
    assert!(!ended.status.success(), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("tokens.key: it has 3 bytes instead of at least 32"),
        "{ended:?}"
    );
    let token = run(closed(home.path()).args(["token", "--user", "ada", "--role", "admin"])).await;
    assert!(
        token.stdout.is_empty() && !token.status.success(),
        "{token:?}"
    );
    std::fs::write(&path, key).unwrap();
    Monas::start(&mut closed(home.path())).await.stop().await;
}

/// A call that waited for a task was answered with UNAVAILABLE at once.
#[tokio::test]
async fn a_call_that_waits_for_a_task_is_answered_before_the_server_stops() {
    let home = home();
    let mut monas = Monas::start(&mut command(home.path())).await;
    let address = monas.authority().parse().unwrap();
    let mut client = Client::connect(address, Version::One).await;
    let sent = Sent {
        id: "1",
        text: "burst 10 100ms",
        ..Sent::default()
    };
    let request = client
        .request("POST", "localhost", "/a2a/rest/message:send")
        .header("content-type", "application/json")
        .header("a2a-version", "1.0")
        .body(Body::from(sent.request().to_string()));
    let answer = client.send(request.unwrap());
    tokio::pin!(answer);
    let early = tokio::time::timeout(std::time::Duration::from_millis(300), &mut answer).await;
    assert!(early.is_err(), "the task takes a second");
    monas.signal("TERM").await;
    monas.logged("stopping").await;
    let answer = answer.await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(
        answer.text.contains("TASK_STATE_COMPLETED"),
        "{}",
        answer.text
    );
    let (code, log) = monas.ended().await;
    assert_eq!(code, Some(0), "{log}");
}
