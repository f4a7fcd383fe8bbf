//! Secrets that agents use: sealed, used by name, and shown nowhere.

use std::path::Path;
use std::process::Stdio;

use model::scripted::{Scripted, Server, Turn};
use tokio::io::AsyncWriteExt as _;

use crate::support::program::{Ended, Monas, command, living, run};

const VALUE: &str = "sk-0123456789-not-to-be-seen";

/// Sets a secret of a data folder, with its value on standard input.
pub(crate) async fn set(home: &Path, name: &str, value: &str) -> Ended {
    let mut command = command(home);
    command
        .args(["secret", "set", name])
        .arg("--data")
        .arg(home.join("data"));
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(value.as_bytes()).await.unwrap();
    drop(input);
    let output = child.wait_with_output().await.unwrap();
    Ended {
        status: output.status,
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn files_with(folder: &Path, value: &str) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap().path());
    let found = entries.filter(|path| {
        let content = std::fs::read(path).unwrap_or_default();
        content
            .windows(value.len())
            .any(|it| it == value.as_bytes())
    });
    found.collect()
}

#[tokio::test]
async fn a_key_of_a_model_is_used_by_name_and_shown_nowhere() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let script = Scripted::new([Turn::text("I am here.").usage(5, 1)]);
    let model = Server::start_with(script, Some(VALUE)).await.unwrap();
    let url = format!("{}/v1", model.url());
    let served = || {
        let mut served = living(home.path());
        // Secrets are for administrators, which the person at the machine is by the token of the data.
        served.env_remove("MONAS_OPEN");
        served
            .arg("--data")
            .arg(&data)
            .args(["--model", "openai:small"]);
        served.env("MONAS_MODEL_URL", &url);
        served.env("MONAS_MODEL_KEY", "secret:openai");
        served.env("MONAS_LOG", "debug");
        served
    };
    // Without the secret the server does not start, and says what is missing.
    let mut early = served();
    let early = run(early.args(["--listen", "127.0.0.1:0"])).await;
    assert_ne!(early.status.code(), Some(0), "{early:?}");
    let hint = "could not find the secret \"openai\"; make it with: monas secret set openai";
    assert!(early.stderr.contains(hint), "{early:?}");

    let done = set(home.path(), "openai", &format!("{VALUE}\n")).await;
    assert_eq!(done.stdout, "set openai\n", "{done:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let key = std::fs::metadata(data.join("secrets.key")).unwrap();
        assert_eq!(key.permissions().mode() & 0o777, 0o600);
    }
    let monas = Monas::start(&mut served()).await;
    let on_server = |words: &[&str]| {
        let mut command = command(home.path());
        command.args(words).env("MONAS_DATA", &data);
        command
    };
    let said = run(&mut on_server(&["send", "where are you?"])).await;
    assert!(said.stdout.contains("I am here."), "{said:?}");
    assert!(!model.seen().is_empty());
    let listed = run(&mut on_server(&["secret", "list"])).await;
    assert!(listed.stdout.starts_with("openai  set "), "{listed:?}");
    // What is in the log at any level, in the journal and in every other file is not the value.
    monas.signal("TERM").await;
    let (code, log) = monas.ended().await;
    assert_eq!(code, Some(0), "{log}");
    for text in [
        &log,
        &said.stdout,
        &said.stderr,
        &listed.stdout,
        &done.stderr,
    ] {
        assert!(!text.contains(VALUE), "{text}");
    }
    assert_eq!(files_with(&data, VALUE), Vec::<std::path::PathBuf>::new());
    let removed = run(&mut on_server(&["secret", "remove", "openai"])).await;
    assert_eq!(removed.stdout, "removed openai\n", "{removed:?}");
    let gone = run(&mut on_server(&["secret", "list"])).await;
    assert_eq!(gone.stdout, "", "{gone:?}");
}

/// Headers and variables of tool servers take a secret by its name, too.
#[tokio::test]
async fn a_tool_server_gets_its_secret_in_a_header_or_a_variable() {
    let home = tempfile::tempdir().unwrap();
    // Two tool servers that do nothing without the value: one over HTTP, one on standard input.
    let there = tempfile::tempdir().unwrap();
    let hash = access::Hash::of(VALUE);
    let text = format!("[access.tokens]\ntype = 'bearer'\ncallers.ada = '{hash}'\n");
    std::fs::write(there.path().join("monas.toml"), text).unwrap();
    let mut served = command(there.path());
    served.env_remove("MONAS_OPEN").arg("--config");
    let tools = Monas::start(served.arg(there.path().join("monas.toml"))).await;
    let monas = env!("CARGO_BIN_EXE_monas");
    let length = VALUE.len();
    let script = format!(
        "test $(printf %s \"$TOOL_KEY\" | wc -c) -eq {length} && exec {monas} mcp --demo --data {}",
        there.path().join("inner").display()
    );
    let manifest = home.path().join("agent.toml");
    let text = format!(
        "name = 'Caller'\n[mcp.far]\nurl = '{}/mcp'\nheaders.Authorization = 'Bearer ${{secret:tools}}'\n\
         [mcp.near]\ncommand = 'sh'\nargs = ['-c', {script:?}]\nenv.TOOL_KEY = 'secret:tools'\n",
        tools.url
    );
    std::fs::write(&manifest, text).unwrap();
    let done = set(home.path(), "tools", VALUE).await;
    assert!(done.status.success(), "{done:?}");
    let mut served = living(home.path());
    served.arg("--data").arg(home.path().join("data"));
    served.arg("--agent").arg(&manifest);
    let caller = Monas::start(&mut served).await;
    for skill in ["far-echo", "near-echo"] {
        let mut send = living(home.path());
        send.args(["send", "--server", &caller.url, "-o", "json"]);
        let input = serde_json::json!({ "text": "rain" }).to_string();
        let asked = run(send.arg(format!("/{skill} {input}"))).await;
        // The tool only reads, so that it is called without a question; its server has accepted the secret.
        assert!(asked.stdout.contains("TASK_STATE_COMPLETED"), "{asked:?}");
        assert!(!asked.stdout.contains(VALUE), "{asked:?}");
    }
    caller.stop().await;
    tools.stop().await;
}
