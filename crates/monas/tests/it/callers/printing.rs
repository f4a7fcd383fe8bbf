//! Words of callers are printed without effect on the terminal of an operator.

use crate::support::program::{Monas, living, run};

/// Once `monas why`, `memory query` and `memory export` printed the escapes of callers as they were.
#[tokio::test]
async fn words_of_callers_do_not_control_the_terminal() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    let fact = "remember that the \u{1b}[2Jgate\u{202e} is green";
    let settings = a2a::client::Settings::default();
    let client = a2a::client::Client::discover(&server.url, settings)
        .await
        .unwrap();
    let message = a2a::types::Message::user(uuid::Uuid::new_v4().to_string(), fact);
    client.send_message(message.into()).await.unwrap();
    for arguments in [
        &["memory", "query", "what is green?"][..],
        &["memory", "query", "what is green?", "-o", "json"],
        &["memory", "export"],
        &["memory", "export", "--format", "cypher"],
        &["why", "the gate is green"],
        &["why", "the gate is green", "-o", "json"],
    ] {
        let ended = run(living(home.path()).args(arguments)).await;
        assert!(ended.status.success(), "{arguments:?}: {ended:?}");
        let harmful = |it: char| matches!(it, '\u{1b}' | '\u{202e}');
        assert!(!ended.stdout.contains(harmful), "{arguments:?}: {ended:?}");
        if arguments[0] == "memory" {
            assert!(ended.stdout.contains("gate"), "{arguments:?}: {ended:?}");
        }
    }
    server.stop().await;
}
