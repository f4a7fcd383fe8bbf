//! Tokens that count, and attempts at some that do not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
};
use serde_json::{Value, json};

use super::{Credentials, Door, Issuer, KeySet, Keys, Principal, Refusal, Scheme};

const NOW: u64 = 1_800_000_000;
const SECRET: &[u8] = b"a secret of at least thirty-two bytes";

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(NOW)
}

fn text(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A signer and its public key.
enum Signer {
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
    Hs256(hmac::Key),
}

impl Signer {
    fn es256() -> Self {
        let (random, how) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let der = EcdsaKeyPair::generate_pkcs8(how, &random).unwrap();
        Self::Es256(EcdsaKeyPair::from_pkcs8(how, der.as_ref(), &random).unwrap())
    }

    fn eddsa() -> Self {
        let der = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::EdDsa(Ed25519KeyPair::from_pkcs8(der.as_ref()).unwrap())
    }

    fn hs256() -> Self {
        Self::Hs256(hmac::Key::new(hmac::HMAC_SHA256, SECRET))
    }

    fn algorithm(&self) -> &'static str {
        match self {
            Self::Es256(_) => "ES256",
            Self::EdDsa(_) => "EdDSA",
            Self::Hs256(_) => "HS256",
        }
    }

    fn jwk(&self, id: &str) -> Value {
        let mut jwk = match self {
            Self::Es256(pair) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                json!({ "kty": "EC", "crv": "P-256", "x": text(x), "y": text(y) })
            }
            Self::EdDsa(pair) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": text(pair.public_key()) })
            }
            Self::Hs256(_) => json!({ "kty": "oct", "k": text(SECRET) }),
        };
        jwk["kid"] = id.into();
        jwk
    }

    fn sign(&self, message: &str) -> Vec<u8> {
        let message = message.as_bytes();
        match self {
            Self::Es256(pair) => {
                let signature = pair.sign(&SystemRandom::new(), message).unwrap();
                signature.as_ref().to_vec()
            }
            Self::EdDsa(pair) => pair.sign(message).as_ref().to_vec(),
            Self::Hs256(key) => hmac::sign(key, message).as_ref().to_vec(),
        }
    }

    fn token(&self, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", text(header.to_string()), text(claims.to_string()));
        let signature = text(self.sign(&message));
        format!("{message}.{signature}")
    }

    /// A token as it should be, but for what is changed.
    fn good(&self, change: impl FnOnce(&mut Value)) -> String {
        let mut claims = json!({
            "iss": "https://id.example", "aud": "monas", "sub": "ada", "exp": NOW + 300,
            "scope": "a2a other",
        });
        change(&mut claims);
        self.token(&json!({ "alg": self.algorithm(), "kid": "k1" }), &claims)
    }
}

fn door(keys: &Value, scopes: &[&str]) -> Door {
    let keys = Keys::read(&keys.to_string()).unwrap();
    let issuer = Issuer::new("https://id.example", "monas", keys);
    let issuer = issuer.requiring(scopes.iter().map(|it| (*it).to_owned()).collect());
    Door::new(vec![("sso".to_owned(), Scheme::Token(issuer))]).unwrap()
}

fn show(door: &Door, token: &str) -> Result<Principal, Refusal> {
    door.recognise(&Credentials::Bearer(token.to_owned()), now())
}

fn complaint(door: &Door, token: &str) -> String {
    show(door, token).unwrap_err().to_string()
}

#[test]
fn a_signed_token_has_the_caller_and_the_scopes() {
    for signer in [Signer::es256(), Signer::eddsa(), Signer::hs256()] {
        let door = door(&json!({ "keys": [signer.jwk("k1")] }), &["a2a"]);
        let known = show(&door, &signer.good(|_| {})).unwrap();
        assert_eq!((known.name(), known.scheme()), ("sso:ada", "sso"));
        assert_eq!(known.scopes(), ["a2a", "other"]);
        assert!(!known.is_over(now()) && known.is_over(now() + Duration::from_secs(331)));
        let list = signer.good(|it| it["aud"] = json!(["other", "monas"]));
        assert!(show(&door, &list).is_ok());
        let scopes = signer.good(|it| {
            it["scope"] = Value::Null;
            it["scp"] = json!(["a2a"]);
        });
        assert!(show(&door, &scopes).is_ok());
    }
}

#[test]
fn a_token_of_rsa_is_verified() {
    // Made once with another implementation, for a time far away.
    let keys: Value = serde_json::from_str(include_str!("token_tests/rsa.jwk.json")).unwrap();
    let token = include_str!("token_tests/rsa.jwt").trim();
    let door = door(&keys, &[]);
    assert_eq!(show(&door, token).unwrap().name(), "sso:ada");
    let (message, _) = token.rsplit_once('.').unwrap();
    let forged = format!("{message}.{}", text([0; 256]));
    assert!(complaint(&door, &forged).contains("not signed"));
}

