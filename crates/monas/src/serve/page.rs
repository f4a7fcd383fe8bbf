//! The page at `/connect`: the agent, its addresses, and a command to try each binding; `/healthz` and `/readyz`; and the
//! fallbacks of all routes.

use std::fmt::{self, Display, Write};
use std::sync::Arc;
use std::time::SystemTime;

use a2a::binding::{Binding, challenge};
use a2a::types::AgentCard;
use access::{Door, Presented};
use axum::Router;
use axum::body::Bytes;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use store::Store;
use workspace::api::refusal;

use crate::serve::door;

mod ways;

pub(crate) use ways::Shown;

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/copy.js");

/// The logo: a circle with a dot, the old sign of the monad.
const SIGN: &str = r#"<svg viewBox="0 0 48 48" fill="none" aria-hidden="true"><circle cx="24" cy="24" r="21" stroke="currentColor" stroke-width="3"/><circle cx="24" cy="24" r="5.5" fill="currentColor"/></svg>"#;

/// The content of the page at `/connect`, which is HTML by its [`Display`].
///
/// It is made once, at the start, from the card of the agent at the root and the list of bindings: what the card offers is
/// what the page shows, in the same order, so the two cannot disagree. MCP and ACP are not in an A2A card and are added by
/// [`Page::beside`]. Nothing on it depends on the request, so that it needs no credentials. People sign in and work on the
/// page at `/` (`serve/web.rs`), which links to this one.
///
/// The page is one document and loads nothing: no script, style, font or image of another address. The
/// `Content-Security-Policy` forbids everything except the style and the script in it, which are named by their hashes. So text that an agent's author wrote (its name, its description, its skills) can never run as a script; it is also escaped,
/// see [`Text`]. Changing the style or the script changes the hash, which is computed from the same constants.
///
/// Templates would be a dependency for sixty lines; a client-side application would need scripts that the policy forbids.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) name: String,
    pub(crate) description: String,
    /// Name and description of each skill.
    pub(crate) skills: Vec<(String, String)>,
    /// The shell first, then the preferred binding.
    pub(crate) ways: Vec<PageSection>,
    /// The other agents of the server: name and path.
    pub(crate) agents: Vec<(String, String)>,
}

/// A section of the page: one binding or protocol.
#[derive(Clone, Debug)]
pub(crate) struct PageSection {
    pub(crate) title: &'static str,
    pub(crate) url: String,
    /// Marked as going to be switched off.
    pub(crate) deprecated: bool,
    /// Commands to try it: a description and what to type.
    pub(crate) commands: Vec<(&'static str, String)>,
}

impl Page {
    /// The page of an agent. `deprecated` names bindings that are going to be switched off.
    pub(crate) fn of(card: &AgentCard, encrypted: bool, deprecated: &[&str], shown: Shown) -> Self {
        // Interfaces of version 0.3 have the same addresses and are left out.
        let interfaces = card.supported_interfaces.iter();
        let interfaces = interfaces.filter(|it| it.protocol_version == a2a::binding::VERSION);
        let ways = interfaces.filter_map(|interface| {
            let binding = Binding::named(&interface.protocol_binding)?;
            Some(PageSection {
                title: binding.title,
                url: interface.url.clone(),
                deprecated: deprecated.contains(&&*interface.protocol_binding),
                commands: ways::examples(binding.key, interface, encrypted, shown),
            })
        });
        let skills = card.skills.iter();
        Self {
            name: card.name.clone(),
            description: card.description.clone(),
            skills: skills
                .map(|skill| (skill.name.clone(), skill.description.clone()))
                .collect(),
            ways: ways.collect(),
            agents: Vec::new(),
        }
    }

    /// Adds what is not in an A2A card: the command line, the token that other commands need, MCP and ACP, and the routes for
    /// people.
    pub(crate) fn beside(mut self, url: &str, shown: Shown) -> Self {
        if shown == Shown::Token {
            self.ways.insert(0, ways::token(url));
        }
        self.ways.insert(0, ways::shell(url));
        self.ways.extend(ways::beside(url, shown));
        self
    }

