//! `monas law`: an agent's law, its versions and their differences, proposals, and how it is changed. Requests go to
//! `/api/agent`.
//!
//! Layout: `proposal` prints proposals and their tests.

mod proposal;

use axum::http::Method;
use clap::{Arg, ArgMatches, value_parser};
use serde_json::{Value, json};
use workspace::api::reply::{LawDiff, LawHistory, LawProposal, LawProposals, LawText, LawVersion};

use crate::command::backend::{Backend, DataOptions};
use crate::config::Config;
use crate::error::Error;

/// A command about the law of an agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LawCommand {
    action: Action,
    pub(crate) options: DataOptions,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    /// One version, or the current one.
    Show(Option<u64>),
    History,
    /// From one version to another; without them, the last change.
    Diff(Option<u64>, Option<u64>),
    Set {
        path: String,
        value: Value,
        why: String,
    },
    /// Accepts the edited manifest and law file as the law.
    Accept {
        why: String,
    },
    Propose {
        path: String,
        value: Value,
        why: String,
        evidence: Vec<u64>,
    },
    Proposals,
    /// The agent looks for what its journal speaks for.
    Reflect,
    /// A proposal by its number; without one, the one that waits.
    Test(Option<u64>),
    Approve(Option<u64>),
    Reject {
        proposal: Option<u64>,
        why: String,
    },
    /// To a version by its number; without one, the one before.
    RollBack {
        version: Option<u64>,
        why: String,
    },
}

/// The command line of `monas law`; `settings` are the flags of the server, which name the data.
pub(crate) fn definition(settings: &[Arg]) -> clap::Command {
    let common = |command| DataOptions::arguments(command, settings);
    let version = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("N")
            .value_parser(value_parser!(u64).range(1..))
            .help(help)
    };
    let show = clap::Command::new("show")
        .about("Show the rules of an agent")
        .after_help("monas law show --for scout")
        .arg(version("version", "A version [default: the current one]"));
    let history = clap::Command::new("history")
        .about("List all versions of the law, each with its reason")
        .after_help("monas law history");
    let diff = clap::Command::new("diff")
        .about("Show what changed between two versions")
        .after_help("monas law diff --from 1 --to 3")
        .args([
            version("from", "The older version [default: the one before]"),
            version("to", "The newer version [default: the current one]"),
        ]);
    let why = || {
        Arg::new("why")
            .long("why")
            .value_name("REASON")
            .required(true)
            .help("The reason, which the history of the law keeps")
    };
    let set = clap::Command::new("set")
        .about("Change a rule")
        .long_about(
            "Changes one place of the law and keeps the reason. Bounds hold, and axioms and safety cannot be changed. \
             The value is JSON or a text; `+=`, `-=` and `*=` before it change a number, add to a list or remove from it; \
             `null` removes a rule. An operator that begins with a hyphen comes after `--`.\n\n\
             monas law set attention.turns 2 --why 'one model'\n\
             monas law set memory.rules[0].condition.min_confidence += 0.1 --why 'a wrong claim was believed'\n\
             monas law set skill_selection += '{\"skill\": \"terminal\", \"then\": \"ask\"}' --why 'it is powerful'\n\
             monas law set goal_priority[0].words --why 'everybody says it' -- -= urgent",
        )
        .args(place())
        .arg(why());
    let propose = clap::Command::new("propose")
        .about("Propose a change: it is tested on recorded episodes before it is adopted")
        .long_about(
            "Proposes a change of one place of the law, as `law set` changes it. It is checked, tested on the last episodes \
             and on some that were held out, and adopted if it is better; a person is asked if it adds or removes rules, is \
             about approvals, skills, trust or budgets, or if there are too few episodes. The exit code is 1 if it is refused.\n\n\
             monas law propose memory.rules[0].condition.min_confidence += 0.1 --why 'a wrong claim was believed'",
        )
        .args(place())
        .arg(why())
        .arg(
            Arg::new("evidence")
                .long("evidence")
                .value_name("EVENT")
                .num_args(1..)
                .value_delimiter(',')
                .value_parser(value_parser!(u64).range(1..))
                .help("Numbers of events of the agent's journal that support the change"),
        );
    let proposals = clap::Command::new("proposals")
        .about("List all proposals with their tests, those that were refused too")
        .after_help("monas law proposals");
    let reflect = reflection("monas law reflect");
    let id = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name)
            .value_name(value)
            .value_parser(value_parser!(u64).range(1..))
            .help(help)
    };
    let proposal = || {
        id(
            "proposal",
            "ID",
            "The number of the proposal [default: the one that waits]",
        )
    };
    let test = clap::Command::new("test")
        .about("Test the proposal that waits for a person once more")
        .after_help("monas law test")
        .arg(proposal());
    let approve = clap::Command::new("approve")
        .about("Approve the proposal that waits for a person")
        .after_help("monas law approve 3")
        .arg(proposal());
    let reject = clap::Command::new("reject")
        .about("Reject the proposal that waits for a person")
        .after_help("monas law reject 3 --why 'it asks too often'")
        .arg(proposal())
        .arg(why());
    let rollback = clap::Command::new("rollback")
        .about("Put an older version of the law in force again")
        .after_help("monas law rollback --why 'it was better before'")
        .arg(id("to", "VERSION", "The version [default: the one before]"))
        .arg(why());
    let accept = clap::Command::new("accept")
        .about("Accept what the edited manifest and law file say; `law diff` shows it")
        .after_help("monas law accept --why 'the manifest was edited'")
        .arg(why());
    clap::Command::new("law")
        .about("Show or change the law of an agent, of a running server or its data")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(
            [
                show, history, diff, set, accept, propose, proposals, reflect, test, approve,
                reject, rollback,
            ]
            .map(common),
        )
}

