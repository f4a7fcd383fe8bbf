//! A user has the role that the data says, on every credential, and nothing after it was removed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{HeaderMap, HeaderValue};
use store::{Query, Store, Table};

use super::users::Users;
use super::users::{
    API_KEYS, Error, KeyScopes, LINKS, NewKey, SESSION_METHOD, SavedKey, UserStatus,
};
use super::{Attenuation, Callers, Capabilities, Credentials, Door, Hash, Permission, Permissions};
use super::{Presented, Principal, Refusal, Role, Rule, Scheme};

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn later(seconds: u64) -> SystemTime {
    now() + Duration::from_secs(seconds)
}

fn store() -> Store {
    let tables: Vec<&'static Table> = [super::users::TABLES, super::capability::TABLES].concat();
    Store::memory(&tables)
}

/// Users of a store, and a door for them and for the configured caller ada.
async fn opened(store: &Store) -> (Users, Door) {
    let capabilities = Capabilities::open(store.clone(), now()).await.unwrap();
    let users = Users::open(store.clone(), capabilities.clone(), now()).await;
    let users = users.unwrap();
    let mut callers = Callers::default();
    callers.add("ada", Hash::of("token-of-ada"), &[]).unwrap();
    let schemes = vec![("tokens".to_owned(), Scheme::Bearer(callers))];
    let door = Door::new(schemes)
        .unwrap()
        .with_capabilities(capabilities)
        .with_users(users.clone());
    (users, door)
}

fn show(
    door: &Door,
    name: &'static str,
    value: &str,
    at: SystemTime,
) -> Result<Principal, Refusal> {
    let mut headers = HeaderMap::new();
    headers.insert(name, HeaderValue::from_str(value).unwrap());
    door.admit(&Presented::headers(&headers), at)
}

/// The caller with this token, however it is shown.
fn admit(door: &Door, token: &str, at: SystemTime) -> Result<Principal, Refusal> {
    let shown = show(door, "authorization", &format!("Bearer {token}"), at);
    let passed = door.recognise(&Credentials::Bearer(token.to_owned()), at);
    assert_eq!(shown, passed);
    if token.starts_with("monas-key-") {
        assert_eq!(shown, show(door, "x-api-key", token, at));
        let passed = door.recognise(&Credentials::ApiKey(token.to_owned()), at);
        assert_eq!(shown, passed);
    }
    shown
}

fn admin() -> Principal {
    Principal::named("root").permitted(Permissions::ALL)
}

fn scoped(texts: &[&str]) -> NewKey {
    let texts: Vec<String> = texts.iter().map(|it| (*it).to_owned()).collect();
    let scopes = KeyScopes::read(&texts, |name| Some(name.to_owned())).unwrap();
    NewKey {
        scopes,
        ..NewKey::default()
    }
}

/// A key that an administrator makes.
async fn key_of(users: &Users, user: &str, wanted: NewKey) -> SavedKey {
    let made = users.create_key(&admin(), user, wanted, now()).await;
    made.unwrap()
}

#[tokio::test]
async fn a_key_is_its_user_with_the_role_of_the_data_also_after_a_restart() {
    let store = store();
    let (users, door) = opened(&store).await;
    users.add("bob", Role::Operator, now()).await.unwrap();
    let key = key_of(&users, "bob", NewKey::default()).await;
    let (_, again) = opened(&store).await;
    for door in [&door, &again] {
        let bob = admit(door, key.secret(), now()).unwrap();
        assert_eq!((bob.name(), bob.scheme()), ("bob", "monas-key"));
        assert_eq!(bob.permissions(), Role::Operator.permissions());
        assert_eq!(bob.credential(), key.key.id);
    }
    let day = 24 * 60 * 60;
    assert!(admit(&door, key.secret(), later(89 * day)).is_ok());
    assert!(admit(&door, key.secret(), later(90 * day)).is_err());
    assert!(admit(&door, "monas-key-other", now()).is_err());
    // An open server knows it, too, and refuses a wrong one.
    let open = Door::open().with_users(users.clone());
    assert_eq!(admit(&open, key.secret(), now()).unwrap().name(), "bob");
    assert!(admit(&open, "monas-key-other", now()).is_err());
    let read = |view: &dyn store::View| view.rows(&Query::of(&API_KEYS));
    let rows = store.read(read).await.unwrap();
    assert!(!format!("{rows:?}").contains(key.secret()));
    assert!(!format!("{key:?} {users:?}").contains("token-of"));
}

