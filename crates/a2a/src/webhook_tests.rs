//! Deliveries that are signed, and those that are not to be believed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::HeaderValue;

use super::{ID, Rejected, SIGNATURE, Secret, TIMESTAMP, WINDOW};

fn secret() -> Secret {
    Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap()
}

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

#[test]
fn a_delivery_is_signed_as_the_standard_says() {
    // The example that Standard Webhooks publishes for its libraries.
    let body = br#"{"test": 2432232314}"#;
    let headers = secret().headers("msg_p5jXN8AQM9LWM0D4loKWxJek", at(1_614_265_330), body);
    let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    assert_eq!(headers[SIGNATURE], expected);
    assert_eq!(headers[TIMESTAMP], "1614265330");
    assert_eq!(headers[ID], "msg_p5jXN8AQM9LWM0D4loKWxJek");
}

#[test]
fn what_was_changed_is_refused() {
    let (body, now) = (b"body", at(1_000_000));
    let headers = secret().headers("id", now, body);
    assert_eq!(secret().verify(&headers, body, now), Ok(()));
    assert_eq!(
        secret().verify(&headers, b"Body", now),
        Err(Rejected::Forged)
    );
    let other = Secret::new("another secret of ours").unwrap();
    assert_eq!(other.verify(&headers, body, now), Err(Rejected::Forged));
    for name in [ID, TIMESTAMP] {
        let mut changed = headers.clone();
        changed.insert(name, HeaderValue::from_static("1000001"));
        assert_eq!(secret().verify(&changed, body, now), Err(Rejected::Forged));
    }
    for name in [ID, TIMESTAMP, SIGNATURE] {
        let mut less = headers.clone();
        less.remove(name);
        let refused = secret().verify(&less, body, now);
        assert!(matches!(refused, Err(Rejected::Missing(_))));
    }
}

#[test]
fn what_was_kept_is_refused_later() {
    let (body, sent) = (b"body", 1_000_000);
    let headers = secret().headers("id", at(sent), body);
    let verify = |now| secret().verify(&headers, body, at(now));
    assert_eq!(verify(sent + WINDOW.as_secs()), Ok(()));
    assert_eq!(verify(sent + WINDOW.as_secs() + 1), Err(Rejected::Stale));
    assert_eq!(verify(sent - WINDOW.as_secs() - 1), Err(Rejected::Stale));
}

#[test]
fn one_of_several_signatures_is_enough() {
    let (body, now) = (b"body", at(1_000_000));
    let mut headers = secret().headers("id", now, body);
    let signature = headers[SIGNATURE].to_str().unwrap().to_owned();
    let several = format!("v1,AAAA v2,nonsense {signature}");
    headers.insert(SIGNATURE, HeaderValue::from_str(&several).unwrap());
    assert_eq!(secret().verify(&headers, body, now), Ok(()));
}

#[test]
fn a_secret_that_can_be_guessed_is_none() {
    for text in [
        "",
        "short",
        "whsec_",
        "whsec_c2hvcnQ=",
        "whsec_not base64!!!",
    ] {
        assert!(Secret::new(text).is_none(), "{text}");
    }
}
