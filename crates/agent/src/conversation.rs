//! The last messages of each caller and conversation. A conversation belongs to the caller who holds it: the same
//! context id of another caller is another conversation.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::share;

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The speaker; none is the agent itself.
    pub(crate) by: Option<String>,
    pub(crate) text: String,
    /// Whether it was said after text that is not the caller's: see `step/found.rs`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) found: bool,
}

/// The conversations that are kept in mind, the last used last.
///
/// A caller keeps [`limits::CONVERSATIONS_EACH`] of them. When there are more than [`limits::CONVERSATIONS`] in all, the
/// caller with the most gives up its oldest, so that no caller can push out those of a caller with fewer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub(crate) struct Conversations {
    kept: Vec<Arc<Conversation>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Conversation {
    caller: String,
    /// The context id.
    id: String,
    lines: Vec<Line>,
}

impl Conversations {
    /// The lines of a caller's conversation, the oldest first.
    pub(crate) fn lines(&self, caller: &str, id: &str) -> &[Line] {
        let mut kept = self.kept.iter();
        let found = kept.find(|it| it.caller == caller && it.id == id);
        found.map_or(&[], |it| &it.lines)
    }

    /// Adds lines to a caller's conversation, which is the last used from now on.
    pub(crate) fn add(&mut self, caller: &str, id: &str, lines: impl IntoIterator<Item = Line>) {
        let known = self.kept.iter();
        let known = known
            .enumerate()
            .find(|(_, it)| it.caller == caller && it.id == id);
        let mut conversation = match known.map(|(place, _)| place) {
            Some(place) => self.kept.remove(place),
            None => Arc::new(Conversation {
                caller: caller.to_owned(),
                id: id.to_owned(),
                lines: Vec::new(),
            }),
        };
        let all = &mut Arc::make_mut(&mut conversation).lines;
        all.extend(lines);
        let excess = all.len().saturating_sub(limits::LINES);
        all.drain(..excess);
        self.kept.push(conversation);
        share::keep(
            &mut self.kept,
            |it| &it.caller,
            limits::CONVERSATIONS_EACH,
            limits::CONVERSATIONS,
        );
    }
}

/// The stored forms: conversations with their callers, or, before they had callers, lines by context id. Of those, a
/// conversation in which one caller spoke belongs to that caller; the others are left out.
#[derive(Deserialize)]
#[serde(untagged)]
enum Stored {
    Owned { kept: Vec<Arc<Conversation>> },
    Shared(BTreeMap<String, Vec<Line>>),
}

impl From<Stored> for Conversations {
    fn from(stored: Stored) -> Self {
        let kept = match stored {
            Stored::Owned { kept } => kept,
            Stored::Shared(by_id) => {
                let owned = by_id.into_iter().filter_map(|(id, lines)| {
                    let mut speakers = lines.iter().filter_map(|it| it.by.as_deref());
                    let caller = speakers.next()?.to_owned();
                    speakers.all(|it| it == caller).then_some(())?;
                    Some(Arc::new(Conversation { caller, id, lines }))
                });
                owned.collect()
            }
        };
        Self { kept }
    }
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
