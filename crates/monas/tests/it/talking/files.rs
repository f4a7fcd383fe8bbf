//! `/api/files`: a project is read, written and searched, at once and after an approval.

use serde_json::{Value, json};

use super::{rest, serve};
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
