//! `/openapi.json` and `/docs`: the routes of a server, described for programs (OpenAPI 3.1) and for people.
//!
//! The list of routes is the list of access rules, without which no route is served; what is said of each is in
//! `described`.

use std::fmt::Write as _;

use access::RouteRule;
use axum::Router;
use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderValue, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use described::named::NAMED;
use described::{Described, Kind, described};

pub(crate) mod described;

#[cfg(test)]
#[path = "openapi_tests.rs"]
mod tests;

/// The `Content-Security-Policy`: nothing is loaded and nothing runs; the style of the page is named by its hash.
fn policy() -> String {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;\
background:#fff}@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}code,pre{background:#262626}}\
h2{margin-top:2rem}summary{cursor:pointer;padding:.3rem 0}summary b{display:inline-block;min-width:4.5rem}\
code,pre{background:#f2f2f2;border-radius:4px;padding:.1rem .3rem}pre{overflow:auto;padding:.6rem}";

/// The routes of the document and of the page. They say nothing that is not in the documentation, and need no credentials.
pub fn routes(rows: &[RouteRule], url: &str) -> Router {
    let document = document(rows, url).to_string();
    let html = page(rows);
    Router::new()
        .route(
            "/openapi.json",
            get(async move || reply("application/json", document)),
        )
        .route(
            "/docs",
            get(async move || reply("text/html; charset=utf-8", html)),
        )
}

fn reply(kind: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    let policy = HeaderValue::try_from(policy()).expect("a hash is printable");
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    response
}

/// The document of these routes.
pub fn document(rows: &[RouteRule], url: &str) -> Value {
    let mut paths = Map::new();
    for row in rows {
        let about = described(row.verb, row.path);
        let path = paths.entry(row.path).or_insert_with(|| json!({}));
        path[row.verb.to_lowercase()] = operation(row, &about);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Monas",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The routes for people and their programs. Agents are called over A2A, MCP and ACP.",
        },
        "servers": [{ "url": url }],
        "paths": paths,
        "components": {
            "schemas": schemas(),
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "token": { "type": "apiKey", "in": "query", "name": "token" },
            },
        },
        // Whether credentials are needed is a setting of the server.
        "security": [{}, { "bearer": [] }, { "token": [] }],
    })
}

/// The schemas that others refer to.
fn schemas() -> Value {
    let named = NAMED.iter();
    let mut schemas: Map<String, Value> = named
        .map(|(name, fields)| ((*name).to_owned(), object(fields)))
        .collect();
    schemas.insert("Error".to_owned(), error_schema());
    schemas.into()
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["error", "code"],
        "properties": {
            "error": { "type": "string" },
            "code": { "type": "string" },
            "field": { "type": "string" },
            "hint": { "type": "string" },
        },
    })
}

/// The statuses of refusals, with what each stands for.
const REFUSALS: [(&str, &str); 12] = [
    ("400", "The body cannot be read."),
    ("401", "The caller is not known."),
    ("403", "The caller lacks the permission."),
    ("404", "It does not exist."),
    ("406", "The media type is not written."),
    ("409", "It does not fit the state."),
    ("413", "The body is too long."),
    ("415", "The media type is not read."),
    ("422", "A field is wrong; the error names it."),
    (
        "429",
        "One call too many; Retry-After says when to call again.",
    ),
    ("501", "The server does not keep it."),
    ("503", "The server cannot do it now."),
];

fn operation(row: &RouteRule, about: &Described) -> Value {
    let mut responses = Map::new();
    let (status, kind) = match about.reply {
        Kind::Upgrade => ("101", None),
        Kind::Json(_) => ("200", Some("application/json")),
        Kind::Other(kind) => ("200", Some(kind)),
    };
    let schema = match about.reply {
        Kind::Json(fields) => object(fields),
        _ => json!({}),
    };
    let kinds = kind.into_iter().flat_map(|it| it.split(", "));
    let content = kinds.map(|kind| (kind.to_owned(), json!({ "schema": schema })));
    let content: Map<String, Value> = content.collect();
    responses.insert(
        status.to_owned(),
        json!({ "description": about.summary, "content": content }),
    );
    for (status, why) in REFUSALS {
        let schema = json!({ "$ref": "#/components/schemas/Error" });
        let content = json!({ "application/json": { "schema": schema } });
        let refusal = json!({ "description": why, "content": content });
        responses.insert(status.to_owned(), refusal);
    }
    let mut operation = json!({
        "operationId": operation_id(row),
        "summary": about.summary,
        "tags": [tag(row.path)],
        "parameters": parameters(row.path, about),
        "responses": responses,
    });
    if let Some(permission) = row.rule.permission() {
        operation["x-permission"] = permission.name().into();
    }
    if !about.body.is_empty() {
        let schema = object(about.body);
        operation["requestBody"] = json!({
            "required": about.body.iter().any(|it| it.0.ends_with('!')),
            "content": { "application/json": { "schema": schema } },
        });
    }
    operation
}

