//! The requests to the token endpoint of an authorization server.

use std::time::{Duration, SystemTime};

use http::header::HeaderMap;
use http::{HeaderValue, StatusCode};

use crate::client::refused;
use crate::dpop::PROOF;
use crate::flow::EnterpriseLogin;
use crate::{Address, Callback, Error, IssuerMetadata, OAuthClient, ProofKey, Token, Web};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The token endpoint, with the client that asks. With a key, tokens are bound to it.
#[derive(Debug)]
pub struct TokenEndpoint<'a> {
    pub web: &'a Web,
    pub issuer: &'a IssuerMetadata,
    pub client: &'a OAuthClient,
    pub proof: Option<&'a ProofKey>,
    /// The identifier of the resource that the token is for (RFC 8707).
    pub resource: Option<&'a str>,
}

/// A device code (RFC 8628): what a person enters elsewhere, while we ask whether they have.
#[derive(Clone, Debug)]
pub struct Device {
    code: String,
    /// What the person enters.
    pub user_code: String,
    /// Where the person enters it.
    pub address: String,
    /// The same with the code in it.
    pub complete: Option<String>,
    /// The pause between two questions.
    pub interval: Duration,
    pub expires: Duration,
}

/// What a question about a device code was answered with.
#[derive(Debug)]
pub enum Polled {
    /// The person has agreed.
    Token(Token),
    /// The person has not yet agreed.
    Pending,
    /// The pauses are to be five seconds longer from now on.
    Slower,
}

impl TokenEndpoint<'_> {
    /// Exchanges the code that a person's agreement gave.
    pub async fn code(&self, callback: &Callback, code: String) -> Result<Token, Error> {
        self.token(vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code", code),
            ("redirect_uri", callback.redirect.clone()),
            ("code_verifier", callback.pkce.verifier.clone()),
        ])
        .await
    }

    /// A token for the client itself.
    pub async fn client_credentials(&self, scopes: &[String]) -> Result<Token, Error> {
        let mut form = vec![("grant_type", "client_credentials".to_owned())];
        scope(&mut form, scopes);
        self.token(form).await
    }

    /// A token for the one that a signed statement names.
    pub async fn assertion(&self, assertion: String, scopes: &[String]) -> Result<Token, Error> {
        let mut form = vec![
            ("grant_type", JWT_BEARER.to_owned()),
            ("assertion", assertion),
        ];
        scope(&mut form, scopes);
        self.token(form).await
    }

    /// The next token. A server that gives no new refresh token lets the old one stay.
    pub async fn refresh(&self, old: &str) -> Result<Token, Error> {
        let form = vec![
            ("grant_type", "refresh_token".to_owned()),
            ("refresh_token", old.to_owned()),
        ];
        let mut token = self.token(form).await?;
        token.refresh_token.get_or_insert_with(|| old.to_owned());
        Ok(token)
    }

    /// Begins a sign-in on another device.
    pub async fn device(&self, scopes: &[String]) -> Result<Device, Error> {
        let endpoint = self.issuer.device_authorization_endpoint.as_ref();
        let lacking = "sign-in on another device (device_authorization_endpoint)";
        let endpoint = self.issuer.endpoint(self.web, endpoint, lacking)?;
        let mut form = Vec::new();
        scope(&mut form, scopes);
        let answer = self.post(&endpoint, form).await?;
        let text = |name: &str| answer[name].as_str().map(str::to_owned);
        let missing = |problem: &str| Error::Answer {
            address: endpoint.to_string(),
            problem: problem.to_owned(),
        };
        let interval = answer["interval"].as_u64().unwrap_or(5).clamp(1, 60);
        let expires = answer["expires_in"].as_u64().unwrap_or(600).clamp(1, 3600);
        Ok(Device {
            code: text("device_code").ok_or_else(|| missing("no device_code"))?,
            user_code: text("user_code").ok_or_else(|| missing("no user_code"))?,
            address: text("verification_uri").ok_or_else(|| missing("no verification_uri"))?,
            complete: text("verification_uri_complete"),
            interval: Duration::from_secs(interval),
            expires: Duration::from_secs(expires),
        })
    }

    /// Asks whether a person has agreed on another device.
    pub async fn poll(&self, device: &Device) -> Result<Polled, Error> {
        let form = vec![
            ("grant_type", DEVICE_CODE.to_owned()),
            ("device_code", device.code.clone()),
        ];
        match self.token(form).await {
            Ok(token) => Ok(Polled::Token(token)),
            Err(Error::Refused { code, .. }) if code == "authorization_pending" => {
                Ok(Polled::Pending)
            }
            Err(Error::Refused { code, .. }) if code == "slow_down" => Ok(Polled::Slower),
            Err(error) => Err(error),
        }
    }

    async fn token(&self, form: Vec<(&str, String)>) -> Result<Token, Error> {
        let endpoint = self.issuer.token_endpoint.as_ref();
        let endpoint = self.issuer.endpoint(self.web, endpoint, "token_endpoint")?;
        let answer = self.post(&endpoint, form).await?;
        let token = Token::read(&answer, SystemTime::now());
        let token = token.map_err(|problem| Error::Answer {
            address: endpoint.to_string(),
            problem: problem.to_owned(),
        })?;
        if token.needs_proof && self.proof.is_none() {
            return Err(Error::Answer {
                address: endpoint.to_string(),
                problem: "a token bound to a key, and none was shown".to_owned(),
            });
        }
        Ok(token)
    }

    async fn post(
        &self,
        endpoint: &Address,
        mut form: Vec<(&str, String)>,
    ) -> Result<serde_json::Value, Error> {
        if let Some(resource) = self.resource {
            form.push(("resource", resource.to_owned()));
        }
        // A server that wants a nonce of its own in the proof is asked once more with it (RFC 9449 8).
        for is_last in [false, true] {
            let (mut form, mut headers) = (form.clone(), HeaderMap::new());
            self.client
                .authenticate(self.issuer, &mut form, &mut headers)?;
            if let Some(key) = self.proof {
                let proof = key.proof("POST", endpoint, None)?;
                headers.insert(PROOF, header(&proof)?);
            }
            let answer = self.web.post_form(endpoint, headers, &form).await?;
            let is_new = self
                .proof
                .is_some_and(|key| key.remember(endpoint, &answer.headers));
            if answer.status == StatusCode::OK {
                return Ok(answer.body);
            }
            let wants_nonce = answer.body["error"] == "use_dpop_nonce" && is_new;
            if !wants_nonce || is_last {
                let status = format!("status {}", answer.status.as_u16());
                return Err(refused(self.issuer, &answer.body, &status));
            }
        }
        Err(self.issuer.lacks("nonce that it accepts"))
    }
}

