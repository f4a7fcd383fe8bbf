//! `/ws/chat?files=follow`: a client that applies what it is told has the files of the project.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tools::{FileDelta, apply_delta};

use super::{Window, ask_as, kind, rest, serve};
use crate::rights::{closed, token};
use crate::support::program::Monas;

const NAMES: [&str; 3] = ["a.txt", "b.md", "deep/c.rs"];

/// How many edits there are, and after how many the client is waited for.
const EDITS: usize = 1_000;
const BURST: usize = 20;

/// Numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap()
    }

    /// A text with some lines inserted, deleted or replaced.
    fn edit(&mut self, text: &str) -> String {
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        let at = self.below(lines.len() + 1);
        let count = self.below(4).min(lines.len() - at);
        let new = (0..self.below(4)).map(|_| match self.below(8) {
            0 => "\n".to_owned(),
            1 => "the same line\n".to_owned(),
            2 => "äöü 日本\r\n".to_owned(),
            _ => format!("line {}\n", self.below(1_000)),
        });
        let new: Vec<String> = new.collect();
        lines.splice(at..at + count, new);
        let mut text = lines.concat();
        // The last line may have no end.
        if self.below(5) == 0 && text.ends_with('\n') {
            text.pop();
        }
        text
    }
}

/// The files of a client, from what it was told alone.
#[derive(Default)]
struct Held(BTreeMap<String, String>);

impl Held {
    fn take(&mut self, message: &Value) {
        let data = &message["payload"]["data"];
        let path = data["path"].as_str().unwrap_or_default().to_owned();
        match &*kind(message) {
            "file_delta" => {
                let delta: FileDelta = serde_json::from_value(data.clone()).unwrap();
                let text = self.0.remove(&path).unwrap_or_default();
                let text = apply_delta(&text, &delta).expect("the delta fits");
                if data["remaining"] == 0 {
                    assert_eq!(hash(&text), data["after"], "{data}");
                }
                self.0.insert(path, text);
            }
            "file_modified" if data["operation"] == "deleted" => {
                self.0.remove(&path);
            }
            // An empty file has no lines.
            "file_modified" => {
                assert_eq!(data["size"], 0, "{data}");
                self.0.insert(path, String::new());
            }
            "files_missed" => panic!("the client was too slow"),
            _ => {}
        }
    }
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text);
    digest.iter().map(|it| format!("{it:02x}")).collect()
}

fn on_disk(folder: &Path) -> BTreeMap<String, String> {
    let files = NAMES.iter().filter_map(|name| {
        let text = std::fs::read_to_string(folder.join(name)).ok()?;
        Some((format!("/project/{name}"), text))
    });
    files.collect()
}

#[tokio::test]
async fn a_client_that_applies_deltas_has_the_files_after_a_thousand_edits() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let folder = home.path().join("files");
    let mut window = Window::open_at(&server, "/ws/chat?files=follow", None).await;
    let mut held = Held::default();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for edit in 1..=EDITS {
        let name = NAMES[numbers.below(NAMES.len())];
        let path = folder.join(name);
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        let text = numbers.edit(&before);
        match numbers.below(25) {
            0 => {
                // By a person, through the server.
                let body = json!({ "path": name, "content": text });
                let (status, said) = rest(&server, "PUT", "/api/files/content", body).await;
                assert_eq!(status, 200, "{said}");
            }
            1 if path.exists() => std::fs::remove_file(&path).unwrap(),
            _ => {
                // By another program.
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, text).unwrap();
            }
        }
        if edit % BURST == 0 {
            let now = on_disk(&folder);
            while held.0 != now {
                held.take(&window.next().await);
            }
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn files_are_followed_by_those_who_may_read_them() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut closed(home.path())).await;
    let refused = |path: &'static str, role| {
        let server = &server;
        async move {
            let token = token("ada", role);
            let answer = ask_as(server, Some(&token), "GET", path, Value::Null).await;
            answer.status.as_u16()
        }
    };
    // A request that is no handshake is refused before anything else.
    let plain = refused("/ws/chat?files=follow", access::Role::User).await;
    assert!([400, 426].contains(&plain), "{plain}");
    let token = token("ada", access::Role::User);
    let path = format!("/ws/chat?files=follow&token={token}");
    let mut window = Window::open_at(&server, &path, None).await;
    std::fs::write(home.path().join("workspace/seen.txt"), "seen\n").unwrap();
    let told = window.until("file_delta").await;
    let data = &told["payload"]["data"];
    assert_eq!(
        (&data["path"], &data["operation"], &data["content"]),
        (
            &json!("/project/seen.txt"),
            &json!("insert"),
            &json!("seen\n")
        )
    );
    assert_eq!(
        (&data["line_start"], &data["before"]),
        (&json!(1), &Value::Null)
    );
    server.stop().await;
}
