//! An agent's skills over MCP, with the hosts, origins and access rules of the server.

use std::io;
use std::path::Path;
use std::sync::Arc;

use access::{Calls, Door};
use agent::Agent;
use mcp::{Handler, Http, HttpConfig, Responder};
use tokio_util::sync::CancellationToken;

use crate::config::{Config, Data};
use crate::error::Error;
use crate::listen::PublicUrl;
use crate::serve::secret_file;

/// The file in the data folder with the key that seals request states.
pub(crate) const KEY: &str = "mcp.key";

/// Serves the handler of an agent's skills at an endpoint, alone or with more around it.
pub type ServeMcp = fn(&Endpoint<'_>, Handler) -> Http;

/// Where one agent's skills are offered over MCP.
#[derive(Clone, Debug)]
pub struct Endpoint<'a> {
    pub(crate) config: &'a Config,
    /// The URL that clients are told to call.
    pub(crate) url: &'a str,
    pub(crate) door: Arc<Door>,
    pub(crate) calls: Calls,
    /// Cancelled when the server stops.
    pub(crate) stopping: CancellationToken,
}

impl Endpoint<'_> {
    /// Serves a handler over HTTP, with the hosts, origins and access rules of the server.
    pub fn serve(&self, handler: impl Responder) -> Http {
        let config = self.config;
        let public = config.public_url.iter().map(PublicUrl::origin);
        let allowed = config.allow_origins.iter().chain(public.clone());
        let allowed = allowed.map(|origin| with_port(&origin.to_string()));
        // The listener has checked the origin already.
        let origins = match config.allows_any_origin() {
            true => vec!["*".to_owned()],
            false => allowed.chain(own_origins(self.url)).collect(),
        };
        let mut served = HttpConfig {
            hosts: public.map(|url| url.host().to_owned()).collect(),
            origins,
            door: self.door.clone(),
            stopping: self.stopping.clone(),
            ..HttpConfig::default()
        };
        served.limits.max_body = config.limits.max_body;
        Http::new(handler, served)
    }
}

/// Serves the skills and nothing else.
pub(crate) fn skills_only(endpoint: &Endpoint<'_>, handler: Handler) -> Http {
    endpoint.serve(handler)
}

/// The handler of an agent's skills; calls go to `service` as tasks.
pub(crate) fn handler(
    config: &Config,
    agent: &Agent,
    service: Arc<dyn a2a::Service>,
    calls: &Calls,
    stopping: &CancellationToken,
) -> Result<Handler, Error> {
    let mut offered = mcp::Config::new(agent.skills().clone(), service);
    if let Some(url) = &config.public_url {
        url.origin().host().clone_into(&mut offered.authority);
    }
    if let Data::Folder(folder) = &config.data {
        let failed = |source| Error::System {
            what: "keep a key in the data folder",
            source,
        };
        offered.key = key(&folder.join(KEY)).map_err(failed)?;
    }
    offered.calls = calls.clone();
    offered.stopping = stopping.clone();
    Ok(Handler::new(offered))
}

/// The origins of this server's own pages, by each name of the local machine.
fn own_origins(url: &str) -> Vec<String> {
    let (scheme, authority) = url.split_once("://").unwrap_or(("http", url));
    let port = authority.rsplit_once(':').map_or("*", |(_, port)| port);
    let own = ["localhost", "127.0.0.1", "[::1]"];
    own.map(|host| format!("{scheme}://{host}:{port}")).to_vec()
}

/// An origin with its port, also if it is the default one.
fn with_port(origin: &str) -> String {
    let (scheme, authority) = origin.split_once("://").unwrap_or(("http", origin));
    match authority.rsplit_once(':') {
        Some((_, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => origin.to_owned(),
        _ => format!("{origin}:{}", if scheme == "https" { 443 } else { 80 }),
    }
}

/// Reads the key of a file, which is made if it does not exist.
fn key(path: &Path) -> io::Result<Vec<u8>> {
    let key = ::mcp::random_key();
    let length = key.len();
    let read = secret_file::read_or_make(path, || Ok(key))?;
    if read.len() != length {
        let problem = format!(
            "{} has {} bytes instead of {length}: it is damaged; delete it, and a new one is made (questions of MCP tools \
             that wait for an answer are then asked again)",
            path.display(),
            read.len(),
        );
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    Ok(read)
}
