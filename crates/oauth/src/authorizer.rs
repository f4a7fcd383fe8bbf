//! Tokens for one protected resource: got when it asks for them, shown with each request, renewed.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use bytes::Bytes;
use dial::Dialer;
use http::header::{AUTHORIZATION, HeaderMap};
use http::{Request, StatusCode};
use tokio::sync::Mutex;

use crate::client::ClientMetadata;
use crate::dpop::PROOF;
use crate::flow::{Consent, ConsentError, Flow, Plan};
use crate::grant::{TokenEndpoint, exchange, header};
use crate::{
    Address, Callback, Challenge, Error, IssuerMetadata, Kept, OAuthClient, ProofKey,
    ResourceMetadata, Token, Vault, Web,
};

/// The scope that asks for a token which outlives the presence of the person.
const OFFLINE: &str = "offline_access";

/// How often one request may be answered with a challenge and repeated.
const ROUNDS: usize = 3;

/// Gets, shows and renews the tokens for one resource.
///
/// A request is [signed](Self::sign) with the token that is there, if one is. When the resource refuses, its headers are
/// [answered](Self::answer): the metadata of the resource name its authorization server, whose metadata say where a
/// client is registered and where tokens are got; the request is then sent again. All of that happens under one lock, so
/// that requests which are refused at the same time cause one sign-in: the second finds another token than the one it had
/// used, and uses that.
///
/// What is kept belongs to the issuer that it came from. When the resource names another issuer, client and tokens are
/// dropped before anything is sent there. A token that allows too little is replaced by one with the scopes of both; if the
/// server asks for the same again, it gets an error rather than a loop.
pub struct Authorizer {
    resource: Address,
    web: Web,
    plan: Plan,
    consent: Arc<dyn Consent>,
    vault: Vault,
    state: Mutex<State>,
    /// The token is new, and no request with it has been accepted.
    is_untried: AtomicBool,
}

#[derive(Default)]
struct State {
    /// Whether the vault was read.
    is_loaded: bool,
    kept: Option<Kept>,
    proof: Option<Arc<ProofKey>>,
    /// The scopes that were asked for because a token allowed too little.
    stepped: BTreeSet<String>,
}

/// The token that a request was sent with, if any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenUse(Option<String>);

/// A signed request: the token in it, and how often it has been repeated.
#[derive(Clone, Debug, Default)]
pub struct Signed {
    used: TokenUse,
    rounds: usize,
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorizer")
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}

impl Authorizer {
    /// Tokens for the resource at an address, which is https or on loopback.
    pub fn new(
        resource: &str,
        dialer: &Dialer,
        plan: Plan,
        consent: Arc<dyn Consent>,
        vault: Vault,
    ) -> Result<Self, Error> {
        let resource: Address = resource.parse()?;
        Ok(Self {
            web: Web::of(&resource, dialer)?,
            resource,
            plan,
            consent,
            vault,
            state: Mutex::default(),
            is_untried: AtomicBool::new(false),
        })
    }

    /// Adds the token to a request, if there is one, renewed if it has expired.
    pub async fn sign(
        &self,
        request: &mut Request<Bytes>,
        signed: &mut Signed,
    ) -> Result<(), Error> {
        let mut state = self.state.lock().await;
        self.load(&mut state);
        let is_over = |kept: &Kept| {
            let token = kept.token.as_ref();
            token.is_some_and(|token| token.is_over(SystemTime::now()))
        };
        if state.kept.as_ref().is_some_and(is_over)
            && let Err(error) = self.renew(&mut state).await
        {
            // The server will refuse the old one, and say what it wants.
            tracing::debug!(resource = %self.resource, "token not renewed: could not {error}");
        }
        let token = state.kept.as_ref().and_then(|kept| kept.token.as_ref());
        signed.used = TokenUse(token.map(|token| token.access_token.clone()));
        let Some(token) = token else {
            return Ok(());
        };
        let scheme = match token.needs_proof {
            true => "DPoP",
            false => "Bearer",
        };
        let shown = format!("{scheme} {}", token.access_token);
        request.headers_mut().insert(AUTHORIZATION, header(&shown)?);
        if let (true, Some(key)) = (token.needs_proof, &state.proof) {
            let method = request.method().as_str();
            let proof = key.proof(method, &self.resource, Some(&token.access_token))?;
            request.headers_mut().insert(PROOF, header(&proof)?);
        }
        Ok(())
    }

