//! Our own tokens: what is accepted, what is not, and which role they give.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::request::Parts;
use http::{Method, Request, Version};
use ring::hmac;
use serde_json::{Value, json};
use store::Store;

use super::own_token::{LIFETIME, SCHEME};
use super::{
    Callers, Capabilities, Credentials, Door, Hash, OwnTokens, Permission, Place, Presented,
    Principal, Refusal, Role, Scheme, TokenSecret, Users,
};

const NOW: u64 = 1_800_000_000;
const SECRET: &str = "a secret that another program has, too";

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(NOW)
}

fn secret() -> TokenSecret {
    TokenSecret::new(SECRET).unwrap()
}

fn own() -> (String, Scheme) {
    let other = TokenSecret::generate().unwrap();
    let own = OwnTokens::signed_with([&other, &secret()]);
    (SCHEME.to_owned(), Scheme::Own(own))
}

fn door() -> Door {
    Door::new(vec![own()]).unwrap()
}

/// A token as another program writes it.
fn token(header: &Value, claims: &Value) -> String {
    let part = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
    let message = format!("{}.{}", part(header), part(claims));
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    let signature = URL_SAFE_NO_PAD.encode(hmac::sign(&key, message.as_bytes()));
    format!("{message}.{signature}")
}

/// The least that a token has, but for what is changed.
fn least(change: impl FnOnce(&mut Value)) -> String {
    let mut claims = json!({ "user_id": "ada", "iat": NOW, "exp": NOW + 60 });
    change(&mut claims);
    token(&json!({ "alg": "HS256", "typ": "JWT" }), &claims)
}

fn show(door: &Door, token: &str) -> Result<Principal, Refusal> {
    door.recognise(&Credentials::Bearer(token.to_owned()), now())
}

fn complaint(token: &str) -> String {
    show(&door(), token).unwrap_err().to_string()
}

#[test]
fn three_claims_are_enough() {
    let ada = show(&door(), &least(|_| {})).unwrap();
    assert_eq!((ada.name(), ada.scheme()), ("ada", "monas"));
    assert_eq!(ada.permissions(), Role::User.permissions());
    // Clocks may differ by half a minute.
    let until = ada.until().unwrap();
    assert_eq!(until, now() + Duration::from_secs(60 + 30));
    let numbered = least(|claims| claims["user_id"] = 42.into());
    assert_eq!(show(&door(), &numbered).unwrap().name(), "42");
    let late = least(|claims| claims["exp"] = (NOW - 29).into());
    assert!(show(&door(), &late).is_ok());
}

#[test]
fn others_are_refused_with_the_reason() {
    let with = |name: &str, value: Value| least(|claims| claims[name] = value);
    for (token, why) in [
        (
            least(|claims| drop(claims.as_object_mut().unwrap().remove("exp"))),
            "malformed token",
        ),
        (with("exp", (NOW - 31).into()), "token has expired (exp)"),
        (with("nbf", (NOW + 31).into()), "token not valid yet (nbf)"),
        (
            with("iat", (NOW + 31).into()),
            "token was issued in the future (iat)",
        ),
        (
            with("user_id", "".into()),
            "token names no user (user_id), or one with a colon",
        ),
        (
            with("user_id", "sso:ada".into()),
            "token names no user (user_id), or one with a colon",
        ),
        (
            with("user_id", "Anonymous".into()),
            "token names no user (user_id), or one with a colon",
        ),
        (
            with("user_id", json!(["ada"])),
            "token names no user (user_id), or one with a colon",
        ),
        (
            with("monas_role", "root".into()),
            "token has an unknown role (monas_role): expected viewer, user, operator or admin",
        ),
        ("nonsense".to_owned(), "malformed token"),
    ] {
        assert_eq!(complaint(&token), why);
    }
    let claims = json!({ "user_id": "ada", "iat": NOW, "exp": NOW + 60 });
    for algorithm in ["none", "HS384", "HS512", "RS256", "hs256", ""] {
        let token = token(&json!({ "alg": algorithm }), &claims);
        let unsigned = token.rsplit_once('.').unwrap().0;
        for token in [token.clone(), format!("{unsigned}.")] {
            assert_eq!(complaint(&token), "token is not signed by a trusted key");
        }
    }
    let other = TokenSecret::new("another secret").unwrap();
    let token = other.sign("ada", None, LIFETIME, now()).unwrap();
    assert_eq!(complaint(&token), "token is not signed by a trusted key");
    let critical = json!({ "alg": "HS256", "crit": ["b64"], "b64": false });
    assert_eq!(
        complaint(&self::token(&critical, &claims)),
        "malformed token"
    );
}

#[test]
fn a_token_of_ours_is_one_that_any_program_could_make() {
    let hour = Duration::from_secs(3600);
    let token = secret().sign("ada", None, hour, now()).unwrap();
    let claims = token.split('.').nth(1).unwrap();
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
    assert_eq!(
        claims,
        json!({ "user_id": "ada", "iat": NOW, "exp": NOW + 3600 })
    );
    assert!(show(&door(), &token).is_ok());
    for name in ["", "a:b", "anonymous", "a\nb"] {
        assert!(secret().sign(name, None, hour, now()).is_err(), "{name:?}");
    }
    let (one, two) = (
        TokenSecret::generate().unwrap(),
        TokenSecret::generate().unwrap(),
    );
    assert!(one != two && !one.is_short() && TokenSecret::new("").is_none());
    assert_eq!(format!("{one:?}"), "TokenSecret(not shown)");
}

