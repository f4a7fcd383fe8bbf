//! `/api/files`: a project is read, written and searched, at once and after an approval.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{ask, rest, serve};
use crate::support::program::Monas;

async fn get(server: &Monas, path: &str) -> (u16, Value) {
    rest(server, "GET", path, Value::Null).await
}

async fn put(server: &Monas, body: Value) -> (u16, Value) {
    rest(server, "PUT", "/api/files/content", body).await
}

#[tokio::test]
async fn files_are_read_written_and_searched_within_the_project() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let source = "fn colour() {}\n";
    let (status, written) = put(&server, json!({ "path": "src/a.rs", "content": source })).await;
    assert_eq!((status, &written["status"]), (200, &json!("written")));
    let on_disk = || std::fs::read_to_string(home.path().join("files/src/a.rs")).unwrap();
    assert_eq!(on_disk(), source);
    let (_, read) = get(&server, "/api/files/content?path=src/a.rs").await;
    assert_eq!(read["content"], source);
    assert_eq!(read["language"], "rust");
    assert_eq!(read["hash"], written["hash"]);
    let (_, tree) = get(&server, "/api/files/tree").await;
    let folder = tree["children"].as_array().unwrap().iter();
    let mut folder = folder.filter(|it| it["name"] == "src");
    let file = &folder.next().expect("the folder")["children"][0];
    assert_eq!(
        (&file["path"], &file["type"]),
        (&json!("/project/src/a.rs"), &json!("file"))
    );
    let (_, found) = get(&server, "/api/files/search?query=colour&type=code").await;
    assert_eq!(found["results"][0]["path"], "/project/src/a.rs", "{found}");
    assert_eq!(found["results"][0]["line"], 1);

    // A file that has changed since it was read is not written, and the project cannot be left.
    let stale = json!({ "path": "src/a.rs", "content": "", "seen": "absent" });
    let (status, refused) = put(&server, stale).await;
    assert_eq!(status, 409, "{refused}");
    for path in ["../monas.toml", "/etc/passwd"] {
        let (status, refused) = get(&server, &format!("/api/files/content?path={path}")).await;
        assert!([403, 404, 422].contains(&status), "{status} {refused}");
        let (status, refused) = put(&server, json!({ "path": path, "content": "" })).await;
        assert!([403, 404, 422].contains(&status), "{status} {refused}");
    }

    let later = "fn colours() {}\n";
    let body = json!({ "path": "src/a.rs", "content": later, "requires_approval": true });
    let (status, asked) = put(&server, body).await;
    assert_eq!(
        (status, &asked["status"]),
        (200, &json!("pending_approval"))
    );
    assert_eq!(on_disk(), source);
    let path = format!("/api/approvals/{}", asked["approval_id"].as_str().unwrap());
    let (status, given) = rest(&server, "POST", &path, json!({ "decision": "approve" })).await;
    assert_eq!(
        (status, &given["task"]),
        (200, &asked["task_id"]),
        "{given}"
    );
    // The agent writes it after the answer.
    let ended = async {
        while get(&server, "/api/files/content?path=src/a.rs").await.1["content"] != later {
            tokio::task::yield_now().await;
        }
    };
    let ended = tokio::time::timeout(super::SOON, ended).await;
    ended.expect("the file is written");
    assert_eq!(on_disk(), later);
    server.stop().await;
}

async fn decide(server: &Monas, id: &Value, decision: &str) {
    let path = format!("/api/approvals/{}", id.as_str().unwrap());
    let (status, given) = rest(server, "POST", &path, json!({ "decision": decision })).await;
    assert_eq!(status, 200, "{given}");
}

