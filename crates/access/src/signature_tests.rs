//! Signatures of requests: the vectors of RFC 9421, what is refused, and that nothing which a peer sends panics.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use dial::jwk::Key;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use proptest::prelude::*;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::json;

use super::*;
use crate::{Callers, Door, Hash, Presented, Scheme};

const START: u64 = 1_800_000_000;

fn at(second: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(second)
}

/// An Ed25519 key with this id: what signs, and its public half.
fn pair(id: &str) -> (Signer, Value) {
    let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap();
    let x = URL_SAFE_NO_PAD.encode(pair.public_key());
    let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": x, "kid": id });
    let signer = Signer::new(id, "ed25519", move |text| {
        Some(pair.sign(text).as_ref().to_vec())
    });
    (signer, jwk)
}

fn caller(name: &str, key: &str) -> SigningCaller {
    SigningCaller {
        name: name.to_owned(),
        keys: vec![key.to_owned()],
        ..SigningCaller::default()
    }
}

/// Ada with one key.
fn ada() -> (Signer, Signatures) {
    let (signer, jwk) = pair("ada-1");
    let callers = vec![caller("ada", "ada-1")];
    let signatures = Signatures::new(&jwk.to_string(), callers, at(START)).unwrap();
    (signer, signatures)
}

fn target(url: &str) -> Vec<Target> {
    vec![Target::of(&url.parse::<Uri>().unwrap()).unwrap()]
}

const URL: &str = "http://agents.example:8080/a2a/jsonrpc?x=1";

/// A POST that was signed at this second.
fn signed(signer: &Signer, body: &str, second: u64) -> Parts {
    let (mut head, ()) = Request::post(URL).body(()).unwrap().into_parts();
    let json = HeaderValue::from_static("application/json");
    head.headers.insert("content-type", json);
    let (method, uri, now) = (head.method.clone(), head.uri.clone(), at(second));
    let done = signer.sign(&method, &uri, &mut head.headers, body.as_bytes(), now);
    done.unwrap();
    head
}

#[test]
fn a_request_is_accepted_once_and_only_as_it_was_signed() {
    let (signer, signatures) = ada();
    let head = signed(&signer, "{}", START + 5);
    let now = at(START + 6);
    let verify = |head: &Parts, url: &str| signatures.verify(head, &target(url), now);

    // What an attacker may change.
    let mut other = head.clone();
    other.method = Method::PUT;
    assert_eq!(verify(&other, URL), Err(SignatureFault::Wrong));
    for (part, changed) in [("agents", "others"), ("x=1", "x=2"), ("http:", "https:")] {
        let url = URL.replace(part, changed);
        assert_eq!(verify(&head, &url), Err(SignatureFault::Wrong), "{url}");
    }
    for (name, value) in [
        ("content-type", "text/plain"),
        ("content-digest", "sha-256=:AAAA:"),
    ] {
        let mut other = head.clone();
        other.headers.insert(name, value.parse().unwrap());
        assert_eq!(verify(&other, URL), Err(SignatureFault::Wrong), "{name}");
    }

    // None of these was remembered, so the right one passes; a second time it does not.
    let accepted = verify(&head, URL).unwrap();
    assert_eq!((&*accepted.caller, &*accepted.key), ("ada", "ada-1"));
    assert_eq!(accepted.check_body(b"{}"), Ok(()));
    assert_eq!(accepted.check_body(b"{ }"), Err(SignatureFault::Digest));
    assert_eq!(verify(&head, URL), Err(SignatureFault::Replayed));
    // Also where a proxy has renamed the signature.
    let mut other = head.clone();
    for name in [SIGNATURE, SIGNATURE_INPUT] {
        let value = head.headers[name].to_str().unwrap();
        let value = value.replacen("sig=", "b=", 1);
        other.headers.insert(name, value.parse().unwrap());
    }
    assert_eq!(verify(&other, URL), Err(SignatureFault::Replayed));

    // A host is the same in capitals and with the port of its scheme.
    let uri = "https://Agents.Example:443".parse().unwrap();
    let (mut head, ()) = Request::get("/").body(()).unwrap().into_parts();
    let done = signer.sign(&Method::GET, &uri, &mut head.headers, b"", now);
    done.unwrap();
    let accepted = verify(&head, "https://agents.example/").unwrap();
    // What has no digest has no body.
    assert_eq!(accepted.check_body(b""), Ok(()));
    let uncovered = SignatureFault::Uncovered("content-digest");
    assert_eq!(accepted.check_body(b"{}"), Err(uncovered));
}

