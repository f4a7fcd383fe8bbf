//! Calls are made for callers with valid credentials.

use std::time::{Duration, UNIX_EPOCH};

use access::{Credentials, Door, Issuer, Keys, Principal, Scheme};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::json;

use super::{VersionSource, call};
use crate::error::Error;

/// A caller with a token that was valid until this many seconds after 1970.
fn until(expires: u64) -> Principal {
    let secret = [7; 32];
    let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let keys = json!({ "kty": "oct", "k": text(&secret) });
    let keys = Keys::read(&keys.to_string()).unwrap();
    let scheme = Scheme::Token(Issuer::new("issuer", "monas", keys));
    let door = Door::new(vec![("sso".to_owned(), scheme)]).unwrap();
    let claims = json!({ "iss": "issuer", "aud": "monas", "sub": "ada", "exp": expires });
    let header = text(br#"{"alg":"HS256"}"#);
    let message = format!("{header}.{}", text(claims.to_string().as_bytes()));
    let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
    let signature = text(hmac::sign(&key, message.as_bytes()).as_ref());
    let token = Credentials::Bearer(format!("{message}.{signature}"));
    let then = UNIX_EPOCH + Duration::from_secs(1);
    door.recognise(&token, then).unwrap()
}

#[test]
fn a_caller_with_an_expired_token_makes_no_further_calls() {
    let (head, ()) = http::Request::new(()).into_parts();
    let far_away = until(1 << 40);
    let made = call("test", &far_away, &head, VersionSource::Address).unwrap();
    assert_eq!(made.caller.name(), "sso:ada");
    let refused = call("test", &until(1000), &head, VersionSource::Address);
    assert!(
        matches!(refused, Err(Error::Unauthenticated(_))),
        "{refused:?}"
    );
}
