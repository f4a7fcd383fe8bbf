//! Errors as a status, a header and an event.

use std::time::{Duration, SystemTime};

use http::StatusCode;
use http::header::{HeaderMap, HeaderValue};
use serde_json::json;

use super::fail::{of_event, of_status, retry_after};

fn headers(name: &'static str, value: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(name, HeaderValue::from_str(value).unwrap());
    headers
}

#[test]
fn a_status_says_what_went_wrong_with_the_message_of_the_provider() {
    let openai = r#"{"error": {"message": "no such key", "type": "x"}}"#;
    let ollama = r#"{"error": "no such model"}"#;
    let gemini = r#"[{"error": {"code": 400, "message": "bad"}}]"#;
    for (status, body, code, said) in [
        (
            401,
            openai,
            "auth",
            "API key missing or rejected: no such key (401)",
        ),
        (
            403,
            "",
            "auth",
            "API key missing or rejected: 403 Forbidden",
        ),
        (
            404,
            ollama,
            "refused",
            "request refused: no such model (404)",
        ),
        (400, gemini, "refused", "request refused: bad (400)"),
        (
            429,
            "slow down",
            "rate-limited",
            "rate limited: slow down (429)",
        ),
        (
            429,
            r#"{"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}"#,
            "quota",
            "the account at the provider has no quota left: You exceeded your quota (429)",
        ),
        (
            500,
            "",
            "server",
            "the provider failed: 500 Internal Server Error",
        ),
        (529, "{}", "server", "the provider failed: {} (529)"),
    ] {
        let error = of_status(
            StatusCode::from_u16(status).unwrap(),
            body,
            &HeaderMap::new(),
        );
        assert_eq!((error.code(), error.to_string().as_str()), (code, said));
    }
}

#[test]
fn a_long_message_is_not_repeated_in_full() {
    let error = of_status(
        StatusCode::BAD_REQUEST,
        &"é".repeat(10_000),
        &HeaderMap::new(),
    );
    assert!(error.to_string().len() < 500);
}

#[test]
fn when_to_ask_again_can_be_said_in_four_ways() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
    for (name, value, expected) in [
        ("retry-after", "7", Some(Duration::from_secs(7))),
        ("retry-after", "0.5", Some(Duration::from_millis(500))),
        ("retry-after-ms", "250", Some(Duration::from_millis(250))),
        (
            "retry-after",
            "Sun, 06 Nov 1994 08:50:37 GMT",
            Some(Duration::from_secs(60)),
        ),
        (
            "retry-after",
            "Sun, 06 Nov 1994 08:40:37 GMT",
            Some(Duration::ZERO),
        ),
        ("retry-after", "-1", None),
        ("retry-after", "soon", None),
        ("x-other", "7", None),
    ] {
        assert_eq!(
            retry_after(&headers(name, value), now),
            expected,
            "{name}: {value}"
        );
    }
}

#[test]
fn an_error_in_the_middle_of_an_answer_says_what_kind_it_is() {
    for (body, code) in [
        (
            json!({"error": {"type": "overloaded_error", "message": "m"}}),
            "server",
        ),
        (
            json!({"type": "rate_limit_error", "message": "m"}),
            "rate-limited",
        ),
        (
            json!({"error": {"status": "RESOURCE_EXHAUSTED", "message": "m"}}),
            "rate-limited",
        ),
        (json!({"type": "invalid_request_error"}), "refused"),
        (json!("?"), "server"),
    ] {
        assert_eq!(of_event(&body).code(), code, "{body}");
    }
}
