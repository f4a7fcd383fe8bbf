//! `[mirror]`: a database that gets the graph of memory, over Bolt.

use axum::http::Uri;

use super::settings::Settings;
use super::value::Kind;

/// The port of a URL without one: that of Bolt.
const PORT: u16 = 7687;

/// A database that gets the graph of memory, over Bolt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    pub url: BoltUrl,
    pub user: String,
    /// The name of the secret with the password.
    pub secret: Option<String>,
    /// None: the default one of the server.
    pub database: Option<String>,
}

impl Mirror {
    /// No mirror without an address.
    pub(super) fn decide(settings: &Settings) -> Option<Self> {
        let user = settings.mirror_user.clone();
        Some(Self {
            url: settings.mirror_url.clone()?,
            user: user.unwrap_or_else(|| "neo4j".to_owned()),
            secret: settings.mirror_secret.clone(),
            database: settings.mirror_database.clone(),
        })
    }
}

/// The address of a server that speaks Bolt, such as `bolt://localhost:7687`; `bolt+s` and `neo4j+s` are encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoltUrl {
    text: String,
    address: Uri,
}

impl BoltUrl {
    /// The text as it was configured.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The address as a dialer takes it: `https` stands for an encrypted connection.
    pub(crate) fn address(&self) -> &Uri {
        &self.address
    }
}

impl Kind for BoltUrl {
    const EXPECTED: &'static str = "the address of a server that speaks Bolt, such as bolt://localhost:7687 or bolt+s://HOST:PORT";

    fn from_text(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let scheme = match scheme {
            "bolt" | "neo4j" => "http",
            "bolt+s" | "neo4j+s" => "https",
            _ => return None,
        };
        let named: Uri = format!("{scheme}://{}/", rest.trim_end_matches('/'))
            .parse()
            .ok()?;
        let plain = named.path() == "/" && named.query().is_none();
        let host = named.host().filter(|host| plain && !host.is_empty())?;
        let port = named.port_u16().unwrap_or(PORT);
        let address = format!("{scheme}://{host}:{port}/").parse().ok()?;
        Some(Self {
            text: text.to_owned(),
            address,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_of_bolt_a_host_and_a_port() {
        for (text, address) in [
            ("bolt://localhost", "http://localhost:7687/"),
            ("neo4j://127.0.0.1:1234/", "http://127.0.0.1:1234/"),
            ("bolt+s://[::1]:99", "https://[::1]:99/"),
            ("neo4j+s://graph.example", "https://graph.example:7687/"),
        ] {
            let url = BoltUrl::from_text(text).unwrap();
            assert_eq!(url.address().to_string(), address);
            assert_eq!(url.as_str(), text);
        }
        for wrong in [
            "localhost:7687",
            "http://localhost",
            "bolt://",
            "bolt://a/b",
            "bolt://a?b",
            "bolt://a b",
        ] {
            assert_eq!(BoltUrl::from_text(wrong), None, "{wrong}");
        }
    }
}
