//! `monas models`: lists and tests the configured models; `pull` fetches weights.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use access::Secrets;
use access::secrets::REFERENCE;
use axum::http::Uri;
use clap::{Arg, ArgMatches};
use dial::Dialer;
use model::Request;
use model::provider::Key;

use crate::config::models::Embedder;
use crate::config::{Config, Data};
use crate::serve::models::weights::{self, ALL, Weights};
use crate::serve::models::{embedder, model};
use crate::serve::{compose, secrets};
use pull::{Progress, Source, pull};

mod pull;
#[cfg(test)]
#[path = "models/pull_tests.rs"]
mod pull_tests;

/// A command about models.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModelsCommand {
    config: Config,
    action: Action,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    /// List the models and test them.
    List,
    Pull {
        name: String,
        from: Option<Source>,
    },
}

/// Why the command failed. Each message completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// A configured model does not answer; a line about it was printed.
    #[error("use the configured models: {0} of {1} did not answer")]
    Silent(usize, usize),
    /// No weights have this name.
    #[error("pull {name:?}: unknown weights; known are {known}")]
    Unknown { name: String, known: String },
    /// Data in memory has no folder for weights.
    #[error("store weights: the data is in memory; set --data")]
    NoFolder,
    #[error(transparent)]
    Pull(#[from] pull::Error),
    /// The settings for outbound connections cannot be used.
    #[error(transparent)]
    Outbound(#[from] crate::config::Error),
}

/// The command line of `monas models`. `settings` adds the flags of all settings.
pub(crate) fn definition(settings: impl Fn(clap::Command) -> clap::Command) -> clap::Command {
    let names: Vec<_> = ALL.iter().map(|it| it.name).collect();
    let pull = clap::Command::new("pull")
        .about("Fetch weights for the embedder that runs in the server")
        .after_help("monas models pull all-minilm-l6-v2")
        .long_about(
            "Fetches weights into the folder of data, from where they are published or from a place of your \
             own. The same command resumes an interrupted download; a file with a wrong hash is \
             deleted.",
        )
        .arg(
            Arg::new("name")
                .value_name("NAME")
                .required(true)
                .help(format!("Which weights: {}", names.join(", "))),
        )
        .arg(
            Arg::new("from")
                .long("from")
                .value_name("FILE|URL")
                .help("A folder with the files, an archive of them (zip, wheel), or an address they are below"),
        );
    settings(
        clap::Command::new("models")
            .about("List the models that are configured, and test them")
            .after_help("monas models --model ollama:gemma3")
            .long_about(
                "Lists the language model and the embedder that are configured, and asks each of them something \
                 small to see whether it answers.",
            )
            .args_conflicts_with_subcommands(true)
            .subcommand(settings(pull)),
    )
}

impl ModelsCommand {
    /// Reads the matches of [`definition`]. `read` reads the settings.
    pub(crate) fn read<E>(
        matches: &ArgMatches,
        read: impl Fn(&ArgMatches) -> Result<Config, E>,
    ) -> Result<Self, E> {
        let Some((_, matches)) = matches.subcommand() else {
            return Ok(Self {
                config: read(matches)?,
                action: Action::List,
            });
        };
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        Ok(Self {
            config: read(matches)?,
            action: Action::Pull {
                name: text("name").unwrap_or_default(),
                from: text("from").map(source),
            },
        })
    }

    /// Runs the command; lines go to `say`.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Failure> {
        let data = match &self.config.data {
            Data::Folder(folder) => Some(folder.as_path()),
            Data::Memory => None,
        };
        match &self.action {
            Action::List => self.list(data, say).await,
            Action::Pull { name, from } => {
                let data = data.ok_or(Failure::NoFolder)?;
                self.pull(name, from.as_ref(), data, say).await
            }
        }
    }

    async fn list(&self, data: Option<&Path>, say: impl Fn(&str) -> bool) -> Result<(), Failure> {
        let dialer = self.config.outbound.dialer()?;
        let (mut asked, mut silent) = (0, 0);
        let mut tell = |what: &str, tested: Option<Result<String, String>>, without: &str| {
            let line = match tested {
                None => without.to_owned(),
                Some(Ok(works)) => works,
                Some(Err(problem)) => {
                    silent += 1;
                    problem
                }
            };
            asked += 1;
            say(&format!("{what:<9} {line}"));
        };
        let model = self.try_model(&dialer).await;
        tell("model", model, "none; rules understand direct requests");
        let embedder = self.try_embedder(&dialer, data).await;
        tell("embedder", embedder, "none; memory is searched by words");
        for weights in ALL {
            let here = match data {
                Some(data) if weights.are_in(data) => "here".to_owned(),
                _ => format!(
                    "not fetched; `monas models pull {}` fetches them",
                    weights.name
                ),
            };
            let Weights { name, about, .. } = weights;
            say(&format!("weights   {name} ({about}): {here}"));
        }
        match silent {
            0 => Ok(()),
            silent => Err(Failure::Silent(silent, asked)),
        }
    }

    /// Asks the model a small question, if there is a model.
    async fn try_model(&self, dialer: &Dialer) -> Option<Result<String, String>> {
        let endpoint = self.config.models.model.as_ref()?;
        let place = endpoint.url.as_deref().unwrap_or(endpoint.kind.url());
        let about = format!("{}:{} at {place}", endpoint.kind.name(), endpoint.model);
        let begun = Instant::now();
        let asked = async {
            let model = model(&self.config.models, dialer, &self.secrets().await)?;
            match model {
                Some(model) => model
                    .ask(Request::new("Say OK.").max_tokens(64))
                    .await
                    .map(Some),
                None => Ok(None),
            }
        };
        Some(match asked.await {
            Err(error) => Err(format!("{about}: {error}")),
            Ok(reply) => {
                let usage = reply.and_then(|reply| reply.usage);
                let tokens =
                    usage.map_or_else(String::new, |it| format!(", {} tokens", it.total()));
                Ok(format!(
                    "{about}: answers ({} ms{tokens})",
                    begun.elapsed().as_millis()
                ))
            }
        })
    }

    /// The secrets of the data, where a key names one. None are found while a server has the data: it is what uses them.
    async fn secrets(&self) -> Secrets {
        let models = &self.config.models;
        let embedder = match &models.embedder {
            Some(Embedder::Provider(endpoint)) => endpoint.key.as_ref(),
            _ => None,
        };
        let model = models.model.as_ref().and_then(|it| it.key.as_ref());
        let is_named = |key: &Key| key.after(REFERENCE).is_some();
        if !model.into_iter().chain(embedder).any(is_named) {
            return Secrets::default();
        }
        match compose::open(&self.config, "a command").await {
            Ok(store) => {
                let opened = secrets::open(&self.config, &store).await;
                store.close().await;
                opened.unwrap_or_default()
            }
            Err(_) => Secrets::default(),
        }
    }

    /// Asks the embedder for a vector, if there is an embedder.
    async fn try_embedder(
        &self,
        dialer: &Dialer,
        data: Option<&Path>,
    ) -> Option<Result<String, String>> {
        let begun = Instant::now();
        let about = match &self.config.models.embedder {
            Some(Embedder::None) => return None,
            Some(Embedder::Local(name)) => format!("local:{name}"),
            Some(Embedder::Provider(endpoint)) => {
                let place = endpoint.url.as_deref().unwrap_or(endpoint.kind.url());
                format!("{}:{} at {place}", endpoint.kind.name(), endpoint.model)
            }
            None => "the local one".to_owned(),
        };
        let secrets = self.secrets().await;
        let embedder = match embedder(&self.config.models, dialer, data, &secrets) {
            Ok(embedder) => embedder?,
            Err(error) => return Some(Err(format!("{about}: {error}"))),
        };
        let about = match &self.config.models.embedder {
            None => embedder.name().to_owned(),
            Some(_) => about,
        };
        Some(match embedder.embed(vec!["OK".to_owned()]).await {
            Err(error) => Err(format!("{about}: {error}")),
            Ok(vectors) => {
                let dimensions = vectors.first().map_or(0, Vec::len);
                let millis = begun.elapsed().as_millis();
                Ok(format!(
                    "{about}: answers ({millis} ms, {dimensions} dimensions)"
                ))
            }
        })
    }

    async fn pull(
        &self,
        name: &str,
        from: Option<&Source>,
        data: &Path,
        say: impl Fn(&str) -> bool,
    ) -> Result<(), Failure> {
        let Some(weights) = weights::find(name) else {
            let known: Vec<_> = ALL.iter().map(|it| it.name).collect();
            return Err(Failure::Unknown {
                name: name.to_owned(),
                known: known.join(", "),
            });
        };
        if !cfg!(feature = "local") {
            // A warning before a large download: the weights may be for another build.
            say("this build cannot use weights; one with --features local can");
        }
        let published = || source(weights.url.to_owned());
        let from = from.cloned().unwrap_or_else(published);
        let client = self.config.outbound.dialer()?.http();
        pull(weights, &from, data, &client, &mut Bar::default()).await?;
        say(&format!("{name} is in {}", weights.folder(data).display()));
        Ok(())
    }
}

