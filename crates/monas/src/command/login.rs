//! `monas login` and `monas logout`: tokens of the issuer that a server, or a tool server of MCP, trusts.
//!
//! The issuers that a server trusts are read from its metadata as a protected resource, or else from its card. The token is kept for
//! that server alone, in a file of this user; the other commands show it there ([`kept`]).

use std::sync::Arc;
use std::time::Duration;

use a2a::types::{AgentCard, Flow as CardFlow, Scheme as SecurityScheme};
use clap::{Arg, ArgAction, ArgMatches};
use oauth::{
    Address, Authorizer, Callback, ClientMetadata, Consent as _, IssuerMetadata, Kept, OAuthClient,
    Plan, Polled, ResourceMetadata, Token, TokenEndpoint, Vault, Web,
};

use super::client::flags::{self, Options, Scope};
use super::client::{Secret, print};
use crate::error::Error;
use consent::Loopback;

mod consent;
pub(crate) mod kept;

/// The name that a person is shown who is asked to agree.
const NAME: &str = "monas";

/// A sign-in or a sign-out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoginCommand {
    pub(crate) options: Options,
    action: Action,
    /// The tool server that it is about, if it is not about the server.
    tools: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    Login(Login),
    Logout,
}

/// How to sign in; what is left out is found.
#[derive(Clone, Debug, PartialEq)]
struct Login {
    issuer: Option<String>,
    client: Option<String>,
    secret: Option<Secret>,
    device: bool,
    scopes: Vec<String>,
}

/// Where tokens for a server are got.
#[derive(Debug, Default)]
struct TokenSource {
    issuer: String,
    scopes: Vec<String>,
    /// The identifier that requests for tokens name.
    identifier: Option<String>,
}

/// The command lines of `monas login` and `monas logout`.
pub(crate) fn definitions() -> [clap::Command; 2] {
    let tools = Arg::new("tools")
        .long("tools")
        .value_name("URL")
        .help("A tool server of MCP instead of the server: agents on this account use its token");
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let both = |command: clap::Command| {
        command
            .args(flags::arguments(Scope::Servers))
            .arg(super::config_file())
            .arg(tools.clone())
    };
    let login = clap::Command::new("login")
        .about("Get a token from the issuer that a server trusts, and keep it for that server")
        .after_help(
            "monas login --server https://agents.example.com --client-id my-terminal\n\n\
             With a client secret the program itself is the caller; else a person agrees, on another device or in a browser.",
        );
    [
        both(login)
            .arg(text("issuer", "URL", "The issuer; found without it"))
            .arg(text(
                "client-id",
                "ID",
                "The client that the issuer knows; without it one is registered [A2ACLI_CLIENT_ID]",
            ))
            .arg(text(
                "client-secret",
                "SECRET",
                "The secret of the client, which is then the caller itself [A2ACLI_CLIENT_SECRET]",
            ))
            .arg(
                text(
                    "scope",
                    "SCOPE",
                    "A scope to ask for; those of the server without it",
                )
                .action(ArgAction::Append),
            )
            .arg(
                Arg::new("device")
                    .long("device")
                    .action(ArgAction::SetTrue)
                    .help("Sign in with a browser on another device, by a code"),
            ),
        both(
            clap::Command::new("logout")
                .about("Forget the token for a server")
                .after_help("monas logout --server https://agents.example.com"),
        ),
    ]
}

impl LoginCommand {
    /// Reads the matches of the command `name` of [`definitions`].
    pub(crate) fn read(
        name: &str,
        matches: &ArgMatches,
        options: Options,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let one = |name: &str| matches.try_get_one::<String>(name).ok().flatten().cloned();
        let found = |name: &str, variable: &str| {
            one(name).or_else(|| environment(variable).filter(|it| !it.is_empty()))
        };
        let scopes = matches.try_get_many::<String>("scope").ok().flatten();
        let action = match name {
            "logout" => Action::Logout,
            _ => Action::Login(Login {
                issuer: one("issuer"),
                client: found("client-id", "A2ACLI_CLIENT_ID"),
                secret: found("client-secret", "A2ACLI_CLIENT_SECRET").map(Secret::new),
                device: matches.get_flag("device"),
                scopes: scopes.into_iter().flatten().cloned().collect(),
            }),
        };
        Self {
            options,
            action,
            tools: one("tools"),
        }
    }

