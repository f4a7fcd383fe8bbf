//! The watchdog of a server, with the shipped rules and those of the operator.

use std::path::Path;

use ::watch::{Author, Rules, Watcher, shipped_rules};
use axum::Router;
use dial::Dialer;
use store::Store;
use workspace::chat::Chat;
use workspace::watchdog::{Watchdog, WatchdogParts};

use super::base::rights;
use crate::config::Config;
use crate::error::Error;
use crate::serve::agents::AgentHost;

/// The most files of rules in the folder of the operator.
const MOST: usize = 200;

/// The watchdog, unless it is switched off.
pub(super) async fn open(
    config: &Config,
    store: &Store,
    host: &AgentHost,
    chat: &Chat,
    dialer: &Dialer,
) -> Result<Option<Watchdog>, Error> {
    if !config.watch.enabled {
        return Ok(None);
    }
    let failed = |error: ::watch::Error| Error::Watch(error.to_string());
    let mut rules = shipped_rules().map_err(failed)?;
    if let Some(folder) = &config.watch.rules {
        rules.add(of_folder(folder)?);
    }
    let webhook = config.watch.webhook.clone();
    let parts = WatchdogParts {
        store: store.clone(),
        population: host.population().clone(),
        chat: chat.clone(),
        watcher: Watcher::new(rules).map_err(failed)?,
        webhook: webhook.map(|url| (url, dialer.http())),
    };
    Ok(Some(Watchdog::open(parts).await?))
}

/// Its routes.
pub(super) fn routes(watchdog: &Watchdog, host: &AgentHost) -> Router {
    workspace::api::watch::routes(watchdog.clone(), rights(host.agents()))
}

/// The rules in a folder, a pack for each file.
fn of_folder(folder: &Path) -> Result<Rules, Error> {
    let problem = |path: &Path, error: &dyn std::fmt::Display| {
        Error::Watch(format!("{}: {error}", path.display()))
    };
    let entries = std::fs::read_dir(folder).map_err(|error| problem(folder, &error))?;
    let mut paths: Vec<_> = entries.filter_map(|it| Some(it.ok()?.path())).collect();
    paths.retain(|it| it.extension().is_some_and(|it| it == "yml" || it == "yaml"));
    paths.sort();
    paths.truncate(MOST);
    let mut rules = Rules::default();
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(|error| problem(&path, &error))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let parsed = Rules::parse(&name, Author::Operator, &text);
        rules.add(parsed.map_err(|error| problem(&path, &error))?);
    }
    Ok(rules)
}
