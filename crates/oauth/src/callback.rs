//! An authorization request, and the answer to it.

use crate::metadata::IssuerMetadata;
use crate::pkce::random;
use crate::{Error, OAuthClient, Pkce, Web};

/// An authorization request under way: what its answer is checked against.
#[derive(Debug)]
pub struct Callback {
    issuer: String,
    names_issuer: bool,
    state: String,
    pub(crate) pkce: Pkce,
    pub(crate) redirect: String,
    /// The address that a person opens.
    pub url: String,
}

impl Callback {
    /// Prepares a request for a code. The server must have PKCE: without it a stolen code would be as good as a token.
    pub fn prepare(
        web: &Web,
        issuer: &IssuerMetadata,
        client: &OAuthClient,
        redirect: &str,
        scopes: &[String],
        resource: Option<&str>,
    ) -> Result<Self, Error> {
        let methods = &issuer.code_challenge_methods_supported;
        if !methods.iter().any(|it| it == "S256") {
            return Err(issuer.lacks("PKCE with S256 (code_challenge_methods_supported)"));
        }
        let endpoint = issuer.authorization_endpoint.as_ref();
        let endpoint = issuer.endpoint(web, endpoint, "authorization_endpoint")?;
        let (pkce, state) = (Pkce::new()?, random()?);
        let mut query = form_urlencoded::Serializer::new(String::new());
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &client.id)
            .append_pair("redirect_uri", redirect)
            .append_pair("state", &state)
            .append_pair("code_challenge", &pkce.challenge)
            .append_pair("code_challenge_method", "S256");
        if !scopes.is_empty() {
            query.append_pair("scope", &scopes.join(" "));
        }
        if scopes.iter().any(|scope| scope == "offline_access") {
            // OpenID Connect Core 11: without it the scope is ignored.
            query.append_pair("prompt", "consent");
        }
        if let Some(resource) = resource {
            query.append_pair("resource", resource);
        }
        let sign = match endpoint.uri().query() {
            Some(_) => '&',
            None => '?',
        };
        Ok(Self {
            issuer: issuer.issuer.clone(),
            names_issuer: issuer.authorization_response_iss_parameter_supported,
            state,
            pkce,
            redirect: redirect.to_owned(),
            url: format!("{endpoint}{sign}{}", query.finish()),
        })
    }

    /// The code of an answer, which is the query of the redirect or the whole address.
    pub fn code(&self, answer: &str) -> Result<String, Error> {
        let query = answer.split_once('?').map_or(answer, |(_, query)| query);
        let query = query.split('#').next().unwrap_or_default();
        let (mut code, mut state, mut issuer, mut error) = (None, None, None, None);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let place = match &*name {
                "code" => &mut code,
                "state" => &mut state,
                "iss" => &mut issuer,
                "error" => &mut error,
                _ => continue,
            };
            if place.replace(value.into_owned()).is_some() {
                return Err(self.wrong("it names something twice"));
            }
        }
        if state.as_deref() != Some(&*self.state) {
            return Err(self.wrong("it is not the answer to our request (state)"));
        }
        // RFC 9207 2.4: compared as it stands; where it is announced, it must be there.
        match issuer {
            Some(issuer) if issuer != self.issuer => {
                return Err(self.wrong("it is from another issuer (iss)"));
            }
            None if self.names_issuer => {
                return Err(self.wrong("it does not name its issuer (iss)"));
            }
            _ => {}
        }
        if let Some(error) = error {
            let plain = error.chars().filter(|it| !it.is_control());
            return Err(Error::Refused {
                issuer: self.issuer.clone(),
                code: plain.take(200).collect(),
                description: String::new(),
            });
        }
        code.ok_or_else(|| self.wrong("it has no code"))
    }

    fn wrong(&self, problem: &'static str) -> Error {
        Error::Callback {
            issuer: self.issuer.clone(),
            problem,
        }
    }
}

#[cfg(test)]
#[path = "callback_tests.rs"]
mod tests;