#[tokio::test]
async fn a_role_counts_for_every_credential_of_the_name_and_less_ends_what_is_under_way() {
    let store = store();
    let (users, door) = opened(&store).await;
    let ada = admit(&door, "token-of-ada", now()).unwrap();
    assert_eq!(ada.permissions(), Role::User.permissions());
    users.add("ada", Role::Admin, now()).await.unwrap();
    let ada = admit(&door, "token-of-ada", now()).unwrap();
    assert!(ada.may(Permission::Admin));
    users.set_role("ada", Role::Viewer).await.unwrap();
    assert!(ada.is_revoked(), "it had more");
    let viewer = admit(&door, "token-of-ada", now()).unwrap();
    assert_eq!(viewer.permissions(), Role::Viewer.permissions());
    users.set_role("ada", Role::User).await.unwrap();
    assert!(!viewer.is_revoked(), "it had less");
    let (users, _) = opened(&store).await;
    assert_eq!(users.role_of("ada"), Some(Role::User));
    assert!(users.set_role("nobody", Role::User).await.is_err());
}

#[tokio::test]
async fn a_removed_user_is_refused_at_once_and_for_good() {
    let store = store();
    let (users, door) = opened(&store).await;
    users.add("ada", Role::User, now()).await.unwrap();
    let key = key_of(&users, "ada", NewKey::default()).await;
    let link = users.link("ada", now()).await.unwrap();
    let (by_key, by_token) = (
        admit(&door, key.secret(), now()).unwrap(),
        admit(&door, "token-of-ada", now()).unwrap(),
    );
    let lent = door.capabilities();
    let lent = lent.save(&by_key, &Attenuation::none(), now()).await;
    let lent = lent.unwrap();
    let guest = admit(&door, lent.token(), now()).unwrap();
    users.remove("ada", later(60)).await.unwrap();
    for caller in [&by_key, &by_token, &guest] {
        assert!(caller.is_revoked(), "{caller:?}");
    }
    let (again, restarted) = opened(&store).await;
    for door in [&door, &restarted] {
        for token in [key.secret(), "token-of-ada", lent.token(), link.secret()] {
            assert!(admit(door, token, now()).is_err(), "{token}");
        }
    }
    assert_eq!(again.status("ada"), UserStatus::Removed);
    assert!(again.list().is_empty());
    assert!(users.remove("ada", now()).await.is_err());

    // Added again it is a new user: tokens from before stay refused.
    again.add("ada", Role::Viewer, later(90)).await.unwrap();
    let tokens_after = 1_800_000_060;
    let active = UserStatus::Active {
        role: Role::Viewer,
        tokens_after,
    };
    assert_eq!(again.status("ada"), active);
    assert!(admit(&restarted, key.secret(), later(90)).is_err());
    assert!(admit(&restarted, "token-of-ada", later(90)).is_ok());
}

/// It went wrong: to remove a user that only its token knew was an error, and its streams went on.
#[tokio::test]
async fn a_name_that_is_no_user_is_removed_too() {
    let store = store();
    let (users, door) = opened(&store).await;
    let ada = admit(&door, "token-of-ada", now()).unwrap();
    assert!(ada.is_revocable() && !ada.is_revoked());
    let lent = door.capabilities();
    let lent = lent.save(&ada, &Attenuation::none(), now()).await.unwrap();
    let guest = admit(&door, lent.token(), now()).unwrap();
    users.remove("ada", now()).await.unwrap();
    assert!(ada.is_revoked() && guest.is_revoked());
    let (again, restarted) = opened(&store).await;
    for door in [&door, &restarted] {
        assert!(admit(door, "token-of-ada", now()).is_err());
        assert!(admit(door, lent.token(), now()).is_err());
    }
    assert!(again.list().is_empty());
    for name in ["ada", "", "anonymous", "agent:default", "a\nb"] {
        let removed = users.remove(name, now()).await;
        assert!(matches!(removed, Err(Error::NoUser(_))), "{name:?}");
    }
    // Names of issuers and of tokens need not be such as a user is given.
    users.remove("sso:eve", now()).await.unwrap();
    users.remove("Eve Example", now()).await.unwrap();
    users.add("ada", Role::User, later(1)).await.unwrap();
    assert!(admit(&door, "token-of-ada", later(2)).is_ok());
}

#[tokio::test]
async fn a_caller_that_becomes_a_user_begins_anew() {
    let (users, door) = opened(&store()).await;
    let before = admit(&door, "token-of-ada", now()).unwrap();
    users.add("ada", Role::Viewer, now()).await.unwrap();
    assert!(before.is_revoked(), "it may have had more");
    assert!(!admit(&door, "token-of-ada", now()).unwrap().is_revoked());
}

