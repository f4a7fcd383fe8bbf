//! `monas status`, `pause`, `resume` and `agents`: what the agents of a server do, and how one is stopped for a while.
//! Requests go to `/api/agent` and `/api/agents`.

use axum::http::Method;
use clap::{Arg, ArgMatches};
use workspace::api::reply::{AgentList, AgentState, ListedAgent};

use super::backend::{Backend, DataOptions};
use crate::config::Config;
use crate::error::Error;

/// A command about what agents do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StatusCommand {
    action: Action,
    pub(crate) options: DataOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Status,
    Pause,
    Resume,
    Agents,
}

/// The names of these commands.
pub(crate) const NAMES: [&str; 4] = ["status", "pause", "resume", "agents"];

/// The command lines; `settings` are the flags of the server, which name the data.
pub(crate) fn definitions(settings: &[Arg]) -> [clap::Command; 4] {
    let command = |name: &'static str, about: &'static str, example: &'static str| {
        let command = clap::Command::new(name).about(about).after_help(example);
        DataOptions::arguments(command, settings)
    };
    [
        command(
            "status",
            "Show what an agent does: its state, its queue, and the calls that wait for an approval",
            "monas status --for scout",
        ),
        command(
            "pause",
            "Stop an agent where it is: it begins nothing until it is resumed, and what comes waits",
            "monas pause && monas status",
        ),
        command("resume", "Let a paused agent go on", "monas resume"),
        command(
            "agents",
            "List the agents of a server, with their addresses",
            "monas agents -o json",
        ),
    ]
}

impl StatusCommand {
    /// Reads the matches of the command `name` of [`definitions`].
    pub(crate) fn read(
        name: &str,
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, clap::Error> {
        Ok(Self {
            action: match name {
                "pause" => Action::Pause,
                "resume" => Action::Resume,
                "agents" => Action::Agents,
                _ => Action::Status,
            },
            options: DataOptions::read(matches, config, environment)?,
        })
    }

    /// Sends the request and prints the reply.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let lines = async |backend: &Backend| {
            let (method, path) = match self.action {
                Action::Status => (Method::GET, "/api/agent/status"),
                Action::Pause => (Method::POST, "/api/agent/pause"),
                Action::Resume => (Method::POST, "/api/agent/resume"),
                Action::Agents => (Method::GET, "/api/agents"),
            };
            let path = format!("{path}?{}", self.options.query().finish());
            let reply = backend.text(method, &path, String::new()).await?;
            if self.options.json {
                return Ok(vec![reply]);
            }
            Ok(match self.action {
                Action::Agents => {
                    let list: AgentList = backend.parse(&reply)?;
                    list.agents.iter().map(listed).collect()
                }
                _ => shown(&backend.parse(&reply)?),
            })
        };
        self.options.print(say, lines).await
    }
}

/// An agent in a line: its id, its name, its address and what it is for.
fn listed(it: &ListedAgent) -> String {
    let paused = if it.paused { " (paused)" } else { "" };
    let path = it.path.as_deref().unwrap_or("not served");
    format!("{}{paused}  {}  {path}  {}", it.id, it.name, it.description)
}

/// What an agent does, in a few lines.
fn shown(it: &AgentState) -> Vec<String> {
    let state = match it.paused {
        true => "paused",
        false => &it.state,
    };
    let mut lines = vec![
        format!("{}: {}", it.id, state.replace('_', " ")),
        format!("working on      {}", it.working),
        format!("waiting         {}", it.queue.len()),
        format!(
            "approvals       {}{}",
            it.approvals.len(),
            match it.approvals.is_empty() {
                true => "",
                false => "  (`monas approvals` lists them)",
            }
        ),
        format!("law             version {} ({})", it.law.1, it.law.0),
        format!("events          {}", it.event),
    ];
    lines.extend(
        it.fault
            .iter()
            .map(|fault| format!("fault           {fault}")),
    );
    if let Some(accept) = &it.accept {
        lines.push(format!("the manifest or the law file was edited: {accept}"));
    }
    lines
}
