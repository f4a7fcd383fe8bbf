//! The stored part of a session, besides its history: its title, whether it is archived, where its first event is, and
//! what was chosen for it. What was said and done is in the journal of the agent alone.

use agent::Owner;
use serde::{Deserialize, Serialize};
use store::{Batch, Column, Error, Query, Row, Store, Table, Value};

use super::show::now;

/// The sessions: a row for each, under its owner.
static SESSIONS: Table = Table {
    name: "chat_sessions",
    columns: &[
        Column::text("owner"),
        Column::text("agent"),
        Column::text("session"),
        Column::integer("updated"),
    ],
    indexes: &[&["owner", "updated"]],
};

/// The tables that a store needs for the chat.
pub static TABLES: &[&Table] = &[&SESSIONS];

/// The most sessions of one caller that are listed.
pub(crate) const MOST: usize = 1_000;

/// How many letters of its first command a session is titled with.
const TITLE: usize = 60;

/// How long the time of last use may be behind, in milliseconds: each command would be a write otherwise.
const STALE: i64 = 60_000;

/// A session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Session {
    #[serde(skip)]
    pub(crate) id: String,
    #[serde(skip)]
    pub(crate) agent: String,
    #[serde(skip)]
    pub(crate) owner: String,
    /// When it was last used, in milliseconds since 1970.
    #[serde(skip)]
    pub(crate) updated: i64,
    pub(crate) created: i64,
    /// The event of the agent's journal after which it begins.
    pub(crate) first: u64,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) archived: bool,
    /// The session is hidden from lists; its events stay in the journal.
    #[serde(default)]
    pub(crate) deleted: bool,
    /// What was chosen for it, as `initialize` got it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) temperature: Option<f64>,
}

/// The sessions of all callers.
#[derive(Clone, Debug)]
pub(crate) struct Sessions(Store);

impl Sessions {
    pub(crate) fn new(store: Store) -> Self {
        Self(store)
    }

    /// The session of a caller, if it is known and was not deleted.
    pub(crate) async fn find(&self, owner: &Owner, agent: &str) -> Result<Option<Session>, Error> {
        let found = self.row(owner, agent).await?;
        Ok(found.filter(|it| !it.deleted))
    }

    async fn row(&self, owner: &Owner, agent: &str) -> Result<Option<Session>, Error> {
        let key = key(&owner.caller, agent, &owner.conversation);
        let row = self.0.read(move |view| view.row(&SESSIONS, &key)).await?;
        Ok(row.as_ref().and_then(read))
    }

    /// Notes that a session is used; an unknown one begins after this event, titled with these words.
    pub(crate) async fn begin(
        &self,
        owner: &Owner,
        agent: &str,
        first: u64,
        words: &str,
    ) -> Result<Session, Error> {
        let known = self.row(owner, agent).await?;
        let at = now();
        let session = match known.filter(|it| !it.deleted) {
            Some(known) if !known.title.is_empty() && known.updated + STALE > at => {
                return Ok(known);
            }
            Some(known) => Session {
                title: match known.title.is_empty() {
                    true => titled(words),
                    false => known.title,
                },
                updated: at,
                ..known
            },
            None => Session {
                id: owner.conversation.clone(),
                agent: agent.to_owned(),
                owner: owner.caller.clone(),
                updated: at,
                created: at,
                first,
                title: titled(words),
                ..Session::default()
            },
        };
        self.put(&session).await?;
        Ok(session)
    }

    pub(crate) async fn put(&self, session: &Session) -> Result<(), Error> {
        let row = Row {
            key: key(&session.owner, &session.agent, &session.id),
            columns: vec![
                session.owner.as_str().into(),
                session.agent.as_str().into(),
                session.id.as_str().into(),
                session.updated.into(),
            ],
            body: serde_json::to_vec(session)
                .expect("a session has text keys")
                .into(),
        };
        self.0.commit(Batch::new().put(&SESSIONS, row)).await?;
        Ok(())
    }

    /// The sessions of a caller, those that were used last first.
    pub(crate) async fn list(&self, caller: &str) -> Result<Vec<Session>, Error> {
        let query = Query::of(&SESSIONS)
            .equal("owner", caller)
            .order(store::Order::Descending("updated"))
            .limit(MOST);
        let rows = self.0.read(move |view| view.rows(&query)).await?;
        let sessions = rows.iter().filter_map(read);
        Ok(sessions.filter(|it| !it.deleted).collect())
    }
}

fn key(caller: &str, agent: &str, session: &str) -> String {
    format!("{caller}\n{agent}\n{session}")
}

fn read(row: &Row) -> Option<Session> {
    let text = |at: usize| match row.columns.get(at) {
        Some(Value::Text(text)) => text.clone(),
        _ => String::new(),
    };
    let mut session: Session = serde_json::from_slice(&row.body).ok()?;
    session.owner = text(0);
    session.agent = text(1);
    session.id = text(2);
    session.updated = match row.columns.get(3) {
        Some(Value::Integer(at)) => *at,
        _ => 0,
    };
    Some(session)
}

/// The first words of a command, cut between words.
pub(crate) fn titled(words: &str) -> String {
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= TITLE {
        return line;
    }
    let cut: String = line.chars().take(TITLE).collect();
    let end = cut.rfind(' ').filter(|it| *it > TITLE / 2);
    format!("{}…", &cut[..end.unwrap_or(cut.len())])
}