#[test]
fn what_a_token_says_must_all_be_right() {
    let signer = Signer::es256();
    let door = door(&json!({ "keys": [signer.jwk("k1")] }), &["a2a"]);
    let check = |change: fn(&mut Value), expected: &str| {
        assert_eq!(complaint(&door, &signer.good(change)), expected);
    };
    check(
        |it| it["exp"] = (NOW - 31).into(),
        "token has expired (exp)",
    );
    check(|it| it["exp"] = Value::Null, "malformed token");
    check(|it| it["exp"] = json!("tomorrow"), "malformed token");
    check(|it| it["exp"] = json!(-1), "malformed token");
    check(
        |it| it["nbf"] = (NOW + 31).into(),
        "token not valid yet (nbf)",
    );
    check(
        |it| it["aud"] = json!("other"),
        "token is for another audience (aud)",
    );
    check(
        |it| it["aud"] = json!([]),
        "token is for another audience (aud)",
    );
    check(
        |it| it["aud"] = Value::Null,
        "token is for another audience (aud)",
    );
    check(
        |it| it["iss"] = json!("https://id.example.evil"),
        "token is from another issuer (iss)",
    );
    check(
        |it| it["iss"] = Value::Null,
        "token is from another issuer (iss)",
    );
    check(|it| it["sub"] = json!(""), "token names no caller (sub)");
    check(
        |it| it["sub"] = json!("a\nb"),
        "token names no caller (sub)",
    );
    check(|it| it["sub"] = Value::Null, "token names no caller (sub)");
    check(
        |it| it["scope"] = json!("a2ab"),
        r#"credentials lack the scope "a2a""#,
    );
    let lacking = signer.good(|it| it["scope"] = json!("other"));
    let refusal = show(&door, &lacking).unwrap_err();
    assert!(refusal.is_forbidden());
    let expected = r#"Bearer realm="monas", error="insufficient_scope", scope="a2a""#;
    assert_eq!(refusal.challenges(), [expected]);
}

#[test]
fn a_token_cannot_choose_how_it_is_verified() {
    let (signer, other) = (Signer::es256(), Signer::eddsa());
    let door = door(&json!({ "keys": [signer.jwk("k1")] }), &[]);
    let good = signer.good(|_| {});
    let (message, signature) = good.rsplit_once('.').unwrap();
    let (header, payload) = message.split_once('.').unwrap();
    let headed = |header: Value, signature: &str| {
        format!("{}.{payload}.{signature}", text(header.to_string()))
    };
    // An HMAC secret made from the public key.
    let public = signer.jwk("k1").to_string();
    let confused = Signer::Hs256(hmac::Key::new(hmac::HMAC_SHA256, public.as_bytes()));
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap();
    for (what, token) in [
        ("none", headed(json!({ "alg": "none" }), "")),
        (
            "None",
            headed(json!({ "alg": "None", "kid": "k1" }), signature),
        ),
        ("nothing", headed(json!({ "kid": "k1" }), signature)),
        ("no signature", format!("{message}.")),
        (
            "another header",
            headed(json!({ "alg": "ES256" }), signature),
        ),
        (
            "confused",
            confused.token(&json!({ "alg": "HS256" }), &claims),
        ),
        ("stranger", other.token(&json!({ "alg": "EdDSA" }), &claims)),
        (
            "own key",
            other.token(&json!({ "alg": "EdDSA", "jwk": other.jwk("k1") }), &claims),
        ),
        (
            "another id",
            signer.token(&json!({ "alg": "ES256", "kid": "k2" }), &claims),
        ),
        (
            "critical",
            signer.token(&json!({ "alg": "ES256", "crit": ["exp"] }), &claims),
        ),
        ("two parts", message.to_owned()),
        ("four parts", format!("{good}.{signature}")),
        ("padded", format!("{header}=.{payload}.{signature}")),
        ("empty", "..".to_owned()),
        (
            "no object",
            signer.token(&json!({ "alg": "ES256" }), &json!([1])),
        ),
    ] {
        let refusal = show(&door, &token).unwrap_err();
        assert!(!refusal.is_forbidden(), "{what}: {refusal}");
    }
    // The key's own id may be left out.
    let unnamed = signer.token(&json!({ "alg": "ES256" }), &claims);
    assert!(show(&door, &unnamed).is_ok());
}