/// A URL, or else a path.
fn source(text: String) -> Source {
    match text.parse::<Uri>() {
        Ok(url) if matches!(url.scheme_str(), Some("http" | "https")) => Source::Url(url),
        _ => Source::Path(PathBuf::from(text)),
    }
}

/// A progress line, rewritten on a terminal; nothing elsewhere.
#[derive(Debug, Default)]
struct Bar {
    shown: Option<u64>,
}

/// The width of the bar in characters.
const WIDTH: u64 = 40;

impl Progress for Bar {
    fn at(&mut self, file: &str, bytes: u64, of: u64) {
        let permille = bytes.saturating_mul(1000).checked_div(of).unwrap_or(1000);
        if self.shown == Some(permille) || !std::io::stderr().is_terminal() {
            return;
        }
        self.shown = Some(permille);
        let line = line(file, bytes, of);
        let _ = write!(std::io::stderr().lock(), "\r{line}");
    }

    fn done(&mut self, _file: &str) {
        if self.shown.take().is_some() {
            let _ = writeln!(std::io::stderr().lock());
        }
    }
}

/// The name of a file, a bar and the percentage.
pub(super) fn line(file: &str, bytes: u64, of: u64) -> String {
    let full = bytes
        .min(of)
        .saturating_mul(WIDTH)
        .checked_div(of)
        .unwrap_or(WIDTH);
    let bar: String = (0..WIDTH)
        .map(|at| if at < full { '#' } else { '.' })
        .collect();
    let mebi = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    format!(
        "{file:<18} [{bar}] {:.1} of {:.1} MiB",
        mebi(bytes),
        mebi(of)
    )
}
