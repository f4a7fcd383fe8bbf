//! The browser of the agents, from the configuration.

use std::sync::Arc;

use access::Secrets;
use browser::{Browser, Options, Sandbox};

use crate::config::{Config, Data, Switch};

/// The browser that all agents of a server share, each conversation in a session of its own. None: it is switched off. It
/// is started when it is first used.
pub(crate) fn browser(config: &Config, secrets: &Secrets) -> Option<Browser> {
    let settings = &config.browser;
    if settings.enabled == Switch::Off {
        return None;
    }
    let profiles = match &config.data {
        Data::Folder(folder) => folder.join("browser"),
        Data::Memory => std::env::temp_dir().join("monas-browser"),
    };
    let mut options = Options::new(profiles);
    options.program.clone_from(&settings.program);
    options.sandbox = match settings.sandbox {
        Switch::On => Sandbox::On,
        Switch::Off => Sandbox::Off,
    };
    options.policy = settings.policy.clone();
    let secrets = secrets.clone();
    options.secrets = Arc::new(move |name| {
        let found = secrets.reveal(name);
        found.map_err(|error| format!("could not {error}"))
    });
    Some(Browser::new(options))
}
