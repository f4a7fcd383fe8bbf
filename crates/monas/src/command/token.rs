//! `monas token` and `monas open`: a token for a user, and a link to the page with a token of the owner.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use access::own_token::LIFETIME;
use access::{Role, TokenSecret};
use clap::{Arg, ArgMatches, Command};

use crate::command::client::Target;
use crate::config::access::OwnTokens;
use crate::config::{self, Config, Data};
use crate::error::Error;
use crate::serve::tokens::{self, OWNER};

/// A command that makes a token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TokenCommand {
    action: Action,
    data: PathBuf,
    /// The secret of `JWT_SECRET`, which other programs sign tokens with.
    shared: Option<TokenSecret>,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    /// Print a token.
    Token {
        user: Option<String>,
        role: Option<Role>,
        lifetime: Duration,
    },
    /// Print a link to the page of the server that runs on the data.
    Open,
}

/// The command lines of `monas token` and `monas open`. `settings` are the flags of the server; of them only `--data` and
/// `--config` are shown in the help.
pub(crate) fn definitions(settings: &[Arg]) -> [Command; 2] {
    let settings = || {
        settings.iter().map(|argument| {
            let shown = matches!(argument.get_id().as_str(), "data" | "config");
            argument.clone().hide(!shown)
        })
    };
    let token = [
        Arg::new("user")
            .long("user")
            .value_name("NAME")
            .help("The user; need not exist [default: you, with the role admin]"),
        Arg::new("role")
            .long("role")
            .value_name("ROLE")
            .value_parser(|text: &str| text.parse::<Role>())
            .help("The role: viewer, user, operator or admin [default: that of the user, else access.default_role]"),
        Arg::new("for")
            .long("for")
            .value_name("TIME")
            .default_value("24h")
            .value_parser(lifetime)
            .help("How long the token is valid, such as 30m, 24h or 7d"),
    ];
    [
        Command::new("token")
            .about("Print a token for a user of the server, and nothing else")
            .long_about(
                "Prints a token for a user of the server, and nothing else. It is signed with JWT_SECRET if that is set, else with the \
                 secret in the data folder; no server needs to run.",
            )
            .after_help(
                "curl -H \"Authorization: Bearer $(monas token)\" http://127.0.0.1:8080/api/agents\n\
                 monas token --user ada --role viewer --for 1h",
            )
            .args(token)
            .args(settings()),
        Command::new("open")
            .about("Print a link that opens the page of the server, with a token in it")
            .after_help("xdg-open \"$(monas open)\"")
            .args(settings()),
    ]
}

/// Reads a time that is neither nothing nor endless.
fn lifetime(text: &str) -> Result<Duration, &'static str> {
    let time = config::duration(text).filter(|time| time.as_secs() > 0);
    time.ok_or("expected a time, such as 30m, 24h or 7d")
}

impl TokenCommand {
    /// Reads the matches of [`definitions`].
    pub(crate) fn read(name: &str, matches: &ArgMatches, config: Config) -> Option<Self> {
        let Data::Folder(data) = config.data else {
            return None;
        };
        let shared = match config.access.own_tokens {
            OwnTokens::On { other } => other,
            OwnTokens::Off => None,
        };
        let action = match name {
            "open" => Action::Open,
            _ => Action::Token {
                user: matches.get_one("user").cloned(),
                role: matches.get_one("role").copied(),
                lifetime: matches.get_one("for").copied().unwrap_or(LIFETIME),
            },
        };
        Some(Self {
            action,
            data,
            shared,
        })
    }

    /// Makes the token; gives the text to print.
    pub(crate) fn perform(&self) -> Result<String, Error> {
        match &self.action {
            Action::Token {
                user,
                role,
                lifetime,
            } => Ok(self.token(user.as_deref(), *role, *lifetime)?),
            Action::Open => {
                let running = Target::running(&self.data).ok_or_else(|| Error::NotRunning {
                    folder: self.data.clone(),
                })?;
                let secret = tokens::in_folder(&self.data)?;
                let token = tokens::for_owner(&secret, LIFETIME).map_err(tokens::Error::from)?;
                Ok(tokens::link(&running.url, &token))
            }
        }
    }

    fn token(
        &self,
        user: Option<&str>,
        role: Option<Role>,
        lifetime: Duration,
    ) -> Result<String, tokens::Error> {
        let secret = match &self.shared {
            Some(secret) => secret.clone(),
            None => tokens::in_folder(&self.data)?,
        };
        let role = match user {
            Some(_) => role,
            None => role.or(Some(Role::Admin)),
        };
        let user = user.unwrap_or(OWNER);
        Ok(secret.sign(user, role, lifetime, SystemTime::now())?)
    }
}
