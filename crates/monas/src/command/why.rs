//! `monas why`: why an agent did something, from its journal. Requests go to `/api/agent/why`.

use axum::http::Method;
use clap::{Arg, ArgMatches};
use workspace::api::reply::Explained;

use super::backend::{Backend, DataOptions};
use crate::config::Config;
use crate::error::Error;

/// A question about what an agent did.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WhyCommand {
    question: String,
    pub(crate) options: DataOptions,
}

/// The command line of `monas why`; `settings` are the flags of the server, which name the data.
pub(crate) fn definition(settings: &[Arg]) -> clap::Command {
    let command = clap::Command::new("why")
        .about("Ask why an agent did something; every sentence cites an event of its journal")
        .after_help("monas why 'did you write notes.md?'\nmonas why TASK-ID --for scout")
        .arg(
            Arg::new("question")
                .value_name("QUESTION")
                .required(true)
                .help("A question, or the id of a task"),
        );
    DataOptions::arguments(command, settings)
}

impl WhyCommand {
    /// Reads the matches of [`definition`].
    pub(crate) fn read(
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, clap::Error> {
        let question = matches.get_one::<String>("question").cloned();
        Ok(Self {
            question: question.unwrap_or_default(),
            options: DataOptions::read(matches, config, environment)?,
        })
    }

    /// Sends the request and prints the reply.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let mut query = self.options.query();
        query.append_pair("question", &self.question);
        let path = format!("/api/agent/why?{}", query.finish());
        let lines = async |backend: &Backend| {
            let reply = backend.text(Method::GET, &path, String::new()).await?;
            let text = match self.options.json {
                true => reply,
                false => backend.parse::<Explained>(&reply)?.text,
            };
            Ok(text.lines().map(str::to_owned).collect())
        };
        self.options.print(say, lines).await
    }
}
