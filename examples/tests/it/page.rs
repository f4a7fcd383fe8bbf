//! The page, kept open while the server is killed and started again.

use std::time::Duration;

use capnweb::reconnect::{CONNECTION_LOST, Reconnect, Reconnecting, Settings};
use capnweb::{Capability, Options};
use examples::live_feed::Feed;
use serde_json::json;
use tokio::sync::watch;

use crate::browser::{Browser, soon};
use crate::program::{Program, compile_page};

/// The lines that the page shows.
const SHOWN: &str = "[...document.querySelectorAll('#messages li')].map(li => `${li.dataset.cursor} ${li.textContent}`)";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_shows_each_message_once_through_every_restart_of_its_server() {
    compile_page().await;
    let mut server = Program::start().await;
    let mut page = Browser::open(&format!("http://{}/", server.address)).await;
    page.wait_for("document.querySelector('#state')?.className === 'connected'")
        .await;

    let feed = connect(&server);
    let (posted, mut posts) = watch::channel(0_u32);
    let writing = tokio::spawn(write(feed.clone(), posted));
    for restart in 1..=5_u32 {
        // Killed while messages are written and shown.
        posts
            .wait_for(|posts| *posts >= restart * 40)
            .await
            .unwrap();
        server.kill().await;
        server.restart().await;
    }
    let enough = *posts.borrow() + 40;
    posts.wait_for(|posts| *posts >= enough).await.unwrap();
    writing.abort();
    assert!(writing.await.unwrap_err().is_cancelled());
    assert!(feed.sessions() >= 6, "only {} sessions", feed.sessions());

    // The page can still write.
    page.wait_for("document.querySelector('#state').className === 'connected'")
        .await;
    page.evaluate("text.value = 'hello from the page'; write.requestSubmit()")
        .await;
    page.wait_for("[...document.querySelectorAll('#messages li')].at(-1)?.textContent === 'page: hello from the page'")
        .await;

    let kept = everything(&feed).await;
    assert!(kept.len() > 200);
    assert_eq!(page.evaluate(SHOWN).await, json!(kept));

    // A stream and a callback work too.
    page.evaluate("word.value = 'hello'; search.requestSubmit()")
        .await;
    page.wait_for("found.textContent === 'page: hello from the page'")
        .await;
    page.evaluate("count.click()").await;
    let letters: usize = kept.iter().map(|line| text_of(line).chars().count()).sum();
    page.wait_for(&format!("progress.textContent === '{letters} letters'"))
        .await;
    assert_eq!(page.evaluate("problem.textContent").await, json!(""));
}

/// The text of a message, in a line that the page shows.
fn text_of(line: &str) -> &str {
    line.split_once(": ").map_or("", |(_, text)| text)
}

fn connect(server: &Program) -> Reconnecting<Feed> {
    let url = format!("ws://{}/rpc", server.address);
    Reconnect::websocket(url, Capability::nothing(), &Options::default())
        .settings(Settings {
            longest_wait: Duration::from_millis(300),
            ..Settings::default()
        })
        .start()
}

/// Writes messages one after the other. A call that failed with the connection may or may not have been stored.
async fn write(feed: Reconnecting<Feed>, posted: watch::Sender<u32>) {
    let author = feed.derive(|feed| feed.sign_in("test"));
    for number in 0_u32.. {
        match author
            .call(|author| author.post(format!("message {number}")))
            .await
        {
            Ok(_cursor) => posted.send_modify(|posts| *posts += 1),
            Err(error) => assert_eq!(error.code(), Some(CONNECTION_LOST), "{error:?}"),
        }
    }
}

/// All messages of the feed, in the form in which the page shows them.
async fn everything(feed: &Reconnecting<Feed>) -> Vec<String> {
    let length = feed.retry(|feed| feed.length()).await.unwrap() as usize;
    let mut events = feed.resume(None, |feed, cursor, sink| feed.subscribe(cursor, sink));
    let mut kept = Vec::new();
    while kept.len() < length {
        let item = soon("a message", events.next()).await.unwrap().unwrap();
        kept.push(format!(
            "{} {}: {}",
            item.cursor, item.event.author, item.event.text
        ));
    }
    kept
}
