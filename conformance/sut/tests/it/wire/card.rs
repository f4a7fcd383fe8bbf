//! The public card: where it is, what it offers, and how caches keep it.

use axum::body::Body;
use serde_json::Value;

use super::caller::{Binding, Caller};
use crate::support::http::Answer;
use crate::support::sut::Sut;

const PATHS: [&str; 2] = ["/.well-known/agent-card.json", "/.well-known/agent.json"];

async fn get(caller: &mut Caller, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = caller.builder("GET", path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    caller.raw(request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn a_card_that_is_known_is_not_sent_again() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Rest).await;
    for path in PATHS {
        let whole = get(&mut caller, path, &[]).await;
        assert_eq!(whole.status, 200, "{path}");
        assert_eq!(whole.headers["content-type"], "application/json");
        assert!(
            whole.headers["cache-control"]
                .to_str()
                .unwrap()
                .contains("max-age="),
            "{whole:?}"
        );
        let tag = whole.headers["etag"].to_str().unwrap();
        let modified = whole.headers["last-modified"].to_str().unwrap();
        assert!(tag.starts_with('"') && tag.ends_with('"'), "{tag}");

        let listed = format!("\"other\", {tag}");
        let weak = format!("W/{tag}");
        for known in [
            [("if-none-match", tag)],
            [("if-none-match", &listed)],
            [("if-none-match", &weak)],
            [("if-none-match", "*")],
            [("if-modified-since", modified)],
        ] {
            let answer = get(&mut caller, path, &known).await;
            assert_eq!(
                (answer.status.as_u16(), answer.text.as_str()),
                (304, ""),
                "{known:?}"
            );
            assert_eq!(answer.headers["etag"], tag, "{known:?}");
            assert!(answer.headers.contains_key("cache-control"), "{known:?}");
        }
        for unknown in [
            &[("if-none-match", "\"other\"")][..],
            &[("if-modified-since", "Thu, 01 Jan 1970 00:00:00 GMT")],
            &[("if-modified-since", "nonsense")],
            // A tag says more than a date.
            &[
                ("if-none-match", "\"other\""),
                ("if-modified-since", modified),
            ],
        ] {
            let answer = get(&mut caller, path, unknown).await;
            assert_eq!(
                (answer.status.as_u16(), &answer.text),
                (200, &whole.text),
                "{unknown:?}"
            );
        }
    }
}

/// Fields that only one version has, at the outside of a card.
const ONLY_V0_3: [&str; 5] = [
    "url",
    "preferredTransport",
    "additionalInterfaces",
    "protocolVersion",
    "supportsAuthenticatedExtendedCard",
];

/// Readers of 1.0 that refuse unknown fields could not read the card of both versions.
#[tokio::test]
async fn the_card_is_that_of_the_version_which_its_reader_names() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Rest).await;
    caller.unset("a2a-version");
    for path in PATHS {
        let mut tags = Vec::new();
        for (version, old) in [
            (None, true),
            (Some("0.3"), true),
            (Some("1.0"), false),
            (Some("1.0.1"), false),
        ] {
            let named: Vec<_> = version.map(|it| ("a2a-version", it)).into_iter().collect();
            let answer = get(&mut caller, path, &named).await;
            assert_eq!(answer.headers["vary"], "A2A-Version");
            let card: Value = serde_json::from_str(&answer.text).unwrap();
            assert!(card["supportedInterfaces"].is_array(), "{version:?}");
            for field in ONLY_V0_3 {
                assert_eq!(card.get(field).is_some(), old, "{version:?} {field}");
            }
            tags.push(answer.headers["etag"].clone());
        }
        assert_eq!(tags[0], tags[1]);
        assert_eq!(tags[2], tags[3]);
        assert_ne!(tags[0], tags[2]);
        let query = get(&mut caller, &format!("{path}?A2A-Version=1.0"), &[]).await;
        assert_eq!(query.headers["etag"], tags[2]);
    }
}

#[tokio::test]
async fn the_card_needs_no_version_and_offers_every_binding() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Rest).await;
    caller.unset("a2a-version");
    let card: Value = serde_json::from_str(&get(&mut caller, PATHS[0], &[]).await.text).unwrap();
    let address = sut.address;
    let offered: Vec<_> = card["supportedInterfaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            [
                &one["protocolBinding"],
                &one["url"],
                &one["protocolVersion"],
            ]
            .map(|it| it.as_str().unwrap())
        })
        .collect();
    for (binding, url) in [
        ("JSONRPC", format!("http://{address}/a2a/jsonrpc")),
        ("HTTP+JSON", format!("http://{address}/a2a/rest")),
        ("GRPC", address.to_string()),
    ] {
        assert!(
            offered.contains(&[binding, &url, "1.0"]),
            "{binding} at {url}: {offered:?}"
        );
    }
    for required in ["name", "description", "version"] {
        assert!(
            card[required].as_str().is_some_and(|text| !text.is_empty()),
            "{required}"
        );
    }
    for required in ["defaultInputModes", "defaultOutputModes", "skills"] {
        assert!(
            card[required]
                .as_array()
                .is_some_and(|list| !list.is_empty()),
            "{required}"
        );
    }
    for capability in ["streaming", "pushNotifications"] {
        assert_eq!(card["capabilities"][capability], true, "{capability}");
    }
}
