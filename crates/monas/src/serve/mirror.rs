//! The graph of memory in another database that speaks Bolt, such as Neo4j: sent in the background, as it changes.
//!
//! The statements say how the graph is, not what happened (`memory::mirror`). While the database cannot be reached, changes are
//! gathered, each part once; after a start all of the graph is sent anew. So nothing is lost, whatever is stopped and when.
//!
//! Layout: this file gathers and sends; `bolt` is the protocol, `pack` its values.

use std::time::Duration;

use access::Secrets;
use dial::{Backoff, Dialer, Jitter};
use memory::Memory;
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::config::{Config, Mirror as Settings};
use crate::error::Error;
use bolt::{Bolt, BoltError, Login};

mod bolt;
mod pack;

/// How long changes gather before they are sent.
const GATHER: Duration = Duration::from_millis(200);

/// How often the database is looked at when nothing changes, so that one that came back gets what it lacks.
const PULSE: Duration = Duration::from_secs(30);

/// The pauses between attempts to reach the database.
const PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// How long a statement may take.
const ANSWER_TIME: Duration = Duration::from_secs(60);

/// Indexes by which nodes are found. A database that knows no such statement works without them, slowly.
const INDEXES: [&str; 4] = [
    "CREATE INDEX monas_entity IF NOT EXISTS FOR (n:Entity) ON (n.space, n.name)",
    "CREATE INDEX monas_record IF NOT EXISTS FOR (n:Record) ON (n.space, n.id)",
    "CREATE INDEX monas_file IF NOT EXISTS FOR (n:File) ON (n.space, n.path)",
    "CREATE INDEX monas_symbol IF NOT EXISTS FOR (n:Symbol) ON (n.space, n.name)",
];

/// The mirror of the graph. It ends when it is dropped; what was not sent is sent after the next start.
#[derive(Debug)]
pub(crate) struct Mirror {
    _sending: AbortOnDropHandle<()>,
}

impl Mirror {
    /// Begins to send, if the configuration names a database. The memory must have been opened for that.
    pub(crate) fn start(
        config: &Config,
        memory: &Memory,
        secrets: &Secrets,
    ) -> Result<Option<Self>, Error> {
        let Some(settings) = &config.mirror else {
            return Ok(None);
        };
        let sender = Sender {
            settings: settings.clone(),
            memory: memory.clone(),
            secrets: secrets.clone(),
            dialer: config.outbound.dialer()?,
        };
        Ok(Some(Self {
            _sending: AbortOnDropHandle::new(tokio::spawn(sender.run())),
        }))
    }
}

struct Sender {
    settings: Settings,
    memory: Memory,
    secrets: Secrets,
    dialer: Dialer,
}

impl Sender {
    async fn run(self) {
        let mut backoff = Backoff::new(PAUSE.0, PAUSE.1, Jitter::Full);
        let mut is_down = false;
        loop {
            let failed = match self.connect().await {
                Ok(mut bolt) => {
                    if std::mem::take(&mut is_down) {
                        tracing::info!(
                            url = self.settings.url.as_str(),
                            "the mirror is reached again"
                        );
                    }
                    backoff.reset();
                    self.send_all(&mut bolt).await
                }
                Err(error) => error,
            };
            if !std::mem::replace(&mut is_down, true) {
                tracing::warn!(
                    url = self.settings.url.as_str(),
                    "the mirror of the graph failed: {failed}; changes are gathered until it is reached"
                );
            }
            sleep(backoff.next_pause()).await;
        }
    }

    async fn connect(&self) -> Result<Bolt, BoltError> {
        let password = match &self.settings.secret {
            Some(name) => {
                let found = self.secrets.reveal(name);
                found.map_err(|error| BoltError::Secret(format!("could not {error}")))?
            }
            None => String::new(),
        };
        let login = Login {
            user: &self.settings.user,
            password: &password,
            database: self.settings.database.as_deref(),
        };
        let opening = async {
            let socket = self.dialer.open(self.settings.url.address()).await;
            let socket = socket.map_err(|error| BoltError::Connection(error.to_string()))?;
            let mut bolt = Bolt::open(socket, &login).await?;
            for index in INDEXES {
                match bolt.run(index, &serde_json::json!({})).await {
                    Ok(()) => {}
                    Err(BoltError::Refused(why)) => tracing::debug!("{index}: {why}"),
                    Err(error) => return Err(error),
                }
            }
            Ok(bolt)
        };
        in_time(opening).await
    }

    /// Sends what changes, until it fails.
    async fn send_all(&self, bolt: &mut Bolt) -> BoltError {
        let mut changes = self.memory.changes();
        let nothing = serde_json::json!({});
        loop {
            changes.mark_unchanged();
            if let Err(error) = self.send_changes(bolt).await {
                return error;
            }
            // A wait that is over without a change sends a statement, so that a lost connection is noticed.
            match timeout(PULSE, changes.changed()).await {
                Ok(Ok(())) => sleep(GATHER).await,
                Ok(Err(_)) => return BoltError::Connection("the memory is closed".to_owned()),
                Err(_) => {
                    let alive = bolt.run("RETURN 1", &nothing);
                    if let Err(error) = in_time(alive).await {
                        return error;
                    }
                }
            }
        }
    }

    async fn send_changes(&self, bolt: &mut Bolt) -> Result<(), BoltError> {
        let unread = |error: memory::Error| BoltError::Connection(error.to_string());
        for space in self.memory.mirrored_spaces().await.map_err(unread)? {
            while let Some(batch) = self.memory.mirror(&space).await.map_err(unread)? {
                for statement in &batch.statements {
                    let run = bolt.run(&statement.cypher, &statement.parameters);
                    if let Err(error) = in_time(run).await {
                        self.memory.put_back(&space, batch);
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    }
}

async fn in_time<T>(work: impl Future<Output = Result<T, BoltError>>) -> Result<T, BoltError> {
    match timeout(ANSWER_TIME, work).await {
        Ok(done) => done,
        Err(_) => Err(BoltError::Connection("no answer in time".to_owned())),
    }
}