#[test]
fn times_are_checked_and_what_is_too_old_is_forgotten() {
    let (signer, signatures) = ada();
    let verify = |head: &Parts, now: u64| signatures.verify(head, &target(URL), at(now));
    let head = signed(&signer, "", START + 100);
    assert_eq!(verify(&head, START + 39), Err(SignatureFault::Future));
    // Our signer gives a minute.
    assert_eq!(verify(&head, START + 161), Err(SignatureFault::Expired));
    assert_eq!(verify(&head, START + 401), Err(SignatureFault::Old));
    assert!(verify(&head, START + 160).is_ok());
    assert_eq!(verify(&head, START + 160), Err(SignatureFault::Replayed));
    // The memory of an earlier server is gone.
    let early = signed(&signer, "", START - 1);
    assert_eq!(verify(&early, START + 2), Err(SignatureFault::Early));

    let seen = &signatures.0.keys[0].seen;
    for second in 200..230 {
        verify(&signed(&signer, "", START + second), START + second).unwrap();
    }
    assert_eq!(seen.len(), 30);
    verify(&signed(&signer, "", START + 300), START + 300).unwrap();
    assert_eq!(seen.len(), 1);
}

/// The fault of a signature that has this list.
fn complaint(input: &str) -> SignatureFault {
    let (_, signatures) = ada();
    let (mut head, ()) = Request::get(URL).body(()).unwrap().into_parts();
    head.headers.insert(SIGNATURE_INPUT, input.parse().unwrap());
    let some = HeaderValue::from_static("a=:AAAA:, b=:AAAA:");
    head.headers.insert(SIGNATURE, some);
    let found = signatures.verify(&head, &target(URL), at(START + 1));
    found.unwrap_err()
}

