//! Why a server did not start.

use std::path::PathBuf;

use crate::command::{models, request};
use crate::serve::{door, signing};
use crate::{config, listen};

/// Why a server did not start. Each completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What is set makes no sense.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// The address cannot be had.
    #[error(transparent)]
    Listen(#[from] listen::Error),
    /// The files for TLS are of no use.
    #[error(transparent)]
    Tls(#[from] listen::TlsError),
    /// There is no key to sign the card with.
    #[error(transparent)]
    Signing(#[from] signing::Error),
    /// It cannot be known who calls.
    #[error(transparent)]
    Door(#[from] door::Error),
    /// A running server did not do what was asked of it.
    #[error(transparent)]
    Operator(#[from] request::Failure),
    /// A model cannot be used.
    #[error("use the model: {0}")]
    Model(#[from] model::Error),
    /// What was asked about models could not be done.
    #[error(transparent)]
    Models(#[from] models::Failure),
    /// The file that says what the agent is does not.
    #[error("read {}: {problem}", path.display())]
    Manifest {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// An agent cannot be called that.
    #[error("have an agent {id:?}: {why}")]
    AgentId {
        /// What it would be called.
        id: String,
        /// Why not.
        why: String,
    },
    /// The agent cannot live.
    #[error("give life to the agent: {0}")]
    Life(#[from] agent::Error),
    /// What it remembers cannot be had.
    #[error(transparent)]
    Memory(#[from] memory::Error),
    /// The folder of files cannot be used.
    #[error("use the workspace: {0}")]
    Workspace(#[from] tools::Error),
    /// The agent cannot be made.
    #[error("make the agent: {0}")]
    Agent(#[from] agent::CreateError),
    /// Its skills cannot be.
    #[error("make the agent: {0}")]
    Skills(#[from] skill::DefinitionError),
    /// The agent is served already.
    #[error("start the agent: {0}")]
    Started(#[from] agent::AlreadyStarted),
    /// Whoever is at standard input does not speak MCP.
    #[error("speak MCP: {0}")]
    Stdio(#[from] Box<mcp::rmcp::service::ServerInitializeError>),
    /// The data cannot be had.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The operating system refused something.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Error {
    /// What the process ends with: 2 when the fault lies in what the user wrote, 3 when nobody answers, else
    /// 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_) | Self::Listen(listen::Error::NotLoopback(..)) | Self::Tls(_) => 2,
            Self::Signing(_) | Self::Door(_) | Self::Manifest { .. } => 2,
            Self::AgentId { .. } | Self::Life(agent::Error::Twin { .. } | agent::Error::Law(_)) => {
                2
            }
            Self::Models(models::Failure::Unknown { .. } | models::Failure::Nowhere) => 2,
            Self::Operator(request::Failure::Unreachable { .. }) => 3,
            _ => 1,
        }
    }
}
