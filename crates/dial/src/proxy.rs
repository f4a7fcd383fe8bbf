//! Which proxy carries a request: the variables `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`.

use std::fmt;
use std::sync::Arc;

use http::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

use crate::error::Error;
use crate::guard::ip_literal;

#[cfg(test)]
#[path = "proxy_tests.rs"]
mod tests;

/// The proxies of a program, by the scheme and the host of the address that is asked for.
///
/// The rules are those of curl, by hyper-util's matcher: `HTTPS_PROXY` carries https, `HTTP_PROXY` carries http,
/// `ALL_PROXY` what has no variable of its own; `NO_PROXY` lists names (with all below them), addresses and networks
/// that are reached directly, `*` for all. One rule is added: plain http to this machine (`localhost` and loopback
/// addresses) is never sent to a proxy, which would reach itself. That is where a local server and a local model are.
#[derive(Clone, Default)]
pub struct Proxies(Option<Arc<Given>>);

/// The variables as they were given, and the rules made of them.
struct Given {
    variables: [String; 4],
    matcher: Matcher,
}

impl Proxies {
    /// Every connection is direct.
    pub fn none() -> Self {
        Self(None)
    }

    /// Reads the variables, each in capitals first, then in small letters, as `lookup` gives them. An empty one counts
    /// as not set.
    ///
    /// It is an error when a proxy is no `http://` or `https://` address: requests that ought to have gone through it
    /// would be sent directly, which the user did not want.
    pub fn from_variables(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let read = |name: &str| {
            let value = lookup(name).or_else(|| lookup(&name.to_ascii_lowercase()));
            let value = value.unwrap_or_default();
            value.trim().to_owned()
        };
        let proxy = |name: &str| {
            let value = read(name);
            check(name, &value).map(|()| value)
        };
        let (all, http, https) = (
            proxy("ALL_PROXY")?,
            proxy("HTTP_PROXY")?,
            proxy("HTTPS_PROXY")?,
        );
        if all.is_empty() && http.is_empty() && https.is_empty() {
            return Ok(Self::none());
        }
        let variables = [all, http, https, read("NO_PROXY")];
        let [all, http, https, no] = variables.clone();
        let matcher = Matcher::builder().all(all).http(http).https(https).no(no);
        Ok(Self(Some(Arc::new(Given {
            variables,
            matcher: matcher.build(),
        }))))
    }

    /// The proxy for an address, if there is one. `ws` and `wss` count as http and https.
    pub(crate) fn of(&self, address: &Uri) -> Option<Intercept> {
        let matcher = &self.0.as_ref()?.matcher;
        let host = address.host()?;
        let scheme = match address.scheme_str()? {
            "https" | "wss" => "https",
            _ if is_loopback(host) => return None,
            _ => "http",
        };
        let mut parts = address.clone().into_parts();
        parts.scheme = scheme.parse().ok();
        matcher.intercept(&Uri::from_parts(parts).ok()?)
    }
}

impl PartialEq for Proxies {
    fn eq(&self, other: &Self) -> bool {
        let variables = |it: &Self| it.0.as_ref().map(|given| given.variables.clone());
        variables(self) == variables(other)
    }
}

impl Eq for Proxies {}

impl fmt::Debug for Proxies {
    /// Without passwords, which hyper-util leaves out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let matcher = self.0.as_ref().map(|given| &given.matcher);
        f.debug_tuple("Proxies").field(&matcher).finish()
    }
}

fn check(name: &str, value: &str) -> Result<(), Error> {
    let wrong = |problem: &str| Err(Error::settings(name, problem));
    if value.is_empty() {
        return Ok(());
    }
    // The value is not repeated: it may hold a password.
    let Ok(address) = value.parse::<Uri>() else {
        return wrong("not an address of a proxy, such as http://proxy.example.com:3128");
    };
    match address.scheme_str() {
        None | Some("http" | "https") if address.host().is_some_and(|it| !it.is_empty()) => Ok(()),
        Some(scheme) if scheme.starts_with("socks") => {
            wrong("SOCKS proxies are not supported; use an http:// or https:// proxy")
        }
        _ => wrong("not an address of a proxy, such as http://proxy.example.com:3128"),
    }
}

fn is_loopback(host: &str) -> bool {
    ip_literal(host).map_or_else(
        || host.trim_end_matches('.').eq_ignore_ascii_case("localhost"),
        |address| address.to_canonical().is_loopback(),
    )
}
