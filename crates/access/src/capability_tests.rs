//! A lent right is never more than its lender has, and ends when it is told to.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{HeaderMap, HeaderValue};
use store::Store;

use super::capability::{Error, Kind, PREFIX, TABLES};
use super::{Attenuation, Bounds, Callers, Capabilities, Credentials, Door, Hash, Permission};
use super::{Permissions, Presented, Principal, Refusal, Role, Scheme, Unauthenticated};

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn later(seconds: u64) -> SystemTime {
    now() + Duration::from_secs(seconds)
}

fn store() -> Store {
    Store::memory(TABLES)
}

/// A door for ada and bob, each with a bearer token.
fn door(capabilities: &Capabilities) -> Door {
    let mut callers = Callers::default();
    for name in ["ada", "bob"] {
        let secret = format!("token-of-{name}");
        callers.add(name, Hash::of(secret), &[]).unwrap();
    }
    let schemes = vec![("tokens".to_owned(), Scheme::Bearer(callers))];
    let door = Door::new(schemes).unwrap();
    door.with_capabilities(capabilities.clone())
}

fn admit(door: &Door, token: &str, at: SystemTime) -> Result<Principal, Refusal> {
    let mut headers = HeaderMap::new();
    let value = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
    headers.insert("authorization", value);
    let shown = door.admit(&Presented::headers(&headers), at);
    // The same credentials in a call of Cap'n Web are the same caller.
    let passed = door.recognise(&Credentials::Bearer(token.to_owned()), at);
    assert_eq!(shown, passed);
    shown
}

async fn opened() -> (Store, Capabilities, Door) {
    let store = store();
    let capabilities = Capabilities::open(store.clone(), now()).await.unwrap();
    let door = door(&capabilities);
    (store, capabilities, door)
}

fn view_of(task: &str) -> Attenuation {
    Attenuation::none().read_only().task(task)
}

#[tokio::test]
async fn a_token_restores_the_lender_with_less_also_after_a_restart() {
    let (store, capabilities, door) = opened().await;
    let ada = admit(&door, "token-of-ada", now()).unwrap();
    let wanted = view_of("t-1").until(later(600)).note("for the auditor");
    let saved = capabilities.save(&ada, &wanted, now()).await.unwrap();
    assert!(saved.token().starts_with(PREFIX));
    assert_eq!(saved.token().len(), PREFIX.len() + 43, "256 bits");

    let again = Capabilities::open(store, now()).await.unwrap();
    for door in [door, self::door(&again)] {
        let lent = admit(&door, saved.token(), now()).unwrap();
        assert_eq!((lent.name(), lent.scheme()), ("ada", "capability"));
        assert_eq!(lent.credential(), saved.capability.id);
        assert_eq!(lent.bounds(), &wanted.bounds);
        assert_eq!(lent.until(), Some(later(600)));
        assert_eq!(lent.permissions(), ada.permissions());
        assert_eq!(lent.to_string(), "ada");
        assert_eq!(
            format!("{lent:#}"),
            format!("ada (capability {})", lent.credential())
        );
    }
    let listed = again.list(&ada, now());
    let [listed] = &listed[..] else {
        panic!("{listed:?}")
    };
    assert_eq!((&*listed.maker, listed.kind), ("ada", Kind::Sturdy));
    assert_eq!(listed.note, "for the auditor");
    assert_eq!(listed.used, Some(1_800_000_000));
}

#[tokio::test]
async fn a_token_is_stored_as_a_hash_alone() {
    let (store, capabilities, door) = opened().await;
    let ada = admit(&door, "token-of-ada", now()).unwrap();
    let saved = capabilities.save(&ada, &Attenuation::none(), now()).await;
    let saved = saved.unwrap();
    let id = saved.capability.id.clone();
    let row = store.read(move |view| view.row(TABLES[0], &id)).await;
    let row = format!("{:?}", row.unwrap().unwrap());
    let secret = saved.token().strip_prefix(PREFIX).unwrap();
    assert!(!row.contains(secret), "{row}");
    assert!(row.contains("sha256:"), "{row}");
    assert!(!format!("{:?}", capabilities.list(&ada, now())).contains(secret));
}

