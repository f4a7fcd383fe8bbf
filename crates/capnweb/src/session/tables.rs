//! The session's tables as expressions of the peer use and change them.

use std::sync::Arc;
use std::time::Duration;

use super::evaluate::{Tables, evaluate};
use super::{Effect, Effects, ExportId, Session};
use crate::account::Account;
use crate::connection::Link;
use crate::error::{Error, Result};
use crate::hook::deferred::deferred;
use crate::hook::import::{ImportId, ImportKind};
use crate::hook::{Action, Hook, Operation, Path};
use crate::map::MapBudget;
use crate::permit::Held;
use crate::stream::ReadableStream;
use crate::value::Value;

/// The tables during the evaluation of one message of the peer.
pub(super) struct SessionTables<'a> {
    pub(super) session: &'a mut Session,
    pub(super) link: &'a Arc<Link>,
    pub(super) effects: &'a mut Effects,
    pub(super) now: Duration,
    /// The charge for the message, if it is a large one.
    pub(super) message: Option<&'a Arc<Held>>,
}

impl SessionTables<'_> {
    pub(super) fn evaluate_hook(
        &mut self,
        expression: crate::expression::Expression,
    ) -> Result<Hook> {
        let value = evaluate(expression, self)?;
        Ok(Hook::from_value(value, &self.session.account))
    }

    /// Checks an id that the peer chose for one of its objects: it must be negative, and the table must have room.
    fn check_introduced(&self, id: i64) -> Result<ImportId> {
        if id >= 0 {
            return Err(Error::type_error(format!("export ID {id} is not negative")));
        }
        if self.session.imports.len() >= self.session.max_imports() {
            return Err(Error::range_error(
                "the session holds too many capabilities",
            ));
        }
        Ok(ImportId(id))
    }
}

impl Tables for SessionTables<'_> {
    fn account(&self) -> &Account {
        &self.session.account
    }

    fn export(&mut self, id: i64) -> Result<Hook> {
        match self.session.exports.get(&ExportId(id)) {
            Some(export) => Ok(export.hook.clone()),
            None => Err(Error::new(format!("no such entry on exports table: {id}"))),
        }
    }

    fn apply(&mut self, hook: &Hook, path: Path, action: Action) -> Result<Hook> {
        self.session.count_call(self.now)?;
        let account = self.session.account.clone();
        let permit = account.permit(self.message.cloned());
        if permit.is_none() {
            return Err(Error::range_error(
                "the session has too many calls in flight",
            ));
        }
        let (promise, resolver) = deferred();
        let operation = Operation {
            path,
            action,
            account,
            permit,
        };
        self.effects.push(Effect::Apply {
            hook: hook.clone(),
            operation,
            resolver,
        });
        Ok(Hook::Promise(promise))
    }

    fn pipelined(&mut self, hook: Hook) -> Value {
        Value::Promise(hook.into())
    }

    fn map_budget(&mut self) -> Result<MapBudget> {
        Ok(MapBudget::new(&self.session.account))
    }

    fn import_stub(&mut self, id: i64) -> Result<Hook> {
        let id = self.check_introduced(id)?;
        match self.session.imports.get_mut(&id) {
            Some(entry) => entry.count += 1,
            None => self.session.insert_import(id, 1, ImportKind::Stub),
        }
        Ok(self.session.hold(self.link, id))
    }

    fn import_promise(&mut self, id: i64) -> Result<Hook> {
        let id = self.check_introduced(id)?;
        if self.session.imports.contains_key(&id) {
            return Err(Error::new(
                "the peer sent a promise reusing an existing export ID",
            ));
        }
        self.session.insert_import(id, 1, ImportKind::Promise);
        if let Some(entry) = self.session.imports.get_mut(&id) {
            // The peer resolves it unasked.
            entry.pulled = true;
        }
        Ok(self.session.hold(self.link, id))
    }

    fn readable(&mut self, id: i64) -> Result<ReadableStream> {
        let export = self.session.exports.get_mut(&ExportId(id));
        export
            .and_then(|export| export.readable.take())
            .ok_or_else(|| {
                Error::new(format!(
                    "Export {id} is not a pipe or its readable end was already consumed."
                ))
            })
    }

    fn blob(&mut self, mime: String, content: ReadableStream) -> Result<Hook> {
        let (promise, resolver) = deferred();
        self.effects.push(Effect::Collect {
            mime,
            content,
            resolver,
        });
        Ok(Hook::Promise(promise))
    }
}