/// Exchanges a company's token of the user for a statement to an authorization server (RFC 8693).
pub(crate) async fn exchange(
    web: &Web,
    login: &EnterpriseLogin,
    issuer: &IssuerMetadata,
    resource: &str,
) -> Result<String, Error> {
    let endpoint = web.usable(&login.token_endpoint)?;
    let form = [
        ("grant_type", TOKEN_EXCHANGE.to_owned()),
        (
            "requested_token_type",
            "urn:ietf:params:oauth:token-type:id-jag".to_owned(),
        ),
        ("audience", issuer.issuer.clone()),
        ("resource", resource.to_owned()),
        ("subject_token", login.id_token.clone()),
        (
            "subject_token_type",
            "urn:ietf:params:oauth:token-type:id_token".to_owned(),
        ),
        ("client_id", login.client_id.clone()),
    ];
    let answer = web.post_form(&endpoint, HeaderMap::new(), &form).await?;
    match answer.body["access_token"].as_str() {
        Some(statement) if answer.status == StatusCode::OK => Ok(statement.to_owned()),
        _ => Err(refused(
            issuer,
            &answer.body,
            "the exchange of tokens failed",
        )),
    }
}

fn scope(form: &mut Vec<(&str, String)>, scopes: &[String]) {
    if !scopes.is_empty() {
        form.push(("scope", scopes.join(" ")));
    }
}

pub(crate) fn header(text: &str) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::from_str(text).map_err(|_| Error::Key("not a header value"))?;
    value.set_sensitive(true);
    Ok(value)
}