#[tokio::test]
async fn an_expired_or_forged_token_is_refused() {
    let (_, capabilities, door) = opened().await;
    let ada = admit(&door, "token-of-ada", now()).unwrap();
    let wanted = Attenuation::none().until(later(600));
    let saved = capabilities.save(&ada, &wanted, now()).await.unwrap();
    let fault = |token: &str, at| admit(&door, token, at).unwrap_err().to_string();
    assert_eq!(fault(saved.token(), later(600)), "token has expired (exp)");

    let mut forged = saved.token().to_owned();
    let last = if forged.pop() == Some('A') { 'B' } else { 'A' };
    forged.push(last);
    assert_eq!(fault(&forged, now()), "unknown credentials");
    for token in [
        PREFIX,
        &saved.capability.id,
        &format!("{PREFIX}{}", saved.capability.id),
    ] {
        assert_eq!(fault(token, now()), "unknown credentials", "{token}");
    }
    let huge = format!("{PREFIX}{}", "a".repeat(20_000));
    assert_eq!(fault(&huge, now()), "malformed credentials");
}

#[tokio::test]
async fn a_revoked_token_admits_no_caller_also_after_a_restart() {
    let (store, capabilities, door) = opened().await;
    let ada = admit(&door, "token-of-ada", now()).unwrap();
    let saved = capabilities
        .save(&ada, &view_of("t-1"), now())
        .await
        .unwrap();
    let lent = admit(&door, saved.token(), now()).unwrap();
    assert!(lent.is_revocable() && !lent.is_revoked());
    capabilities
        .revoke(&ada, &saved.capability.id)
        .await
        .unwrap();
    assert!(lent.is_revoked(), "what was admitted ends at once");
    let again = Capabilities::open(store, now()).await.unwrap();
    for door in [&door, &self::door(&again)] {
        let refusal = admit(door, saved.token(), later(61)).unwrap_err();
        assert_eq!(refusal.to_string(), "unknown credentials");
    }
    let gone = capabilities.revoke(&ada, &saved.capability.id).await;
    assert!(matches!(gone, Err(Error::Unknown(_))), "{gone:?}");
}

/// A use is written down at most once a minute, behind the back of its caller. It once could have followed the deletion.
#[tokio::test]
async fn a_use_at_the_moment_of_revoking_brings_nothing_back() {
    let (store, writer) = Store::with_manual_writer(TABLES);
    let opening = tokio::spawn(Capabilities::open(store.clone(), now()));
    let capabilities = opening.await.unwrap().unwrap();
    let door = door(&capabilities);
    let ada = admit(&door, "token-of-ada", now()).unwrap();
    let wanted = view_of("t-1");
    let saving = capabilities.save(&ada, &wanted, now());
    let (saved, ()) = tokio::join!(saving, async { writer.commit() });
    let saved = saved.unwrap();
    let lent = admit(&door, saved.token(), later(61)).unwrap();
    let revoking = tokio::spawn({
        let (capabilities, id) = (capabilities.clone(), saved.capability.id.clone());
        async move { capabilities.revoke(&ada, &id).await }
    });
    tokio::task::yield_now().await;
    assert!(lent.is_revoked(), "before anything is committed");
    assert!(admit(&door, saved.token(), later(200)).is_err());
    assert_eq!(
        writer.waiting().len(),
        2,
        "the use, and behind it the deletion"
    );
    writer.commit();
    writer.commit();
    revoking.await.unwrap().unwrap();
    let again = Capabilities::open(store, now()).await.unwrap();
    assert!(admit(&self::door(&again), saved.token(), later(201)).is_err());
}

