//! Files of a project in graph memory.

use code::{CallSite, Outline, Symbol, SymbolKind};
use memory::{CodeChange, CodeFile, Handle, RecordId, Touch, Viewer};

use super::support::{in_memory, open};

fn touch(task: &str, by: &str, at: i64) -> Touch {
    Touch {
        task: task.to_owned(),
        by: by.to_owned(),
        wrote: false,
        at,
    }
}

/// A file that defines these functions; the first calls the others.
fn file(path: &str, names: &[&str], touches: &[Touch]) -> CodeFile {
    let symbols = names.iter().map(|name| Symbol {
        name: (*name).to_owned(),
        kind: SymbolKind::Function,
        line: 1,
        end_line: 1,
        inside: None,
    });
    let calls = names.iter().skip(1).map(|name| CallSite {
        from: Some(names[0].to_owned()),
        to: (*name).to_owned(),
    });
    CodeFile {
        path: path.to_owned(),
        hash: names.join(","),
        at: touches.iter().map(|it| it.at).max().unwrap_or_default(),
        outline: Outline {
            language: "rust".to_owned(),
            symbols: symbols.collect(),
            calls: calls.collect(),
            ..Outline::default()
        },
        touches: touches.to_vec(),
        ..CodeFile::default()
    }
}

async fn put(space: &Handle, file: CodeFile) {
    let change = CodeChange::Put(Box::new(file));
    space.put_code(vec![change]).await.unwrap();
}

async fn paths(space: &Handle, task: &str) -> Vec<String> {
    let context = space.context(task, 20).await.unwrap();
    context.files.iter().map(|it| it.path.clone()).collect()
}

async fn drawn(space: &Handle, topic: &str) -> Vec<String> {
    let picture = space.graph(Some(topic), 50).await.unwrap();
    let edges = picture.edges.iter();
    edges
        .map(|it| format!("{} {} {}", it.from, it.kind, it.to))
        .collect()
}

#[tokio::test]
async fn a_file_is_replaced_when_it_changes_and_gone_when_it_is_removed() {
    let memory = in_memory();
    let space = memory.space("scout").unwrap().with_files();
    put(
        &space,
        file("a.rs", &["load", "parse"], &[touch("t1", "ada", 1)]),
    )
    .await;
    put(&space, file("b.rs", &["parse"], &[touch("t2", "ada", 2)])).await;
    assert_eq!(
        drawn(&space, "what does load call?").await,
        ["a.rs DEFINES load", "load CALLS parse"]
    );
    put(&space, file("a.rs", &["store"], &[touch("t2", "ada", 3)])).await;
    assert_eq!(drawn(&space, "load").await, Vec::<String>::new());
    assert_eq!(drawn(&space, "store").await, ["a.rs DEFINES store"]);
    assert_eq!(paths(&space, "t1").await, ["a.rs"]);
    assert_eq!(paths(&space, "t2").await, ["a.rs", "b.rs"]);
    let gone = vec![CodeChange::Remove("a.rs".to_owned())];
    space.put_code(gone).await.unwrap();
    assert_eq!(paths(&space, "t1").await, Vec::<String>::new());
    assert_eq!(paths(&space, "t2").await, ["b.rs"]);
    assert_eq!(drawn(&space, "store").await, Vec::<String>::new());
    memory.close().await;
}

#[tokio::test]
async fn files_are_shown_to_handles_with_files_and_tasks_to_their_callers() {
    let memory = in_memory();
    let space = memory.space("scout").unwrap();
    put(&space, file("a.rs", &["load"], &[touch("t1", "ada", 1)])).await;
    let as_seen = |name: &str| space.seen_by(Viewer::Caller(name.into()));
    assert_eq!(paths(&as_seen("ada").with_files(), "t1").await, ["a.rs"]);
    assert_eq!(
        paths(&as_seen("bob").with_files(), "t1").await,
        Vec::<String>::new()
    );
    assert_eq!(
        drawn(&as_seen("bob").with_files(), "load").await,
        ["a.rs DEFINES load"]
    );
    assert_eq!(paths(&as_seen("ada"), "t1").await, Vec::<String>::new());
    assert_eq!(drawn(&as_seen("ada"), "load").await, Vec::<String>::new());
    assert!(!as_seen("ada").cypher().await.unwrap().contains("a.rs"));
    let cypher = as_seen("ada").with_files().cypher().await.unwrap();
    assert!(cypher.contains("MERGE (f:File {path: 'a.rs'})"), "{cypher}");

    let id = RecordId::new("code:a.rs");
    let refused = as_seen("ada").with_files().forget_code(&id).await;
    assert!(
        matches!(refused, Err(memory::Error::NotOwner(_))),
        "{refused:?}"
    );
    assert!(space.with_files().forget_code(&id).await.unwrap());
    assert_eq!(paths(&space.with_files(), "t1").await, Vec::<String>::new());
    memory.close().await;
}

#[tokio::test]
async fn files_outlast_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (memory, store) = open(folder.path());
    let space = memory.space("scout").unwrap();
    put(
        &space,
        file("src/a.rs", &["load"], &[touch("t1", "ada", 1)]),
    )
    .await;
    put(&space, file("src/b.rs", &["gone"], &[])).await;
    let gone = vec![CodeChange::Remove("src/b.rs".to_owned())];
    space.put_code(gone).await.unwrap();
    memory.close().await;
    store.close().await;
    let (memory, _store) = open(folder.path());
    let space = memory.space("scout").unwrap().with_files();
    let known = space.code_files().await.unwrap();
    assert_eq!(known.len(), 1);
    assert_eq!(
        *known[0],
        file("src/a.rs", &["load"], &[touch("t1", "ada", 1)])
    );
    memory.close().await;
}

#[tokio::test]
async fn the_oldest_files_go_when_there_are_too_many() {
    let memory = in_memory();
    let space = memory.space("scout").unwrap().with_files();
    let files = (0..5_001).map(|number| {
        let mut file = file(&format!("{number}.rs"), &[], &[]);
        file.at = number;
        CodeChange::Put(Box::new(file))
    });
    let files: Vec<CodeChange> = files.collect();
    for group in files.chunks(1_000) {
        space.put_code(group.to_vec()).await.unwrap();
    }
    let known = space.code_files().await.unwrap();
    assert_eq!(known.len(), 5_000);
    assert!(known.iter().all(|it| it.path != "0.rs"));
    memory.close().await;
}

#[tokio::test]
async fn a_context_is_computed_again_when_its_task_has_more() {
    let memory = in_memory();
    let space = memory.space("scout").unwrap().with_files();
    put(&space, file("a.rs", &["load"], &[touch("t1", "ada", 1)])).await;
    for _ in 0..3 {
        assert_eq!(paths(&space, "t1").await, ["a.rs"]);
    }
    let (_, contexts) = memory.cache_counts();
    assert_eq!((contexts.hits, contexts.misses), (2, 1));
    put(&space, file("b.rs", &["parse"], &[touch("t1", "ada", 2)])).await;
    assert_eq!(paths(&space, "t1").await, ["b.rs", "a.rs"]);
    let mut content = memory::Content::text("The parser is slow.");
    content.task = Some("t1".to_owned());
    let id = space.observe(content).await.unwrap();
    let said = async || space.context("t1", 20).await.unwrap().conversations.len();
    assert_eq!((said().await, said().await), (1, 1));
    space.forget(&id, "a test").await.unwrap();
    assert_eq!(said().await, 0);
    assert!(memory.cache_counts().1.bytes < 8 << 20);
    memory.close().await;
}