#[tokio::test]
async fn a_key_reaches_as_far_as_its_scopes_say() {
    let (users, door) = opened(&store()).await;
    users.add("bob", Role::User, now()).await.unwrap();
    let made = async |scopes: &[&str]| {
        let key = key_of(&users, "bob", scoped(scopes)).await;
        assert_eq!(key.key.scopes.texts(), scopes);
        admit(&door, key.secret(), now()).unwrap()
    };
    let reader = made(&["read_files", "operate"]).await;
    let only_reading = Permissions::NONE.with(Permission::ReadFiles);
    assert_eq!(reader.permissions(), only_reading, "no more than its role");
    let reads = Rule::reads("GetTask");
    let changes = Rule::changes("SendMessage");
    let viewer = made(&["read-only"]).await;
    assert!(reads.check(&viewer).is_ok() && changes.check(&viewer).is_err());
    let sender = made(&["method:SendMessage"]).await;
    assert!(reads.check(&sender).is_err() && changes.check(&sender).is_ok());
    let reporter = made(&["scope:reports"]).await;
    assert!(reporter.has_scope("reports"));
    for wrong in ["read_file", "method:x", "task:", "scope:", "viewer", ""] {
        let texts = [wrong.to_owned()];
        let read = KeyScopes::read(&texts, |_| None);
        assert!(matches!(read, Err(Error::Invalid { .. })), "{wrong}");
    }
}

#[tokio::test]
async fn a_user_makes_keys_for_itself_that_reach_no_further_and_end_with_it() {
    let (users, door) = opened(&store()).await;
    for name in ["bob", "eve"] {
        users.add(name, Role::User, now()).await.unwrap();
    }
    let first = key_of(&users, "bob", scoped(&["read_files"])).await;
    let bob = admit(&door, first.secret(), now()).unwrap();
    let wanted = scoped(&["write_files", "read_files"]);
    let second = users.create_key(&bob, "bob", wanted, later(60)).await;
    let second = second.unwrap();
    assert_eq!(second.key.scopes.texts(), ["read_files"]);
    assert_eq!(second.key.until, first.key.until, "not after the first");
    for (by, user, wanted) in [
        (&bob, "eve", NewKey::default()),
        (&bob, "bob", scoped(&["scope:reports"])),
    ] {
        let denied = users.create_key(by, user, wanted, now()).await;
        assert!(matches!(denied, Err(Error::Denied(_))), "{denied:?}");
    }
    // Of others it sees nothing, and revokes nothing.
    let other = key_of(&users, "eve", NewKey::default()).await;
    let ids = |by: &Principal| -> Vec<String> {
        let keys = users.list_keys(by, now()).into_iter();
        keys.map(|key| key.id).collect()
    };
    assert_eq!(ids(&bob), [&*second.key.id, &*first.key.id]);
    assert_eq!(ids(&admin()).len(), 3);
    let denied = users.revoke_key(&bob, &other.key.id).await;
    assert!(matches!(denied, Err(Error::NoKey(_))));
    let by_second = admit(&door, second.secret(), now()).unwrap();
    users.revoke_key(&admin(), &first.key.id).await.unwrap();
    assert!(bob.is_revoked() && by_second.is_revoked());
    for key in [&first, &second] {
        assert!(admit(&door, key.secret(), now()).is_err());
    }
    assert!(admit(&door, other.secret(), now()).is_ok());
}

#[tokio::test]
async fn a_link_signs_in_once_and_does_nothing_else() {
    let store = store();
    let (users, door) = opened(&store).await;
    users.add("bob", Role::Admin, now()).await.unwrap();
    let first = users.link("bob", now()).await.unwrap();
    let link = users.link("bob", now()).await.unwrap();
    assert!(admit(&door, first.secret(), now()).is_err(), "replaced");
    let day = 24 * 60 * 60;
    assert!(admit(&door, link.secret(), later(day)).is_err());
    let read = |view: &dyn store::View| view.rows(&Query::of(&LINKS));
    let rows = store.read(read).await.unwrap();
    assert!(rows.len() == 1 && !format!("{rows:?}").contains(link.secret()));
    let (users, door) = opened(&store).await;
    let bob = admit(&door, link.secret(), later(day - 1)).unwrap();
    assert!(Rule::changes(SESSION_METHOD).check(&bob).is_ok());
    for rule in [Rule::reads("GetTask"), Rule::changes("SendMessage")] {
        assert!(rule.check(&bob).is_err());
    }
    let (once, twice) = (users.redeem(&bob).await, users.redeem(&bob).await);
    assert_eq!(once.unwrap(), "bob");
    assert!(matches!(twice, Err(Error::NoLink)));
    assert!(admit(&door, link.secret(), now()).is_err());
    let other = users.redeem(&admin()).await;
    assert!(matches!(other, Err(Error::NoLink)));
}

#[tokio::test]
async fn names_of_users_have_limits() {
    let (users, _) = opened(&store()).await;
    let long = "n".repeat(129);
    for name in ["", "a b", "a/b", "anonymous", "agent:a", "a\n", ".", &long] {
        let added = users.add(name, Role::User, now()).await;
        assert!(matches!(added, Err(Error::Name(_))), "{name:?}");
    }
    for name in ["ada", "ada@example.com", "sso:ada", "Жанна"] {
        users.add(name, Role::User, now()).await.unwrap();
    }
    let twice = users.add("ada", Role::User, now()).await;
    assert!(matches!(twice, Err(Error::Exists(_))));
    assert!(matches!(
        Users::default().add("a", Role::User, now()).await,
        Err(Error::NotKept)
    ));
}
