//! One call too many, in the form of each wire; and errors of `/api`, which have one form.

use a2a::client::{Client, Settings, Version};
use a2a::types::ListTasksRequest;
use serde_json::{Value, json};

use super::{limited, parsed, requests, send, with_callers};
use crate::support::server::Running;

#[tokio::test]
async fn people_get_429_after_twenty_calls_and_others_do_not() {
    let server = Running::serve(&limited(1000)).await;
    let mut refused = None;
    for count in 0..60 {
        let answer = send(&server, "ada", ("GET", "/api/agents"), &[], "").await;
        if answer.status == 429 {
            assert!(count >= 20, "{count} calls were made");
            refused = Some(answer);
            break;
        }
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let refused = refused.expect("sixty calls within a second");
    assert_eq!(refused.headers["retry-after"], "1");
    let body = json!({ "error": "rate limit exceeded", "code": "rate_limited" });
    assert_eq!(parsed(&refused), body);
    let answer = send(&server, "bob", ("GET", "/api/agents"), &[], "").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    server.stop().await;
}

#[tokio::test]
async fn every_wire_refuses_in_its_own_form() {
    let mut config = limited(1);
    config.limits.rate = 1.try_into().unwrap();
    for (wire, place, headers, body) in requests() {
        let server = Running::serve(&config).await;
        let mut answers = Vec::new();
        for _ in 0..6 {
            answers.push(send(&server, "ada", place, &headers, body.clone()).await);
        }
        let refused = answers.iter().find(|it| match wire {
            "a2a/grpc" => it.headers.get("grpc-status").is_some_and(|it| it == "8"),
            _ => it.status == 429,
        });
        let refused = refused.unwrap_or_else(|| panic!("{wire}: {answers:?}"));
        let said = parsed(refused);
        match wire {
            "a2a/jsonrpc" => {
                assert_eq!(said["error"]["code"], -31429, "{said}");
                assert_eq!(said["error"]["data"][0]["reason"], "RATE_LIMITED");
            }
            "a2a/rest" => assert_eq!(said["error"]["status"], "RESOURCE_EXHAUSTED", "{said}"),
            "a2a/grpc" => {
                let message = refused.headers["grpc-message"].to_str().unwrap();
                assert!(message.starts_with("rate"), "{message}");
            }
            "acp/rest" => assert!(said["message"].is_string(), "{said}"),
            "mcp/http" => assert_eq!(said["error"]["code"], -31429, "{said}"),
            _ => assert_eq!(said["code"], "rate_limited"),
        }
        if wire != "a2a/grpc" {
            assert_eq!(refused.headers["retry-after"], "1", "{wire}");
        }
        server.stop().await;
    }
}

#[tokio::test]
async fn sockets_refuse_calls_and_stay_open() {
    let server = Running::serve(&limited(1)).await;
    for binding in ["websocket", "capnweb"] {
        let token = if binding == "capnweb" {
            "token-of-ada"
        } else {
            "token-of-bob"
        };
        let mut settings = Settings::default().bearer(token).unwrap();
        settings.bindings = vec![binding.to_owned()];
        settings.version = Some(Version::V1_0);
        settings.attempts = 1;
        let client = Client::discover(&server.url, settings).await.unwrap();
        let mut errors = Vec::new();
        for _ in 0..6 {
            errors.extend(client.list_tasks(ListTasksRequest::default()).await.err());
        }
        let limited = errors.iter().any(|error| error.is("RATE_LIMITED"));
        assert!(limited, "{binding}: {errors:?}");
        tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
        let again = client.list_tasks(ListTasksRequest::default()).await;
        assert!(again.is_ok(), "{binding}: {again:?}");
    }
    server.stop().await;
}

/// Once a body or a frame that was no JSON, or named no method, was not counted at all.
#[tokio::test]
async fn what_cannot_be_read_counts_against_the_limit_of_its_sender() {
    let server = Running::serve(&limited(2)).await;
    let json = [("content-type", "application/json"), ("a2a-version", "1.0")];
    for body in ["{", r#"{"jsonrpc":"2.0","id":7,"method":"flibber"}"#] {
        let mut refused = None;
        for _ in 0..30 {
            let place = ("POST", "/a2a/jsonrpc");
            let answer = send(&server, "ada", place, &json, body).await;
            if answer.status == 429 {
                refused = Some(parsed(&answer));
                break;
            }
        }
        let refused = refused.unwrap_or_else(|| panic!("{body}: thirty within a second"));
        assert_eq!(refused["error"]["code"], -31429, "{refused}");
        // A small request is read for its id.
        let id = if body == "{" { Value::Null } else { json!(7) };
        assert_eq!(refused["id"], id, "{refused}");
        tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    }
    server.stop().await;
}

#[tokio::test]
async fn limits_can_be_off() {
    let mut config = limited(1);
    config.rate_limit = monas::config::Switch::Off;
    let server = Running::serve(&config).await;
    for _ in 0..40 {
        let answer = send(&server, "ada", ("GET", "/api/agents"), &[], "").await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn errors_of_the_api_have_one_form() {
    let server = Running::living(&with_callers()).await;
    let wrong = [("authorization", "Bearer nonsense")];
    let none: [(&str, &str); 0] = [];
    for (caller, headers, (method, path), status, error, code) in [
        (
            "",
            &none[..],
            ("GET", "/api/agents"),
            401,
            "unauthorized",
            "unauthorized",
        ),
        (
            "",
            &wrong[..],
            ("GET", "/api/agents"),
            401,
            "invalid token",
            "invalid_token",
        ),
        (
            "",
            &none[..],
            ("GET", "/api/audit"),
            401,
            "unauthorized",
            "unauthorized",
        ),
        (
            "ada",
            &none[..],
            ("GET", "/api/nothing"),
            404,
            "",
            "not_found",
        ),
        (
            "ada",
            &none[..],
            ("DELETE", "/api/agents"),
            405,
            "",
            "method_not_allowed",
        ),
        (
            "ada",
            &none[..],
            ("GET", "/api/agent/why"),
            422,
            "question is missing",
            "invalid",
        ),
        (
            "ada",
            &none[..],
            ("GET", "/api/audit?limit=x"),
            422,
            "",
            "invalid",
        ),
        ("bob", &none[..], ("GET", "/api/audit"), 403, "", ""),
    ] {
        let answer = send(&server, caller, (method, path), headers, "").await;
        let said = parsed(&answer);
        assert_eq!(answer.status, status, "{method} {path}: {said}");
        assert!(
            said["error"].is_string() && said["code"].is_string(),
            "{said}"
        );
        let members = said.as_object().unwrap().keys();
        let known = ["error", "code", "field", "hint"];
        assert!(members.clone().all(|it| known.contains(&&**it)), "{said}");
        if !error.is_empty() {
            assert_eq!(said["error"], error, "{path}");
        }
        if !code.is_empty() {
            assert_eq!(said["code"], code, "{path}");
        }
        if status == 401 {
            assert!(answer.headers.contains_key("www-authenticate"), "{path}");
        }
        if status == 422 {
            assert!(said["field"] != Value::Null, "{said}");
        }
    }
    server.stop().await;
}

/// A flood of bad tokens is counted, and neither fills the trail nor takes the calls of those who are known.
#[tokio::test]
async fn a_flood_of_bad_tokens_harms_no_other_caller() {
    let server = Running::serve(&limited(1000)).await;
    let wrong = [("authorization", "Bearer wrong"), ("a2a-version", "1.0")];
    let mut client = server.client(crate::support::http::Version::One).await;
    for _ in 0..300 {
        let mut request = client.request("GET", "localhost", "/a2a/rest/tasks");
        for (name, value) in wrong {
            request = request.header(name, value);
        }
        let answer = client.send(request.body("".into()).unwrap()).await;
        assert_eq!(answer.status, 401);
    }
    let version = [("a2a-version", "1.0")];
    let good = send(&server, "ada", ("GET", "/a2a/rest/tasks"), &version, "").await;
    assert_eq!(good.status, 200, "{good:?}");
    let metrics = send(&server, "ada", ("GET", "/metrics"), &[], "")
        .await
        .text;
    let counted = r#"monas_requests_total{wire="a2a/rest",version="",operation="unknown",outcome="unauthenticated"} 300"#;
    assert!(metrics.contains(counted), "{metrics}");
    let unwritten = "monas_limits_hit_total{limit=\"refusals_written\"} ";
    let line = metrics.lines().find_map(|it| it.strip_prefix(unwritten));
    assert!(line.unwrap().parse::<u64>().unwrap() >= 200, "{metrics}");
    server.stop().await;
}