#[tokio::test]
async fn nothing_that_is_lent_on_is_wider() {
    let (_, capabilities, door) = opened().await;
    let ada = admit(&door, "token-of-ada", now()).unwrap();
    let narrow = view_of("t-1").methods(["GetTask", "SubscribeToTask"]);
    let narrow = narrow.until(later(60));
    let first = capabilities.save(&ada, &narrow, now()).await.unwrap();
    let holder = admit(&door, first.token(), now()).unwrap();
    let mut wide = Attenuation::none().until(later(6_000));
    wide.permissions = Some(Permissions::ALL);
    for wanted in [
        wide,
        Attenuation::none(),
        Attenuation::none().methods(["GetTask", "SendMessage"]),
        Attenuation::none().task("t-2"),
    ] {
        let second = capabilities.save(&holder, &wanted, now()).await.unwrap();
        let second = admit(&door, second.token(), now()).unwrap();
        let bounds = second.bounds();
        assert!(bounds.read_only, "{wanted:?}");
        assert_eq!(bounds.task.as_deref(), Some("t-1"), "{wanted:?}");
        assert!(!bounds.allow("SendMessage", true, Some("t-1")));
        assert!(!bounds.allow("SendMessage", false, Some("t-1")));
        assert!(!bounds.allow("GetTask", false, Some("t-2")), "{wanted:?}");
        assert!(second.until() <= Some(later(60)), "{wanted:?}");
        assert_eq!(second.permissions(), holder.permissions());
    }
    let elsewhere = capabilities.lend(&holder, &Attenuation::none().task("t-2"), now());
    let elsewhere = elsewhere.unwrap();
    let bounds = elsewhere.principal().bounds();
    for task in ["t-1", "t-2"] {
        assert!(
            !bounds.allow("GetTask", false, Some(task)),
            "nothing is left"
        );
    }
}

#[tokio::test]
async fn permissions_are_those_that_the_lender_has_now() {
    let (_, capabilities, door) = opened().await;
    let powerful = door.clone().default_role(Role::Admin);
    let ada = admit(&powerful, "token-of-ada", now()).unwrap();
    let saved = capabilities.save(&ada, &Attenuation::none(), now()).await;
    let saved = saved.unwrap();
    let strong = admit(&powerful, saved.token(), now()).unwrap();
    assert!(strong.may(Permission::Admin));
    // Ada lost her role meanwhile; what she lent has no more than she has.
    let weak = admit(
        &door.clone().default_role(Role::Viewer),
        saved.token(),
        now(),
    );
    assert_eq!(weak.unwrap().permissions(), Role::Viewer.permissions());
    let wanted = Attenuation {
        permissions: Some(Role::Viewer.permissions()),
        ..Attenuation::none()
    };
    let viewer = capabilities.save(&ada, &wanted, now()).await.unwrap();
    let viewer = admit(&powerful, viewer.token(), now()).unwrap();
    assert_eq!(viewer.permissions(), Role::Viewer.permissions());
}

#[tokio::test]
async fn what_was_made_with_a_capability_ends_with_it() {
    let (_, capabilities, door) = opened().await;
    let ada = admit(&door, "token-of-ada", now()).unwrap();
    let first = capabilities
        .save(&ada, &view_of("t-1"), now())
        .await
        .unwrap();
    let holder = admit(&door, first.token(), now()).unwrap();
    // An object of a session stands between the two tokens, and is gone before the first is revoked.
    let between = capabilities.lend(&holder, &Attenuation::none(), now());
    let between = between.unwrap();
    let whole = Attenuation::none();
    let second = capabilities.save(between.principal(), &whole, now());
    let second = second.await.unwrap();
    assert_eq!(
        second.capability.parent.as_deref(),
        Some(&*first.capability.id)
    );
    drop(between);
    let far = admit(&door, second.token(), now()).unwrap();
    capabilities
        .revoke(&ada, &first.capability.id)
        .await
        .unwrap();
    assert!(far.is_revoked());
    assert!(admit(&door, second.token(), now()).is_err());
    assert!(capabilities.list(&ada, now()).is_empty());
}

