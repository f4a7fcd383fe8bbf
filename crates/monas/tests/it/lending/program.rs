//! The real program: `monas capability`, and a restart.

use access::Hash;

use crate::support::program::{Ended, Monas, closed, command, run};

#[tokio::test]
async fn a_token_of_the_command_line_survives_a_restart_and_is_taken_back_at_once() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("monas.toml");
    let hash = Hash::of("ada-s3cret");
    let text = format!("[access.tokens]\ntype = 'bearer'\ncallers.ada = '{hash}'\n");
    std::fs::write(&file, text).unwrap();
    let start = async || {
        let mut served = closed(home.path());
        Monas::start(served.arg("--config").arg(&file)).await
    };
    let ask = async |monas: &Monas, bearer: &str, words: &[&str]| -> Ended {
        let mut command = command(home.path());
        command.args(words).args(["--bearer", bearer]);
        command.env("A2ACLI_AGENT_CARD", &monas.url);
        run(&mut command).await
    };
    let on = |url: &str, words: &[&str]| -> Vec<String> {
        let words = words.iter().copied().chain(["--server", url]);
        words.map(str::to_owned).collect()
    };
    let monas = start().await;
    let create = [
        "capability",
        "create",
        "--read-only",
        "--for",
        "10m",
        "--note",
        "a guest",
    ];
    let create = on(&monas.url, &create);
    let create: Vec<&str> = create.iter().map(|it| &**it).collect();
    let made = ask(&monas, "ada-s3cret", &create).await;
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    let token = made.stdout.trim().to_owned();
    assert!(
        token.starts_with("monas-cap-") && !token.contains(char::is_whitespace),
        "{made:?}"
    );
    assert!(!made.stderr.contains(&token), "{made:?}");
    let id = made
        .stderr
        .split_whitespace()
        .find(|it| it.starts_with("cap-"));
    let id = id.unwrap().to_owned();
    // The guest may list, and may not send.
    let listed = ask(&monas, &token, &["task", "list"]).await;
    assert_eq!(listed.status.code(), Some(0), "{listed:?}");
    let sent = ask(&monas, &token, &["send", "hello"]).await;
    assert_ne!(sent.status.code(), Some(0), "{sent:?}");
    monas.stop().await;

    let mut monas = start().await;
    let listed = ask(&monas, &token, &["task", "list"]).await;
    assert_eq!(listed.status.code(), Some(0), "{listed:?}");
    let shown = on(&monas.url, &["capability", "list"]);
    let shown: Vec<&str> = shown.iter().map(|it| &**it).collect();
    let shown = ask(&monas, "ada-s3cret", &shown).await;
    assert!(
        shown
            .stdout
            .starts_with(&format!("{id}  by ada: read only; used ")),
        "{shown:?}"
    );
    assert!(shown.stdout.contains("a guest"), "{shown:?}");
    let revoke = on(&monas.url, &["capability", "revoke", &id]);
    let revoke: Vec<&str> = revoke.iter().map(|it| &**it).collect();
    let revoked = ask(&monas, "ada-s3cret", &revoke).await;
    assert_eq!(
        revoked.stdout.trim(),
        format!("revoked {id}"),
        "{revoked:?}"
    );
    let again = ask(&monas, "ada-s3cret", &revoke).await;
    assert!(
        again.stderr.contains("could not find a capability"),
        "{again:?}"
    );
    for _ in 0..2 {
        let listed = ask(&monas, &token, &["task", "list"]).await;
        assert_eq!(listed.status.code(), Some(4), "{listed:?}");
        monas.stop().await;
        monas = start().await;
    }
    monas.stop().await;
}
