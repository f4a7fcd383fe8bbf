//! `monas tls init`: a local certificate authority, and a server certificate that it has signed.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::builder::PathBufValueParser;
use clap::{Arg, ArgAction, ArgMatches};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};

#[cfg(test)]
#[path = "tls_tests.rs"]
mod tests;

/// The names that every certificate has: those under which a server is reached on its own machine.
const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How long the authority and the certificate are valid, in days. Some clients refuse certificates of more than 825 days.
const AUTHORITY_DAYS: u32 = 3650;
const CERTIFICATE_DAYS: u32 = 825;

/// The command, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TlsCommand {
    names: Vec<String>,
    folder: PathBuf,
}

/// Why nothing was made. Each completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// There is a file already; it may be in use.
    #[error("write {}: it exists, and is not overwritten; --dir names another folder", .0.display())]
    Exists(PathBuf),
    #[error("write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// A name cannot stand in a certificate.
    #[error("make a certificate for {names}: {problem}")]
    Certificate { names: String, problem: String },
    /// There is no data folder to put the files into.
    #[error("find a folder for the files: name one by --dir")]
    NoFolder,
}

/// The command line of `monas tls`.
pub(crate) fn definition() -> clap::Command {
    let init = clap::Command::new("init")
        .about("Make a local certificate authority and a certificate for the server")
        .after_help("monas tls init --name agents.example.internal")
        .arg(
            Arg::new("name")
                .long("name")
                .value_name("HOST")
                .action(ArgAction::Append)
                .help(
                    "A host name or an address of the server, besides localhost; may be repeated",
                ),
        )
        .arg(
            Arg::new("dir")
                .long("dir")
                .value_name("DIR")
                .value_parser(PathBufValueParser::new())
                .help("The folder for the files [default: `tls` in the data folder]"),
        );
    clap::Command::new("tls")
        .about("Make certificates for encrypted connections")
        .after_help("monas tls init")
        .subcommand_required(true)
        .subcommand(init)
}

/// What there is to write: the name of a file, whether it is secret, and its text.
type Made = (&'static str, bool, String);

impl TlsCommand {
    /// Reads the matches of `init`; `data` is the data folder.
    pub(crate) fn read(matches: &ArgMatches, data: Option<PathBuf>) -> Result<Self, Failure> {
        let names = matches.get_many::<String>("name").into_iter().flatten();
        let folder = matches.get_one::<PathBuf>("dir").cloned();
        let folder = folder.or_else(|| Some(data?.join("tls")));
        Ok(Self {
            names: names.cloned().collect(),
            folder: folder.ok_or(Failure::NoFolder)?,
        })
    }

    /// Makes the files, and gives the text to print: which settings use them.
    pub(crate) fn perform(&self) -> Result<String, Failure> {
        let names = self.all_names();
        let made = make(&names, SystemTime::now()).map_err(|problem| Failure::Certificate {
            names: names.join(", "),
            problem: problem.to_string(),
        })?;
        let path = |name: &str| self.folder.join(name);
        if let Some((name, ..)) = made.iter().find(|(name, ..)| path(name).exists()) {
            return Err(Failure::Exists(path(name)));
        }
        let mut folder = DirBuilder::new();
        let created = folder.recursive(true).mode(0o700).create(&self.folder);
        created.map_err(|source| Failure::Write {
            path: self.folder.clone(),
            source,
        })?;
        for (name, secret, text) in &made {
            write(&path(name), *secret, text)?;
        }
        let folder = self.folder.canonicalize();
        let folder = folder.unwrap_or_else(|_| self.folder.clone());
        Ok(advice(&folder, &names))
    }

    fn all_names(&self) -> Vec<String> {
        let mut names: Vec<String> = LOCAL.map(str::to_owned).into();
        for name in &self.names {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }
}

/// The authority and the certificate, with their keys.
fn make(names: &[String], now: SystemTime) -> Result<[Made; 4], rcgen::Error> {
    let mut authority = CertificateParams::new(Vec::new())?;
    let common_name = format!("Monas local authority {}", uuid::Uuid::new_v4().simple());
    authority.distinguished_name = named(&common_name);
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    last(&mut authority, now, AUTHORITY_DAYS);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;

    let mut server = CertificateParams::new(names)?;
    server.distinguished_name = named(names.last().map_or("localhost", String::as_str));
    server.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    server.use_authority_key_identifier_extension = true;
    last(&mut server, now, CERTIFICATE_DAYS);
    let key = KeyPair::generate()?;
    let certificate = server.signed_by(&key, &authority)?;
    Ok([
        ("ca-key.pem", true, authority.key().serialize_pem()),
        ("ca.pem", false, authority.pem()),
        ("key.pem", true, key.serialize_pem()),
        ("cert.pem", false, certificate.pem()),
    ])
}

fn named(name: &str) -> rcgen::DistinguishedName {
    let mut distinguished = rcgen::DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

/// Sets how long a certificate is valid: from yesterday, since clocks differ.
fn last(certificate: &mut CertificateParams, now: SystemTime, days: u32) {
    let now = now.duration_since(SystemTime::UNIX_EPOCH);
    let now = rcgen::date_time_ymd(1970, 1, 1) + now.unwrap_or_default();
    certificate.not_before = now - DAY;
    certificate.not_after = now + DAY * days;
}

/// Writes a new file. One with a secret is for its owner alone, from its first byte on.
fn write(path: &Path, secret: bool, text: &str) -> Result<(), Failure> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => Failure::Exists(path.to_owned()),
        _ => Failure::Write {
            path: path.to_owned(),
            source,
        },
    };
    let mode = if secret { 0o600 } else { 0o644 };
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(mode).open(path);
    let mut file = file.map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

fn advice(folder: &Path, names: &[String]) -> String {
    let file = |name: &str| folder.join(name).display().to_string();
    let (authority, certificate, key) = (file("ca.pem"), file("cert.pem"), file("key.pem"));
    let host = names.last().map_or("localhost", String::as_str);
    let host = match host.parse() {
        Ok(IpAddr::V6(_)) if names.len() == LOCAL.len() => "localhost".to_owned(),
        Ok(IpAddr::V6(address)) => format!("[{address}]"),
        _ => host.to_owned(),
    };
    format!(
        "made a local authority, and a certificate for {names}\n\
         \n\
         the server uses it with\n  \
         --tls-cert {certificate} --tls-key {key}\n\
         or in monas.toml\n  \
         tls.cert = {certificate:?}\n  \
         tls.key = {key:?}\n\
         clients trust it with\n  \
         --ca-cert {authority} --server https://{host}:8080\n\
         \n\
         {authority_key} can sign certificates that these clients trust: keep it to yourself, or away from this machine",
        names = names.join(", "),
        authority_key = file("ca-key.pem"),
    )
}
