//! Ending a session, with or without a message to the peer.

use super::{Effect, Effects, Session, serialize};
use crate::error::Error;
use crate::hook::Hook;

impl Session {
    /// Sends the reason to the peer, then ends.
    pub(crate) fn abort(&mut self, error: Error) -> Effects {
        if self.ended.is_some() {
            return Effects::new();
        }
        let text = serialize::abort_message(self.redacted(&error).as_ref().unwrap_or(&error));
        self.send(text);
        self.end(error)
    }

    /// Fails all pending promises and drops all exports, exactly once.
    pub(crate) fn end(&mut self, error: Error) -> Effects {
        if self.ended.is_some() {
            return Effects::new();
        }
        self.ended = Some(error.clone());
        (self.unanswered, self.unreleased) = (0, 0);
        let broken = Hook::Broken(error);
        let mut effects = Effects::new();
        for (_, entry) in self.imports.drain() {
            if let Some(hold) = entry.hold.upgrade() {
                hold.resolve(broken.clone());
            }
            if !entry.waiters.is_empty() {
                effects.push(Effect::Tell {
                    waiters: entry.waiters,
                    hook: broken.clone(),
                });
            }
        }
        for export in self.exports.values() {
            if let hook @ Hook::Promise(_) = export.hook.shortened() {
                effects.push(Effect::GiveUp { hook });
            }
        }
        self.exports.clear();
        effects
    }
}
