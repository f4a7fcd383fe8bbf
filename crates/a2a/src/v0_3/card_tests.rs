//! Cards of 1.0, as 0.3 reads them.

use serde_json::{Value, json};

use super::card::{old, proto, renewed, union};

fn card() -> Value {
    json!({
        "name": "Ada", "description": "d", "version": "1", "skills": [
            { "id": "s", "securityRequirements": [{ "schemes": { "key": {} } }] },
        ],
        "supportedInterfaces": [
            { "url": "https://a/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0" },
            { "url": "https://a/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "0.3" },
            { "url": "a:443", "protocolBinding": "GRPC", "protocolVersion": "0.3" },
        ],
        "capabilities": { "streaming": true, "extendedAgentCard": true },
        "securityRequirements": [{ "schemes": { "login": { "list": ["read"] } } }],
        "securitySchemes": {
            "key": { "apiKeySecurityScheme": { "location": "header", "name": "X-Key" } },
            "http": { "httpAuthSecurityScheme": { "scheme": "Bearer", "bearerFormat": "JWT" } },
            "login": { "oauth2SecurityScheme": { "flows": {
                "authorizationCode": { "authorizationUrl": "u", "tokenUrl": "t", "scopes": {}, "pkceRequired": true },
            }}},
            "oidc": { "openIdConnectSecurityScheme": { "openIdConnectUrl": "o" } },
            "tls": { "mtlsSecurityScheme": { "description": "certificate" } },
        },
    })
}

#[test]
fn a_card_of_0_3_has_what_clients_of_0_3_look_for() {
    let expected = json!({
        "name": "Ada", "description": "d", "version": "1", "protocolVersion": "0.3.0",
        "url": "https://a/rpc", "preferredTransport": "JSONRPC",
        "additionalInterfaces": [
            { "url": "https://a/rpc", "transport": "JSONRPC" },
            { "url": "a:443", "transport": "GRPC" },
        ],
        "capabilities": { "streaming": true },
        "defaultInputModes": [], "defaultOutputModes": [],
        "supportsAuthenticatedExtendedCard": true,
        "skills": [{ "id": "s", "security": [{ "key": [] }] }],
        "security": [{ "login": ["read"] }],
        "securitySchemes": {
            "key": { "type": "apiKey", "in": "header", "name": "X-Key" },
            "http": { "type": "http", "scheme": "Bearer", "bearerFormat": "JWT" },
            "login": { "type": "oauth2", "flows": {
                "authorizationCode": { "authorizationUrl": "u", "tokenUrl": "t", "scopes": {} },
            }},
            "oidc": { "type": "openIdConnect", "openIdConnectUrl": "o" },
            "tls": { "type": "mutualTLS", "description": "certificate" },
        },
    });
    assert_eq!(old(card()), expected);
}

/// Readers of 0.3 refused the card of an agent that said nothing of itself.
#[test]
fn a_card_that_says_little_has_all_that_0_3_requires() {
    let bare = json!({ "supportedInterfaces": card()["supportedInterfaces"] });
    let both = union(bare);
    for name in ["name", "description", "version"] {
        assert_eq!(both[name], "", "{name}");
    }
    for name in ["defaultInputModes", "defaultOutputModes", "skills"] {
        assert_eq!(both[name], json!([]), "{name}");
    }
    assert_eq!(both["capabilities"], json!({}));
}

#[test]
fn a_union_holds_both_cards_whole() {
    let both = union(card());
    assert!(holds(&both, &card()), "{both}");
    assert!(holds(&both, &old(card())), "{both}");
    assert_eq!(both["skills"].as_array().unwrap().len(), 1);
}

/// Whether all of `part` is in `whole`, which may have more members.
fn holds(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part
            .iter()
            .all(|(name, value)| whole.get(name).is_some_and(|it| holds(it, value))),
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(it, value)| holds(it, value))
        }
        (whole, part) => whole == part,
    }
}

#[test]
fn a_card_without_addresses_of_0_3_stays_as_it_is() {
    let mut new = card();
    new["supportedInterfaces"]
        .as_array_mut()
        .unwrap()
        .truncate(1);
    assert_eq!(union(new.clone()), new);
}

#[test]
fn protobuf_keeps_security_as_it_is() {
    let (new, old) = (card(), proto(card()));
    assert_eq!(old["securitySchemes"], new["securitySchemes"]);
    assert_eq!(old["security"], new["securityRequirements"]);
    let skill = &new["skills"][0]["securityRequirements"];
    assert_eq!(&old["skills"][0]["security"], skill);
}

#[test]
fn security_is_read_in_both_dialects() {
    let new = json!({
        "supportedInterfaces": [
            { "url": "http://a", "protocolBinding": "GRPC", "protocolVersion": "0.3" },
        ],
        "securitySchemes": { "tokens": { "httpAuthSecurityScheme": { "scheme": "Bearer" } } },
        "securityRequirements": [{ "schemes": { "tokens": { "list": ["a2a"] } } }],
    });
    for old in [old(new.clone()), proto(new.clone())] {
        let read = renewed(old);
        assert_eq!(read["securitySchemes"], new["securitySchemes"]);
        assert_eq!(read["securityRequirements"], new["securityRequirements"]);
    }
}
