//! Cards are found and read in either version.

use serde_json::json;

use super::card::{places, read};
use super::{Settings, Version, endpoint};

fn found(url: &str) -> Vec<String> {
    let places = places(url).unwrap();
    places.iter().map(ToString::to_string).collect()
}

#[test]
fn a_card_is_looked_for_below_its_address_and_at_its_host() {
    let host = [
        "http://a.example/.well-known/agent-card.json",
        "http://a.example/.well-known/agent.json",
    ];
    assert_eq!(found("http://a.example"), host);
    assert_eq!(found("a.example/"), host);
    let below = found("http://a.example/one/");
    assert_eq!(below[0], "http://a.example/one/.well-known/agent-card.json");
    assert_eq!(below[2..], host);
    assert_eq!(
        found("https://a.example/cards/x.json"),
        ["https://a.example/cards/x.json"]
    );
}

#[test]
fn a_card_of_0_3_is_read_as_one_of_1_0() {
    let old = json!({
        "name": "old", "description": "an old one", "version": "1", "protocolVersion": "0.3.0",
        "url": "http://a.example/rpc", "preferredTransport": "JSONRPC",
        "additionalInterfaces": [
            { "url": "http://a.example/rpc", "transport": "JSONRPC" },
            { "url": "a.example:50051", "transport": "GRPC" },
            { "url": "http://a.example/x", "transport": "SMOKE" },
        ],
        "capabilities": { "streaming": true },
        "supportsAuthenticatedExtendedCard": true,
        "security": [{ "key": ["read"] }],
        "securitySchemes": { "key": { "type": "apiKey", "in": "header", "name": "X-Key" } },
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [],
    });
    let card = read(old, None).unwrap().card;
    let capabilities = card.capabilities.as_ref().unwrap();
    assert_eq!(capabilities.extended_agent_card, Some(true));
    assert_eq!(capabilities.streaming, Some(true));
    let written = serde_json::to_value(&card).unwrap();
    let scheme = &written["securitySchemes"]["key"]["apiKeySecurityScheme"];
    assert_eq!(scheme, &json!({ "location": "header", "name": "X-Key" }));
    let required = &written["securityRequirements"][0]["schemes"]["key"];
    assert_eq!(required, &json!({ "list": ["read"] }));
    let endpoints = endpoint::choose(&card, &Settings::default(), false).unwrap();
    let keys: Vec<_> = endpoints
        .iter()
        .map(|endpoint| (endpoint.binding.key, endpoint.version))
        .collect();
    assert_eq!(keys, [("jsonrpc", Version::V0_3), ("grpc", Version::V0_3)]);
}

#[test]
fn what_is_no_card_is_refused() {
    assert!(read(json!([]), None).is_err());
    assert!(read(json!({ "name": 7 }), None).is_err());
}
