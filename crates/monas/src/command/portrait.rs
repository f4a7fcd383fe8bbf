//! `monas self`: what an agent is, can do, has learned and got wrong, from its journal. Requests go to `/api/agent/self`.

use agent::Portrait;
use axum::http::Method;
use clap::{Arg, ArgMatches};

use super::backend::{Backend, DataOptions};
use crate::config::Config;
use crate::error::Error;

/// A question to an agent about itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PortraitCommand {
    pub(crate) options: DataOptions,
}

/// The command line of `monas self`; `settings` are the flags of the server, which name the data.
pub(crate) fn definition(settings: &[Arg]) -> clap::Command {
    let command = clap::Command::new("self")
        .about("Ask an agent what it is, can do, has learned and got wrong; numbers in brackets are events of its journal")
        .after_help("monas self\nmonas self --for scout --json");
    DataOptions::arguments(command, settings)
}

impl PortraitCommand {
    /// Reads the matches of [`definition`].
    pub(crate) fn read(
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, clap::Error> {
        Ok(Self {
            options: DataOptions::read(matches, config, environment)?,
        })
    }

    /// Sends the request and prints the reply.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let path = format!("/api/agent/self?{}", self.options.query().finish());
        let lines = async |backend: &Backend| {
            let reply = backend.text(Method::GET, &path, String::new()).await?;
            let text = match self.options.json {
                true => reply,
                false => backend.parse::<Portrait>(&reply)?.text,
            };
            Ok(text.lines().map(str::to_owned).collect())
        };
        self.options.print(say, lines).await
    }
}
