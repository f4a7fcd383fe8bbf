//! The cache of verified tokens saves time and changes no answer.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;
use store::Store;

use super::own_token::SCHEME;
use super::token::{TokenFault, Validity};
use super::users::Users;
use super::verified::VerifiedTokens;
use super::{Capabilities, Credentials, Door, OwnTokens, Principal, Refusal, Role, Scheme};
use super::{Hash, TokenSecret, verified::Verified};

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn secret() -> TokenSecret {
    TokenSecret::new(*b"a secret of thirty-two bytes, ok").unwrap()
}

fn door() -> Door {
    let own = Scheme::Own(OwnTokens::signed_with([&secret()]));
    Door::new(vec![(SCHEME.to_owned(), own)]).unwrap()
}

fn show(door: &Door, token: &str, at: SystemTime) -> Result<Principal, Refusal> {
    door.recognise(&Credentials::Bearer(token.to_owned()), at)
}

#[tokio::test]
async fn a_remembered_token_expires_changes_its_role_and_is_revoked_at_once() {
    let tables = [super::users::TABLES, super::capability::TABLES].concat();
    let store = Store::memory(&tables);
    let lent = Capabilities::open(store.clone(), now()).await.unwrap();
    let users = Users::open(store, lent, now()).await.unwrap();
    let door = door().with_users(users.clone());
    let hour = Duration::from_secs(3600);
    let token = secret().sign("ada", None, hour, now()).unwrap();
    for _ in 0..2 {
        let caller = show(&door, &token, now()).unwrap();
        assert_eq!(caller.permissions(), Role::User.permissions());
    }
    let late = show(&door, &token, now() + 2 * hour).unwrap_err();
    assert_eq!(late.to_string(), "token has expired (exp)");
    assert!(show(&door, &token, now()).is_ok(), "the clock was set back");
    let altered = format!("{token}A");
    assert!(show(&door, &altered, now()).is_err());

    users.add("ada", Role::Viewer, now()).await.unwrap();
    let viewer = show(&door, &token, now()).unwrap();
    assert_eq!(viewer.permissions(), Role::Viewer.permissions());
    users.remove("ada", now()).await.unwrap();
    assert!(viewer.is_revoked());
    let refused = show(&door, &token, now()).unwrap_err();
    assert_eq!(refused.to_string(), "credentials were revoked");
    // With another secret there is another door, which remembers nothing of this one.
    let other = TokenSecret::generate().unwrap();
    let other = Scheme::Own(OwnTokens::signed_with([&other]));
    let other = Door::new(vec![(SCHEME.to_owned(), other)]).unwrap();
    assert!(show(&other, &token, now()).is_err());
}

#[test]
fn only_so_many_are_remembered_and_those_in_use_stay() {
    let tokens = VerifiedTokens::default();
    let validity = Validity::of(&json!({ "exp": 2_000_000_000 })).unwrap();
    let verified = Verified {
        caller: Principal::named("ada"),
        validity,
        scheme: 0,
        generation: 0,
    };
    let used = Hash::of("used");
    tokens.insert(used, verified.clone());
    for number in 0..10_000_u32 {
        tokens.insert(Hash::of(number.to_be_bytes()), verified.clone());
        assert!(tokens.find(&used).is_some(), "{number}");
        assert!(tokens.len() <= 4_097, "{}", tokens.len());
    }
    assert!(tokens.find(&Hash::of(0_u32.to_be_bytes())).is_none());
}

#[test]
fn a_token_is_valid_between_two_times_that_clocks_may_differ_about() {
    let check = |claims: serde_json::Value| Validity::of(&claims).and_then(|it| it.check(now()));
    let second = 1_800_000_000_i64;
    for (since, until, expected) in [
        (0, 1, Ok(())),
        (0, -29, Ok(())),
        (0, -30, Err(TokenFault::Expired)),
        (30, 60, Ok(())),
        (31, 60, Err(TokenFault::Early)),
        (31, -30, Err(TokenFault::Expired)),
    ] {
        let claims = json!({ "nbf": second + since, "exp": second + until });
        assert_eq!(check(claims), expected, "{since} {until}");
    }
    assert_eq!(check(json!({})), Err(TokenFault::Form));
    assert_eq!(
        check(json!({ "exp": second, "nbf": "soon" })),
        Err(TokenFault::Form)
    );
}