#[test]
fn keys_of_other_kinds_and_uses_are_left_out() {
    let signer = Signer::eddsa();
    let mut sealing = signer.jwk("k1");
    sealing["use"] = "enc".into();
    let mut other = signer.jwk("k1");
    other["alg"] = "ES256".into();
    let short = json!({ "kty": "oct", "k": text("short") });
    let odd = json!({ "kty": "EC", "crv": "P-384", "x": "", "y": "" });
    for useless in [
        &sealing,
        &other,
        &short,
        &odd,
        &json!({}),
        &json!({ "keys": 1 }),
    ] {
        assert!(Keys::read(&useless.to_string()).is_err(), "{useless}");
    }
    assert!(Keys::read("-----BEGIN").is_err());
    let mixed = json!({ "keys": [sealing, short, odd, signer.jwk("k1")] });
    let keys = Keys::read(&mixed.to_string()).unwrap();
    assert!(!keys.has_secret());
    assert!(show(&door(&mixed, &[]), &signer.good(|_| {})).is_ok());
    let secret = Signer::hs256().jwk("k1");
    assert!(Keys::read(&secret.to_string()).unwrap().has_secret());
    assert!(!format!("{:?}", Keys::read(&secret.to_string())).contains("thirty"));
}

#[test]
fn several_issuers_each_have_their_own_callers() {
    let (one, two) = (Signer::es256(), Signer::eddsa());
    let issuer = |name: &str, signer: &Signer| {
        let keys = Keys::read(&signer.jwk("k1").to_string()).unwrap();
        Scheme::Token(Issuer::new(name, "monas", keys))
    };
    let door = Door::new(vec![
        ("one".to_owned(), issuer("https://one.example", &one)),
        ("two".to_owned(), issuer("https://two.example", &two)),
    ]);
    let door = door.unwrap();
    let of = |signer: &Signer, name: &str| signer.good(|it| it["iss"] = name.into());
    let known = show(&door, &of(&one, "https://one.example")).unwrap();
    assert_eq!(known.name(), "one:ada");
    let known = show(&door, &of(&two, "https://two.example")).unwrap();
    assert_eq!(known.name(), "two:ada");
    // Neither can speak for the other.
    assert!(show(&door, &of(&one, "https://two.example")).is_err());
    let late = of(&one, "https://one.example");
    let later = now() + Duration::from_secs(1000);
    let refusal = door.recognise(&Credentials::Bearer(late), later);
    assert_eq!(refusal.unwrap_err().to_string(), "token has expired (exp)");
}

/// The keys that an issuer publishes come and go while tokens are verified; a key that is missing is asked for, and nothing
/// else is.
#[test]
fn published_keys_are_replaced_and_asked_for() {
    let missed = Arc::new(AtomicUsize::new(0));
    let counted = missed.clone();
    let keys = KeySet::published(move || {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let issuer = Issuer::new("https://id.example", "agent", keys.clone());
    let scheme = Scheme::Token(issuer.also_for(["https://agent.example".to_owned()]));
    let door = Door::new(vec![("sso".to_owned(), scheme)]).unwrap();
    let signer = Signer::es256();
    let token = signer.good(|claims| claims["aud"] = json!("https://agent.example"));
    let wanted = |token: &str| {
        let credentials = Credentials::Bearer(token.to_owned());
        door.wanted_key_of(&credentials).map(str::to_owned)
    };
    assert_eq!(wanted(&token).as_deref(), Some("sso"));
    assert!(show(&door, &token).is_err());
    assert_eq!(missed.load(Ordering::Relaxed), 1);

    let published = |jwk: Value| Keys::read_published(&json!({ "keys": [jwk] }).to_string());
    keys.replace(Some(published(signer.jwk("k1")).unwrap()));
    assert_eq!(wanted(&token), None);
    assert!(show(&door, &token).is_ok());

    // Another issuer's token, one that cannot be read, and one with a wrong signature of a known key.
    let foreign = signer.good(|claims| claims["iss"] = json!("https://other.example"));
    let header = json!({ "alg": "ES256", "kid": "other" });
    let foreign_key = signer.token(&header, &json!({ "iss": "https://other.example" }));
    for token in [
        &*foreign,
        &foreign_key,
        "a.b.c",
        "a",
        &Signer::es256().good(|_| {}),
    ] {
        assert_eq!(wanted(token), None, "{token}");
        assert!(show(&door, token).is_err(), "{token}");
    }
    assert_eq!(missed.load(Ordering::Relaxed), 1);

    keys.replace(Some(published(Signer::es256().jwk("k2")).unwrap()));
    assert!(show(&door, &token).is_err());
    assert_eq!(missed.load(Ordering::Relaxed), 2);
    assert!(
        published(Signer::hs256().jwk("k1")).is_err(),
        "a published secret"
    );
}

/// RFC 9728 5.1, for a door with an issuer alone.
#[test]
fn a_challenge_names_the_metadata_of_the_resource() {
    let place = "https://agent.example/.well-known/oauth-protected-resource/mcp";
    let named = door(&json!({ "keys": [Signer::es256().jwk("k1")] }), &["a2a"]);
    let refusal = named.with_resource_metadata(place).without_credentials();
    let expected = format!(r#"Bearer realm="monas", resource_metadata="{place}", scope="a2a""#);
    assert_eq!(refusal.challenges(), [expected]);
    assert!(
        Door::open()
            .with_resource_metadata(place)
            .without_credentials()
            .challenges()
            .is_empty()
    );
}
