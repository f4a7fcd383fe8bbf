//! Bolt, as far as a client needs it that runs statements one after the other: handshake, login, `RUN` and `PULL`.
//!
//! Versions 5.0 and 4.2 to 4.4 are offered: all of them log in with `HELLO`, and every server since Neo4j 4.2 speaks one.

use std::fmt;

use dial::Socket;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::pack;

/// The longest message that is read.
const MAX_MESSAGE: usize = 1 << 20;

/// The largest part of a message on the wire.
const MAX_CHUNK: usize = 0xFFFF;

const MAGIC: [u8; 4] = [0x60, 0x60, 0xB0, 0x17];

/// Four offers: a range of minor versions, the minor and the major version.
const OFFERS: [[u8; 4]; 4] = [[0, 0, 0, 5], [0, 2, 4, 4], [0; 4], [0; 4]];

const HELLO: u8 = 0x01;
const RESET: u8 = 0x0F;
const RUN: u8 = 0x10;
const PULL: u8 = 0x3F;
const SUCCESS: u8 = 0x70;
const RECORD: u8 = 0x71;
const IGNORED: u8 = 0x7E;
const FAILURE: u8 = 0x7F;

/// How a statement, or the connection, failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BoltError {
    /// The connection cannot be used any longer.
    #[error("{0}")]
    Connection(String),
    /// The database refuses the statement or the login; the connection stays.
    #[error("the database refused: {0}")]
    Refused(String),
    #[error("{0}")]
    Secret(String),
}

impl From<std::io::Error> for BoltError {
    fn from(error: std::io::Error) -> Self {
        Self::Connection(error.to_string())
    }
}

/// The user of a connection.
pub(crate) struct Login<'a> {
    pub(crate) user: &'a str,
    pub(crate) password: &'a str,
    /// None: the default database of the server.
    pub(crate) database: Option<&'a str>,
}

/// A connection that has logged in.
pub(crate) struct Bolt {
    socket: Box<dyn Socket>,
    database: Option<String>,
}

impl fmt::Debug for Bolt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bolt")
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}

impl Bolt {
    pub(crate) async fn open(
        mut socket: Box<dyn Socket>,
        login: &Login<'_>,
    ) -> Result<Self, BoltError> {
        let offers = [&MAGIC[..], &OFFERS.concat()].concat();
        socket.write_all(&offers).await?;
        socket.flush().await?;
        let mut chosen = [0; 4];
        socket.read_exact(&mut chosen).await?;
        if !matches!(chosen, [0, 0, 0, 5] | [0, 0, 2..=4, 4]) {
            let why = format!("it speaks no version of Bolt that was offered ({chosen:?})");
            return Err(BoltError::Connection(why));
        }
        let mut bolt = Self {
            socket,
            database: login.database.map(str::to_owned),
        };
        let hello = json!({
            "user_agent": concat!("monas/", env!("CARGO_PKG_VERSION")),
            "scheme": "basic",
            "principal": login.user,
            "credentials": login.password,
        });
        bolt.send(HELLO, &[&hello]).await?;
        bolt.flush().await?;
        match bolt.answer().await? {
            Ok(()) => Ok(bolt),
            Err(why) => Err(BoltError::Refused(why)),
        }
    }

    /// Runs a statement, and drops the rows that it gives.
    pub(crate) async fn run(&mut self, cypher: &str, parameters: &Value) -> Result<(), BoltError> {
        let extra = match &self.database {
            Some(database) => json!({ "db": database }),
            None => json!({}),
        };
        self.send(RUN, &[&cypher.into(), parameters, &extra])
            .await?;
        self.send(PULL, &[&json!({ "n": -1 })]).await?;
        self.flush().await?;
        let (ran, pulled) = (self.answer().await?, self.answer().await?);
        let Err(why) = ran.and(pulled) else {
            return Ok(());
        };
        self.send(RESET, &[]).await?;
        self.flush().await?;
        match self.answer().await? {
            Ok(()) => Err(BoltError::Refused(why)),
            Err(_) => Err(BoltError::Connection(why)),
        }
    }

    async fn send(&mut self, tag: u8, fields: &[&Value]) -> Result<(), BoltError> {
        let message = pack::structure(tag, fields);
        for chunk in message.chunks(MAX_CHUNK) {
            let length = u16::try_from(chunk.len()).unwrap_or(u16::MAX);
            self.socket.write_all(&length.to_be_bytes()).await?;
            self.socket.write_all(chunk).await?;
        }
        self.socket.write_all(&[0, 0]).await?;
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), BoltError> {
        Ok(self.socket.flush().await?)
    }

    /// The answer to one message: success, or why not. Rows before it are dropped.
    async fn answer(&mut self) -> Result<Result<(), String>, BoltError> {
        loop {
            let message = self.message().await?;
            let strange = || BoltError::Connection("an answer that is not Bolt".to_owned());
            let (tag, fields) = pack::parse(&message).ok_or_else(strange)?;
            match tag {
                SUCCESS => return Ok(Ok(())),
                RECORD => {}
                IGNORED => return Ok(Err("ignored after an error".to_owned())),
                FAILURE => {
                    let text = |name: &str| fields[0][name].as_str().unwrap_or_default().to_owned();
                    return Ok(Err(format!("{} ({})", text("message"), text("code"))));
                }
                _ => return Err(strange()),
            }
        }
    }

    async fn message(&mut self) -> Result<Vec<u8>, BoltError> {
        let mut message = Vec::new();
        loop {
            let mut length = [0; 2];
            self.socket.read_exact(&mut length).await?;
            match usize::from(u16::from_be_bytes(length)) {
                // An empty part before a message keeps the connection alive.
                0 if message.is_empty() => {}
                0 => return Ok(message),
                length => {
                    let end = message.len() + length;
                    if end > MAX_MESSAGE {
                        let why = "an answer that is too long".to_owned();
                        return Err(BoltError::Connection(why));
                    }
                    let begin = message.len();
                    message.resize(end, 0);
                    self.socket.read_exact(&mut message[begin..]).await?;
                }
            }
        }
    }
}
