//! One connection to the database, with the statements that it has prepared.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

use super::address::Address;
use super::errors::Failure;

/// The longest wait for the answers to what was sent together. Longer than the server's own limits, which are the usual
/// end of a statement that takes too long: this one is for a server that is frozen or cut off.
const ANSWER: Duration = Duration::from_secs(12);

/// The longest wait for a connection, over all hosts.
const CONNECT: Duration = Duration::from_secs(15);

/// The most statements that a connection keeps prepared. Queries are few in kind; this bounds a caller that makes many.
const PREPARED: usize = 256;

/// A value bound to a statement.
pub(super) type SqlValue<'a> = Box<dyn ToSql + Sync + Send + 'a>;

/// A statement's text and its values.
#[derive(Debug)]
pub(super) struct Command<'a> {
    pub(super) sql: &'a str,
    pub(super) values: Vec<SqlValue<'a>>,
}

impl<'a> Command<'a> {
    pub(super) fn new(sql: &'a str, values: Vec<SqlValue<'a>>) -> Self {
        Self { sql, values }
    }

    /// A statement without values.
    pub(super) fn plain(sql: &'a str) -> Self {
        Self::new(sql, Vec::new())
    }
}

/// A connection. The task that moves its bytes runs only while its owner waits for an answer, on the same thread.
pub(super) struct Session {
    client: Client,
    driver: JoinHandle<()>,
    prepared: HashMap<String, Statement>,
}

impl Session {
    /// Connects and sets what holds for the session. `limits` are further settings, as SQL.
    pub(super) async fn open(address: &Address, limits: &str) -> Result<Self, Failure> {
        let connecting = address.config.connect(address.tls.clone());
        let connected = timeout(CONNECT, connecting).await;
        let connected = connected.map_err(|_| Failure::Lost("no host answers".to_owned()))?;
        // A refused password is final; anything without a code is a host that cannot be reached now.
        let (client, connection) = connected.map_err(|error| match error.code() {
            Some(_) => Failure::from(error),
            None => Failure::Lost(super::errors::told(&error)),
        })?;
        let driver = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(error = %super::errors::told(&error), "a connection to the database has ended");
            }
        });
        let session = Self {
            client,
            driver,
            prepared: HashMap::new(),
        };
        session.batch(limits).await?;
        Ok(session)
    }

    /// Whether the connection is known to have ended.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Runs statements without values, one after another. Without `BEGIN` among them they are one transaction.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), Failure> {
        let done = timeout(ANSWER, self.client.batch_execute(sql)).await;
        Ok(done.map_err(|_| overdue())??)
    }

    /// Runs one statement.
    pub(super) async fn run(&mut self, command: &Command<'_>) -> Result<Vec<Row>, Failure> {
        let done = self.pipeline([command]).await?;
        Ok(done.into_iter().flatten().collect())
    }

    /// Sends all statements at once and waits for all answers. The failure is that of the first statement that failed;
    /// the ones after it are not carried out, if they are of one transaction.
    pub(super) async fn pipeline<'c, 'v: 'c>(
        &mut self,
        commands: impl IntoIterator<Item = &'c Command<'v>>,
    ) -> Result<Vec<Vec<Row>>, Failure> {
        let commands: Vec<_> = commands.into_iter().collect();
        self.prepare(&commands).await?;
        let client = &self.client;
        let sent = commands.iter().map(|command| {
            let statement = &self.prepared[command.sql];
            let values: Vec<&(dyn ToSql + Sync)> = command
                .values
                .iter()
                .map(|value| &**value as &(dyn ToSql + Sync))
                .collect();
            async move { client.query(statement, &values).await }
        });
        let answers = timeout(ANSWER, join_all(sent))
            .await
            .map_err(|_| overdue())?;
        let mut rows = Vec::with_capacity(answers.len());
        let mut failed = None;
        for answer in answers {
            match answer.map_err(Failure::from) {
                Ok(found) => rows.push(found),
                // A connection that ends in the middle makes the fate of all unknown.
                Err(lost @ Failure::Lost(_)) => return Err(lost),
                Err(failure) => {
                    failed.get_or_insert(failure);
                }
            }
        }
        failed.map_or(Ok(rows), Err)
    }

    async fn prepare(&mut self, commands: &[&Command<'_>]) -> Result<(), Failure> {
        if self.prepared.len() > PREPARED {
            self.prepared.clear();
        }
        let all = commands.iter().map(|command| command.sql);
        let mut missing: Vec<&str> = all
            .filter(|sql| !self.prepared.contains_key(*sql))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        missing.sort_unstable();
        missing.dedup();
        let preparing = missing.iter().map(|sql| self.client.prepare(sql));
        let prepared = timeout(ANSWER, join_all(preparing))
            .await
            .map_err(|_| overdue())?;
        for (sql, statement) in missing.into_iter().zip(prepared) {
            self.prepared.insert(sql.to_owned(), statement?);
        }
        Ok(())
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

fn overdue() -> Failure {
    Failure::Lost(format!("no answer within {} s", ANSWER.as_secs()))
}