/// Waits until a file of the project has this content.
async fn becomes(server: &Monas, path: &str, content: &str) {
    let address = format!("/api/files/content?path={path}");
    let waited = async {
        while get(server, &address).await.1["content"] != content {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(super::SOON, waited).await;
    waited.expect("the file is written");
}

#[tokio::test]
async fn a_diff_that_requires_approval_is_applied_after_it() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    put(&server, json!({ "path": "a.md", "content": "one\ntwo\n" })).await;
    let diff = "--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n";
    let body = json!({ "path": "/project/a.md", "diff": diff, "requires_approval": true });
    let post = async |body| rest(&server, "POST", "/api/files/diff", body).await;
    let (status, asked) = post(body).await;
    assert_eq!(status, 200, "{asked}");
    let counts = (&asked["lines_added"], &asked["lines_removed"]);
    assert_eq!(counts, (&json!(2), &json!(1)), "{asked}");
    assert_eq!(asked["status"], "pending_approval", "{asked}");
    let on_disk = || std::fs::read_to_string(home.path().join("files/a.md")).unwrap();
    assert_eq!(on_disk(), "one\ntwo\n");
    let (_, waiting) = get(&server, "/api/approvals").await;
    let preview = waiting["approvals"][0]["preview"].as_str().unwrap();
    assert!(preview.contains("-two\n+2\n+3\n"), "{preview}");
    decide(&server, &asked["approval_id"], "approve").await;
    becomes(&server, "a.md", "one\n2\n3\n").await;

    let (status, refused) = post(json!({ "path": "a.md", "diff": "nonsense" })).await;
    assert_eq!(
        (status, &refused["field"]),
        (409, &json!("diff")),
        "{refused}"
    );
    let refused = ask(&server, "POST", "/api/files/diff", Value::Null).await;
    let refused: Value = serde_json::from_str(&refused.text).unwrap();
    let told = (&refused["code"], &refused["field"]);
    assert_eq!(told, (&json!("not_json"), &Value::Null));
    server.stop().await;
}

/// It went wrong: the question was asked again, and the list of what waits still had the first preview under its id.
#[tokio::test]
async fn a_file_that_changed_before_the_yes_is_shown_again_as_it_is_now() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let file = home.path().join("files/a.md");
    std::fs::write(&file, "first\n").unwrap();
    let body = json!({ "path": "a.md", "content": "mine\n", "requires_approval": true });
    let (_, asked) = put(&server, body).await;
    let id = &asked["approval_id"];
    std::fs::write(&file, "second\n").unwrap();
    decide(&server, id, "approve").await;
    let shown = async {
        loop {
            let (_, waiting) = get(&server, "/api/approvals").await;
            let approval = &waiting["approvals"][0];
            assert_eq!(&approval["id"], id, "{waiting}");
            let preview = approval["preview"].as_str().unwrap();
            if preview.contains("-second") {
                return preview.contains("-first");
            }
            tokio::task::yield_now().await;
        }
    };
    let shown = tokio::time::timeout(super::SOON, shown).await;
    assert!(!shown.expect("it is asked again"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "second\n");
    decide(&server, id, "approve").await;
    becomes(&server, "a.md", "mine\n").await;
    server.stop().await;
}

/// How large what is uploaded is, in lines of 16 bytes.
const LINES: usize = 20_000;

/// A text of which every part says which it is.
fn version(number: usize) -> String {
    format!("version {number:07}\n").repeat(LINES)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_during_uploads_leaves_whole_files() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let address = server.authority().to_owned();
    let (told, mut acknowledged) = tokio::sync::mpsc::unbounded_channel();
    let mut uploading = Vec::new();
    for name in ["a.txt", "b.txt", "c.txt"] {
        let (address, told) = (address.clone(), told.clone());
        uploading.push(tokio::spawn(async move {
            for number in 0.. {
                let body = json!({ "path": name, "content": version(number) });
                let request = format!(
                    "PUT /api/files/content HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                    body.to_string().len()
                );
                let Ok(answer) = raw(&address, &request).await else {
                    return;
                };
                if !answer.starts_with("HTTP/1.1 200") || told.send((name, number)).is_err() {
                    return;
                }
            }
        }));
    }
    // One sends half of its body, and waits.
    let mut half = TcpStream::connect(&address).await.unwrap();
    let begun = "PUT /api/files/content HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n{\"path\":\"half.txt\",\"content\":\"";
    half.write_all(begun.as_bytes()).await.unwrap();
    half.write_all(&[b'x'; 400_000]).await.unwrap();
    let mut last = std::collections::BTreeMap::new();
    while last.len() < 3 || last.values().sum::<usize>() < 12 {
        let next = tokio::time::timeout(super::SOON, acknowledged.recv()).await;
        let (name, number) = next.expect("uploads go on").unwrap();
        last.insert(name, number);
    }
    server.signal("KILL").await;
    server.ended().await;
    for upload in uploading {
        upload.await.unwrap();
    }
    drop(told);
    while let Some((name, number)) = acknowledged.recv().await {
        last.insert(name, number);
    }
    for (name, number) in last {
        let text = std::fs::read_to_string(home.path().join("files").join(name)).unwrap();
        // It is the last version that was acknowledged, or the one that was under way, and whole.
        let whole = text == version(number) || text == version(number + 1);
        assert!(whole, "{name} after version {number}: {} bytes", text.len());
    }
    assert!(!home.path().join("files/half.txt").exists());

    let server = Monas::start(&mut serve(home.path())).await;
    let (_, tree) = get(&server, "/api/files/tree").await;
    let names = tree["children"].as_array().unwrap().iter();
    let names: Vec<&str> = names.filter_map(|it| it["name"].as_str()).collect();
    assert!(names.iter().all(|it| !it.starts_with('.')), "{names:?}");
    let (status, _) = put(&server, json!({ "path": "a.txt", "content": "after\n" })).await;
    assert_eq!(status, 200);
    server.stop().await;
}

/// Sends a request on a connection of its own, and reads the answer.
async fn raw(address: &str, request: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}