    /// Signs in or out, and says so.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let folder = self.options.tokens.clone();
        let folder = folder.ok_or(oauth::Error::Vault {
            place: "~/.local/state/monas/tokens".to_owned(),
            problem: "set HOME or XDG_STATE_HOME".to_owned(),
        })?;
        let vault = Vault::folder(&folder);
        let resource = match &self.tools {
            Some(url) => url.clone(),
            None => self.options.target().server().0,
        };
        let login = match &self.action {
            Action::Login(login) => login,
            Action::Logout => {
                let was_kept = vault.remove(&resource)?;
                say(&match was_kept {
                    true => format!("the token for {resource} is forgotten"),
                    false => format!("there was no token for {resource}"),
                });
                return Ok(());
            }
        };
        let dialer = dial::Dialer::new(&self.options.dial_settings()?);
        let dialer = dialer.map_err(crate::config::Error::from)?;
        let kept = match &self.tools {
            Some(_) => sign_in_at_tools(&resource, login, &dialer).await?,
            None => {
                let address: Address = resource.parse()?;
                let web = Web::of(&address, &dialer)?;
                let source = self.source(&web, &address, login).await?;
                let before = vault.load(&resource).ok().flatten();
                sign_in(&web, &resource, source, login, before).await?
            }
        };
        vault.save(&kept)?;
        say(&format!(
            "signed in to {resource} with a token of {}, kept in {}",
            kept.issuer,
            folder.display()
        ));
        Ok(())
    }

    /// Where tokens for a server are got: by its own metadata, or by its card.
    async fn source(
        &self,
        web: &Web,
        server: &Address,
        login: &Login,
    ) -> Result<TokenSource, Error> {
        let about = ResourceMetadata::discover(web, server, None).await;
        let mut source = match about {
            Ok(Some(about)) => TokenSource {
                issuer: about
                    .authorization_servers
                    .into_iter()
                    .next()
                    .unwrap_or_default(),
                scopes: about.scopes_supported,
                identifier: Some(about.resource),
            },
            // The server may call itself by another address than the one it is reached at.
            Ok(None) | Err(oauth::Error::Mismatch { .. }) => TokenSource::default(),
            Err(error) => return Err(error.into()),
        };
        if let Some(issuer) = &login.issuer {
            source.issuer.clone_from(issuer);
        }
        if source.issuer.is_empty() {
            let card = self.options.card(server.as_str()).await?;
            source = of_card(&card).ok_or_else(|| oauth::Error::NoMetadata(server.to_string()))?;
        }
        if !login.scopes.is_empty() {
            source.scopes.clone_from(&login.scopes);
        }
        Ok(source)
    }
}

/// The issuer that a card names, with the scopes that it asks for.
fn of_card(card: &AgentCard) -> Option<TokenSource> {
    card.security_schemes.iter().find_map(|(name, scheme)| {
        let well_known = |url: &str| {
            let (issuer, rest) = url.split_once("/.well-known/")?;
            let path = rest.split_once('/').map_or("", |(_, path)| path);
            Some(match path.is_empty() {
                true => issuer.to_owned(),
                false => format!("{issuer}/{path}"),
            })
        };
        let issuer = match &scheme.scheme {
            SecurityScheme::OpenIdConnect(it) => well_known(&it.open_id_connect_url)?,
            SecurityScheme::OAuth2(it) => {
                let metadata = well_known(&it.oauth2_metadata_url);
                let token = it.flows.as_ref().and_then(|flows| match &flows.flow {
                    CardFlow::AuthorizationCode(flow) => Some(&flow.token_url),
                    CardFlow::ClientCredentials(flow) => Some(&flow.token_url),
                    _ => None,
                });
                let origin = || Some(token?.parse::<Address>().ok()?.origin());
                metadata.or_else(origin)?
            }
            _ => return None,
        };
        let mut required = card.security_requirements.iter();
        let scopes = required.find_map(|it| it.schemes.get(name));
        Some(TokenSource {
            issuer,
            scopes: scopes.map(|it| it.list.clone()).unwrap_or_default(),
            identifier: None,
        })
    })
}

