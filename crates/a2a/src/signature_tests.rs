//! Cards that were signed, and cards that were changed since.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::{Algorithm, Error, SigningKey, TrustedKeys};
use crate::types::{AgentCapabilities, AgentCard, AgentInterface};

fn key(algorithm: Algorithm) -> SigningKey {
    SigningKey::from_pem(&SigningKey::generate(algorithm).unwrap()).unwrap()
}

fn trust(key: &SigningKey) -> TrustedKeys {
    TrustedKeys::read(&key.public_jwk().to_string()).unwrap()
}

fn card() -> AgentCard {
    AgentCard {
        name: "Ada".to_owned(),
        supported_interfaces: vec![AgentInterface {
            url: "https://ada.example/a2a".to_owned(),
            ..AgentInterface::default()
        }],
        ..AgentCard::default()
    }
}

fn signed(key: &SigningKey) -> AgentCard {
    let mut card = card();
    key.sign_card(&mut card).unwrap();
    card
}

#[test]
fn a_signature_holds_for_the_card_and_for_no_other() {
    for algorithm in [Algorithm::Es256, Algorithm::EdDsa] {
        let key = key(algorithm);
        let mut card = signed(&key);
        for trusted in [trust(&key), TrustedKeys::read(&key.public_pem()).unwrap()] {
            let verified = trusted.verify(&card).unwrap();
            assert_eq!(
                (verified.key.as_str(), verified.algorithm),
                (key.id(), algorithm)
            );
            assert_eq!(verified.card, self::card());
        }
        card.supported_interfaces[0].url = "https://eve.example/a2a".to_owned();
        assert!(matches!(trust(&key).verify(&card), Err(Error::Forged(_))));
    }
}

#[test]
fn only_trusted_keys_count() {
    let (mine, other) = (key(Algorithm::Es256), key(Algorithm::Es256));
    let card = signed(&mine);
    assert!(matches!(
        trust(&other).verify(&card),
        Err(Error::Untrusted(_))
    ));
    // Under the name of the trusted key it is a forgery.
    let disguised = signed(&mine.with_id(other.id()));
    assert!(matches!(
        trust(&other).verify(&disguised),
        Err(Error::Forged(_))
    ));
    assert!(matches!(
        trust(&other).verify(&self::card()),
        Err(Error::Unsigned)
    ));
    assert!(matches!(
        TrustedKeys::default().verify(&card),
        Err(Error::Untrusted(_))
    ));
}

#[test]
fn one_signature_of_many_is_enough() {
    let (first, second) = (key(Algorithm::Es256), key(Algorithm::EdDsa));
    let mut card = signed(&first);
    second.sign_card(&mut card).unwrap();
    assert_eq!(card.signatures.len(), 2);
    assert_eq!(trust(&second).verify(&card).unwrap().key, second.id());
    card.signatures[0].protected = "nonsense".to_owned();
    assert_eq!(trust(&second).verify(&card).unwrap().key, second.id());
}

#[test]
fn what_the_signature_does_not_cover_is_not_in_the_verified_card() {
    let key = key(Algorithm::EdDsa);
    let mut received = serde_json::to_value(signed(&key)).unwrap();
    received["iconUrl"] = "".into();
    received["futureField"] = json!({ "evil": true });
    let verified = trust(&key).verify_value(received).unwrap();
    assert_eq!(verified.card.icon_url, None);
    assert_eq!(verified.json.get("futureField"), None);
}

#[test]
fn members_that_we_do_not_know_count_when_their_signer_counted_them() {
    let key = key(Algorithm::Es256);
    let mut card = json!({ "name": "Ada", "futureField": ["kept", ""] });
    let protected = URL_SAFE_NO_PAD.encode(json!({ "alg": "ES256", "kid": key.id() }).to_string());
    let input = super::signing_input(&protected, &card);
    let signature = key.sign(input.as_bytes()).unwrap();
    let signature = URL_SAFE_NO_PAD.encode(signature);
    card["signatures"] = json!([{ "protected": protected, "signature": signature }]);
    let verified = trust(&key).verify_value(card.clone()).unwrap();
    assert_eq!(verified.json["futureField"], json!(["kept", ""]));
    card["futureField"] = json!(["changed"]);
    assert!(trust(&key).verify_value(card).is_err());
}

#[test]
fn a_card_with_an_empty_member_is_signed_in_both_views() {
    let key = key(Algorithm::Es256);
    let mut card = card();
    card.capabilities = Some(AgentCapabilities::default());
    key.sign_card(&mut card).unwrap();
    assert_eq!(card.signatures.len(), 2);
    for kept in 0..2 {
        let mut one = card.clone();
        one.signatures = vec![card.signatures[kept].clone()];
        trust(&key).verify(&one).unwrap();
    }
}

#[test]
fn a_signature_with_demands_that_are_not_known_is_refused() {
    let key = key(Algorithm::Es256);
    for header in [
        json!({ "alg": "ES256", "kid": key.id(), "crit": ["exp"], "exp": 1 }),
        json!({ "alg": "none", "kid": key.id() }),
        json!({ "alg": "HS256", "kid": key.id() }),
        json!({ "alg": "EdDSA", "kid": key.id() }),
        json!({ "alg": "ES256" }),
        json!([]),
    ] {
        let mut card = card();
        let protected = URL_SAFE_NO_PAD.encode(header.to_string());
        let input = super::signing_input(&protected, &serde_json::to_value(&card).unwrap());
        let signature = key.sign(input.as_bytes()).unwrap();
        card.signatures.push(super::AgentCardSignature {
            protected,
            signature: URL_SAFE_NO_PAD.encode(signature),
            header: None,
        });
        assert!(trust(&key).verify(&card).is_err(), "{header}");
    }
}

#[test]
fn keys_in_forms_that_are_not_known_are_refused() {
    for text in [
        "",
        "nonsense",
        "{}",
        r#"{"keys":[]}"#,
        r#"{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}"#,
        r#"{"kty":"oct","k":"c2VjcmV0"}"#,
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
    ] {
        assert!(TrustedKeys::read(text).is_err(), "{text}");
    }
    assert!(SigningKey::from_pem(&key(Algorithm::Es256).public_pem()).is_err());
}

#[test]
fn a_set_of_keys_may_hold_others() {
    let key = key(Algorithm::EdDsa);
    let set = json!({ "keys": [
        { "kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "other" },
        key.public_jwk(),
    ]});
    let trusted = TrustedKeys::read(&set.to_string()).unwrap();
    assert_eq!(trusted.verify(&signed(&key)).unwrap().key, key.id());
}

#[test]
fn nothing_secret_is_shown() {
    let pem = SigningKey::generate(Algorithm::EdDsa).unwrap();
    let key = SigningKey::from_pem(&pem).unwrap();
    let shown = format!("{key:?}");
    assert!(shown.contains(key.id()), "{shown}");
    let secret: Vec<&str> = pem.lines().filter(|line| !line.contains("--")).collect();
    assert!(!secret.iter().any(|line| shown.contains(line)), "{shown}");
}

#[test]
fn the_id_of_a_key_is_its_thumbprint() {
    // The example of RFC 8037, appendix A.3.
    let seed = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
    let seed = URL_SAFE_NO_PAD.decode(seed).unwrap();
    let prefix = [
        0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20,
    ];
    let der = STANDARD.encode([&prefix[..], &seed].concat());
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{der}\n-----END PRIVATE KEY-----\n");
    let key = SigningKey::from_pem(&pem).unwrap();
    assert_eq!(key.id(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    let jwk: Value = key.public_jwk();
    assert_eq!(jwk["x"], "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
}