#[tokio::test]
async fn what_a_user_or_a_key_has_lent_ends_with_it() {
    let (_, capabilities, _) = opened().await;
    let by = |name: &str, key: &str| Principal::named(name).by_credential(key);
    let mut saved = Vec::new();
    let whole = Attenuation::none();
    for (name, key) in [("ada", "k-1"), ("ada", "k-2"), ("bob", "k-1")] {
        let made = capabilities.save(&by(name, key), &whole, now()).await;
        saved.push(made.unwrap().capability.id);
    }
    assert_eq!(
        capabilities
            .revoke_made_by("ada", Some("k-1"))
            .await
            .unwrap(),
        1
    );
    assert_eq!(capabilities.list(&by("ada", ""), now())[0].id, saved[1]);
    assert_eq!(capabilities.revoke_made_by("ada", None).await.unwrap(), 1);
    assert!(capabilities.list(&by("ada", ""), now()).is_empty());
    assert_eq!(capabilities.list(&by("bob", ""), now())[0].id, saved[2]);
}

#[tokio::test]
async fn a_capability_of_a_caller_that_is_no_longer_configured_is_refused() {
    let (_, capabilities, door) = opened().await;
    let ada = admit(&door, "token-of-ada", now()).unwrap();
    let saved = capabilities.save(&ada, &Attenuation::none(), now()).await;
    let saved = saved.unwrap();
    let mut callers = Callers::default();
    callers.add("bob", Hash::of("token-of-bob"), &[]).unwrap();
    for (name, callers) in [("tokens", callers.clone()), ("others", callers)] {
        let schemes = vec![(name.to_owned(), Scheme::Bearer(callers))];
        let other = Door::new(schemes).unwrap();
        let other = other.with_capabilities(capabilities.clone());
        let refusal = admit(&other, saved.token(), now()).unwrap_err();
        assert_eq!(refusal.to_string(), "unknown credentials");
    }
}

#[tokio::test]
async fn callers_see_and_revoke_their_own_and_administrators_all() {
    let (_, capabilities, door) = opened().await;
    let ada = admit(&door, "token-of-ada", now()).unwrap();
    let bob = admit(&door, "token-of-bob", now()).unwrap();
    let saved = capabilities
        .save(&ada, &view_of("t-1"), now())
        .await
        .unwrap();
    let session = capabilities.lend(&ada, &view_of("t-2"), now()).unwrap();
    assert_eq!(capabilities.list(&ada, now()).len(), 2);
    assert!(capabilities.list(&bob, now()).is_empty());
    for id in [&*saved.capability.id, session.id(), "cap-000000000000"] {
        let refused = capabilities.revoke(&bob, id).await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("find a capability with the id {id:?}")
        );
    }
    // The holder of a capability has the name of its lender, and none of its lender's other capabilities.
    let holder = admit(&door, saved.token(), now()).unwrap();
    assert!(capabilities.list(&holder, now()).is_empty());
    assert!(capabilities.revoke(&holder, session.id()).await.is_err());
    let admin = bob.permitted(Permissions::ALL);
    assert_eq!(capabilities.list(&admin, now()).len(), 2);
    capabilities.revoke(&admin, session.id()).await.unwrap();
    assert!(session.principal().is_revoked());
    capabilities
        .revoke(&admin, &saved.capability.id)
        .await
        .unwrap();
    assert!(capabilities.list(&admin, now()).is_empty());
}

