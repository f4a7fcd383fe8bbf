//! The page at `/`: who is served here, how to reach it, and a command to try each way.
//!
//! It is one file without anything from elsewhere, and says so to the browser: only its own style and
//! script may be used, known by their hashes.

use std::fmt::{self, Display, Write};

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

mod ways;

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/copy.js");

/// A unit with something inside: the old sign for a monad.
const SIGN: &str = r#"<svg viewBox="0 0 48 48" fill="none" aria-hidden="true"><circle cx="24" cy="24" r="21" stroke="currentColor" stroke-width="3"/><circle cx="24" cy="24" r="5.5" fill="currentColor"/></svg>"#;

/// What the page shows.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// The agent's name.
    pub(crate) name: String,
    /// What it is for.
    pub(crate) description: String,
    /// What it can do: a name and a sentence each.
    pub(crate) skills: Vec<(String, String)>,
    /// The ways to reach it, the preferred one first.
    pub(crate) ways: Vec<Way>,
}

/// A way to reach the agent.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    /// What it is called.
    pub(crate) title: &'static str,
    /// Where it is.
    pub(crate) url: String,
    /// Whether it is going to be switched off.
    pub(crate) deprecated: bool,
    /// Commands to try it: what they do, and what to type.
    pub(crate) commands: Vec<(&'static str, String)>,
}

impl Page {
    /// The page of an agent. `deprecated` names bindings that are going to be switched off.
    pub(crate) fn of(card: &AgentCard, encrypted: bool, deprecated: &[&str]) -> Self {
        // Who speaks an older version knows where to look.
        let interfaces = card.supported_interfaces.iter();
        let interfaces = interfaces.filter(|it| it.protocol_version == a2a::binding::VERSION);
        let ways = interfaces.filter_map(|interface| {
            let (title, commands) = ways::try_it(interface, encrypted)?;
            Some(Way {
                title,
                url: interface.url.clone(),
                deprecated: deprecated.contains(&&*interface.protocol_binding),
                commands,
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

    /// With the other protocols that are spoken at this address.
    pub(crate) fn beside(mut self, url: &str) -> Self {
        self.ways.extend(ways::beside(url));
        self
    }
}

/// The page, and the sign of life.
pub(crate) fn routes(page: &Page) -> Router {
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
        .route("/healthz", get(health))
}

/// What is said where nothing is. To be called when all routes are there.
pub(crate) fn with_fallbacks(router: Router) -> Router {
    router.fallback(nothing).method_not_allowed_fallback(not_so)
}

async fn health() -> Response {
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-store"),
    ];
    (headers, r#"{"status":"ok"}"#).into_response()
}

async fn nothing(uri: Uri) -> Response {
    let message = format!("nothing is at {}; the page at / names what is", uri.path());
    problem(StatusCode::NOT_FOUND, "NOT_FOUND", &message)
}

async fn not_so(method: Method, uri: Uri) -> Response {
    let message = format!("{method} is not for {}", uri.path());
    problem(StatusCode::METHOD_NOT_ALLOWED, "UNIMPLEMENTED", &message)
}

/// An error in the form that the protocol's own have over HTTP.
fn problem(code: StatusCode, status: &str, message: &str) -> Response {
    let body = serde_json::json!({
        "error": { "code": code.as_u16(), "status": status, "message": message }
    });
    let headers = [(CONTENT_TYPE, "application/json")];
    (code, headers, body.to_string()).into_response()
}

/// What a browser may do with the page: nothing, besides its own style and script.
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

/// A text inside HTML, where it can mean nothing but itself.
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