#[tokio::test]
async fn the_role_is_that_of_the_user_or_less_then_of_the_token_then_the_default_one() {
    let tables = [super::users::TABLES, super::capability::TABLES].concat();
    let store = Store::memory(&tables);
    let lent = Capabilities::open(store.clone(), now()).await.unwrap();
    let users = Users::open(store, lent, now()).await.unwrap();
    users.add("ada", Role::Viewer, now()).await.unwrap();
    let door = door()
        .default_role(Role::Operator)
        .with_users(users.clone());
    for (user, role, has) in [
        ("ada", None, Role::Viewer),
        ("ada", Some(Role::Admin), Role::Viewer),
        ("bob", None, Role::Operator),
        ("bob", Some(Role::Viewer), Role::Viewer),
    ] {
        let token = secret().sign(user, role, LIFETIME, now()).unwrap();
        let caller = show(&door, &token).unwrap();
        assert_eq!(caller.permissions(), has.permissions(), "{user} {role:?}");
    }
    users.set_role("ada", Role::Admin).await.unwrap();
    let token = secret().sign("ada", Some(Role::User), LIFETIME, now());
    let caller = show(&door, &token.unwrap()).unwrap();
    assert_eq!(caller.permissions(), Role::User.permissions());
    users.set_role("ada", Role::Viewer).await.unwrap();
    assert!(caller.is_revoked(), "its user has less now");
    // A claim of another program means nothing here.
    let other = least(|claims| {
        claims["user_id"] = "bob".into();
        claims["role"] = "admin".into();
    });
    assert!(!show(&door, &other).unwrap().may(Permission::Admin));

    // A token of a user that was removed is refused, also when there is one of that name again.
    let before = secret().sign("ada", Some(Role::Admin), LIFETIME, now());
    let before = before.unwrap();
    let held = show(&door, &before).unwrap();
    users.remove("ada", now()).await.unwrap();
    assert!(held.is_revoked());
    let refused = show(&door, &before).unwrap_err().to_string();
    assert_eq!(refused, "credentials were revoked");
    users.add("ada", Role::User, now()).await.unwrap();
    assert!(show(&door, &before).is_err());
    let second = now() + Duration::from_secs(1);
    let after = secret().sign("ada", None, LIFETIME, second).unwrap();
    assert!(show(&door, &after).is_ok());
}

fn handshake(uri: &str) -> Parts {
    let request = Request::get(uri)
        .header("connection", "keep-alive, Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-key", "AQIDBAUGBwgJCgsMDQ4PEA==");
    request.body(()).unwrap().into_parts().0
}

#[test]
fn an_address_carries_a_token_on_handshakes_alone() {
    let (door, token) = (door(), least(|_| {}));
    let uri = format!("/a2a/ws?token={token}");
    let admit = |parts: &Parts| door.admit(&Presented::by(parts), now());
    assert_eq!(admit(&handshake(&uri)).unwrap().name(), "ada");
    let mut connect = handshake(&uri);
    connect.headers.clear();
    (connect.method, connect.version) = (Method::CONNECT, Version::HTTP_2);
    assert_eq!(admit(&connect).unwrap().name(), "ada");

    for (what, change) in [
        (
            "a plain request",
            (|parts| parts.headers.clear()) as fn(&mut Parts),
        ),
        ("a POST", |parts| parts.method = Method::POST),
        ("no key", |parts| {
            drop(parts.headers.remove("sec-websocket-key"))
        }),
        ("another upgrade", |parts| {
            drop(parts.headers.insert("upgrade", "h2c".parse().unwrap()));
        }),
    ] {
        let mut parts = handshake(&uri);
        change(&mut parts);
        let refusal = admit(&parts).unwrap_err();
        assert!(refusal.has_no_credentials(), "{what}: {refusal}");
    }
    for (uri, why) in [
        ("/a2a/ws?token=wrong".to_owned(), "malformed token"),
        (
            format!("{uri}&token={token}"),
            "the same kind of credentials was sent twice",
        ),
    ] {
        assert_eq!(admit(&handshake(&uri)).unwrap_err().to_string(), why);
    }
    let mut both = handshake(&uri);
    let other = secret().sign("bob", None, LIFETIME, now()).unwrap();
    let other = format!("Bearer {other}").parse().unwrap();
    both.headers.insert("authorization", other);
    let refusal = admit(&both).unwrap_err().to_string();
    assert_eq!(refusal, "credentials of two different callers");
}

#[test]
fn schemes_of_the_configuration_stay_beside_it() {
    let mut callers = Callers::default();
    callers.add("robot", Hash::of("a-key"), &[]).unwrap();
    let keys = Scheme::ApiKey(Place::query("token").unwrap(), callers.clone());
    let schemes = vec![
        ("bearer".to_owned(), Scheme::Bearer(callers)),
        ("keys".to_owned(), keys),
        own(),
    ];
    let door = Door::new(schemes).unwrap();
    assert_eq!(show(&door, "a-key").unwrap().name(), "robot");
    assert_eq!(show(&door, &least(|_| {})).unwrap().name(), "ada");
    // The parameter is the key's, which has that name by configuration.
    let parts = handshake("/?token=a-key");
    assert_eq!(
        door.admit(&Presented::by(&parts), now()).unwrap().name(),
        "robot"
    );
    // The name of the scheme is taken.
    let taken = vec![(SCHEME.to_owned(), Scheme::Certificate)];
    assert!(Door::new(taken).is_err());
}
