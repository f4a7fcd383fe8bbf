//! Backups: made while the server runs and without one, restored into a folder of their own.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use access::Hash;
use serde_json::Value;

use crate::support::program::{Ended, Monas, living, run};

async fn monas(home: &Path, arguments: &[&str]) -> Ended {
    run(living(home).args(arguments)).await
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[tokio::test]
async fn a_backup_of_a_running_server_is_a_server_again() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    let told = monas(home.path(), &["send", "remember that Ada likes coffee"]).await;
    assert!(told.status.success(), "{told:?}");
    let file = home.path().join("monas.backup");
    let made = monas(home.path(), &["backup", text(&file)]).await;
    assert!(made.status.success(), "{made:?}");
    assert_eq!(made.stdout, format!("{}\n", file.display()));
    assert!(made.stderr.contains("mcp.key"), "{made:?}");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    // What comes after the backup is not in it, and the server was not held up.
    let after = monas(home.path(), &["send", "remember that Bob likes tea"]).await;
    assert!(after.status.success(), "{after:?}");
    let again = monas(home.path(), &["backup", text(&file)]).await;
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    assert!(again.stderr.contains("exists"), "{again:?}");

    let restored = home.path().join("restored");
    let made = monas(
        home.path(),
        &["restore", text(&file), "--data", text(&restored)],
    )
    .await;
    assert!(made.status.success(), "{made:?}");
    let data = home.path().join(".local/share/monas");
    let key = |folder: &Path| std::fs::read(folder.join("mcp.key")).unwrap();
    assert_eq!(key(&restored), key(&data));
    // The data of the server that runs is never touched.
    let taken = monas(home.path(), &["restore", text(&file)]).await;
    assert_eq!(taken.status.code(), Some(1), "{taken:?}");
    assert!(
        taken.stderr.contains("in use by the open server"),
        "{taken:?}"
    );
    server.stop().await;
    let taken = monas(home.path(), &["restore", text(&file)]).await;
    assert_eq!(taken.status.code(), Some(1), "{taken:?}");
    assert!(taken.stderr.contains("exists"), "{taken:?}");

    let server = Monas::start(living(home.path()).args(["--data", text(&restored)])).await;
    let ask = ["memory", "query", "likes", "--data", text(&restored)];
    let known = monas(home.path(), &ask).await;
    assert!(known.stdout.contains("Ada likes coffee"), "{known:?}");
    assert!(!known.stdout.contains("Bob likes tea"), "{known:?}");
    let why = monas(home.path(), &["why", "coffee", "--data", text(&restored)]).await;
    assert!(why.stdout.contains("coffee"), "{why:?}");
    server.stop().await;
}

#[tokio::test]
async fn a_backup_needs_no_server_and_names_itself_in_a_folder() {
    let home = tempfile::tempdir().unwrap();
    Monas::start(&mut living(home.path())).await.stop().await;
    let folder = home.path().join("backups");
    std::fs::create_dir(&folder).unwrap();
    let made = monas(home.path(), &["backup", text(&folder), "-o", "json"]).await;
    let made: Value = serde_json::from_str(&made.stdout).unwrap();
    let file = Path::new(made["file"].as_str().unwrap());
    assert_eq!(file.parent(), Some(&*folder));
    assert_eq!(made["bytes"], std::fs::metadata(file).unwrap().len());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

#[tokio::test]
async fn what_is_no_whole_backup_of_this_version_is_refused() {
    let home = tempfile::tempdir().unwrap();
    Monas::start(&mut living(home.path())).await.stop().await;
    let file = home.path().join("monas.backup");
    monas(home.path(), &["backup", text(&file)]).await;
    let whole = std::fs::read(&file).unwrap();
    let data = home.path().join(".local/share/monas/monas.db");
    let wrong = home.path().join("wrong");
    let target = home.path().join("restored");
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 4096].fill(0xa5);
    let mut newer = whole.clone();
    // The version of the format, at its place in the header of the file.
    newer[60..64].copy_from_slice(&99u32.to_be_bytes());
    for (bytes, problem) in [
        (damaged, "use "),
        (whole[..whole.len() / 2].to_vec(), "use "),
        (b"Dear diary".to_vec(), "not a database"),
        (Vec::new(), "empty"),
        (newer, "its format is 99"),
        (std::fs::read(data).unwrap(), "not a backup"),
    ] {
        std::fs::write(&wrong, bytes).unwrap();
        let refused = monas(
            home.path(),
            &["restore", text(&wrong), "--data", text(&target)],
        )
        .await;
        assert_eq!(refused.status.code(), Some(1), "{problem}: {refused:?}");
        assert!(refused.stderr.contains(problem), "{problem}: {refused:?}");
        assert!(!target.join("monas.db").exists(), "{problem}");
    }
    let missing = monas(home.path(), &["restore", "nowhere"]).await;
    assert!(missing.stderr.contains("nowhere"), "{missing:?}");
}

#[tokio::test]
async fn behind_access_a_backup_is_for_operators() {
    let home = tempfile::tempdir().unwrap();
    let hash = Hash::of("s3cret");
    let config = home.path().join("monas.toml");
    std::fs::write(
        &config,
        format!(
            "[access.tokens]\ntype = 'bearer'\ncallers.ada = {{ secret = '{hash}', scopes = ['operator'] }}\n\
             callers.bob = '{}'\n",
            Hash::of("other")
        ),
    )
    .unwrap();
    let mut served = living(home.path());
    served.env_remove("MONAS_OPEN");
    let server = Monas::start(served.args(["--config", text(&config)])).await;
    let file = home.path().join("monas.backup");
    for (token, code) in [("other", 4), ("wrong", 4), ("s3cret", 0)] {
        let line = [
            "backup",
            text(&file),
            "--server",
            &server.url,
            "--bearer",
            token,
        ];
        let ended = monas(home.path(), &line).await;
        assert_eq!(ended.status.code(), Some(code), "{token}: {ended:?}");
        assert_eq!(file.exists(), code == 0, "{token}");
        assert!(!home.path().join("monas.part").exists(), "{token}");
    }
    server.stop().await;
}
