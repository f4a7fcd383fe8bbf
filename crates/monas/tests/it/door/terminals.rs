//! A terminal that two callers look at, and one of them types in.

use a2a::binding::capnweb::value::to_json;
use access::Role;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use capnweb::{Capability, Value};
use serde_json::{Value as Json, json};

use super::{Session, Told, Workspace, code};
use crate::rights::token;
use crate::support::program::Monas;

async fn signed_in(monas: &Monas, name: &str, role: Role) -> Workspace {
    let shown = json!({ "token": token(name, role) });
    Session::open(monas)
        .await
        .authenticate(shown)
        .await
        .unwrap()
}

/// Reads until the terminal has shown these words.
async fn shows(told: &mut Told, words: &str) {
    let mut text = String::new();
    while !text.contains(words) {
        for piece in told.next().await.as_array().unwrap() {
            let bytes = BASE64_STANDARD.decode(piece["bytes"].as_str().unwrap());
            text += &String::from_utf8_lossy(&bytes.unwrap());
        }
    }
}

async fn write(terminal: &Capability, text: &str) -> Result<Value, capnweb::Error> {
    terminal.call("write", (text,)).await
}

#[tokio::test]
async fn two_callers_look_at_a_terminal_and_the_one_that_holds_it_types() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut crate::rights::closed(home.path())).await;
    let (ada, bob) = (
        signed_in(&monas, "ada", Role::User).await,
        signed_in(&monas, "bob", Role::User).await,
    );
    let size = json!({ "columns": 100, "rows": 30 });
    let (hers, mut seen_by_ada) = ada.follow("openTerminal", size).await.unwrap();
    let id = hers.call("id", ()).await.unwrap();
    let id = id.as_str().unwrap().to_owned();
    write(&hers, "echo one-$((40+2))\n").await.unwrap();
    shows(&mut seen_by_ada, "one-42").await;

    // One that comes later sees what was shown, and may not type.
    let what = json!({ "id": id });
    let (his, mut seen_by_bob) = bob.follow("attachTerminal", what.clone()).await.unwrap();
    let holder = seen_by_bob.until(|it| it.get("holder").is_some()).await;
    assert_eq!(holder["holder"], "ada");
    shows(&mut seen_by_bob, "one-42").await;
    let refused = write(&his, "echo no\n").await.unwrap_err();
    assert!(
        refused.message().contains("ada holds the terminal"),
        "{refused:?}"
    );
    let listed = to_json(bob.0.call("terminals", ()).await.unwrap(), "").unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(
        (&listed[0]["holder"], &listed[0]["by"]),
        (&json!("ada"), &json!("ada"))
    );

    let taken = to_json(his.call("take", ()).await.unwrap(), "").unwrap();
    assert_eq!(taken, json!({ "before": "ada" }));
    let told = seen_by_ada.until(|it| it.get("holder").is_some()).await;
    assert_eq!(told["holder"], "bob");
    write(&his, "echo two-$((40+3))\n").await.unwrap();
    shows(&mut seen_by_ada, "two-43").await;
    shows(&mut seen_by_bob, "two-43").await;
    let refused = write(&hers, "echo no\n").await.unwrap_err();
    assert_eq!(code(&refused).1, 409);
    let refused = hers.call("release", ()).await.unwrap_err();
    assert!(refused.message().contains("bob holds"), "{refused:?}");
    his.call("release", ()).await.unwrap();
    let told = seen_by_ada.until(|it| it.get("holder").is_some()).await;
    assert_eq!(told["holder"], Json::Null);
    write(&hers, "echo three-$((40+4))\n").await.unwrap();
    shows(&mut seen_by_bob, "three-44").await;
    let wrong = hers.call("resize", (0.0, 24.0)).await.unwrap_err();
    assert_eq!(code(&wrong), ("invalid".to_owned(), 422));
    hers.call("resize", (120.0, 40.0)).await.unwrap();

    // Closed: both are told, and it is gone.
    his.call("close", ()).await.unwrap();
    seen_by_ada.until(|it| it.get("ended").is_some()).await;
    let gone = bob.follow("attachTerminal", what).await.err().unwrap();
    assert_eq!(code(&gone), ("not_found".to_owned(), 404));
    // A caller without the permission has no terminals.
    let vera = signed_in(&monas, "vera", Role::Viewer).await;
    let refused = vera.follow("openTerminal", json!({})).await.err().unwrap();
    assert_eq!(code(&refused), ("denied".to_owned(), 403));
    monas.stop().await;
}
