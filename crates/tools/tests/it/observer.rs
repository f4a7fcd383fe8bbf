//! Skills tell an observer what they did with files, and nothing of what they could not do.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use skill::MemoryCall;
use tools::{DeedKind, FileDeed, FileObserver, History};

use crate::support::Bed;

#[derive(Default)]
struct Log(Mutex<Vec<FileDeed>>);

impl FileObserver for Log {
    fn saw(&self, deed: FileDeed) {
        self.0.lock().unwrap().push(deed);
    }
}

#[tokio::test]
async fn each_deed_is_told_after_it_is_done() {
    let bed = Bed::new();
    let log: Arc<Log> = Arc::default();
    let project = bed.project.clone().observed_by(log.clone());
    let folder = tempfile::tempdir().unwrap();
    let history = History::open(project, folder.path()).unwrap();
    let call = MemoryCall::new(tools::skills_with_history(&history).unwrap());
    let told = async |skill: &str, input: Value| -> Vec<(DeedKind, String)> {
        let done = call.output(skill, input).await;
        let deeds = std::mem::take(&mut *log.0.lock().unwrap());
        assert_eq!(
            done.is_err(),
            deeds.is_empty(),
            "{skill}: {done:?} {deeds:?}"
        );
        let deeds = deeds.into_iter();
        deeds
            .map(|it| (it.kind, it.path.as_str().to_owned()))
            .collect()
    };
    let (read, wrote, removed) = (DeedKind::Read, DeedKind::Wrote, DeedKind::Removed);
    let at = |kind, path: &str| (kind, path.to_owned());
    let write = json!({ "path": "/project/a.txt", "content": "one\n" });
    assert_eq!(told("file-write", write).await, [at(wrote, "a.txt")]);
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n";
    let edit = json!({ "path": "a.txt", "diff": diff });
    assert_eq!(told("file-edit", edit).await, [at(wrote, "a.txt")]);
    assert_eq!(
        told("file-read", json!({ "path": "a.txt" })).await,
        [at(read, "a.txt")]
    );
    let moving = json!({ "from": "a.txt", "to": "b.txt" });
    assert_eq!(
        told("file-move", moving).await,
        [at(removed, "a.txt"), at(wrote, "b.txt")]
    );
    assert_eq!(told("undo", json!({})).await, [at(wrote, "a.txt")]);
    assert_eq!(
        told("file-delete", json!({ "path": "a.txt" })).await,
        [at(removed, "a.txt")]
    );
    let refused = json!({ "path": "../a", "content": "" });
    assert!(
        told("file-read", json!({ "path": "a.txt" }))
            .await
            .is_empty()
    );
    assert!(told("file-write", refused).await.is_empty());
}
