//! Outbound connections: one set of authorities, proxies and time for everything that the program calls.

use std::path::PathBuf;
use std::time::Duration;

use dial::{Dialer, Proxies, Trust};

use super::settings::Settings;
use super::{Error, Sources};

/// How connections to other machines are made: to models, webhooks, tool servers, other agents and places of weights, by
/// the server and by commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbound {
    /// A PEM file of certificate authorities to trust besides the public ones.
    pub ca_cert: Option<PathBuf>,
    /// From `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`.
    pub proxies: Proxies,
    /// How long a connection may take until it is ready.
    pub connect_timeout: Duration,
}

impl Default for Outbound {
    fn default() -> Self {
        Self {
            ca_cert: None,
            proxies: Proxies::none(),
            connect_timeout: Duration::from_secs(10),
        }
    }
}

impl Outbound {
    pub(super) fn decide(settings: &Settings, sources: &dyn Sources) -> Result<Self, Error> {
        let standard = Self::default();
        Ok(Self {
            ca_cert: settings.ca_cert.clone(),
            proxies: Proxies::from_variables(|name| sources.variable(name))?,
            connect_timeout: settings.connect_timeout.unwrap_or(standard.connect_timeout),
        })
    }

    /// The settings of a dialer. Reads the file of authorities.
    pub(crate) fn settings(&self) -> Result<dial::Settings, Error> {
        let mut settings = dial::Settings::default();
        settings.proxies = self.proxies.clone();
        settings.connect_time = self.connect_timeout;
        if let Some(path) = &self.ca_cert {
            let pem = std::fs::read(path).map_err(|source| Error::Read {
                path: path.clone(),
                source,
            })?;
            let authorities = dial::certificates(&pem).map_err(|error| Error::CaCert {
                path: path.clone(),
                problem: error.to_string(),
            })?;
            settings.trust = Trust::PublicAnd(authorities);
        }
        Ok(settings)
    }

    pub(crate) fn dialer(&self) -> Result<Dialer, Error> {
        Ok(Dialer::new(&self.settings()?)?)
    }
}
