//! The error of the crate.

use std::path::PathBuf;

use crate::command::{models, request, tls};
use crate::serve::{door, signing, tokens};
use crate::{config, listen};

/// Why a server did not start, or a command failed. Each message completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting is wrong.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// The address cannot be listened on.
    #[error(transparent)]
    Listen(#[from] listen::Error),
    /// The files for TLS cannot be used.
    #[error(transparent)]
    Tls(#[from] listen::TlsError),
    /// The key that signs the card cannot be used.
    #[error(transparent)]
    Signing(#[from] signing::Error),
    /// The authentication schemes cannot be used.
    #[error(transparent)]
    Door(#[from] door::Error),
    /// The secret of the server's own tokens cannot be used.
    #[error(transparent)]
    Tokens(#[from] tokens::Error),
    /// There is no token, or no keys of an issuer.
    #[error(transparent)]
    SignIn(#[from] oauth::Error),
    /// The address of the mirror is not one of Bolt.
    #[error(
        "use mirror.url = {0:?}: it begins with bolt:// or bolt+s://, as in bolt://localhost:7687"
    )]
    Mirror(String),
    /// A running server cannot be reached, or refused a request of a command.
    #[error("ask the server: {0}")]
    Operator(#[from] request::Failure),
    /// No server runs, and the folder that a command would read holds no data.
    #[error("find data in {}: {problem}, and no server runs on it", folder.display())]
    NoData {
        folder: PathBuf,
        problem: &'static str,
    },
    /// The data are in a database, for which another program does what was asked for.
    #[error("do this with {database}: {instead}")]
    Database {
        /// Its address without the password.
        database: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// A command about a database was given none.
    #[error("find the database: name it with --store postgres://USER@HOST/DATABASE")]
    NoDatabase,
    /// A command needs a running server.
    #[error("find a server that runs on {}: start one with `monas`, or name its data with --data", folder.display())]
    NotRunning { folder: PathBuf },
    /// The language model or the embedder cannot be used.
    #[error("use the model: {0}")]
    Model(#[from] model::Error),
    #[error(transparent)]
    Models(#[from] models::Failure),
    /// No certificate was made.
    #[error(transparent)]
    Certificates(#[from] tls::Failure),
    /// A manifest or a law cannot be read.
    #[error("read {}: {problem}", path.display())]
    Manifest { path: PathBuf, problem: String },
    /// The file of the extended card cannot be used.
    #[error("use the extended card {}: {problem}", path.display())]
    ExtendedCard { path: PathBuf, problem: String },
    /// The name of a manifest is not an agent's id.
    #[error("use agent id {id:?}: {why}")]
    AgentId { id: String, why: String },
    /// The agent cannot be started from its journal.
    #[error("start the agent: {0}")]
    AgentStart(#[from] agent::Error),
    /// An operation of the memory failed.
    #[error(transparent)]
    Memory(#[from] memory::Error),
    /// The folder for files of agents cannot be used.
    #[error("use the project folder (setting workspace): {0}")]
    Workspace(#[from] tools::Error),
    /// The manifest does not fit the skills.
    #[error("make the agent: {0}")]
    Agent(#[from] agent::CreateError),
    /// Two skills have the same id, or one is not a valid skill.
    #[error("make the agent: {0}")]
    Skills(#[from] skill::DefinitionError),
    /// The agent is served by another server of this process.
    #[error("start the agent: {0}")]
    Started(#[from] agent::AlreadyStarted),
    /// The data folder cannot be opened.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The audit trail was changed from outside.
    #[error("verify the audit trail: line {line}: {problem}")]
    Audit { line: u64, problem: String },
    /// The operating system refused something.
    #[error("{what}: {source}")]
    System {
        what: &'static str,
        source: std::io::Error,
    },
}

impl Error {
    /// The exit code: 2 for an error in the configuration or the command line, 3 where there is neither a server nor data, that
    /// of a request to a server, else 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_) | Self::Listen(listen::Error::NotLoopback(..)) | Self::Tls(_) => 2,
            Self::Signing(_) | Self::Door(_) | Self::Tokens(_) | Self::Manifest { .. } => 2,
            Self::AgentId { .. }
            | Self::AgentStart(agent::Error::Twin { .. } | agent::Error::Law(_)) => 2,
            Self::Models(models::Failure::Unknown { .. } | models::Failure::NoFolder) => 2,
            Self::Operator(failure) => failure.exit_code(),
            Self::Database { .. } | Self::NoDatabase => 2,
            Self::NoData { .. } | Self::NotRunning { .. } => 3,
            _ => 1,
        }
    }
}
