//! `/api/search`: where something was said, in all sessions of the caller, with the event to jump to.

use agent::Owner;
use axum::Router;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::Response;
use axum::routing::get;
use serde_json::{Value, json};

use super::agent::failure;
use super::sessions::{WHOLE, said, stored};
use super::{Caller, Fields, invalid, respond};
use crate::chat::{Chat, Cursor};

/// How many places a reply has by default, and at most.
const PLACES: (usize, usize) = (50, 200);

/// How much of a text is shown around what was found, in letters on each side.
const AROUND: usize = 120;

/// The route of `/api/search`.
pub fn routes(chat: Chat) -> Router {
    Router::new()
        .route("/api/search", get(search))
        .with_state(chat)
}

/// `?query=WORDS&limit=N`. The sessions that were used last come first, and in each what was said last.
async fn search(
    State(chat): State<Chat>,
    caller: Caller,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let fields = Fields::of(raw);
    let found = async {
        let query = fields.get("query").map(|it| it.trim().to_lowercase());
        let query = query.filter(|it| !it.is_empty());
        let query = query.ok_or_else(|| invalid("query", "query is missing"))?;
        let limit = match fields.get("limit").map(str::parse::<usize>) {
            None => PLACES.0,
            Some(Ok(limit)) if (1..=PLACES.1).contains(&limit) => limit,
            Some(_) => {
                let why = format!("expected a number from 1 to {}", PLACES.1);
                return Err(invalid("limit", why));
            }
        };
        let name = chat.parts().rights.caller(&caller).to_string();
        let mut found: Vec<Value> = Vec::new();
        for session in chat.sessions().list(&name).await.map_err(stored)? {
            if found.len() > limit {
                break;
            }
            // An agent that is gone, or is not for this caller any more, tells nothing.
            let Ok(agent) = chat.agent(&caller, Some(&session.agent)).await else {
                continue;
            };
            let owner = Owner {
                caller: name.clone(),
                conversation: session.id.clone(),
            };
            let history = chat.history(&agent, &owner, Cursor::default(), WHOLE).await;
            let history = history.map_err(failure)?;
            for message in history.messages.iter().rev() {
                let Some((_, text)) = said(message) else {
                    continue;
                };
                if let Some(text) = around(&text, &query) {
                    found.push(json!({
                        "session_id": session.id,
                        "agent": session.agent,
                        "event": message.metadata.cursor.event(),
                        "message_id": message.id,
                        "text": text,
                        "at": message.timestamp,
                    }));
                }
            }
        }
        let incomplete = found.len() > limit;
        found.truncate(limit);
        Ok(json!({ "found": found, "incomplete": incomplete }))
    };
    respond(found.await)
}

/// The words around what is looked for, if a text has it.
fn around(text: &str, query: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let at = lower.find(query)?;
    // Lower case may be longer or shorter, so that places are counted in letters.
    let before = lower.get(..at)?.chars().count();
    let first = before.saturating_sub(AROUND);
    let count = query.chars().count() + 2 * AROUND;
    let letters: Vec<char> = text.chars().collect();
    let shown: String = letters.iter().skip(first).take(count).collect();
    let begins = if first > 0 { "…" } else { "" };
    let ends = if first + count < letters.len() {
        "…"
    } else {
        ""
    };
    Some(format!("{begins}{shown}{ends}"))
}

#[cfg(test)]
mod tests {
    use super::around;

    #[test]
    fn a_place_is_shown_with_what_is_around_it() {
        assert_eq!(
            around("Ada likes TEA", "tea").as_deref(),
            Some("Ada likes TEA")
        );
        assert_eq!(around("Ada likes tea", "milk"), None);
        let long = format!("{}needle{}", "ä".repeat(500), "b".repeat(500));
        let shown = around(&long, "needle").unwrap();
        assert!(shown.starts_with("…ä") && shown.ends_with("b…"), "{shown}");
        assert_eq!(shown.chars().count(), 2 + 6 + 240);
    }
}
