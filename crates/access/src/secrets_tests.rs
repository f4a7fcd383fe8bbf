//! What is kept is sealed, is found by name, and is worth nothing without its key.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use store::{Query, Store};

use super::secrets::{
    Error, FindSealingKey, KEY_BYTES, KeyFile, NoSealingKey, SECRETS, Secrets, TABLES, expand,
};

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

/// A key of this byte that is kept, and how often it was asked for.
fn key(byte: u8) -> FindSealingKey {
    Arc::new(move |_| Ok([byte; KEY_BYTES]))
}

async fn opened(store: &Store, find: FindSealingKey) -> (Secrets, Arc<Mutex<Vec<String>>>) {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let hears = heard.clone();
    let on_value = Arc::new(move |value: &str| hears.lock().push(value.to_owned()));
    let opened = Secrets::open(store.clone(), find, on_value).await;
    (opened.unwrap(), heard)
}

#[tokio::test]
async fn a_secret_is_sealed_in_the_store_and_open_to_the_one_who_has_the_key() {
    let store = Store::memory(TABLES);
    let (secrets, heard) = opened(&store, key(1)).await;
    secrets.set("mail", "pa55word", now()).await.unwrap();
    secrets.set("mail", "pa55word-2", now()).await.unwrap();
    secrets.set("web", "pa55word", now()).await.unwrap();
    assert_eq!(secrets.reveal("mail").unwrap(), "pa55word-2");
    let names: Vec<_> = secrets.list().into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["mail", "web"]);
    assert!(heard.lock().contains(&"pa55word".to_owned()));
    let read = |view: &dyn store::View| view.rows(&Query::of(&SECRETS));
    for row in store.read(read).await.unwrap() {
        assert!(!String::from_utf8_lossy(&row.body).contains("pa55word"));
    }

    // After a restart; what must not be shown is known at once.
    let (again, heard) = opened(&store, key(1)).await;
    assert_eq!(*heard.lock(), ["pa55word-2", "pa55word"]);
    assert_eq!(again.reveal("web").unwrap(), "pa55word");
    let (other, _) = opened(&store, key(2)).await;
    let problem = other.reveal("web").unwrap_err().to_string();
    assert!(problem.contains("sealed with another key"), "{problem}");

    again.remove("web").await.unwrap();
    let gone = again.reveal("web").unwrap_err().to_string();
    assert_eq!(
        gone,
        "find the secret \"web\"; make it with: monas secret set web"
    );
    assert!(again.remove("web").await.is_err());
}

/// A row that is copied to another name would else be that secret.
#[tokio::test]
async fn a_sealed_value_is_of_its_name_alone() {
    let store = Store::memory(TABLES);
    let (secrets, _) = opened(&store, key(1)).await;
    secrets.set("harmless", "x", now()).await.unwrap();
    let read = |view: &dyn store::View| view.rows(&Query::of(&SECRETS));
    let mut row = store.read(read).await.unwrap().remove(0);
    row.key = "important".to_owned();
    let batch = store::Batch::new().put(&SECRETS, row);
    store.commit(batch).await.unwrap();
    let (again, _) = opened(&store, key(1)).await;
    assert!(again.reveal("harmless").is_ok());
    assert!(matches!(
        again.reveal("important"),
        Err(Error::Sealed { .. })
    ));
}

/// Secrets of a lost key would be hidden by those of a new one.
#[tokio::test]
async fn a_key_is_made_for_the_first_secret_alone() {
    let store = Store::memory(TABLES);
    let asked: Arc<Mutex<Vec<KeyFile>>> = Arc::default();
    let asks = asked.clone();
    let find: FindSealingKey = Arc::new(move |file| {
        asks.lock().push(file);
        match file {
            KeyFile::MadeIfMissing => Ok([1; KEY_BYTES]),
            KeyFile::Expected => Err(NoSealingKey("it is missing".to_owned())),
        }
    });
    let (secrets, _) = opened(&store, find.clone()).await;
    secrets.set("a", "1", now()).await.unwrap();
    assert_eq!(*asked.lock(), [KeyFile::MadeIfMissing]);
    let (again, _) = opened(&store, find).await;
    assert!(matches!(
        again.set("b", "2", now()).await,
        Err(Error::Key(_))
    ));
    assert!(again.reveal("a").is_err());
}

#[tokio::test]
async fn names_and_values_have_limits() {
    let (secrets, _) = opened(&Store::memory(TABLES), key(1)).await;
    for name in ["", "a b", "a/b", "ü", ".hidden", &"n".repeat(65)] {
        let set = secrets.set(name, "x", now()).await;
        assert!(matches!(set, Err(Error::Name(_))), "{name:?}");
    }
    for value in [String::new(), "v".repeat((64 << 10) + 1)] {
        assert!(matches!(
            secrets.set("a", &value, now()).await,
            Err(Error::Value)
        ));
    }
    assert!(matches!(
        Secrets::default().set("a", "x", now()).await,
        Err(Error::NotKept)
    ));
}

#[test]
fn a_text_names_a_secret_as_a_whole_or_in_parts() {
    let find = |name: &str| match name {
        "key" => Ok("k3y".to_owned()),
        name => Err(Error::Unknown(name.to_owned())),
    };
    let check = |text: &str, expected: &str| assert_eq!(expand(text, find).unwrap(), expected);
    check("secret:key", "k3y");
    check("Bearer ${secret:key}", "Bearer k3y");
    check("${secret:key}${secret:key}!", "k3yk3y!");
    check("no secret: here", "no secret: here");
    assert!(matches!(
        expand("secret:none", find),
        Err(Error::Unknown(_))
    ));
    assert!(matches!(
        expand("${secret:key", find),
        Err(Error::Unclosed(_))
    ));
}
