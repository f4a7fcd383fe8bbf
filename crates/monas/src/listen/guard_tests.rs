//! The requests that are let in, header by header.

use axum::http::Request;
use axum::http::request::Parts;

use super::{Caller, Guard, Refusal};

/// A request of this method and target, with these headers.
fn request(method: &str, target: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = Request::builder().method(method).uri(target);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

fn guard() -> Guard {
    Guard {
        hosts: vec!["agents.example".to_owned()],
        origins: vec!["https://listed.example".parse().unwrap()],
        ..Guard::default()
    }
}

fn judge(method: &str, target: &str, headers: &[(&str, &str)]) -> Result<Caller, Refusal> {
    guard().check("http", &request(method, target, headers))
}

#[test]
fn the_host_must_be_loopback_or_configured() {
    for host in [
        "localhost",
        "LOCALHOST:8080",
        "127.0.0.1:8080",
        "[::1]:8080",
        "127.8.9.1",
        "agents.example",
    ] {
        assert_eq!(
            judge("GET", "/", &[("host", host)]),
            Ok(Caller::Ordinary),
            "{host}"
        );
    }
    for host in [
        "evil.example",
        "localhost.evil.example",
        "10.0.0.1",
        "",
        "[::2]",
        "localhost/x",
        "a b",
        "evil@localhost",
    ] {
        assert_eq!(
            judge("GET", "/", &[("host", host)]),
            Err(Refusal::Host),
            "{host}"
        );
    }
    assert_eq!(judge("GET", "/", &[]), Err(Refusal::Host));
}

#[test]
fn a_request_line_that_names_a_host_must_agree_with_the_header() {
    let target = "http://localhost:8080/";
    assert_eq!(judge("GET", target, &[]), Ok(Caller::Ordinary));
    assert_eq!(
        judge("GET", target, &[("host", "localhost:8080")]),
        Ok(Caller::Ordinary)
    );
    assert_eq!(
        judge("GET", target, &[("host", "127.0.0.1:8080")]),
        Err(Refusal::Host)
    );
    assert_eq!(
        judge("GET", "http://evil.example/", &[("host", "localhost")]),
        Err(Refusal::Host)
    );
    assert_eq!(
        judge(
            "GET",
            "/",
            &[("host", "localhost"), ("host", "evil.example")]
        ),
        Err(Refusal::Host)
    );
}

#[test]
fn what_may_change_something_must_come_from_a_page_let_in() {
    let from = |origin| {
        judge(
            "POST",
            "/",
            &[("host", "localhost:8080"), ("origin", origin)],
        )
    };
    assert_eq!(
        judge("POST", "/", &[("host", "localhost:8080")]),
        Ok(Caller::Ordinary)
    );
    assert_eq!(from("http://localhost:8080"), Ok(Caller::Ordinary));
    assert_eq!(
        from("https://listed.example"),
        Ok(Caller::Page("https://listed.example".parse().unwrap()))
    );
    for origin in [
        "https://localhost:8080",
        "http://localhost",
        "http://localhost:8081",
        "http://127.0.0.1:8080",
        "http://listed.example",
        "https://evil.example",
        "null",
        "",
        "https://listed.example/",
    ] {
        assert_eq!(from(origin), Err(Refusal::Origin), "{origin}");
    }
}

#[test]
fn several_origins_are_none() {
    let headers = [
        ("host", "localhost"),
        ("origin", "http://localhost"),
        ("origin", "http://localhost"),
    ];
    assert_eq!(judge("POST", "/", &headers), Err(Refusal::Origin));
}

#[test]
fn reading_needs_no_origin_but_an_upgrade_does() {
    let evil = [("host", "localhost"), ("origin", "https://evil.example")];
    for method in ["GET", "HEAD", "OPTIONS"] {
        assert_eq!(judge(method, "/", &evil), Ok(Caller::Ordinary), "{method}");
    }
    for method in ["POST", "PUT", "DELETE", "PATCH", "TRACE", "INVENTED"] {
        assert_eq!(judge(method, "/", &evil), Err(Refusal::Origin), "{method}");
    }
    let upgrade = [evil[0], evil[1], ("upgrade", "websocket")];
    assert_eq!(judge("GET", "/", &upgrade), Err(Refusal::Origin));
}

#[test]
fn the_scheme_is_part_of_the_origin() {
    let parts = request(
        "POST",
        "/",
        &[("host", "localhost"), ("origin", "https://localhost")],
    );
    assert_eq!(guard().check("https", &parts), Ok(Caller::Ordinary));
    assert_eq!(guard().check("http", &parts), Err(Refusal::Origin));
}
