//! The `monas` binary as a user runs it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use capnweb::demo::Demo;
use capnweb::transport::websocket;
use capnweb::{Capability, Options, Stub};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};

/// A running server; killed when dropped.
struct Monas {
    process: Child,
    url: String,
    greeting: String,
}

impl Monas {
    async fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_monas"))
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut greeting = String::new();
        while !greeting.contains("console.log") {
            greeting.push_str(&lines.next_line().await.unwrap().unwrap());
            greeting.push('\n');
        }
        let url = greeting
            .split_whitespace()
            .find(|word| word.starts_with("ws://"))
            .unwrap()
            .to_owned();
        Self {
            process,
            url,
            greeting,
        }
    }

    /// Tells it to terminate and waits until it has.
    async fn stop(mut self) -> Option<i32> {
        let id = self.process.id().unwrap().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .await
                .unwrap()
                .success()
        );
        self.process.wait().await.unwrap().code()
    }
}

#[tokio::test]
async fn serves_the_demo_and_stops_when_told_to() {
    let monas = Monas::start().await;
    let connection = websocket::connect(&monas.url, Capability::nothing(), &Options::default())
        .await
        .unwrap();
    let demo: Stub<Demo> = connection.remote();
    assert_eq!(demo.greet("Ada").await.unwrap(), "Hello, Ada!");
    assert_eq!(
        demo.make_counter(Some(1.0))
            .pipeline()
            .increment(Some(4.0))
            .await
            .unwrap(),
        5.0
    );

    assert_eq!(monas.stop().await, Some(0));
    assert_eq!(
        connection.closed().await.message(),
        "the server is shutting down"
    );
}

#[tokio::test]
async fn the_example_it_prints_runs_in_node() {
    let monas = Monas::start().await;
    let code: Vec<&str> = monas
        .greeting
        .lines()
        .filter(|line| line.starts_with("  "))
        .map(str::trim)
        .collect();
    assert_eq!(code.len(), 3, "three lines of code: {code:?}");

    let output = Command::new(node())
        .args(["--input-type=module", "--eval", &code.join("\n")])
        // Where the npm package is installed.
        .current_dir(repository().join("conformance/capnweb"))
        .output()
        .await
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "Hello, Ada! 5\n",
        "{output:?}"
    );
    assert_eq!(monas.stop().await, Some(0));
}

#[tokio::test]
async fn says_what_is_wrong_with_an_address() {
    let monas = Monas::start().await;
    let taken = monas
        .url
        .trim_start_matches("ws://")
        .trim_end_matches("/rpc")
        .to_owned();
    assert!(
        complaint(&["--listen", &taken])
            .await
            .starts_with(&format!("monas: could not listen on {taken}: "))
    );
    assert_eq!(
        complaint(&["--listen", "0.0.0.0:8080"]).await,
        "monas: could not listen on 0.0.0.0:8080: only loopback addresses are allowed until there is access control\n"
    );
}

async fn complaint(arguments: &[&str]) -> String {
    let mut process = Command::new(env!("CARGO_BIN_EXE_monas"))
        .args(arguments)
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut text = String::new();
    process
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .await
        .unwrap();
    assert_eq!(process.wait().await.unwrap().code(), Some(1));
    text
}

/// Node 22 or newer, as `cargo xtask test` provides it.
fn node() -> PathBuf {
    std::env::var_os("MONAS_NODE").map_or_else(|| PathBuf::from("node"), PathBuf::from)
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
