//! `monas card key` and `monas card public-key`: make a key that signs the card, and show its public half.

use std::path::PathBuf;

use a2a::signature::{Algorithm, SigningKey};
use clap::builder::{PathBufValueParser, PossibleValuesParser};
use clap::{Arg, ArgMatches};

use crate::serve::signing::{Error, read};

/// A command about keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyCommand {
    /// Make a private key.
    New(Algorithm),
    /// Print the public key of a private one.
    Public {
        file: PathBuf,
        /// PEM instead of a JSON Web Key.
        pem: bool,
    },
}

/// The command lines of `monas card key` and `monas card public-key`.
pub(crate) fn definitions() -> [clap::Command; 2] {
    let algorithm = Arg::new("alg")
        .long("alg")
        .value_name("ALGORITHM")
        .value_parser(PossibleValuesParser::new(["es256", "eddsa"]))
        .default_value("es256")
        .help("The signature algorithm");
    let format = Arg::new("format")
        .long("format")
        .value_parser(PossibleValuesParser::new(["jwk", "pem"]))
        .default_value("jwk")
        .help("The output format; PEM does not hold the id of the key");
    let file = Arg::new("file")
        .value_name("FILE")
        .required(true)
        .value_parser(PathBufValueParser::new())
        .help("The private key");
    [
        clap::Command::new("key")
            .about("Make a private key that signs the card, and print it")
            .after_help(
                "Store it in a file that only the server can read, and set agent.signing_key to that file:\n\n  \
                 (umask 077; monas card key > card-key.pem)",
            )
            .arg(algorithm),
        clap::Command::new("public-key")
            .about("Print the public key of a private key, for clients that verify the card")
            .after_help("monas card public-key card-key.pem --format pem")
            .arg(file)
            .arg(format),
    ]
}

impl KeyCommand {
    /// Reads the matches of [`definitions`]; none if they belong to another command.
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

    /// Makes or reads the key, and gives the text to print.
    pub(crate) fn perform(&self) -> Result<String, Error> {
        match self {
            Self::New(algorithm) => SigningKey::generate(*algorithm).map_err(Error::Make),
            Self::Public { file, pem: true } => Ok(read(file)?.public_pem()),
            Self::Public { file, pem: false } => Ok(read(file)?.public_jwk().to_string() + "\n"),
        }
    }
}
