//! The page at `/`: the agent, its addresses, and a command to try each binding; `/healthz`; and the fallbacks of all routes.

use std::fmt::{self, Display, Write};

use a2a::binding::Binding;
use a2a::types::AgentCard;
use axum::Router;
use axum::body::Bytes;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use store::Store;

mod ways;

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/copy.js");

/// The logo: a circle with a dot, the old sign of the monad.
const SIGN: &str = r#"<svg viewBox="0 0 48 48" fill="none" aria-hidden="true"><circle cx="24" cy="24" r="21" stroke="currentColor" stroke-width="3"/><circle cx="24" cy="24" r="5.5" fill="currentColor"/></svg>"#;

/// The content of the page at `/`, which is HTML by its [`Display`].
///
/// It is made once, at the start, from the card of the agent at the root and the list of bindings: what the card offers is
/// what the page shows, in the same order, so the two cannot disagree. MCP and ACP are not in an A2A card and are added by
/// [`Page::beside`]. Nothing on it depends on the request.
///
/// The page is one document and loads nothing: no script, style, font or image of another address. The
/// `Content-Security-Policy` forbids everything except the style and the script in it, which are named by their hashes. So
/// text that an agent's author wrote (its name, its description, its skills) can never run as a script; it is also escaped,
/// see [`Text`]. Changing the style or the script changes the hash, which is computed from the same constants.
///
/// Templates would be a dependency for sixty lines; a client-side application would need scripts that the policy forbids.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) name: String,
    pub(crate) description: String,
    /// Name and description of each skill.
    pub(crate) skills: Vec<(String, String)>,
    /// The preferred binding first.
    pub(crate) ways: Vec<Way>,
}

/// A section of the page: one binding or protocol.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) title: &'static str,
    pub(crate) url: String,
    /// Marked as going to be switched off.
    pub(crate) deprecated: bool,
    /// Commands to try it: a description and what to type.
    pub(crate) commands: Vec<(&'static str, String)>,
}

impl Page {
    /// The page of an agent. `deprecated` names bindings that are going to be switched off.
    pub(crate) fn of(card: &AgentCard, encrypted: bool, deprecated: &[&str]) -> Self {
        // Interfaces of version 0.3 have the same addresses and are left out.
        let interfaces = card.supported_interfaces.iter();
        let interfaces = interfaces.filter(|it| it.protocol_version == a2a::binding::VERSION);
        let ways = interfaces.filter_map(|interface| {
            let binding = Binding::named(&interface.protocol_binding)?;
            Some(Way {
                title: binding.title,
                url: interface.url.clone(),
                deprecated: deprecated.contains(&&*interface.protocol_binding),
                commands: ways::examples(binding.key, interface, encrypted),
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
        }
    }

    /// Adds MCP and ACP, which are served at the same address.
    pub(crate) fn beside(mut self, url: &str) -> Self {
        self.ways.extend(ways::beside(url));
        self
    }
}

/// The routes of the page and of `/healthz`.
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
    Router::new()
        .route("/", get(front))
        .route("/healthz", get(async move || health(store.is_full())))
}

/// Adds the responses to unknown paths and methods. Must be called after all routes are added.
pub(crate) fn with_fallbacks(router: Router) -> Router {
    router
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
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
            r#"{"status":"full","message":"no space left on the disk or within store.max_bytes: requests that must be recorded are refused"}"#
        }
    };
    (headers, state).into_response()
}

async fn not_found(uri: Uri) -> Response {
    let message = format!("no route {}; the page at / lists the addresses", uri.path());
    problem(StatusCode::NOT_FOUND, "NOT_FOUND", &message)
}

async fn method_not_allowed(method: Method, uri: Uri) -> Response {
    let message = format!("method {method} is not allowed for {}", uri.path());
    problem(StatusCode::METHOD_NOT_ALLOWED, "UNIMPLEMENTED", &message)
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
        for way in &self.ways {
            write!(f, "{way}")?;
        }
        if !self.skills.is_empty() {
            f.write_str("<section>\n<h2>What it can do</h2>\n<ul>\n")?;
            for (name, description) in &self.skills {
                let (name, description) = (Text(name), Text(description));
                writeln!(f, "<li><strong>{name}</strong><p>{description}</p></li>")?;
            }
            f.write_str("</ul>\n</section>\n")?;
        }
        write!(
            f,
            "<footer><a href=\"/.well-known/agent-card.json\">Agent card</a>\
             <a href=\"/healthz\">Health</a></footer>\n</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
        )
    }
}

impl Display for Way {
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
