//! Why a server did not start.

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
    /// What the process ends with: 2 when the fault lies in what the user wrote, else 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_) | Self::Listen(listen::Error::NotLoopback(_)) | Self::Tls(_) => 2,
            _ => 1,
        }
    }
}
