//! The bindings, derived from the table: each serves every row, and none names one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use a2a::binding::{self, Address, BINDINGS, BindingUse, BindingUses, Wire};
use a2a::limits::Limits;
use a2a::operation::{Operation, Replies, Route, TABLE, Verb};
use a2a::types::{AgentCapabilities, AgentCard};
use axum::Router;
use axum::body::Body;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::server::support::{Bench, Script, config, in_memory};

mod malformed;
mod subscriptions;

async fn router(offers: &BindingUses) -> Router {
    let mut config = config();
    config
        .card
        .capabilities
        .get_or_insert_default()
        .extended_agent_card = Some(true);
    config.extended_card = Some(AgentCard::default());
    let bench = Bench::with(config, in_memory(), Script::new()).await;
    binding::routes(
        &Wire::new(Arc::new(bench.server.clone()), Limits::default()),
        offers,
    )
}

async fn ask(
    router: &Router,
    request: http::request::Builder,
    body: Vec<u8>,
) -> (Response<()>, Vec<u8>) {
    let request = request
        .header("a2a-version", "1.0")
        .body(Body::from(body))
        .unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let (head, body) = response.into_parts();
    (
        Response::from_parts(head, ()),
        body.collect().await.unwrap().to_bytes().to_vec(),
    )
}

async fn json_rpc(router: &Router, method: &str, params: &Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = Request::post("/a2a/jsonrpc").header("content-type", "application/json");
    let (_, body) = ask(router, request, body.to_string().into()).await;
    serde_json::from_slice(&body).unwrap()
}

/// A path with every open part filled with the same text.
fn fill(route: &Route, text: &str) -> String {
    let segments = route
        .path
        .split('/')
        .map(|segment| match segment.split_once('}') {
            Some((_, suffix)) => format!("{text}{suffix}"),
            None => segment.to_owned(),
        });
    segments.collect::<Vec<_>>().join("/")
}

async fn rest(router: &Router, route: &Route) -> Response<()> {
    let request = Request::builder()
        .method(route.verb.as_str())
        .uri(format!("/a2a/rest{}", fill(route, "x")));
    let (request, body) = match route.verb {
        Verb::Post => (
            request.header("content-type", "application/json"),
            b"{}".to_vec(),
        ),
        Verb::Get | Verb::Delete => (request, Vec::new()),
    };
    ask(router, request, body).await.0
}

async fn grpc(router: &Router, name: &str) -> i32 {
    let request = Request::post(format!("/lf.a2a.v1.A2AService/{name}"))
        .header("content-type", "application/grpc");
    // One message of no bytes.
    let (head, _) = ask(router, request, vec![0; 5]).await;
    head.headers()
        .get("grpc-status")
        .map_or(0, |status| status.to_str().unwrap().parse().unwrap())
}

#[tokio::test]
async fn every_binding_serves_every_row() {
    let router = router(&BindingUses::default()).await;
    for row in TABLE {
        // An empty request is refused for what it lacks, never because the operation is unknown.
        let reply = json_rpc(&router, row.name, &json!({})).await;
        assert_ne!(reply["error"]["code"], -32601, "{}", row.name);
        assert_ne!(grpc(&router, row.name).await, 12, "{}", row.name);
        for route in row.routes {
            let status = rest(&router, route).await.status();
            let known = status != 405 && (status != 404 || !row.routes[0].path.contains("message"));
            assert!(known, "{} {}: {status}", route.verb.as_str(), route.path);
        }
    }
    assert_eq!(
        json_rpc(&router, "Nonsense", &json!({})).await["error"]["code"],
        -32601
    );
    assert_eq!(grpc(&router, "Nonsense").await, 12);
}

#[tokio::test]
async fn a_row_means_the_same_on_every_binding() {
    let router = router(&BindingUses::default()).await;
    for row in TABLE {
        let by_json_rpc = json_rpc(&router, row.name, &ids(row)).await;
        let status = rest(&router, &row.routes[0]).await.status().as_u16();
        let expected = match by_json_rpc["error"]["code"].as_i64() {
            None => 200,
            Some(-32001) => 404,
            Some(-32602) => 400,
            other => panic!("{}: {other:?}", row.name),
        };
        assert_eq!(status, expected, "{}", row.name);
    }
}