    /// Answers what the resource said to a signed request. Whether the request is to be signed and sent again; if not, the
    /// response stands.
    pub async fn answer(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        signed: &mut Signed,
    ) -> Result<bool, Error> {
        let challenge = Challenge::find(headers);
        let is_insufficient = challenge.as_ref().is_some_and(Challenge::is_insufficient);
        if status != StatusCode::UNAUTHORIZED
            && !(status == StatusCode::FORBIDDEN && is_insufficient)
        {
            self.is_untried.store(false, Ordering::Relaxed);
            return Ok(false);
        }
        if signed.rounds == ROUNDS {
            return Ok(false);
        }
        signed.rounds += 1;
        let challenge = challenge.unwrap_or_default();
        let mut state = self.state.lock().await;
        if self.has_other(&mut state, &signed.used) {
            return Ok(true);
        }
        let proof = state.proof.clone();
        if challenge.error.as_deref() == Some("use_dpop_nonce")
            && proof.is_some_and(|key| key.remember(&self.resource, headers))
        {
            return Ok(true);
        }
        if !is_insufficient && signed.used.0.is_some() && self.is_untried.load(Ordering::Relaxed) {
            let issuer = state.kept.as_ref().map(|kept| kept.issuer.clone());
            return Err(Error::Refused {
                issuer: issuer.unwrap_or_default(),
                code: "the server refuses the token that it was issued".to_owned(),
                description: String::new(),
            });
        }
        self.sign_in(&mut state, &challenge).await?;
        Ok(true)
    }

    /// Signs in before any request was refused.
    pub async fn prepare(&self) -> Result<(), Error> {
        let mut state = self.state.lock().await;
        self.load(&mut state);
        self.sign_in(&mut state, &Challenge::default()).await
    }

    /// Reads the vault once. What cannot be read is as if it were not there.
    fn load(&self, state: &mut State) {
        if !state.is_loaded {
            state.is_loaded = true;
            self.reload(state);
        }
    }

    fn reload(&self, state: &mut State) {
        match self.vault.load(self.resource.as_str()) {
            Ok(Some(kept)) => {
                let key = kept.proof_key.as_deref().map(ProofKey::read);
                state.proof = key.and_then(Result::ok).map(Arc::new);
                state.kept = Some(kept);
            }
            Ok(None) => {}
            Err(error) => tracing::warn!("kept token not used: could not {error}"),
        }
    }

    /// Whether there is another token than the one that was refused: of a request that was refused before, or of another
    /// process.
    fn has_other(&self, state: &mut State, used: &TokenUse) -> bool {
        let current = |state: &State| {
            let token = state.kept.as_ref()?.token.as_ref()?;
            Some(token.access_token.clone())
        };
        if current(state).is_some_and(|token| Some(token) != used.0) {
            return true;
        }
        self.reload(state);
        current(state).is_some_and(|token| Some(token) != used.0)
    }

    async fn sign_in(&self, state: &mut State, challenge: &Challenge) -> Result<(), Error> {
        let named = challenge.resource_metadata.as_deref();
        let about = ResourceMetadata::discover(&self.web, &self.resource, named).await?;
        let issuer = self.issuer(about.as_ref());
        if state
            .kept
            .as_ref()
            .is_some_and(|kept| kept.issuer != issuer)
        {
            state.kept = None;
            state.proof = None;
        }
        let issuer = IssuerMetadata::discover(&self.web, &issuer).await?;
        let about = about.unwrap_or_default();
        let has_refresh = state.kept.as_ref().is_some_and(|kept| {
            let token = kept.token.as_ref();
            token.is_some_and(|token| token.refresh_token.is_some())
        });
        if has_refresh && !challenge.is_insufficient() && self.renew(state).await.is_ok() {
            return Ok(());
        }
        let scopes = self.scopes(state, challenge, &about, &issuer)?;
        let wants_proof = challenge.wants_proof || about.dpop_bound_access_tokens_required;
        let algorithms = &issuer.dpop_signing_alg_values_supported;
        let proof = match wants_proof && algorithms.iter().any(|it| it == "ES256") {
            true => Some(match state.proof.clone() {
                Some(key) => key,
                None => Arc::new(ProofKey::generate()?),
            }),
            false => None,
        };
        let identifier = match about.resource.is_empty() {
            true => self.resource.to_string(),
            false => about.resource,
        };
        let client = self.client(state, &issuer, &scopes).await?;
        let endpoint = TokenEndpoint {
            web: &self.web,
            issuer: &issuer,
            client: &client,
            proof: proof.as_deref(),
            resource: Some(&identifier),
        };
        let token = self.token(&endpoint, &scopes).await?;
        let kept = Kept {
            resource: self.resource.to_string(),
            issuer: issuer.issuer.clone(),
            client,
            token: Some(token),
            scopes,
            proof_key: proof.as_ref().map(|key| key.encoded().to_owned()),
            identifier: Some(identifier),
        };
        self.vault.save(&kept)?;
        state.kept = Some(kept);
        state.proof = proof;
        self.is_untried.store(true, Ordering::Relaxed);
        tracing::info!(resource = %self.resource, issuer = issuer.issuer, "signed in");
        Ok(())
    }

    /// The issuer that the resource names; the configured one, if it is among several. A server from before there were
    /// metadata of resources is its own.
    fn issuer(&self, about: Option<&ResourceMetadata>) -> String {
        let named = about.map(|about| &*about.authorization_servers);
        let configured = self.plan.issuer.as_ref();
        match (named.unwrap_or_default(), configured) {
            (named, Some(configured)) if named.contains(configured) => configured.clone(),
            ([first, ..], _) => first.clone(),
            ([], _) => self.resource.origin(),
        }
    }

