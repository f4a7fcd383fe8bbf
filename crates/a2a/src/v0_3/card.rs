//! Cards: as 0.3 has them, and such that readers of either version find what they look for.

use serde_json::{Map, Value, json};

use super::VERSION;
use super::content::{self, Taken as _};

/// The version that a card of 0.3 names.
const PROTOCOL_VERSION: &str = "0.3.0";

/// What a card has under the same name in both versions.
const SAME: &[(&str, &str)] = &[
    ("name", "name"),
    ("description", "description"),
    ("provider", "provider"),
    ("version", "version"),
    ("documentationUrl", "documentationUrl"),
    ("iconUrl", "iconUrl"),
    ("defaultInputModes", "defaultInputModes"),
    ("defaultOutputModes", "defaultOutputModes"),
    ("skills", "skills"),
    ("capabilities", "capabilities"),
    ("signatures", "signatures"),
];

/// What a card of 0.3 has also when there is nothing to say: its readers refuse one without.
fn required() -> [(&'static str, Value); 7] {
    [
        ("name", json!("")),
        ("description", json!("")),
        ("version", json!("")),
        ("capabilities", json!({})),
        ("defaultInputModes", json!([])),
        ("defaultOutputModes", json!([])),
        ("skills", json!([])),
    ]
}

/// A kind of security scheme: its name in 1.0, its type in 0.3, and its fields by both names.
type Scheme = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

const SCHEMES: &[Scheme] = &[
    (
        "apiKeySecurityScheme",
        "apiKey",
        &[("location", "in"), ("name", "name")],
    ),
    (
        "httpAuthSecurityScheme",
        "http",
        &[("scheme", "scheme"), ("bearerFormat", "bearerFormat")],
    ),
    (
        "oauth2SecurityScheme",
        "oauth2",
        &[
            ("flows", "flows"),
            ("oauth2MetadataUrl", "oauth2MetadataUrl"),
        ],
    ),
    (
        "openIdConnectSecurityScheme",
        "openIdConnect",
        &[("openIdConnectUrl", "openIdConnectUrl")],
    ),
    ("mtlsSecurityScheme", "mutualTLS", &[]),
];

/// A card that readers of 1.0 and of 0.3 understand: all of the first, and beside it what only the second
/// look for. Each ignores what it does not know. A signature of the 1.0 card holds for who reads that.
pub fn union(mut new: Value) -> Value {
    let old = old(new.clone());
    // Without an address a client of 0.3 has nothing to call.
    if old.get("url").is_some() {
        add(&mut new, old);
    }
    new
}

/// Adds what is missing, also inside of what is there.
fn add(to: &mut Value, more: Value) {
    match (to, more) {
        (Value::Object(to), Value::Object(more)) => {
            for (name, value) in more {
                match to.get_mut(&name) {
                    Some(there) => add(there, value),
                    None => _ = to.insert(name, value),
                }
            }
        }
        (Value::Array(to), Value::Array(more)) => {
            for (there, value) in to.iter_mut().zip(more) {
                add(there, value);
            }
        }
        _ => {}
    }
}

/// A card of either version as 1.0 has it. One that lists interfaces is one of 1.0.
pub(crate) fn renewed(card: Value) -> Value {
    let Value::Object(mut old) = card else {
        return card;
    };
    let listed = old.get("supportedInterfaces").and_then(Value::as_array);
    if listed.is_some_and(|interfaces| !interfaces.is_empty()) {
        return old.into();
    }
    let mut new = old.taken(SAME);
    let version = old.remove("protocolVersion");
    let version = version.unwrap_or_else(|| PROTOCOL_VERSION.into());
    let first = json!({
        "url": old.remove("url"),
        "transport": old.remove("preferredTransport").unwrap_or_else(|| "JSONRPC".into()),
    });
    let mut interfaces = Vec::new();
    let more = old.remove("additionalInterfaces").unwrap_or_default();
    for it in std::iter::once(&first).chain(more.as_array().into_iter().flatten()) {
        let interface = json!({
            "url": it["url"],
            "protocolBinding": it["transport"],
            "protocolVersion": version,
        });
        if it["url"].is_string() && !interfaces.contains(&interface) {
            interfaces.push(interface);
        }
    }
    new.insert("supportedInterfaces".to_owned(), interfaces.into());
    let extended = old.remove("supportsAuthenticatedExtendedCard");
    if let Some(extended @ Value::Bool(_)) = extended {
        let capabilities = new.entry("capabilities").or_insert_with(|| json!({}));
        capabilities["extendedAgentCard"] = extended;
    }
    if let Some(Value::Object(schemes)) = old.remove("securitySchemes") {
        let schemes = schemes.into_iter();
        let schemes = schemes.filter_map(|(name, old)| Some((name, new_scheme(old)?)));
        let schemes: Map<_, _> = schemes.collect();
        new.insert("securitySchemes".to_owned(), schemes.into());
    }
    if let Some(Value::Array(security)) = old.remove("security") {
        let requirement = |old: Value| -> Value {
            // The dialect of protobuf has it as 1.0 does.
            if old["schemes"].is_object() {
                return old;
            }
            let scopes = content::object(old).into_iter();
            let schemes: Map<_, _> = scopes
                .map(|(name, scopes)| (name, json!({ "list": scopes })))
                .collect();
            json!({ "schemes": schemes })
        };
        let security: Vec<_> = security.into_iter().map(requirement).collect();
        new.insert("securityRequirements".to_owned(), security.into());
    }
    new.into()
}

fn new_scheme(old: Value) -> Option<Value> {
    let mut old = content::object(old);
    let Some(kind) = old.remove("type") else {
        // The dialect of protobuf has it as 1.0 does.
        let known = SCHEMES.iter().any(|(new, ..)| old.contains_key(*new));
        return known.then(|| old.into());
    };
    let (which, _, names) = SCHEMES.iter().find(|(_, old, _)| kind == **old)?;
    let names: Vec<_> = names.iter().map(|(new, old)| (*old, *new)).collect();
    let mut new = old.taken(&[("description", "description")]);
    new.append(&mut old.taken(&names));
    Some(json!({ *which: new }))
}

/// A card of 1.0 as 0.3 has it, in the dialect of its JSON schema.
pub fn old(new: Value) -> Value {
    let Value::Object(mut new) = new else {
        return new;
    };
    let mut old = new.taken(SAME);
    for (name, nothing) in required() {
        old.entry(name).or_insert(nothing);
    }
    old.insert("protocolVersion".to_owned(), PROTOCOL_VERSION.into());
    addresses(&new, &mut old);
    let mut extended = Value::Bool(false);
    if let Some(Value::Object(capabilities)) = old.get_mut("capabilities") {
        extended = capabilities.remove("extendedAgentCard").unwrap_or(extended);
    }
    old.insert("supportsAuthenticatedExtendedCard".to_owned(), extended);
    security(&mut new, &mut old);
    if let Some(Value::Array(skills)) = old.get_mut("skills") {
        for skill in skills.iter_mut().filter_map(Value::as_object_mut) {
            let mut asked = skill.clone();
            skill.remove("securityRequirements");
            security(&mut asked, skill);
        }
    }
    if let Some(Value::Object(schemes)) = new.remove("securitySchemes") {
        let schemes = schemes.into_iter();
        let schemes = schemes.filter_map(|(name, new)| Some((name, scheme(new)?)));
        let schemes: Map<_, _> = schemes.collect();
        old.insert("securitySchemes".to_owned(), schemes.into());
    }
    old.into()
}

/// The same in the dialect of protobuf, where security is written as in 1.0.
pub(super) fn proto(mut new: Value) -> Value {
    let mut card = old(new.clone());
    let take = |new: &mut Value, old: &mut Value| {
        for (from, to) in [
            ("securitySchemes", "securitySchemes"),
            ("securityRequirements", "security"),
        ] {
            if let Some(value) = new.get_mut(from) {
                old[to] = value.take();
            }
        }
    };
    take(&mut new, &mut card);
    let skills = (new["skills"].as_array_mut(), card["skills"].as_array_mut());
    if let (Some(new), Some(old)) = skills {
        for (new, old) in new.iter_mut().zip(old) {
            take(new, old);
        }
    }
    card
}

/// Where 0.3 is spoken: the first address is the one to call.
fn addresses(new: &Map<String, Value>, old: &mut Map<String, Value>) {
    let interfaces = new.get("supportedInterfaces").and_then(Value::as_array);
    let spoken = |interface: &&Value| interface["protocolVersion"] == VERSION;
    let spoken = interfaces.into_iter().flatten().filter(spoken);
    let spoken: Vec<Value> = spoken
        .map(|it| json!({ "url": it["url"], "transport": it["protocolBinding"] }))
        .collect();
    if let Some(first) = spoken.first() {
        old.insert("url".to_owned(), first["url"].clone());
        old.insert("preferredTransport".to_owned(), first["transport"].clone());
    }
    old.insert("additionalInterfaces".to_owned(), spoken.into());
}

/// The credentials that a caller must prove: scopes by the names of schemes.
fn security(new: &mut Map<String, Value>, old: &mut Map<String, Value>) {
    let Some(Value::Array(requirements)) = new.remove("securityRequirements") else {
        return;
    };
    let requirement = |mut new: Value| -> Value {
        let schemes = match new.get_mut("schemes").map(Value::take) {
            Some(Value::Object(schemes)) => schemes,
            _ => Map::new(),
        };
        let scopes = |scopes: &Value| scopes.get("list").cloned().unwrap_or_else(|| json!([]));
        let schemes = schemes.iter();
        let schemes: Map<_, _> = schemes
            .map(|(name, it)| (name.clone(), scopes(it)))
            .collect();
        schemes.into()
    };
    let security: Vec<Value> = requirements.into_iter().map(requirement).collect();
    old.insert("security".to_owned(), security.into());
}

/// A security scheme, which 0.3 writes as OpenAPI does. One that it does not know is left out.
fn scheme(new: Value) -> Option<Value> {
    let Value::Object(new) = new else {
        return None;
    };
    let (which, Value::Object(mut new)) = new.into_iter().next()? else {
        return None;
    };
    let mut old = new.taken(&[("description", "description")]);
    let (_, kind, names) = SCHEMES.iter().find(|(new, ..)| *new == which)?;
    old.append(&mut new.taken(names));
    if let Some(Value::Object(flows)) = old.get_mut("flows") {
        // Neither is known to 0.3.
        flows.remove("deviceCode");
        for flow in flows.values_mut().filter_map(Value::as_object_mut) {
            flow.remove("pkceRequired");
        }
    }
    old.insert("type".to_owned(), (*kind).into());
    Some(old.into())
}
