//! The list of flags of commands that ask a server. Variables and `config show` are derived from it.

use clap::builder::StyledStr;
use clap::{Arg, ArgAction};

use crate::config::SERVER_VARIABLE;

/// The commands that have a flag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::command) enum Scope {
    /// All that ask a server.
    Servers,
    /// Those that speak A2A.
    Agents,
}

/// A flag.
pub(super) struct Flag {
    scope: Scope,
    /// The variable, if it is not `A2ACLI_` and the name in capitals.
    named: Option<&'static str>,
    pub(super) name: &'static str,
    short: Option<char>,
    /// The name of its value in the help; empty for a switch.
    value: &'static str,
    pub(super) default: &'static str,
    /// Whether it can be given several times; the variable separates values with commas.
    pub(super) list: bool,
    /// Whether its value is hidden.
    pub(super) secret: bool,
    help: &'static str,
}

pub(super) const PLAIN: Flag = Flag {
    scope: Scope::Servers,
    named: None,
    name: "",
    short: None,
    value: "",
    default: "",
    list: false,
    secret: false,
    help: "",
};

pub(super) const FLAGS: &[Flag] = &[
    Flag {
        name: "server",
        value: "URL",
        named: Some(SERVER_VARIABLE),
        help: "The Monas server to ask, else the one that runs on the data, else http://127.0.0.1:8080",
        ..PLAIN
    },
    Flag {
        name: "agent-card",
        short: Some('a'),
        value: "URL",
        help: "An agent of any make: the address of its host, or of its card",
        ..PLAIN
    },
    Flag {
        name: "for",
        value: "AGENT",
        help: "The agent on the server, by its id, else the default agent",
        ..PLAIN
    },
    Flag {
        name: "color",
        value: "auto|always|never",
        default: "auto",
        help: "Colours: on a terminal without NO_COLOR, always, or never",
        ..PLAIN
    },
    Flag {
        name: "output",
        short: Some('o'),
        value: "text|json",
        default: "text",
        help: "How to print: for people, or as the protocol writes it, a line for each event of a stream",
        ..PLAIN
    },
    Flag {
        name: "transport",
        scope: Scope::Agents,
        value: "BINDING",
        list: true,
        help: "A binding to use, best first: jsonrpc, rest, grpc, capnweb, websocket",
        ..PLAIN
    },
    Flag {
        name: "a2a-version",
        scope: Scope::Agents,
        value: "1.0|0.3",
        help: "The only version of A2A to use",
        ..PLAIN
    },
    Flag {
        name: "bearer",
        value: "TOKEN",
        secret: true,
        help: "Authenticate with this bearer token",
        ..PLAIN
    },
    Flag {
        name: "basic",
        value: "USER:PASSWORD",
        secret: true,
        help: "Authenticate with this name and password",
        ..PLAIN
    },
    Flag {
        name: "api-key",
        value: "KEY",
        secret: true,
        help: "Authenticate with this key, in the header, parameter or cookie that the card names",
        ..PLAIN
    },
    Flag {
        name: "client-cert",
        value: "FILE",
        help: "Authenticate with this certificate, PEM; --client-key has its key",
        ..PLAIN
    },
    Flag {
        name: "client-key",
        value: "FILE",
        help: "The key of the certificate, PEM",
        ..PLAIN
    },
    Flag {
        name: "sign-key",
        value: "FILE",
        help: "Sign every request with this private key (RFC 9421), PEM, or a secret as a JSON Web Key",
        ..PLAIN
    },
    Flag {
        name: "svc-param",
        value: "NAME=VALUE",
        list: true,
        secret: true,
        help: "A service parameter: a header of every request",
        ..PLAIN
    },
    Flag {
        name: "extension",
        scope: Scope::Agents,
        value: "URI",
        list: true,
        help: "An extension that the caller understands",
        ..PLAIN
    },
    Flag {
        name: "trusted-keys",
        scope: Scope::Agents,
        value: "FILE",
        list: true,
        help: "Public keys, PEM or JWK: a card that none of them signed is refused",
        ..PLAIN
    },
    Flag {
        name: "ca-cert",
        value: "FILE",
        help: "Certificate authorities to trust besides the public ones, PEM [also MONAS_CA_CERT]",
        ..PLAIN
    },
    Flag {
        name: "insecure",
        default: "false",
        help: "Accept any certificate: a machine on the way can then read and change everything",
        ..PLAIN
    },
    Flag {
        name: "timeout",
        value: "TIME",
        default: "300s",
        help: "How long to wait for an answer, or with --wait for the end of the task",
        ..PLAIN
    },
    Flag {
        name: "poll-interval",
        scope: Scope::Agents,
        value: "TIME",
        default: "1s",
        help: "How often to look while waiting",
        ..PLAIN
    },
    Flag {
        name: "verbose",
        short: Some('v'),
        default: "false",
        help: "Print the binding and address of each call on standard error",
        ..PLAIN
    },
    Flag {
        name: "debug",
        default: "false",
        help: "Print the log on standard error",
        ..PLAIN
    },
];

impl Flag {
    pub(super) fn variable(&self) -> String {
        match self.named {
            Some(variable) => variable.to_owned(),
            None => format!("A2ACLI_{}", self.name.replace('-', "_").to_uppercase()),
        }
    }

    fn argument(&self) -> Arg {
        let default = match self.default {
            "" | "false" => String::new(),
            default => format!(", default: {default}"),
        };
        let help = format!("{} [{}{default}]", self.help, self.variable());
        let argument = Arg::new(self.name)
            .long(self.name)
            .help(StyledStr::from(help))
            .help_heading("The server, and how to reach it");
        let argument = match self.short {
            Some(short) => argument.short(short),
            None => argument,
        };
        if self.value.is_empty() {
            return argument
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_name("true|false");
        }
        let argument = argument.value_name(self.value);
        if self.list {
            argument.action(ArgAction::Append)
        } else {
            argument
        }
    }
}

/// The flags as arguments of the commands that have them.
pub(in crate::command) fn arguments(scope: Scope) -> impl Iterator<Item = Arg> {
    let had = move |flag: &&Flag| scope == Scope::Agents || flag.scope == Scope::Servers;
    FLAGS.iter().filter(had).map(Flag::argument)
}