#[test]
fn a_signature_must_cover_what_makes_the_request() {
    use SignatureFault::{Algorithm, Component, Form, Key, Parameter, Several, Uncovered, Wrong};
    let now = START + 1;
    let tail = format!(";created={now};keyid=\"ada-1\"");
    let strange = |name: &str| Component(name.to_owned());
    for (list, fault) in [
        ("", Uncovered("@method")),
        (r#""@target-uri""#, Uncovered("@method")),
        (r#""@method""#, Uncovered("@target-uri or @authority")),
        (r#""@method" "@authority""#, Uncovered("@path")),
        (r#""@method" "@authority" "@path""#, Uncovered("@query")),
        (r#""@method" "@authority" "@path" "@query""#, Wrong),
        (r#""@method" "@authority" "@request-target""#, Wrong),
        (r#""@method" "@target-uri" "@method""#, Form),
        (r#""@method" "@target-uri" "x-no""#, strange(r#""x-no""#)),
        (
            r#""@method" "@target-uri" "@status""#,
            strange(r#""@status""#),
        ),
        (r#""@method" "@target-uri" "Host""#, strange(r#""Host""#)),
        (
            r#""@method";req "@target-uri""#,
            strange(r#""@method" with a parameter"#),
        ),
    ] {
        assert_eq!(complaint(&format!("a=({list}){tail}")), fault, "{list}");
    }
    for (tail, fault) in [
        (r#";keyid="ada-1""#.to_owned(), Parameter("created")),
        (format!(r#";created={now};keyid="bob""#), Key),
        (format!(";created={now}"), Key),
        (format!(r#";created="{now}";keyid="ada-1""#), Form),
        (r#";created=-1;keyid="ada-1""#.to_owned(), Form),
        (
            format!(r#";created={now};keyid="ada-1";alg="hmac-sha256""#),
            Algorithm,
        ),
        (
            format!(r#";created={now};keyid="ada-1";alg="none""#),
            Algorithm,
        ),
    ] {
        let list = format!(r#"a=("@method" "@target-uri"){tail}"#);
        assert_eq!(complaint(&list), fault, "{tail}");
    }
    // Two of a known key might be of two callers.
    let one = format!(r#"("@method" "@target-uri"){tail}"#);
    assert_eq!(complaint(&format!("a={one}, b={one}")), Several);
    // One that a proxy added with a key of its own is left out.
    let other = format!(r#"("@method");created={now};keyid="proxy""#);
    assert_eq!(complaint(&format!("a={one}, b={other}")), Wrong);
}

#[test]
fn the_memory_of_a_key_is_bounded_and_forgets_nothing_that_counts() {
    let seen = Seen::default();
    let (until, now) = (START + 60, START);
    for number in 0..65_536 {
        let number = number.to_string();
        seen.remember(&number, true, until, now).unwrap();
    }
    let more = seen.remember("one more", true, until, now);
    assert_eq!(more, Err(SignatureFault::Full));
    let again = seen.remember("17", true, until, now);
    assert_eq!(again, Err(SignatureFault::Replayed));
    let later = |is_nonce| seen.remember("one more", is_nonce, until + 60, until + 1);
    assert_eq!(later(true), Ok(()));
    // A nonce and a signed text of the same letters are two things.
    assert_eq!(later(false), Ok(()));
}

/// The request of RFC 9421 B.2.
fn example() -> Parts {
    let request = Request::post("http://example.com/foo?param=Value&Pet=dog")
        .header("host", "example.com")
        .header("date", "Tue, 20 Apr 2021 02:07:55 GMT")
        .header("content-type", "application/json")
        .header(
            "content-digest",
            "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:",
        )
        .header("content-length", "18");
    request.body(()).unwrap().into_parts().0
}

#[test]
fn the_examples_of_the_specification_verify() {
    let mut head = example();
    let secret = STANDARD
        .decode("uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==")
        .unwrap();
    // B.2.6 and B.2.5.
    for (jwk, input, signature) in [
        (
            json!({ "kty": "OKP", "crv": "Ed25519", "x": "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs" }),
            r#"("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519""#,
            "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==",
        ),
        (
            json!({ "kty": "oct", "k": URL_SAFE_NO_PAD.encode(secret) }),
            r#"("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret""#,
            "pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=",
        ),
    ] {
        let line = format!("sig={input}");
        head.headers.insert(SIGNATURE_INPUT, line.parse().unwrap());
        let inputs = dictionary(&head.headers, SIGNATURE_INPUT).unwrap();
        let ListEntry::InnerList(list) = &inputs["sig"] else {
            panic!("no list");
        };
        let target = Target::of(&head.uri).unwrap();
        let text = Covered::read(list).unwrap().base(&head, &target).unwrap();
        let key = Key::from_jwk(&jwk).unwrap();
        let signature = STANDARD.decode(signature).unwrap();
        assert!(key.verify(text.as_bytes(), &signature), "{text}");
    }
    let digests = Digests::read(&head.headers).unwrap();
    assert_eq!(digests.check(br#"{"hello": "world"}"#), Ok(()));
    assert_eq!(digests.check(b"{}"), Err(SignatureFault::Digest));
}

#[test]
fn a_shared_secret_signs_and_must_be_long() {
    let jwk = |secret: &[u8]| {
        let secret = URL_SAFE_NO_PAD.encode(secret);
        json!({ "kty": "oct", "k": secret, "kid": "shared" }).to_string()
    };
    let secret = jwk(&[7; 32]);
    let callers = vec![caller("ada", "shared")];
    let signatures = Signatures::new(&secret, callers, at(START)).unwrap();
    assert!(signatures.has_secret());
    let signer = Signer::from_secret_jwk(&secret).unwrap();
    let head = signed(&signer, "{}", START + 1);
    let found = signatures.verify(&head, &target(URL), at(START + 1));
    assert_eq!(found.unwrap().caller, "ada");
    assert!(Signer::from_secret_jwk(&jwk(&[7; 31])).is_err());
}

#[test]
fn keys_and_callers_must_belong_together() {
    let (_, jwk) = pair("one");
    let make = |keys: &str, callers| Signatures::new(keys, callers, at(START)).unwrap_err();
    let keys = jwk.to_string();
    let missing = make(&keys, vec![caller("ada", "two")]);
    assert_eq!(missing, Error::SigningKey("two".to_owned()));
    let twice = json!({ "keys": [jwk, jwk] }).to_string();
    let doubled = make(&twice, vec![caller("ada", "one")]);
    assert_eq!(doubled, Error::SigningKey("one".to_owned()));
    let shared = make(&keys, vec![caller("ada", "one"), caller("bob", "one")]);
    assert_eq!(shared, Error::SharedKey("one".to_owned()));
    let nameless = make(&keys, vec![caller("Anonymous", "one")]);
    assert!(matches!(nameless, Error::Name(_)));
    let none = make("no", vec![caller("ada", "one")]);
    assert!(matches!(none, Error::Keys(_)));
}

/// A door for Ada, who has to sign, for Bob, who may, and for Eve, who cannot.
fn door() -> (Door, Signer, Signer) {
    let ((ada, ada_key), (bob, bob_key)) = (pair("ada-1"), pair("bob-1"));
    let keys = json!({ "keys": [ada_key, bob_key] }).to_string();
    let mut strict = caller("ada", "ada-1");
    strict.required = true;
    let callers = vec![strict, caller("bob", "bob-1")];
    let signatures = Signatures::new(&keys, callers, at(START)).unwrap();
    let mut tokens = Callers::default();
    for name in ["ada", "bob", "eve"] {
        tokens.add(name, Hash::of(name), &[]).unwrap();
    }
    let door = Door::new(vec![
        ("signed".to_owned(), Scheme::Signature(signatures)),
        ("tokens".to_owned(), Scheme::Bearer(tokens)),
    ]);
    (door.unwrap(), ada, bob)
}

/// The caller of a request that is signed, or has a token, or both; or why it is refused.
fn admit(door: &Door, signer: Option<&Signer>, token: Option<&str>) -> Result<String, String> {
    let (mut head, ()) = Request::get(URL).body(()).unwrap().into_parts();
    if let Some(token) = token {
        let value = format!("Bearer {token}").parse().unwrap();
        head.headers.insert("authorization", value);
    }
    if let Some(signer) = signer {
        let uri = head.uri.clone();
        let done = signer.sign(&Method::GET, &uri, &mut head.headers, b"", at(START));
        done.unwrap();
    }
    door.check_signature(&mut head, &target(URL), at(START));
    let admitted = door.admit(&Presented::by(&head), at(START));
    admitted
        .map(|it| format!("{} by {}", it.name(), it.scheme()))
        .map_err(|it| it.to_string())
}

#[test]
fn the_door_wants_a_signature_of_those_who_have_to_sign() {
    let (door, ada, bob) = door();
    let name = |text: &str| Ok(text.to_owned());
    assert_eq!(admit(&door, Some(&ada), None), name("ada by signed"));
    assert_eq!(admit(&door, Some(&ada), Some("ada")), name("ada by tokens"));
    assert_eq!(admit(&door, None, Some("bob")), name("bob by tokens"));
    let unsigned = admit(&door, None, Some("ada")).unwrap_err();
    assert!(unsigned.contains("has to sign"), "{unsigned}");
    let two = admit(&door, Some(&bob), Some("ada")).unwrap_err();
    assert_eq!(two, "credentials of two different callers");
    // Credentials in a call have no signature of their own.
    let handed = crate::Credentials::Bearer("ada".to_owned());
    assert!(door.recognise(&handed, at(START)).is_err());

    let door = door.signing(SignatureRule::Required);
    assert_eq!(admit(&door, Some(&bob), Some("bob")), name("bob by tokens"));
    for token in ["bob", "eve"] {
        let unsigned = admit(&door, None, Some(token)).unwrap_err();
        assert!(unsigned.contains("has to sign"), "{unsigned}");
    }
    let open = door.unauthenticated(crate::Unauthenticated::Anonymous);
    assert!(admit(&open, None, None).is_err());
    // A result that a request brings along does not count.
    let (mut head, ()) = Request::get(URL).body(()).unwrap().into_parts();
    head.extensions.insert(SignatureCheck(Ok(Signed {
        caller: "ada".to_owned(),
        scopes: Vec::new(),
        key: String::new(),
        digests: None,
    })));
    open.check_signature(&mut head, &target(URL), at(START));
    assert!(open.admit(&Presented::by(&head), at(START)).is_err());
}

/// A header of these bytes, where a header can have them.
fn header(headers: &mut HeaderMap, name: &'static str, bytes: &[u8]) {
    if let Ok(value) = HeaderValue::from_bytes(bytes) {
        headers.append(HeaderName::from_static(name), value);
    }
}

proptest! {
    #[test]
    fn nothing_that_is_sent_panics_or_passes(
        bytes in proptest::collection::vec(any::<u8>(), 0..60),
        words in proptest::collection::vec(
            prop::sample::select(vec![
                "sig=", "(", ")", "\"@method\"", "\"@target-uri\"", " ", ";created=1800000001", ";keyid=\"ada-1\"",
                ";nonce=\"n\"", ";expires=", "99999999999999999", ", ", ":", "AAAA", "?1", "\\", "\"", "content-digest",
                "sha-256=", "@1", "%\"", "-", ".5", ";req", "=",
            ]),
            0..24,
        ),
    ) {
        let (_, signatures) = ada();
        let text = words.concat();
        let (mut head, ()) = Request::get(URL).body(()).unwrap().into_parts();
        header(&mut head.headers, SIGNATURE_INPUT, text.as_bytes());
        header(&mut head.headers, SIGNATURE_INPUT, &bytes);
        header(&mut head.headers, SIGNATURE, &bytes);
        header(&mut head.headers, SIGNATURE, text.as_bytes());
        header(&mut head.headers, CONTENT_DIGEST, text.as_bytes());
        prop_assert!(signatures.verify(&head, &target(URL), at(START + 1)).is_err());
        let _ = Digests::read(&head.headers).map(|it| it.check(b""));
    }
}
