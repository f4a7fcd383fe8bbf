//! `monas audit`: the calls that were made, from the audit trail. Requests go to `/api/audit`.

use axum::http::Method;
use clap::{Arg, ArgAction, ArgMatches};
use serde_json::Value;

use super::backend::{Backend, DataOptions};
use crate::config::Config;
use crate::error::Error;
use crate::serve::audit::reading::{PATH, VERIFY};

/// A question about the calls that were made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AuditCommand {
    /// The query of the request.
    query: Vec<(&'static str, String)>,
    follow: bool,
    verify: bool,
    pub(crate) options: DataOptions,
}

/// The command line of `monas audit`; `settings` are the flags of the server, which name the data.
pub(crate) fn definition(settings: &[Arg]) -> clap::Command {
    let command = clap::Command::new("audit")
        .about("List the calls that were made: who, how authenticated, what, on which wire, how it ended")
        .after_help(
            "monas audit --user ada --since 1h\nmonas audit --limit 20 -o json\nmonas audit --follow\nmonas audit --verify",
        )
        .arg(
            Arg::new("user")
                .long("user")
                .value_name("NAME")
                .help("Only calls of this caller"),
        )
        .arg(
            Arg::new("since")
                .long("since")
                .value_name("TIME")
                .help("Only calls since then: an age such as 1h, or a time such as 2026-01-31T12:00:00Z"),
        )
        .arg(
            Arg::new("limit")
                .long("limit")
                .value_name("N")
                .value_parser(clap::value_parser!(u64))
                .help("Only the newest so many [default: all that are kept]"),
        )
        .arg(
            Arg::new("follow")
                .long("follow")
                .action(ArgAction::SetTrue)
                .help("Print new calls as they are made"),
        )
        .arg(
            Arg::new("verify")
                .long("verify")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["user", "since", "limit", "follow"])
                .help("Check that no line was removed or altered; the exit code is 1 if one was"),
        );
    DataOptions::arguments(command, settings)
}

impl AuditCommand {
    /// Reads the matches of [`definition`].
    pub(crate) fn read(
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, clap::Error> {
        let mut query = Vec::new();
        for name in ["user", "since"] {
            if let Some(value) = matches.get_one::<String>(name) {
                query.push((name, value.clone()));
            }
        }
        if let Some(limit) = matches.get_one::<u64>("limit") {
            query.push(("limit", limit.to_string()));
        }
        let follow = matches.get_flag("follow");
        if follow {
            query.push(("follow", "true".to_owned()));
        }
        Ok(Self {
            query,
            follow,
            verify: matches.get_flag("verify"),
            options: DataOptions::read(matches, config, environment)?,
        })
    }

    /// Sends the request and prints the reply.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        if self.verify {
            return self.check(say).await;
        }
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(&self.query)
            .finish();
        let path = format!("{PATH}?{query}");
        if self.follow {
            return self.follow(&path, say).await;
        }
        let json = self.options.json;
        let lines = async |backend: &Backend| {
            let reply = backend.text(Method::GET, &path, String::new()).await?;
            if json {
                return Ok(vec![reply.trim_end().to_owned()]);
            }
            let reply: Value = backend.parse(&reply)?;
            let records = reply["records"].as_array();
            let records = records.map(Vec::as_slice).unwrap_or_default();
            Ok(records.iter().map(shown).collect())
        };
        self.options.print(say, lines).await
    }

    /// Prints lines as they come, until the server ends or nothing more can be printed.
    async fn follow(&self, path: &str, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let backend = Backend::open(&self.options).await?;
        let json = self.options.json;
        let said = |line: &str| match json {
            true => say(line),
            false => say(&shown(&serde_json::from_str(line).unwrap_or_default())),
        };
        let followed = backend.lines(path, said).await;
        backend.close().await;
        followed
    }

    async fn check(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let backend = Backend::open(&self.options).await?;
        let reply = backend.text(Method::GET, VERIFY, String::new()).await;
        let report = reply.and_then(|it| Ok((backend.parse::<Value>(&it)?, it)));
        backend.close().await;
        let (report, text) = report?;
        if self.options.json {
            say(text.trim_end());
        }
        if report["whole"] != true {
            let problem = report["problem"].as_str().unwrap_or_default().to_owned();
            let line = report["at"].as_u64().unwrap_or_default();
            return Err(Error::Audit { line, problem });
        }
        if !self.options.json {
            let (records, head) = (&report["records"], report["head"].as_str());
            let head = head.unwrap_or_default();
            say(&format!("the trail is whole: {records} lines, head {head}"));
        }
        Ok(())
    }
}

/// A line for people.
fn shown(record: &Value) -> String {
    let text = |name: &str| record[name].as_str().unwrap_or_default();
    if let Some(lost) = record["lost"].as_u64() {
        return format!("{}  {lost} calls were not recorded", text("at"));
    }
    let millis = record["micros"].as_f64().unwrap_or_default() / 1000.0;
    let scheme = match text("scheme") {
        "" => String::new(),
        scheme => format!(" ({scheme})"),
    };
    let mut line = format!(
        "{}  {}{scheme}  {}  {}  {}  {millis:.1} ms",
        text("at"),
        text("caller"),
        text("wire"),
        text("operation"),
        text("outcome"),
    );
    for name in ["address", "request"] {
        if !text(name).is_empty() {
            line.push_str("  ");
            line.push_str(text(name));
        }
    }
    line
}