/// The fields that REST has in its path.
fn ids(row: &Operation) -> Value {
    let parts = row.routes[0]
        .path
        .split('{')
        .skip(1)
        .filter_map(|part| part.split_once('}'));
    parts
        .map(|(name, _)| (name.to_owned(), json!("x")))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[test]
fn bindings_name_no_operation() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/binding");
    let mut looked_at = 0;
    for file in files(&folder) {
        let source = fs::read_to_string(&file).unwrap();
        looked_at += 1;
        for row in TABLE {
            assert!(
                !source.contains(row.name),
                "{} names {}",
                file.display(),
                row.name
            );
            for route in row.routes {
                let literal = route.path.split('{').next().unwrap();
                assert!(
                    !source.contains(&format!("\"{literal}")),
                    "{} has the path {}",
                    file.display(),
                    route.path
                );
            }
        }
    }
    assert!(looked_at > 5, "the sources have moved");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn the_table_is_the_protocols() {
    let shown: Vec<String> = TABLE
        .iter()
        .map(|row| {
            let many = if row.replies == Replies::Many {
                "stream "
            } else {
                ""
            };
            let routes: Vec<String> = row
                .routes
                .iter()
                .map(|route| format!("{} {}", route.verb.as_str(), route.path))
                .collect();
            let (request, reply) = ((row.request)().name, (row.reply)().name);
            format!(
                "{}({}): {request} -> {many}{reply} at {}",
                row.name,
                row.positional.join(", "),
                routes.join(" and ")
            )
        })
        .collect();
    expect_test::expect_file!["binding/table.txt"].assert_eq(&format!("{}\n", shown.join("\n")));
}

#[tokio::test]
async fn what_is_off_is_neither_served_nor_listed_and_what_is_preferred_comes_first() {
    let mut offers = BindingUses::default();
    offers.set("jsonrpc", BindingUse::Deprecated).unwrap();
    offers.set("rest", BindingUse::Off).unwrap();
    offers.set("capnweb", BindingUse::Preferred).unwrap();
    assert_eq!(offers.set("telegraph", BindingUse::On), None);
    let router = router(&offers).await;
    let route = &TABLE[3].routes[0];
    assert_eq!(rest(&router, route).await.status(), 404);
    let request = Request::post("/a2a/jsonrpc").header("content-type", "application/json");
    let (head, _) = ask(&router, request, b"{}".to_vec()).await;
    assert_eq!(head.headers()["deprecation"], "true");

    let mut card = AgentCard {
        capabilities: Some(AgentCapabilities::default()),
        ..AgentCard::default()
    };
    let address = Address {
        encrypted: true,
        authority: "example.com:8443".to_owned(),
        path: String::new(),
        tenant: None,
    };
    binding::declare(&mut card, &offers, &address);
    let listed: Vec<_> = card
        .supported_interfaces
        .iter()
        .map(|it| (&*it.protocol_version, &*it.protocol_binding, &*it.url))
        .collect();
    assert_eq!(
        listed,
        [
            (
                "1.0",
                "urn:monas:a2a:binding:capnweb:1",
                "https://example.com:8443/a2a/capnweb"
            ),
            ("1.0", "GRPC", "example.com:8443"),
            (
                "1.0",
                "urn:monas:a2a:binding:websocket:1",
                "wss://example.com:8443/ws/a2a"
            ),
            ("1.0", "JSONRPC", "https://example.com:8443/a2a/jsonrpc"),
            ("0.3", "CAPNWEB", "https://example.com:8443/a2a/capnweb"),
            ("0.3", "GRPC", "example.com:8443"),
            ("0.3", "WEBSOCKET", "wss://example.com:8443/ws/a2a"),
            ("0.3", "JSONRPC", "https://example.com:8443/a2a/jsonrpc"),
        ]
    );
    assert_eq!(
        card.capabilities.unwrap().extensions[0].uri,
        binding::DEPRECATED
    );
    assert_eq!(BINDINGS.len(), 5);
    for (name, key) in [
        ("CAPNWEB", "capnweb"),
        ("urn:monas:a2a:binding:capnweb:1", "capnweb"),
        ("HTTP+JSON", "rest"),
    ] {
        assert_eq!(binding::Binding::named(name).unwrap().key, key);
    }
    assert!(binding::Binding::named("SMTP").is_none());
}

#[tokio::test]
async fn the_card_is_cached() {
    let card = AgentCard {
        name: "cached".to_owned(),
        ..AgentCard::default()
    };
    let router = binding::card::routes(&card, binding::card::View::Both);
    for path in binding::CARD_PATHS {
        let (head, body) = ask(&router, Request::get(path), Vec::new()).await;
        assert_eq!(head.headers()["content-type"], "application/json");
        assert!(
            head.headers()["cache-control"]
                .to_str()
                .unwrap()
                .contains("max-age")
        );
        assert_eq!(
            serde_json::from_slice::<Value>(&body).unwrap()["name"],
            "cached"
        );
        for (name, value) in [
            ("if-none-match", head.headers()["etag"].clone()),
            ("if-none-match", "\"other\", *".parse().unwrap()),
            ("if-modified-since", head.headers()["last-modified"].clone()),
        ] {
            let (again, body) =
                ask(&router, Request::get(path).header(name, value), Vec::new()).await;
            assert_eq!((again.status().as_u16(), body.len()), (304, 0), "{name}");
            assert_eq!(again.headers()["etag"], head.headers()["etag"]);
        }
        for (name, value) in [
            ("if-none-match", "\"other\""),
            ("if-modified-since", "Thu, 01 Jan 1970 00:00:00 GMT"),
            ("if-modified-since", "yesterday"),
        ] {
            let (again, _) = ask(&router, Request::get(path).header(name, value), Vec::new()).await;
            assert_eq!(again.status(), 200, "{name}: {value}");
        }
    }
}
