//! Answering the exports that the peer has pulled.

use std::sync::Arc;

use super::serialize::Serializer;
use super::{AnswerState, Effect, Effects, ExportId, Session};
use crate::connection::Link;
use crate::error::{Error, Result};
use crate::hook::Hook;
use crate::value::Value;

impl Session {
    /// Answers at once when the value is there, as after a call that did not have to wait.
    pub(super) fn answer_or_wait(
        &mut self,
        link: &Arc<Link>,
        id: ExportId,
        hook: Hook,
        effects: &mut Effects,
    ) {
        match hook {
            Hook::Value(settled) if !settled.holds_promise() => {
                self.answer_with(link, id, Ok(settled.value()), effects)
            }
            Hook::Broken(error) => self.answer_with(link, id, Err(error), effects),
            hook => effects.push(Effect::Answer { export: id, hook }),
        }
    }

    /// Sends the value of an export that was pulled, unless the peer has released it meanwhile.
    pub(crate) fn answer(
        &mut self,
        link: &Arc<Link>,
        id: ExportId,
        result: Result<&Value>,
    ) -> Effects {
        let mut effects = Effects::new();
        self.answer_with(link, id, result, &mut effects);
        effects
    }

    fn answer_with(
        &mut self,
        link: &Arc<Link>,
        id: ExportId,
        result: Result<&Value>,
        effects: &mut Effects,
    ) {
        match self.exports.get_mut(&id) {
            Some(export) if export.answer == AnswerState::Owed => {
                export.answer = AnswerState::Given
            }
            _ => return,
        }
        self.unanswered -= 1;
        self.answered += 1;
        self.unreleased += 1;
        let text = match result.and_then(|value| self.resolve_message(link, id, value, effects)) {
            Ok(text) => text,
            Err(error) => self.reject_message(link, id, &error, effects),
        };
        self.send(text);
        if self
            .exports
            .get(&id)
            .is_some_and(|export| export.releases_itself)
        {
            self.forget(id);
        }
        self.check_outbox(effects);
    }

    /// Aborts the session when too many bytes wait for the peer to read them.
    pub(super) fn check_outbox(&mut self, effects: &mut Effects) {
        if self.outbox.bytes() > self.account.limits().max_queued_bytes {
            effects.extend(self.abort(Error::range_error("the peer reads too slowly")));
        }
    }

    fn resolve_message(
        &mut self,
        link: &Arc<Link>,
        id: ExportId,
        value: &Value,
        effects: &mut Effects,
    ) -> Result<String> {
        let mut message = Serializer::new(self, link);
        message.open("resolve");
        message.id(id.0);
        message.root(value)?;
        Ok(message.finish(effects))
    }

    fn reject_message(
        &mut self,
        link: &Arc<Link>,
        id: ExportId,
        error: &Error,
        effects: &mut Effects,
    ) -> String {
        let mut message = Serializer::new(self, link);
        message.open("reject");
        message.id(id.0);
        message.error_root(error);
        message.finish(effects)
    }

    /// Rejects every pulled export that is not answered yet.
    #[cfg(feature = "server")]
    pub(crate) fn reject_pending(&mut self, link: &Arc<Link>, error: &Error) -> Effects {
        let owed: Vec<_> = self
            .exports
            .iter()
            .filter(|(_, export)| export.answer == AnswerState::Owed)
            .map(|(id, _)| *id)
            .collect();
        owed.into_iter()
            .flat_map(|id| self.answer(link, id, Err(error.clone())))
            .collect()
    }
}
