//! The person at the machine: the link, and commands without flags.

use std::path::Path;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

use serde_json::json;

use super::ask;
use crate::support::program::{Ended, Monas, closed, living, run};
use crate::typescript::browser::Browser;

async fn monas(home: &Path, words: &[&str]) -> Ended {
    run(closed(home).args(words).stdin(Stdio::null())).await
}

/// The token in a link to this server.
fn token_in<'a>(link: &'a str, url: &str) -> &'a str {
    let token = link.strip_prefix(&format!("{url}/#token="));
    token.unwrap_or_else(|| panic!("{link}"))
}

#[tokio::test]
async fn the_server_prints_a_link_and_open_prints_another() {
    let home = tempfile::tempdir().unwrap();
    let before = monas(home.path(), &["open"]).await;
    assert_eq!(before.status.code(), Some(3), "{before:?}");
    assert!(
        before.stderr.contains("start one with `monas`"),
        "{before:?}"
    );

    let mut served = closed(home.path());
    served
        .args(["--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped());
    let mut process = served.stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let url = lines.next_line().await.unwrap().unwrap();
    let url = url.strip_prefix("monas listens on ").unwrap();
    let link = lines.next_line().await.unwrap().unwrap();
    let again = monas(home.path(), &["open"]).await;
    for link in [&*link, again.stdout.trim_end()] {
        let client = a2a::client::Settings::default();
        let client = client.bearer(token_in(link, url)).unwrap();
        let client = a2a::client::Client::discover(url, client).await.unwrap();
        assert_eq!(
            crate::access::asked(&client).await.unwrap(),
            "local by monas"
        );
    }
    process.kill().await.unwrap();
}

#[tokio::test]
async fn commands_need_no_flag_for_the_server_on_their_own_data() {
    let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let here = Monas::start(&mut closed(home.path())).await;
    let there = Monas::start(&mut closed(other.path())).await;
    for binding in ["jsonrpc", "rest", "grpc", "capnweb", "websocket"] {
        let sent = monas(home.path(), &["send", "whoami", "--transport", binding]).await;
        assert_eq!(sent.stdout.trim_end(), "local by monas", "{sent:?}");
    }
    for words in [
        &["task", "list"][..],
        &["webhook", "dead"],
        &["audit"],
        &["agents"],
        &["send", "whoami", "--server", &here.url],
        &["send", "whoami", "-a", &here.url],
    ] {
        let ended = monas(home.path(), words).await;
        assert!(ended.status.success(), "{words:?}: {ended:?}");
    }
    // The token is for no other server.
    for words in [
        &["send", "whoami", "--server", &there.url][..],
        &["agents", "--server", &there.url],
        &["task", "list", "-a", &there.url],
    ] {
        let ended = monas(home.path(), words).await;
        assert_eq!(ended.status.code(), Some(4), "{words:?}: {ended:?}");
        assert!(
            ended.stderr.contains("`monas token` makes a token"),
            "{ended:?}"
        );
    }
    let wrong = monas(home.path(), &["agents", "--bearer", "wrong"]).await;
    assert_eq!(wrong.status.code(), Some(4), "{wrong:?}");
    here.stop().await;
    there.stop().await;
}

#[tokio::test]
async fn a_server_that_is_not_on_the_data_gets_no_token() {
    let home = tempfile::tempdir().unwrap();
    let here = Monas::start(&mut closed(home.path())).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let hearing = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut heard = vec![0; 64 << 10];
        let read = stream.read(&mut heard).await.unwrap();
        let refused =
            b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        stream.write_all(refused).await.unwrap();
        String::from_utf8_lossy(&heard[..read]).to_lowercase()
    });
    let ended = monas(
        home.path(),
        &["agents", "--server", &format!("http://{address}")],
    )
    .await;
    assert_eq!(ended.status.code(), Some(4), "{ended:?}");
    let heard = hearing.await.unwrap();
    assert!(heard.starts_with("get /api/agents"), "{heard}");
    assert!(
        !heard.contains("authorization") && !heard.contains("token"),
        "{heard}"
    );
    // The one on the data knows the command line still.
    let agents = monas(home.path(), &["agents"]).await;
    assert!(agents.status.success(), "{agents:?}");
    assert_eq!(ask(&here, "GET", "/api/agents", &[]).await.status, 401);
    here.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_takes_the_token_out_of_its_address_and_keeps_it_for_the_tab() {
    let home = tempfile::tempdir().unwrap();
    let here = Monas::start(living(home.path()).env_remove("MONAS_OPEN")).await;
    let link = monas(home.path(), &["open"]).await.stdout;
    let mut page = Browser::open(link.trim_end()).await;
    // The token is kept once the server has taken it.
    page.wait_for("document.querySelector('textarea') !== null && sessionStorage.length > 0")
        .await;
    let kept = "[location.href.split('#')[0], location.hash.includes('token'), document.cookie]";
    let address = format!("{}/", here.url);
    assert_eq!(page.evaluate(kept).await, json!([address, false, ""]));
    let tokens = "[sessionStorage, localStorage].map((it) => JSON.stringify(it).includes('eyJ'))";
    assert_eq!(page.evaluate(tokens).await, json!([true, false]));
    drop(page);
    let mut stranger = Browser::open(&here.url).await;
    stranger
        .wait_for("document.querySelector('.signin') !== null")
        .await;
    here.stop().await;
}
