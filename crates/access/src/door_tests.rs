//! Who is let in by what they show, and what those are told who are not.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::request::Parts;
use http::{HeaderName, HeaderValue, Request};

use super::{Callers, Certified, Credentials, Door, Hash, Place, Principal, Refusal};
use super::{Presented, Scheme, Unauthenticated};

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

/// Callers with one secret each.
fn callers(all: &[(&str, &str)]) -> Callers {
    let mut callers = Callers::default();
    for (name, secret) in all {
        callers.add(name, Hash::of(secret), &[]).unwrap();
    }
    callers
}

/// A request to an address, with headers in this order.
fn request(uri: &str, headers: &[(&'static str, &str)]) -> Parts {
    let (mut parts, ()) = Request::get(uri).body(()).unwrap().into_parts();
    for (name, value) in headers {
        let value = HeaderValue::from_str(value).unwrap();
        parts.headers.append(HeaderName::from_static(name), value);
    }
    parts
}

fn admit(door: &Door, uri: &str, headers: &[(&'static str, &str)]) -> Result<Principal, Refusal> {
    door.admit(&Presented::by(&request(uri, headers)), now())
}

fn door(schemes: Vec<(&str, Scheme)>) -> Door {
    let schemes = schemes.into_iter().map(|(name, it)| (name.to_owned(), it));
    Door::new(schemes.collect()).unwrap()
}

fn bearer() -> Door {
    let known = callers(&[("ada", "token-of-ada"), ("bob", "token-of-bob")]);
    door(vec![("tokens", Scheme::Bearer(known))])
}

/// The refusal of a request with these headers.
fn complaint(door: &Door, headers: &[(&'static str, &str)]) -> String {
    admit(door, "/", headers).unwrap_err().to_string()
}

#[test]
fn an_open_door_asks_for_no_credentials() {
    let headers = [("authorization", "Bearer anything")];
    assert!(admit(&Door::open(), "/", &headers).unwrap().is_anonymous());
}

#[test]
fn a_token_authenticates_the_caller() {
    let door = bearer();
    for (value, name) in [
        ("Bearer token-of-ada", "ada"),
        ("bearer token-of-bob", "bob"),
        ("BEARER  token-of-ada ", "ada"),
    ] {
        let known = admit(&door, "/", &[("authorization", value)]).unwrap();
        assert_eq!((known.name(), known.scheme()), (name, "tokens"), "{value}");
    }
}

#[test]
fn a_wrong_token_is_refused() {
    let door = bearer();
    for value in [
        "Bearer token-of-eve",
        "Bearer token-of-ad",
        "Bearer TOKEN-OF-ADA",
        // A name is not a secret, and neither is the hash.
        "Bearer ada",
        &format!("Bearer {}", Hash::of("token-of-ada")),
        "Basic YWRhOnRva2VuLW9mLWFkYQ==",
        "Digest token-of-ada",
    ] {
        let refusal = admit(&door, "/", &[("authorization", value)]).unwrap_err();
        assert_eq!(refusal.to_string(), "unknown credentials", "{value}");
        assert_eq!(
            refusal.challenges(),
            [r#"Bearer realm="monas", error="invalid_token""#]
        );
        assert!(!refusal.has_no_credentials() && !refusal.is_forbidden());
    }
}

#[test]
fn credentials_that_cannot_be_read_are_refused() {
    let door = bearer();
    let huge = format!("Bearer {}", "x".repeat(17 << 10));
    for value in [
        "",
        "Bearer",
        "Bearer ",
        "token-of-ada",
        "Bearer token-of-ada extra",
        "Bearer token-of-ada, Bearer token-of-ada",
        "Basic not-base64!",
        &huge,
    ] {
        assert_eq!(
            complaint(&door, &[("authorization", value)]),
            "malformed credentials",
            "{value}"
        );
    }
    let mut parts = request("/", &[]);
    let odd = HeaderValue::from_bytes(b"Bearer token-of-ada\xff").unwrap();
    parts.headers.insert("authorization", odd);
    assert!(door.admit(&Presented::by(&parts), now()).is_err());
}

#[test]
fn two_headers_are_refused_even_if_they_are_the_same() {
    let twice = [
        ("authorization", "Bearer token-of-ada"),
        ("authorization", "Bearer token-of-ada"),
    ];
    assert_eq!(
        complaint(&bearer(), &twice),
        "the same kind of credentials was sent twice"
    );
}

#[test]
fn a_token_in_another_place_is_not_looked_at() {
    let door = bearer();
    for (uri, header) in [
        ("/?access_token=token-of-ada", ("x-other", "nothing")),
        (
            "/?authorization=Bearer%20token-of-ada",
            ("x-other", "nothing"),
        ),
        ("/", ("cookie", "authorization=token-of-ada")),
        ("/", ("x-api-key", "token-of-ada")),
        ("/", ("proxy-authorization", "Bearer token-of-ada")),
    ] {
        let refusal = admit(&door, uri, &[header]).unwrap_err();
        assert!(refusal.has_no_credentials(), "{uri} {header:?}");
        assert_eq!(refusal.challenges(), [r#"Bearer realm="monas""#]);
    }
}

#[test]
fn a_name_and_its_password_must_both_be_right() {
    let known = callers(&[("ada", "pass:word"), ("bob", "other")]);
    let door = door(vec![("passwords", Scheme::Basic(known))]);
    let basic = |text: &str| {
        use base64::Engine as _;
        format!(
            "Basic {}",
            base64::engine::general_purpose::STANDARD.encode(text)
        )
    };
    let known = admit(&door, "/", &[("authorization", &basic("ada:pass:word"))]).unwrap();
    assert_eq!((known.name(), known.scheme()), ("ada", "passwords"));
    for wrong in [
        "bob:pass:word",
        "ada:other",
        ":pass:word",
        "ada:",
        "eve:other",
    ] {
        let said = complaint(&door, &[("authorization", &basic(wrong))]);
        assert_eq!(said, "unknown credentials", "{wrong}");
    }
    let refusal = admit(&door, "/", &[("authorization", &basic("no colon"))]).unwrap_err();
    assert_eq!(
        refusal.challenges(),
        [r#"Basic realm="monas", charset="UTF-8""#]
    );
}

#[test]
fn a_key_counts_in_its_own_place_alone() {
    let places = [
        (Place::header("X-API-Key").unwrap(), r#"header="x-api-key""#),
        (Place::query("key").unwrap(), r#"query="key""#),
        (Place::cookie("key").unwrap(), r#"cookie="key""#),
    ];
    let presented: [(&str, &[(&'static str, &str)]); 3] = [
        ("/", &[("x-api-key", "secret 1")]),
        ("/?a=b&key=secret+1", &[]),
        ("/", &[("cookie", "a=b; key=secret 1")]),
    ];
    for (index, (place, name)) in places.into_iter().enumerate() {
        let known = callers(&[("robot", "secret 1")]);
        let door = door(vec![("keys", Scheme::ApiKey(place, known))]);
        for (other, (uri, headers)) in presented.iter().enumerate() {
            match admit(&door, uri, headers) {
                Ok(known) => assert_eq!((other, known.name()), (index, "robot")),
                Err(refusal) => {
                    assert!(other != index && refusal.has_no_credentials());
                    let challenge = format!(r#"ApiKey realm="monas", {name}"#);
                    assert_eq!(refusal.challenges(), [challenge]);
                }
            }
        }
        assert_eq!(door.takes_parameter("key"), index == 1);
        for twice in [
            ("/", [("x-api-key", "secret 1"), ("x-api-key", "secret 1")]),
            (
                "/?key=secret+1&key=other",
                [("x-other", ""), ("x-other", "")],
            ),
            (
                "/",
                [("cookie", "key=secret 1"), ("cookie", "key=secret 1")],
            ),
        ] {
            assert!(admit(&door, twice.0, &twice.1).is_err());
        }
    }
}

#[test]
fn a_header_that_means_something_else_cannot_hold_a_key() {
    for name in ["Authorization", "cookie", "Host", "no header", ""] {
        assert!(Place::header(name).is_err(), "{name}");
    }
    assert!(Place::query("a=b").is_err() && Place::cookie("a;b").is_err());
}

fn several() -> Door {
    door(vec![
        ("tokens", Scheme::Bearer(callers(&[("ada", "token")]))),
        (
            "keys",
            Scheme::ApiKey(
                Place::header("x-api-key").unwrap(),
                callers(&[("ada", "key-a"), ("bob", "key-b")]),
            ),
        ),
        ("machines", Scheme::Certificate),
    ])
}

#[test]
fn one_scheme_is_enough_and_what_is_wrong_counts() {
    let door = several();
    let right = ("authorization", "Bearer token");
    assert_eq!(admit(&door, "/", &[right]).unwrap().scheme(), "tokens");
    let by_key = admit(&door, "/", &[("x-api-key", "key-b")]).unwrap();
    assert_eq!((by_key.name(), by_key.scheme()), ("bob", "keys"));
    assert!(admit(&door, "/", &[right, ("x-api-key", "key-a")]).is_ok());
    let said = complaint(&door, &[right, ("x-api-key", "key-b")]);
    assert_eq!(said, "credentials of two different callers");
    let said = complaint(&door, &[right, ("x-api-key", "wrong")]);
    assert_eq!(said, "unknown credentials");
    let said = complaint(
        &door,
        &[("authorization", "Bearer no"), ("x-api-key", "key-a")],
    );
    assert_eq!(said, "unknown credentials");
}

#[test]
fn a_certificate_counts_for_requests_that_show_nothing() {
    let certified = |name: &str, headers: &[(&'static str, &str)]| {
        let mut parts = request("/", headers);
        parts.extensions.insert(Certified(name.into()));
        parts
    };
    let door = several();
    let parts = certified("worker.example", &[]);
    let known = door.admit(&Presented::by(&parts), now()).unwrap();
    assert_eq!(known.name(), "machines:worker.example");
    let parts = certified("worker.example", &[("x-api-key", "key-b")]);
    let known = door.admit(&Presented::by(&parts), now()).unwrap();
    assert_eq!(known.name(), "bob");
    let parts = certified("worker.example", &[("x-api-key", "wrong")]);
    assert!(door.admit(&Presented::by(&parts), now()).is_err());
    for name in ["", "two\nlines"] {
        assert!(
            door.admit(&Presented::by(&certified(name, &[])), now())
                .is_err()
        );
    }
    // Without a scheme for certificates it is ignored.
    let parts = certified("worker.example", &[]);
    let refusal = bearer().admit(&Presented::by(&parts), now()).unwrap_err();
    assert!(refusal.has_no_credentials());
}

#[test]
fn strangers_are_anonymous_where_they_are_let_in_and_liars_are_not() {
    let door = bearer().unauthenticated(Unauthenticated::Anonymous);
    assert!(admit(&door, "/", &[]).unwrap().is_anonymous());
    let known = admit(&door, "/", &[("authorization", "Bearer token-of-ada")]).unwrap();
    assert_eq!(known.name(), "ada");
    assert!(admit(&door, "/", &[("authorization", "Bearer wrong")]).is_err());
}

#[test]
fn credentials_can_be_handed_over_without_a_request() {
    let door = several();
    let known = |credentials: Credentials| door.recognise(&credentials, now());
    let token = known(Credentials::Bearer("token".to_owned())).unwrap();
    assert_eq!((token.name(), token.scheme()), ("ada", "tokens"));
    let key = known(Credentials::ApiKey("key-b".to_owned())).unwrap();
    assert_eq!((key.name(), key.scheme()), ("bob", "keys"));
    for wrong in [
        Credentials::Bearer("key-a".to_owned()),
        Credentials::ApiKey("token".to_owned()),
        Credentials::Bearer(String::new()),
        Credentials::Bearer("x".repeat(17 << 10)),
        Credentials::Basic {
            user: "ada".to_owned(),
            password: "token".to_owned(),
        },
    ] {
        let refusal = known(wrong).unwrap_err();
        assert_eq!(refusal.challenges().len(), 3);
    }
}

#[test]
fn nothing_secret_is_shown() {
    let secret = "token-of-ada";
    let presented = format!(
        "{:?} {:?} {:?}",
        bearer(),
        Hash::of(secret),
        Credentials::Bearer(secret.to_owned())
    );
    let digits = Hash::of(secret).to_string();
    assert!(
        !presented.contains(secret) && !presented.contains(&digits[7..]),
        "{presented}"
    );
}

#[test]
fn names_and_hashes_that_cannot_be_any_are_refused() {
    let mut callers = Callers::default();
    for name in ["", "sso:ada", "two\nlines", &"x".repeat(600)] {
        assert!(callers.add(name, Hash::of("x"), &[]).is_err(), "{name:?}");
    }
    let digits = Hash::of("x").to_string();
    assert_eq!(digits.parse(), Ok(Hash::of("x")));
    assert_eq!(
        digits.to_uppercase().replace("SHA", "sha").parse(),
        Ok(Hash::of("x"))
    );
    for text in [
        "",
        "sha256:",
        &digits[7..],
        &digits[..70],
        &format!("{digits}0"),
        "sha256:+1",
    ] {
        assert!(text.parse::<Hash>().is_err(), "{text}");
    }
    for names in [vec![""], vec!["two words"], vec!["same", "same"]] {
        let schemes = names
            .into_iter()
            .map(|name| (name.to_owned(), Scheme::Certificate));
        assert!(Door::new(schemes.collect()).is_err());
    }
}

#[test]
fn a_door_with_an_allow_list_refuses_other_callers() {
    let listed = |names: &[&str]| -> Vec<String> { names.iter().map(|&it| it.into()).collect() };
    let door = bearer().unauthenticated(Unauthenticated::Anonymous);
    let narrow = door.only(&listed(&["ada", "carol"]));
    let show = |door: &Door, token: &str| {
        let token = format!("Bearer {token}");
        admit(door, "/", &[("authorization", &token)])
    };
    assert_eq!(show(&narrow, "token-of-ada").unwrap().name(), "ada");
    let refused = show(&narrow, "token-of-bob").unwrap_err();
    assert!(refused.is_forbidden());
    assert_eq!(
        refused.to_string(),
        "caller is not on this agent's allow list"
    );
    let handed = Credentials::Bearer("token-of-bob".to_owned());
    assert!(narrow.recognise(&handed, now()).unwrap_err().is_forbidden());
    // The anonymous caller is on no allow list.
    assert!(admit(&narrow, "/", &[]).unwrap_err().has_no_credentials());
    // What was narrowed cannot be widened.
    let wider = narrow.only(&listed(&["ada", "bob"]));
    assert!(show(&wider, "token-of-ada").is_ok());
    assert!(show(&wider, "token-of-bob").is_err());
    assert!(show(&door, "token-of-bob").is_ok());
}