/// `monas reflect`, which is `monas law reflect`.
pub(crate) fn reflect(settings: &[Arg]) -> clap::Command {
    DataOptions::arguments(
        reflection("monas reflect\nmonas reflect --for scout"),
        settings,
    )
}

fn reflection(example: &'static str) -> clap::Command {
    clap::Command::new("reflect")
        .about("Let the agent propose a change of its law that its journal supports")
        .after_help(example)
}

/// The arguments that name a place in the law and what it becomes.
fn place() -> [Arg; 2] {
    [
        Arg::new("path")
            .value_name("PATH")
            .required(true)
            .help("The place in the law: memory.rules[0].condition.min_confidence"),
        Arg::new("value")
            .value_name("VALUE")
            .required(true)
            .num_args(1..)
            .allow_negative_numbers(true)
            .help("The new value, or an operator and its operand: += 0.1"),
    ]
}

impl LawCommand {
    /// Reads the subcommand `name` of [`definition`].
    pub(crate) fn read(
        name: &str,
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, clap::Error> {
        let number = |name: &str| matches.get_one::<u64>(name).copied();
        let text = |name: &str| matches.get_one::<String>(name).cloned().unwrap_or_default();
        Ok(Self {
            action: match name {
                "set" => Action::Set {
                    path: text("path"),
                    value: value(matches),
                    why: text("why"),
                },
                "accept" => Action::Accept { why: text("why") },
                "propose" => Action::Propose {
                    path: text("path"),
                    value: value(matches),
                    why: text("why"),
                    evidence: matches
                        .get_many::<u64>("evidence")
                        .into_iter()
                        .flatten()
                        .copied()
                        .collect(),
                },
                "proposals" => Action::Proposals,
                "reflect" => Action::Reflect,
                "test" => Action::Test(number("proposal")),
                "approve" => Action::Approve(number("proposal")),
                "reject" => Action::Reject {
                    proposal: number("proposal"),
                    why: text("why"),
                },
                "rollback" => Action::RollBack {
                    version: number("to"),
                    why: text("why"),
                },
                "history" => Action::History,
                "diff" => Action::Diff(number("from"), number("to")),
                _ => Action::Show(number("version")),
            },
            options: DataOptions::read(matches, config, environment)?,
        })
    }

    /// Sends the request and prints the reply.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let lines = async |backend: &Backend| {
            let (method, body) = self.body();
            let reply = backend.text(method, &self.path(), body).await?;
            let shown = match self.options.json {
                true => vec![reply.clone()],
                false => self.show(backend, &reply)?,
            };
            self.refusal(backend, &reply)?;
            Ok(shown)
        };
        self.options.print(say, lines).await
    }

    /// A proposal that was tested and not adopted is no success of the command that made it.
    fn refusal(&self, backend: &Backend, reply: &str) -> Result<(), Error> {
        if !matches!(self.action, Action::Propose { .. } | Action::Test(_)) {
            return Ok(());
        }
        let tested: LawProposal = backend.parse(reply)?;
        match tested.proposal.standing.is_refused() {
            true => Err(backend.refused(proposal::lines(&tested.proposal).join("\n"))),
            false => Ok(()),
        }
    }

    fn path(&self) -> String {
        let number = |name, value: Option<u64>| Some((name, value?.to_string()));
        let (name, numbers) = match self.action {
            Action::Set { .. } => ("law", [None, None]),
            Action::Accept { .. } => ("law/accept", [None, None]),
            Action::Propose { .. } => ("law/propose", [None, None]),
            Action::Proposals => ("law/proposals", [None, None]),
            Action::Reflect => ("law/reflect", [None, None]),
            Action::Test(_) => ("law/test", [None, None]),
            Action::Approve(_) => ("law/approve", [None, None]),
            Action::Reject { .. } => ("law/reject", [None, None]),
            Action::RollBack { .. } => ("law/rollback", [None, None]),
            Action::Show(version) => ("law", [number("version", version), None]),
            Action::History => ("laws", [None, None]),
            Action::Diff(from, to) => ("diff", [number("from", from), number("to", to)]),
        };
        let mut query = self.options.query();
        query.extend_pairs(numbers.into_iter().flatten());
        format!("/api/agent/{name}?{}", query.finish())
    }

    /// The method and the body of the request.
    fn body(&self) -> (Method, String) {
        match &self.action {
            Action::Set { path, value, why } => {
                let body = json!({ "path": path, "value": value, "why": why });
                (Method::PUT, body.to_string())
            }
            Action::Accept { why } => (Method::POST, json!({ "why": why }).to_string()),
            Action::Propose {
                path,
                value,
                why,
                evidence,
            } => {
                let body = json!({
                    "target": path, "change": value, "justification": why, "evidence": evidence,
                });
                (Method::POST, body.to_string())
            }
            Action::Reflect => (Method::POST, String::new()),
            Action::Test(proposal) | Action::Approve(proposal) => {
                (Method::POST, json!({ "proposal": proposal }).to_string())
            }
            Action::Reject { proposal, why } => {
                let body = json!({ "proposal": proposal, "why": why });
                (Method::POST, body.to_string())
            }
            Action::RollBack { version, why } => {
                let body = json!({ "version": version, "why": why });
                (Method::POST, body.to_string())
            }
            _ => (Method::GET, String::new()),
        }
    }

    /// The reply as lines of text.
    fn show(&self, backend: &Backend, reply: &str) -> Result<Vec<String>, Error> {
        Ok(match &self.action {
            Action::Show(_) => {
                let law: LawText = backend.parse(reply)?;
                let (agent, version) = (&law.agent, &law.version);
                let head = format!(
                    "law of {agent}, version {} ({})",
                    version.version, version.hash
                );
                let mut shown = vec![head];
                shown.extend(law.text.lines().map(str::to_owned));
                shown
            }
            Action::History => {
                let history: LawHistory = backend.parse(reply)?;
                let line = |it: &LawVersion| {
                    let LawVersion {
                        version,
                        hash,
                        by,
                        why,
                        event,
                        ..
                    } = it;
                    format!("{version} {hash} by {by}: {why} [{event}]")
                };
                history.versions.iter().map(line).collect()
            }
            Action::Diff(..) => {
                let diff: LawDiff = backend.parse(reply)?;
                let mut shown = match diff.lines.is_empty() {
                    true => vec!["nothing changed".to_owned()],
                    false => {
                        let LawDiff {
                            from, to, by, why, ..
                        } = &diff;
                        vec![format!("version {from} to {to}, by {by}: {why}")]
                    }
                };
                shown.extend(diff.lines);
                if let Some(accept) = &diff.accept {
                    shown.push(
                        "the manifest or the law file was edited; it would change:".to_owned(),
                    );
                    shown.extend(diff.offered);
                    shown.push(format!("to accept it: {accept}"));
                }
                shown
            }
            Action::Proposals | Action::Reflect => {
                let listed: LawProposals = backend.parse(reply)?;
                match listed.proposals.is_empty() {
                    true if self.action == Action::Reflect => {
                        vec!["nothing to propose: the journal speaks for no change".to_owned()]
                    }
                    true => vec!["no proposals".to_owned()],
                    false => listed.proposals.iter().flat_map(proposal::lines).collect(),
                }
            }
            Action::Propose { .. }
            | Action::Test(_)
            | Action::Approve(_)
            | Action::Reject { .. } => {
                let shown: LawProposal = backend.parse(reply)?;
                proposal::lines(&shown.proposal)
            }
            Action::Set { .. } | Action::Accept { .. } | Action::RollBack { .. } => {
                let diff: LawDiff = backend.parse(reply)?;
                let mut shown = vec![format!("law of {}, version {}", diff.agent, diff.to)];
                shown.extend(diff.lines);
                shown
            }
        })
    }
}

/// The value of `law set`: JSON, else a text. An operator and its operand are a text.
fn value(matches: &ArgMatches) -> Value {
    let words = matches.get_many::<String>("value").into_iter().flatten();
    let words: Vec<&str> = words.map(String::as_str).collect();
    let text = words.join(" ");
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}
