//! Signed cards against the official SDKs: each verifies what the other signed, and refuses what was changed.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use a2a::signature::{Algorithm, SigningKey, TrustedKeys};
use a2a::types::AgentCard;
use a2a::types::wire::WireMessage as _;
use serde_json::{Value, json};

use crate::types::official::Official;

/// A card with everything that implementations could disagree about.
fn card() -> Value {
    json!({
        "name": "Ada", "description": "tells \u{20ac} and \u{1f600}\n\"apart\"", "version": "1.0",
        "supportedInterfaces": [
            { "url": "https://ada.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0" },
        ],
        "capabilities": { "streaming": false, "extensions": [{
            "uri": "urn:example:numbers", "required": true,
            "params": { "\u{fb33}": 1, "\u{1f600}": 1e21, "small": 1.5e-7, "whole": 100, "empty": "", "none": {} },
        }]},
        "securitySchemes": { "key": { "apiKeySecurityScheme": { "location": "header", "name": "X-Key" } } },
        "securityRequirements": [{ "schemes": { "key": {} } }],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{ "id": "s", "name": "s", "description": "d", "tags": ["t"], "examples": ["", "one"] }],
    })
}

fn python(question: &Value) -> Value {
    Official::ask(question)
}

fn javascript(question: &Value) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/a2a/js");
    let node = std::env::var_os("MONAS_NODE").unwrap_or_else(|| "node".into());
    let mut node = Command::new(node)
        .arg(folder.join("signature.mjs"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`cargo xtask test` sets up node and its packages");
    let mut input = node.stdin.take().unwrap();
    input.write_all(question.to_string().as_bytes()).unwrap();
    drop(input);
    let output = node.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Asks for a signature with a key that we made, and for the verification of ours; `form` is how the SDK
/// wants a card to be handed over.
fn check(ask: fn(&Value) -> Value, form: fn(&Value) -> Value) {
    for algorithm in [Algorithm::Es256, Algorithm::EdDsa] {
        let pem = SigningKey::generate(algorithm).unwrap();
        let key = SigningKey::from_pem(&pem).unwrap();
        let trusted = TrustedKeys::read(&key.public_jwk().to_string()).unwrap();
        let name = algorithm.name();

        let signed = ask(&json!({
            "do": "sign", "card": form(&card()), "key": pem, "alg": name, "kid": key.id(),
        }));
        let signed: Value = match signed {
            Value::String(text) => serde_json::from_str(&text).unwrap(),
            signed => signed,
        };
        let verified = trusted.verify_value(signed.clone());
        assert_eq!(verified.unwrap().card.name, "Ada", "{name}");
        let mut changed = signed;
        changed["skills"][0]["description"] = "other".into();
        assert!(trusted.verify_value(changed).is_err(), "{name}");

        let mut ours = AgentCard::from_json(card().to_string().as_bytes()).unwrap();
        key.sign_card(&mut ours).unwrap();
        let mut ours = serde_json::to_value(&ours).unwrap();
        let verify = |card: &Value| {
            ask(&json!({
                "do": "verify", "card": form(card), "key": key.public_pem(), "alg": name,
            }))
        };
        assert_eq!(verify(&ours), true, "{name}");
        // What only version 0.3 knows may stand beside it.
        ours["url"] = "https://ada.example/old".into();
        assert_eq!(verify(&ours), true, "{name}");
        ours["name"] = "Eve".into();
        assert!(verify(&ours).get("error").is_some(), "{name}");
    }
}

#[test]
fn signatures_hold_in_the_official_python_sdk_and_its_here() {
    check(python, |card| card.to_string().into());
}

#[test]
fn signatures_hold_in_the_official_javascript_sdk_and_its_here() {
    check(javascript, Value::clone);
}
