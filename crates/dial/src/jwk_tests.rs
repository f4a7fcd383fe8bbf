//! Keys are read strictly, and each serves one algorithm.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
};
use serde_json::{Value, json};

use super::{Algorithm, Key, members};

fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn ed25519() -> (Ed25519KeyPair, Value) {
    let der = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    let pair = Ed25519KeyPair::from_pkcs8(der.as_ref()).unwrap();
    let x = text(pair.public_key().as_ref());
    (
        pair,
        json!({"kty": "OKP", "crv": "Ed25519", "x": x, "kid": "one"}),
    )
}

#[test]
fn a_key_verifies_its_own_signatures_and_no_others() {
    let (pair, jwk) = ed25519();
    let key = Key::from_jwk(&jwk).unwrap();
    let signature = pair.sign(b"message");
    assert_eq!(key.id(), Some("one"));
    assert!(key.verify(b"message", signature.as_ref()));
    assert!(!key.verify(b"another", signature.as_ref()));
    let again = Key::from_point(Algorithm::EdDsa, key.point().unwrap()).unwrap();
    assert!(again.verify(b"message", signature.as_ref()));

    let random = SystemRandom::new();
    let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let der = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, der.as_ref(), &random).unwrap();
    let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
    let key = json!({"kty": "EC", "crv": "P-256", "x": text(x), "y": text(y), "alg": "ES256"});
    let key = Key::from_jwk(&key).unwrap();
    let signature = pair.sign(&random, b"message").unwrap();
    assert!(key.verify(b"message", signature.as_ref()));
}

#[test]
fn a_secret_must_be_long_enough_and_is_not_shown() {
    let short = json!({"kty": "oct", "k": text(&[7; 31])});
    assert!(Key::from_jwk(&short).is_none());
    let key = Key::from_jwk(&json!({"kty": "oct", "k": text(&[7; 32])})).unwrap();
    let secret = hmac::Key::new(hmac::HMAC_SHA256, &[7; 32]);
    assert!(key.verify(b"message", hmac::sign(&secret, b"message").as_ref()));
    assert_eq!(
        format!("{key:?}"),
        r#"Key { id: None, algorithm: "HS256", .. }"#
    );
}

#[test]
fn a_key_for_another_use_algorithm_or_curve_is_not_read() {
    let (_, jwk) = ed25519();
    for (field, value) in [
        ("use", json!("enc")),
        ("alg", json!("ES256")),
        ("alg", json!("HS256")),
        ("crv", json!("X25519")),
        ("kty", json!("EC")),
        ("x", json!("AAAA")),
        ("x", json!("not base64!")),
        ("x", Value::Null),
    ] {
        let mut other = jwk.clone();
        other[field] = value;
        assert!(Key::from_jwk(&other).is_none(), "{other}");
    }
    assert!(Key::from_jwk(&json!("text")).is_none());
    assert!(Key::from_point(Algorithm::Es256, &[4; 64]).is_none());
    assert!(Key::from_point(Algorithm::Rs256, &[4; 64]).is_none());
}

#[test]
fn a_set_has_members_and_a_key_is_its_own() {
    let (_, jwk) = ed25519();
    assert_eq!(members(&jwk).unwrap().len(), 1);
    assert_eq!(members(&json!({"keys": [jwk, {}]})).unwrap().len(), 2);
    assert!(members(&json!({"keys": 1})).is_none());
}
