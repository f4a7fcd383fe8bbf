//! The key that signs the card: where it is read, and the commands that make and show one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use a2a::signature::{self, Algorithm, SigningKey};
use clap::builder::{PathBufValueParser, PossibleValuesParser};
use clap::{Arg, ArgMatches};

use crate::serve::door::everybody_reads;

/// Why there is no key. Each completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is not there, or not ours to read.
    #[error("read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Everybody on the machine could sign in the agent's name.
    #[error("use {}: everybody may read it; chmod 600 it, and make a new key if it was shared", path.display())]
    Open {
        /// The file.
        path: PathBuf,
    },
    /// There is no key in it.
    #[error("use {}: could not {source}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: signature::Error,
    },
    /// The system gave no random numbers.
    #[error(transparent)]
    Make(signature::Error),
}

/// Reads the key of a file that not everybody may read. Its group may, which is how secrets are mounted.
pub(crate) fn read(path: &Path) -> Result<SigningKey, Error> {
    let failed = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let text = fs::read_to_string(path).map_err(failed)?;
    if everybody_reads(path).map_err(failed)? {
        let path = path.to_owned();
        return Err(Error::Open { path });
    }
    SigningKey::from_pem(&text).map_err(|source| Error::Content {
        path: path.to_owned(),
        source,
    })
}

/// What is asked about keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A new private key.
    New(Algorithm),
    /// The public half of one.
    Public {
        /// The file of the private key.
        file: PathBuf,
        /// As PEM rather than as a JSON Web Key.
        pem: bool,
    },
}

/// The commands about keys: `key` and `public-key`.
pub(crate) fn definitions() -> [clap::Command; 2] {
    let algorithm = Arg::new("alg")
        .long("alg")
        .value_name("ALGORITHM")
        .value_parser(PossibleValuesParser::new(["es256", "eddsa"]))
        .default_value("es256")
        .help("How it signs");
    let format = Arg::new("format")
        .long("format")
        .value_parser(PossibleValuesParser::new(["jwk", "pem"]))
        .default_value("jwk")
        .help("How it is written; PEM has no room for the key's id");
    let file = Arg::new("file")
        .value_name("FILE")
        .required(true)
        .value_parser(PathBufValueParser::new())
        .help("The private key");
    [
        clap::Command::new("key")
            .about("Make a private key to sign the card with, and print it")
            .after_help(
                "Keep it where only the server may read it, and name the file in agent.signing_key:\n\n  \
                 (umask 077; monas card key > card-key.pem)",
            )
            .arg(algorithm),
        clap::Command::new("public-key")
            .about("Print the public half of a private key, for those who are to trust it")
            .arg(file)
            .arg(format),
    ]
}

impl Asked {
    /// What the matches of [`definitions`] say; none if they are not of them.
    pub(crate) fn read(name: &str, matches: &ArgMatches) -> Option<Self> {
        let word = |argument: &str| matches.get_one::<String>(argument).map(String::as_str);
        match name {
            "key" => Some(Self::New(match word("alg") {
                Some("eddsa") => Algorithm::EdDsa,
                _ => Algorithm::Es256,
            })),
            "public-key" => Some(Self::Public {
                file: matches.get_one::<PathBuf>("file")?.clone(),
                pem: word("format") == Some("pem"),
            }),
            _ => None,
        }
    }

    /// What there is to print.
    pub(crate) fn perform(&self) -> Result<String, Error> {
        match self {
            Self::New(algorithm) => SigningKey::generate(*algorithm).map_err(Error::Make),
            Self::Public { file, pem: true } => Ok(read(file)?.public_pem()),
            Self::Public { file, pem: false } => Ok(read(file)?.public_jwk().to_string() + "\n"),
        }
    }
}
