//! `monas migrate`, `import` and `export`: a store in a PostgreSQL database, brought to the schema of this program, filled
//! from a data folder, and copied into one.

use clap::{Arg, ArgMatches};
use serde_json::json;
use store::{Copied, Remote, Store, copy};

use super::backend::DataOptions;
use super::client::print::note;
use crate::config::{Config, StoreUrl};
use crate::error::Error;
use crate::serve::compose;

/// A command about the database of a store.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DatabaseCommand {
    action: Action,
    pub(crate) options: DataOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Migrate,
    Import,
    Export,
}

/// The names of these commands.
pub(crate) const NAMES: [&str; 3] = ["migrate", "import", "export"];

const BESIDE: &str =
    "Files beside the data are not in it: copy mcp.key, secrets.key and project folders yourself.";

/// The command lines; `settings` are the flags of the server, which name the folder and the database.
pub(crate) fn definitions(settings: &[Arg]) -> [clap::Command; 3] {
    let command = |name: &'static str, about: &'static str, long: String, example: &'static str| {
        let command = clap::Command::new(name)
            .about(about)
            .long_about(long)
            .after_help(example);
        // These commands are about the database, so that its flag is shown.
        DataOptions::arguments(command, settings).mut_arg("store", |argument| argument.hide(false))
    };
    [
        command(
            "migrate",
            "Bring the schema of a database to that of this program",
            "Brings the schema of a PostgreSQL database to that of this program. Make a backup first, and stop servers of older \
             versions."
                .to_owned(),
            "monas migrate --store postgres://monas@db.example/monas",
        ),
        command(
            "import",
            "Copy the data of a folder into an empty database",
            format!("Copies all data of a folder into an empty PostgreSQL database. No server may use either. {BESIDE}"),
            "monas import --data ~/.local/share/monas --store postgres://monas@db.example/monas",
        ),
        command(
            "export",
            "Copy the data of a database into an empty folder",
            format!("Copies all data of a PostgreSQL database into a folder without data. No server may use either. {BESIDE}"),
            "monas export --store postgres://monas@db.example/monas --data copy",
        ),
    ]
}

impl DatabaseCommand {
    /// Reads the matches of the command `name` of [`definitions`].
    pub(crate) fn read(
        name: &str,
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, clap::Error> {
        let action = match name {
            "import" => Action::Import,
            "export" => Action::Export,
            _ => Action::Migrate,
        };
        let options = DataOptions::read(matches, config, environment)?.without_agent();
        Ok(Self { action, options })
    }

    /// Does it, and says what was done.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let config = &self.options.config;
        let url = config.store.url.as_ref().ok_or(Error::NoDatabase)?;
        if self.action == Action::Migrate {
            return self.migrate(url, say).await;
        }
        if self.action == Action::Import {
            self.options.require_folder()?;
        }
        let folder = compose::open_folder(config, "a command").await?;
        // The folder is locked by its own store.
        let remote = Remote {
            folder: None,
            ..compose::remote(config, url, "a command")
        };
        let connected = tokio::task::spawn_blocking(move || Store::connect(&remote)).await;
        let database = match connected.expect("connecting to a database does not panic") {
            Ok(database) => database,
            Err(error) => {
                folder.close().await;
                return Err(error.into());
            }
        };
        let (from, to) = match self.action {
            Action::Export => (&database, &folder),
            _ => (&folder, &database),
        };
        let copied = copy(from, to, &compose::tables()).await;
        folder.close().await;
        database.close().await;
        self.report(copied?, say);
        Ok(())
    }

    async fn migrate(&self, url: &StoreUrl, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let remote = compose::remote(&self.options.config, url, "a command");
        let migrated = tokio::task::spawn_blocking(move || Store::migrate(&remote)).await;
        let steps = migrated.expect("migrating a database does not panic")?;
        match self.options.json {
            true => say(&json!({ "steps": steps }).to_string()),
            false => say(&format!("{url}: {steps} steps taken")),
        };
        Ok(())
    }

    fn report(&self, copied: Copied, say: impl Fn(&str) -> bool) {
        let Copied {
            streams,
            events,
            rows,
        } = copied;
        match self.options.json {
            true => say(&json!({ "streams": streams, "events": events, "rows": rows }).to_string()),
            false => say(&format!(
                "{streams} streams with {events} events, and {rows} rows"
            )),
        };
        if !self.options.json {
            note(BESIDE);
        }
    }
}