    /// The scopes to ask for: those of the challenge, or else all that the resource names; and those that an earlier token
    /// had, or it would be replaced by one for less.
    fn scopes(
        &self,
        state: &mut State,
        challenge: &Challenge,
        about: &ResourceMetadata,
        issuer: &IssuerMetadata,
    ) -> Result<Vec<String>, Error> {
        let asked = match challenge.scopes.is_empty() {
            true => &about.scopes_supported,
            false => &challenge.scopes,
        };
        let before = state.kept.as_ref().map(|kept| &*kept.scopes);
        let before = before.unwrap_or_default();
        let mut scopes: Vec<String> = Vec::new();
        for scope in before.iter().chain(asked).chain(&self.plan.scopes) {
            if !scopes.contains(scope) {
                scopes.push(scope.clone());
            }
        }
        if self.plan.flow == Flow::Code
            && issuer.has_scope(OFFLINE)
            && !scopes.iter().any(|it| it == OFFLINE)
        {
            scopes.push(OFFLINE.to_owned());
        }
        if challenge.is_insufficient() && !state.stepped.insert(scopes.join(" ")) {
            return Err(Error::Repeated(scopes.join(" ")));
        }
        Ok(scopes)
    }

    /// The client for an issuer: the configured one, the one that was registered there before, the one that a document
    /// describes, or a new one.
    async fn client(
        &self,
        state: &State,
        issuer: &IssuerMetadata,
        scopes: &[String],
    ) -> Result<OAuthClient, Error> {
        let configured = self.plan.client.as_ref();
        let own = self.plan.issuer.as_ref();
        if let Some(client) = configured
            && own.is_none_or(|own| *own == issuer.issuer)
        {
            return Ok(client.clone());
        }
        if let Some(kept) = &state.kept {
            return Ok(kept.client.clone());
        }
        if let (true, Some(document)) = (
            issuer.client_id_metadata_document_supported,
            &self.plan.client_document,
        ) {
            return Ok(OAuthClient::public(document));
        }
        let redirect = self.consent.redirect();
        let about = ClientMetadata {
            name: &self.plan.client_name,
            redirect: redirect.as_deref(),
            grants: &["authorization_code", "refresh_token"],
            scopes,
        };
        if redirect.is_none() {
            return Err(self.needs_person(issuer).await);
        }
        OAuthClient::register(&self.web, issuer, &about).await
    }

    async fn token(&self, endpoint: &TokenEndpoint<'_>, scopes: &[String]) -> Result<Token, Error> {
        let issuer = endpoint.issuer;
        match &self.plan.flow {
            Flow::ClientCredentials => endpoint.client_credentials(scopes).await,
            Flow::Assertion(assertion) => endpoint.assertion(assertion.clone(), scopes).await,
            Flow::Enterprise(login) => {
                let resource = endpoint.resource.unwrap_or_default();
                let statement = exchange(&self.web, login, issuer, resource).await?;
                endpoint.assertion(statement, scopes).await
            }
            Flow::Code => {
                let Some(redirect) = self.consent.redirect() else {
                    return Err(self.needs_person(issuer).await);
                };
                let callback = Callback::prepare(
                    &self.web,
                    issuer,
                    endpoint.client,
                    &redirect,
                    scopes,
                    endpoint.resource,
                )?;
                let agreed = self.consent.agree(&callback.url).await;
                let answer = agreed.map_err(|ConsentError(hint)| Error::NeedsPerson {
                    issuer: issuer.issuer.clone(),
                    hint,
                })?;
                let code = callback.code(&answer)?;
                endpoint.code(&callback, code).await
            }
        }
    }

    async fn needs_person(&self, issuer: &IssuerMetadata) -> Error {
        let hint = self.consent.agree("").await;
        Error::NeedsPerson {
            issuer: issuer.issuer.clone(),
            hint: hint.err().map(|error| error.0).unwrap_or_default(),
        }
    }

    /// Replaces the token by the next one. A token with a refresh token that is refused is dropped; one that cannot be
    /// renewed because the issuer is not reached stays.
    async fn renew(&self, state: &mut State) -> Result<(), Error> {
        let Some(kept) = &mut state.kept else {
            return Ok(());
        };
        let Some(token) = kept.token.clone() else {
            return Ok(());
        };
        let issuer = IssuerMetadata::discover(&self.web, &kept.issuer).await?;
        let Some(old) = &token.refresh_token else {
            return Err(issuer.lacks("refresh token for us"));
        };
        let mut client = kept.client.clone();
        let configured = self.plan.client.as_ref();
        if let Some(configured) = configured.filter(|it| it.id == client.id) {
            client = configured.clone();
        }
        let endpoint = TokenEndpoint {
            web: &self.web,
            issuer: &issuer,
            client: &client,
            proof: state.proof.as_deref(),
            resource: kept.identifier.as_deref(),
        };
        match endpoint.refresh(old).await {
            Ok(next) => kept.token = Some(next),
            Err(error) => {
                if matches!(error, Error::Refused { .. }) {
                    kept.token = None;
                }
                return Err(error);
            }
        }
        self.vault.save(kept)
    }
}