    /// Names the other agents of the server, each with its path.
    pub(crate) fn with_agents(mut self, agents: Vec<(String, String)>) -> Self {
        self.agents = agents;
        self
    }
}

/// The routes of the page, of `/healthz` and of `/readyz`.
pub(crate) fn routes(page: &Page, store: Store) -> Router {
    let html = Bytes::from(page.to_string());
    let policy = HeaderValue::try_from(policy()).expect("hashes are printable");
    let front = async move || {
        let headers = [
            (
                CONTENT_TYPE,
                HeaderValue::from_static("text/html; charset=utf-8"),
            ),
            (CONTENT_SECURITY_POLICY, policy),
            (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        ];
        (headers, html)
    };
    let journal = store.clone();
    Router::new()
        .route("/connect", get(front))
        .route("/healthz", get(async move || health(store.is_full())))
        .route("/readyz", get(async move || readiness(&journal).await))
}

/// Adds the responses to unknown paths and methods. Must be called after all routes are added. Callers without credentials
/// are not told what there is.
pub(crate) fn with_fallbacks(router: Router, door: &Arc<Door>) -> Router {
    let (unknown, other) = (door.clone(), door.clone());
    router
        .fallback(
            async move |head: Parts| match turned_away(&unknown, &head) {
                Some(refusal) => refusal,
                None => not_found(&head.uri),
            },
        )
        .method_not_allowed_fallback(async move |head: Parts| match turned_away(&other, &head) {
            Some(refusal) => refusal,
            None => method_not_allowed(&head.method, &head.uri),
        })
}

/// The refusal of a caller that the door does not admit.
fn turned_away(door: &Door, head: &Parts) -> Option<Response> {
    let refusal = door.admit(&Presented::by(head), SystemTime::now()).err()?;
    let error = a2a::Error::from(refusal);
    if is_api(&head.uri) {
        return Some(door::refused(&error));
    }
    let status = StatusCode::from_u16(error.code().http).unwrap_or(StatusCode::UNAUTHORIZED);
    let mut response = problem(status, error.code().status, &error.to_string());
    challenge(&error, response.headers_mut());
    Some(response)
}

/// The state of the server. A full disk is told with status 200 as well: what is recorded can still be read, and a
/// restart would free no space.
fn health(full: bool) -> Response {
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-store"),
    ];
    let state = match full {
        false => r#"{"status":"ok"}"#,
        true => {
            r#"{"status":"full","message":"no space left on the disk or within store.max_data: requests that must be recorded are refused"}"#
        }
    };
    (headers, state).into_response()
}

/// Whether requests can be taken: not while the journal cannot be written. It is tried again with each question, so that
/// the server is ready when the disk has space again.
async fn readiness(journal: &Store) -> Response {
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-store"),
    ];
    let (status, body) = match journal.check_writable().await {
        Ok(()) => (StatusCode::OK, serde_json::json!({ "ready": true })),
        Err(error) => {
            let message = format!("the journal cannot be written: could not {error}");
            let body = serde_json::json!({ "ready": false, "message": message });
            (StatusCode::SERVICE_UNAVAILABLE, body)
        }
    };
    (status, headers, body.to_string()).into_response()
}

fn not_found(uri: &Uri) -> Response {
    let message = format!(
        "no route {}; the page at /connect lists the addresses",
        uri.path()
    );
    match is_api(uri) {
        true => refusal(StatusCode::NOT_FOUND, "not_found", &message),
        false => problem(StatusCode::NOT_FOUND, "NOT_FOUND", &message),
    }
}

fn method_not_allowed(method: &Method, uri: &Uri) -> Response {
    let message = format!("method {method} is not allowed for {}", uri.path());
    match is_api(uri) {
        true => refusal(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            &message,
        ),
        false => problem(StatusCode::METHOD_NOT_ALLOWED, "UNIMPLEMENTED", &message),
    }
}

/// Whether an address is one of those whose errors have the form of `/api`.
fn is_api(uri: &Uri) -> bool {
    uri.path() == "/api" || uri.path().starts_with("/api/")
}

/// An error in the form of A2A over HTTP+JSON.
fn problem(code: StatusCode, status: &str, message: &str) -> Response {
    let body = serde_json::json!({
        "error": { "code": code.as_u16(), "status": status, "message": message }
    });
    let headers = [(CONTENT_TYPE, "application/json")];
    (code, headers, body.to_string()).into_response()
}

/// The `Content-Security-Policy`: nothing but the page's own style and script.
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

impl Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, description) = (Text(&self.name), Text(&self.description));
        write!(
            f,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{name}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
             <style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <header>{SIGN}<div><h1>{name}</h1><p>{description}</p></div></header>\n"
        )?;
        if !self.skills.is_empty() {
            f.write_str("<section>\n<h2>What it can do</h2>\n<ul>\n")?;
            for (name, description) in &self.skills {
                let (name, description) = (Text(name), Text(description));
                writeln!(f, "<li><strong>{name}</strong><p>{description}</p></li>")?;
            }
            f.write_str("</ul>\n</section>\n")?;
        }
        for way in &self.ways {
            write!(f, "{way}")?;
        }
        if !self.agents.is_empty() {
            f.write_str("<section>\n<h2>Other agents</h2>\n<ul>\n")?;
            for (name, path) in &self.agents {
                let (name, path) = (Text(name), Text(path));
                writeln!(
                    f,
                    "<li><strong>{name}</strong><p><a href=\"{path}/.well-known/agent-card.json\">{path}</a></p></li>"
                )?;
            }
            f.write_str("</ul>\n</section>\n")?;
        }
        write!(
            f,
            "<footer><a href=\"./\">Workspace</a><a href=\"/.well-known/agent-card.json\">Agent card</a>\
             <a href=\"/healthz\">Health</a></footer>\n</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
        )
    }
}

impl Display for PageSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (title, url) = (Text(self.title), Text(&self.url));
        write!(
            f,
            "<section>\n<div class=\"title\"><h2>{title}</h2><code>{url}</code>"
        )?;
        if self.deprecated {
            f.write_str("<span class=\"mark\">deprecated</span>")?;
        }
        f.write_str("</div>\n")?;
        for (what, command) in &self.commands {
            let (what, command) = (Text(what), Text(command));
            write!(
                f,
                "<p class=\"what\">{what}</p>\n<div class=\"command\"><pre>{command}</pre></div>\n"
            )?;
        }
        f.write_str("</section>\n")
    }
}

/// A text escaped for HTML.
struct Text<'a>(&'a str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}