fn operation_id(row: &RouteRule) -> String {
    let path = row.path.replace(['/', '{', '}', '-'], "_");
    format!("{}{path}", row.verb.to_lowercase())
}

/// The part of the path that a route belongs to.
fn tag(path: &str) -> &str {
    let mut segments = path.split('/').filter(|it| !it.is_empty());
    match (segments.next(), segments.next()) {
        (Some("api"), Some(second)) => second,
        (Some(first), _) => first,
        (None, _) => "",
    }
}

fn parameters(path: &str, about: &Described) -> Vec<Value> {
    let in_path = path.split('/').filter_map(|it| {
        let name = it.strip_prefix('{')?.strip_suffix('}')?;
        let schema = json!({ "type": "string" });
        Some(json!({ "name": name, "in": "path", "required": true, "schema": schema }))
    });
    let in_query = about.query.iter().map(|(name, says)| {
        let (name, required) = required(name);
        let schema = json!({ "type": "string" });
        json!({
            "name": name, "in": "query", "required": required, "description": says, "schema": schema,
        })
    });
    in_path.chain(in_query).collect()
}

/// A name, and whether it ends in the mark of what is required.
fn required(name: &str) -> (&str, bool) {
    match name.strip_suffix('!') {
        Some(name) => (name, true),
        None => (name, false),
    }
}

/// The schema of an object: its fields with their types, in words.
fn object(fields: &[(&str, &str)]) -> Value {
    let mut properties = Map::new();
    let mut needed = Vec::new();
    for (name, kind) in fields {
        let (name, is_needed) = required(name);
        if is_needed {
            needed.push(name);
        }
        properties.insert(name.to_owned(), schema(kind));
    }
    json!({ "type": "object", "required": needed, "properties": properties })
}

/// A type in a word; words with bars between them are the only values.
fn schema(kind: &str) -> Value {
    match kind {
        "string" | "boolean" | "integer" | "number" | "object" => json!({ "type": kind }),
        "string?" => json!({ "type": ["string", "null"] }),
        "list" => json!({ "type": "array" }),
        "strings" => json!({ "type": "array", "items": { "type": "string" } }),
        "objects" => json!({ "type": "array", "items": { "type": "object" } }),
        "integers" => json!({ "type": "array", "items": { "type": "integer" } }),
        "any" => json!({}),
        named if named.starts_with(|it: char| it.is_ascii_uppercase()) => {
            let (name, listed) = match named.strip_suffix("[]") {
                Some(name) => (name, true),
                None => (named, false),
            };
            let one = json!({ "$ref": format!("#/components/schemas/{name}") });
            match listed {
                true => json!({ "type": "array", "items": one }),
                false => one,
            }
        }
        words => {
            let words: Vec<&str> = words.split('|').collect();
            json!({ "type": "string", "enum": words })
        }
    }
}

/// The same for people: one page, which loads nothing.
fn page(rows: &[RouteRule]) -> String {
    let mut html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Monas: routes</title><style>{STYLE}</style><h1>Routes</h1><p>The routes for people and their programs. \
         Programs read <a href=\"/openapi.json\">/openapi.json</a>. Errors are <code>{{\"error\", \"code\", \"field\"?, \
         \"hint\"?}}</code>.</p>"
    );
    let mut tags: Vec<&str> = rows.iter().map(|row| tag(row.path)).collect();
    tags.sort_unstable();
    tags.dedup();
    for name in tags {
        let _ = write!(html, "<h2>{name}</h2>");
        for row in rows.iter().filter(|row| tag(row.path) == name) {
            shown(&mut html, row, &described(row.verb, row.path));
        }
    }
    html.push_str("</html>\n");
    html
}

fn shown(html: &mut String, row: &RouteRule, about: &Described) {
    let _ = write!(
        html,
        "<details><summary><b>{}</b> <code>{}</code> {}</summary>",
        row.verb, row.path, about.summary
    );
    if let Some(permission) = row.rule.permission() {
        let _ = write!(
            html,
            "<p>Needs the permission <code>{}</code>.</p>",
            permission.name()
        );
    }
    let reply = match about.reply {
        Kind::Json(fields) => fields,
        Kind::Other(_) | Kind::Upgrade => &[],
    };
    for (title, fields) in [
        ("Query", about.query),
        ("Body", about.body),
        ("Reply", reply),
    ] {
        if fields.is_empty() {
            continue;
        }
        let _ = write!(html, "<p>{title}</p><ul>");
        for (name, says) in fields {
            let (name, needed) = required(name);
            let needed = if needed { ", required" } else { "" };
            let _ = write!(html, "<li><code>{name}</code>: {says}{needed}</li>");
        }
        html.push_str("</ul>");
    }
    html.push_str("</details>");
}