#[tokio::test]
async fn a_capability_of_a_session_ends_when_it_is_dropped() {
    let (_, capabilities, door) = opened().await;
    let ada = admit(&door, "token-of-ada", now()).unwrap();
    let lent = capabilities.lend(&ada, &view_of("t-1"), now()).unwrap();
    let holder = lent.principal().clone();
    let nested = capabilities.lend(&holder, &Attenuation::none(), now());
    let nested = nested.unwrap();
    assert_eq!(capabilities.list(&ada, now()).len(), 2);
    drop(lent);
    assert!(holder.is_revoked() && nested.principal().is_revoked());
    let refused = capabilities.lend(&holder, &Attenuation::none(), now());
    assert!(matches!(refused, Err(Error::LenderIsOver)), "{refused:?}");
    drop(nested);
    assert!(capabilities.list(&ada, now()).is_empty());
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_with_the_field() {
    let (_, capabilities, door) = opened().await;
    let ada = admit(&door, "token-of-ada", now()).unwrap();
    let long = "x".repeat(201);
    let many: Vec<String> = (0..65).map(|n| n.to_string()).collect();
    for (wanted, field) in [
        (Attenuation::none().until(now()), "expires"),
        (Attenuation::none().until(later(367 * 86_400)), "expires"),
        (Attenuation::none().methods([]), "methods"),
        (
            Attenuation::none().methods(many.iter().map(|it| &**it)),
            "methods",
        ),
        (Attenuation::none().methods(["a\nb"]), "methods"),
        (Attenuation::none().task(""), "task"),
        (Attenuation::none().note(&long), "note"),
        (Attenuation::none().note("a\u{7}"), "note"),
    ] {
        match capabilities.save(&ada, &wanted, now()).await {
            Err(Error::Invalid { field: found, .. }) => assert_eq!(found, field),
            other => panic!("{field}: {other:?}"),
        }
    }
    let without = Capabilities::default();
    let refused = without.save(&ada, &Attenuation::none(), now()).await;
    assert!(matches!(refused, Err(Error::NotKept)));
}

#[tokio::test]
async fn a_caller_lends_a_thousand_and_expired_ones_make_place() {
    let (store, capabilities, door) = opened().await;
    let ada = admit(&door, "token-of-ada", now()).unwrap();
    let wanted = Attenuation::none().until(later(60));
    for _ in 0..1_000 {
        capabilities.save(&ada, &wanted, now()).await.unwrap();
    }
    let refused = capabilities.save(&ada, &wanted, now()).await;
    assert!(matches!(refused, Err(Error::TooMany(1_000))), "{refused:?}");
    let bob = admit(&door, "token-of-bob", now()).unwrap();
    capabilities.save(&bob, &wanted, now()).await.unwrap();
    assert!(capabilities.list(&ada, later(60)).is_empty());
    let wanted = Attenuation::none().until(later(120));
    capabilities.save(&ada, &wanted, later(60)).await.unwrap();
    let rows = store::Query::of(TABLES[0]).limit(2_000);
    let rows = store.read(move |view| view.rows(&rows)).await.unwrap();
    assert_eq!(rows.len(), 1, "expired rows are deleted");
}

#[tokio::test]
async fn an_open_door_takes_a_capability_for_less() {
    let store = store();
    let capabilities = Capabilities::open(store, now()).await.unwrap();
    let door = Door::open().with_capabilities(capabilities.clone());
    let anyone = Principal::anonymous().permitted(Permissions::ALL);
    let saved = capabilities.save(&anyone, &view_of("t-1"), now()).await;
    let saved = saved.unwrap();
    let lent = admit(&door, saved.token(), now()).unwrap();
    assert!(lent.is_anonymous() && lent.is_lent());
    assert_eq!(lent.bounds().task.as_deref(), Some("t-1"));
    assert!(admit(&door, &format!("{PREFIX}forged"), now()).is_err());
    assert_eq!(
        admit(&door, "anything", now()).unwrap().bounds(),
        &Bounds::default()
    );
    // A server that has stopped admitting anonymous callers accepts no capability of theirs.
    let closed = self::door(&capabilities);
    assert!(admit(&closed, saved.token(), now()).is_err());
    let open = closed.unauthenticated(Unauthenticated::Anonymous);
    assert!(admit(&open, saved.token(), now()).is_ok());
}
