//! A PostgreSQL server for the tests of the engine that keeps the store in one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{find_on_path, is_root, why};
use crate::error::{Error, Result};
use crate::process;

/// Where Debian installs the programs: a folder for each version, and not in `PATH`.
const VERSIONS: &str = "/usr/lib/postgresql";

/// The folder with the programs `initdb`, `postgres` and `pg_isready`.
#[derive(Debug, Clone)]
pub(crate) struct Postgres {
    folder: PathBuf,
}

impl Postgres {
    /// Lets a program find the server, by its folder in `MONAS_POSTGRES_BIN`.
    pub(crate) fn offer_to(&self, command: &mut Command) {
        command.env("MONAS_POSTGRES_BIN", &self.folder);
    }
}

/// Finds PostgreSQL: `MONAS_POSTGRES_BIN`, or the machine's own, which is installed when there is none and we may.
pub(crate) fn postgres() -> Result<Postgres> {
    let named = std::env::var_os("MONAS_POSTGRES_BIN").map(PathBuf::from);
    if let Some(folder) = named.filter(|folder| is_whole(folder)).or_else(found) {
        return Ok(Postgres { folder });
    }
    let mut installed = Ok(());
    if is_root() {
        let mut apt = Command::new("apt-get");
        apt.args(["install", "--yes", "--no-install-recommends", "postgresql"]);
        installed = process::run(&mut apt);
    }
    found()
        .map(|folder| Postgres { folder })
        .ok_or_else(|| Error::Missing {
            tool: "PostgreSQL's server",
            why: why(
                installed,
                "initdb is neither in /usr/lib/postgresql nor in PATH",
            ),
            install: "apt-get install postgresql",
        })
}

/// The newest version that is installed, or the one in `PATH`.
fn found() -> Option<PathBuf> {
    let versions = fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    let numbered = versions.filter_map(|version| {
        let number: u32 = version.file_name().to_str()?.parse().ok()?;
        let folder = version.path().join("bin");
        is_whole(&folder).then_some((number, folder))
    });
    let newest = numbered.max().map(|(_, folder)| folder);
    let on_path = || find_on_path("initdb").and_then(|file| file.parent().map(Path::to_owned));
    newest.or_else(on_path)
}

fn is_whole(folder: &Path) -> bool {
    ["initdb", "postgres", "pg_isready"]
        .iter()
        .all(|program| folder.join(program).is_file())
}