/// Gets a token for a server. `before` is an earlier sign-in there: its client is used again.
async fn sign_in(
    web: &Web,
    resource: &str,
    source: TokenSource,
    login: &Login,
    before: Option<Kept>,
) -> Result<Kept, Error> {
    let issuer = IssuerMetadata::discover(web, &source.issuer).await?;
    let is_program = login.secret.is_some() && !login.device;
    let by_device = !is_program && (login.device || issuer.device_authorization_endpoint.is_some());
    let mut scopes = source.scopes;
    if !is_program {
        // A token that outlives the sign-in, where the issuer has such.
        let wanted = ["openid", "offline_access"].into_iter();
        let offered = issuer.scopes_supported.clone().unwrap_or_default();
        let new = wanted.filter(|it| offered.iter().any(|scope| scope == it));
        let new: Vec<String> = new.map(str::to_owned).collect();
        scopes.extend(new);
        scopes.dedup();
    }
    let loopback = match is_program || by_device {
        true => None,
        false => Some(Loopback::listen().await?),
    };
    let redirect = loopback.as_ref().and_then(Loopback::redirect);
    let known = before.filter(|kept| kept.issuer == issuer.issuer && loopback.is_none());
    let client = match (&login.client, known) {
        (Some(id), _) => OAuthClient {
            secret: login.secret.as_ref().map(|it| it.reveal().to_owned()),
            ..OAuthClient::public(id)
        },
        (None, Some(kept)) => kept.client,
        (None, None) => {
            let grants: &[&str] = match by_device {
                true => &[
                    "urn:ietf:params:oauth:grant-type:device_code",
                    "refresh_token",
                ],
                false => &["authorization_code", "refresh_token"],
            };
            let about = ClientMetadata {
                name: NAME,
                redirect: redirect.as_deref(),
                grants,
                scopes: &scopes,
            };
            OAuthClient::register(web, &issuer, &about).await?
        }
    };
    let endpoint = TokenEndpoint {
        web,
        issuer: &issuer,
        client: &client,
        proof: None,
        resource: source.identifier.as_deref(),
    };
    let token = match (&loopback, is_program) {
        (_, true) => endpoint.client_credentials(&scopes).await?,
        (None, false) => agreed_on_device(&endpoint, &scopes).await?,
        (Some(loopback), false) => {
            let redirect = redirect.unwrap_or_default();
            let identifier = source.identifier.as_deref();
            let callback =
                Callback::prepare(web, &issuer, &client, &redirect, &scopes, identifier)?;
            let answer = loopback.agree(&callback.url).await;
            let answer = answer.map_err(|error| oauth::Error::NeedsPerson {
                issuer: issuer.issuer.clone(),
                hint: error.0,
            })?;
            endpoint.code(&callback, callback.code(&answer)?).await?
        }
    };
    Ok(Kept {
        resource: resource.to_owned(),
        issuer: issuer.issuer.clone(),
        client,
        token: Some(token),
        scopes,
        proof_key: None,
        identifier: source.identifier,
    })
}

/// Shows a code, and waits until a person has entered it on another device.
async fn agreed_on_device(
    endpoint: &TokenEndpoint<'_>,
    scopes: &[String],
) -> Result<Token, oauth::Error> {
    let device = endpoint.device(scopes).await?;
    let place = device.complete.as_ref().unwrap_or(&device.address);
    print::note(&format!("open {place} and enter {}", device.user_code));
    let mut interval = device.interval;
    let end = tokio::time::Instant::now() + device.expires;
    loop {
        tokio::time::sleep(interval).await;
        if tokio::time::Instant::now() > end {
            return Err(oauth::Error::NeedsPerson {
                issuer: endpoint.issuer.issuer.clone(),
                hint: "the code was not entered in time".to_owned(),
            });
        }
        match endpoint.poll(&device).await? {
            Polled::Token(token) => return Ok(token),
            Polled::Pending => {}
            Polled::Slower => interval += Duration::from_secs(5),
        }
    }
}

/// Gets a token for a tool server, as an agent would, with a person at this terminal.
async fn sign_in_at_tools(
    resource: &str,
    login: &Login,
    dialer: &dial::Dialer,
) -> Result<Kept, Error> {
    let client = login.client.as_ref().map(|id| OAuthClient {
        secret: login.secret.as_ref().map(|it| it.reveal().to_owned()),
        ..OAuthClient::public(id)
    });
    let plan = Plan {
        client,
        issuer: login.issuer.clone(),
        client_name: NAME.to_owned(),
        scopes: login.scopes.clone(),
        ..Plan::default()
    };
    // The client is registered anew: the port that the answer comes back to is another each time.
    let made = Vault::memory();
    let consent = Arc::new(Loopback::listen().await?);
    Authorizer::new(resource, dialer, plan, consent, made.clone())?
        .prepare()
        .await?;
    let kept = made.load(resource)?;
    Ok(kept.ok_or_else(|| oauth::Error::NoMetadata(resource.to_owned()))?)
}
