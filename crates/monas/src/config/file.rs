//! `monas.toml`: read with every mistake named by file and line.

use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::access::{self, Scheme};
use super::settings::{KEYS, Settings, find};
use super::value::Raw;
use super::{Error, nearest};

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;

/// Reads a file. Relative paths in it are resolved against its folder.
pub(super) fn read(path: &Path) -> Result<(Settings, Vec<Scheme>), Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    let (settings, schemes) = parse(path, &text)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let settings = settings.in_folder(folder);
    let schemes = schemes.into_iter();
    let schemes = schemes.map(|scheme| scheme.relative_to(folder));
    Ok((settings, schemes.collect()))
}

/// Parses the text of a file. Stops at the first error.
pub(super) fn parse(path: &Path, text: &str) -> Result<(Settings, Vec<Scheme>), Error> {
    let file = File { path, text };
    let table = DeTable::parse(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        file.wrong(start, error.message().to_owned())
    })?;
    let mut settings = Settings::default();
    let mut table = table.into_inner();
    // Most of its keys are names that users choose, so it is not a table of settings alone.
    let schemes = match table.remove_entry(ACCESS) {
        None => Vec::new(),
        Some((key, value)) => match value.get_ref() {
            DeValue::Table(inner) => access::read(&file, inner, &mut settings)?,
            _ => {
                let problem = format!("`{ACCESS}` is a table: write [{ACCESS}]");
                return Err(file.wrong(key.span().start, problem));
            }
        },
    };
    file.table("", &table, &mut settings)?;
    Ok((settings, schemes))
}

/// The table of authentication schemes.
const ACCESS: &str = "access";

pub(super) struct File<'a> {
    path: &'a Path,
    text: &'a str,
}

impl File<'_> {
    /// Reads a table; `prefix` is put before its keys.
    fn table(
        &self,
        prefix: &str,
        table: &DeTable<'_>,
        settings: &mut Settings,
    ) -> Result<(), Error> {
        // In the order of the file, so that the first error is reported.
        let mut members: Vec<_> = table.iter().collect();
        members.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in members {
            let name = format!("{prefix}{}", key.get_ref());
            let start = key.span().start;
            match value.get_ref() {
                DeValue::Table(inner) if is_table(&name) => {
                    self.table(&format!("{name}."), inner, settings)?;
                }
                _ if is_table(&name) => {
                    return Err(self.wrong(start, format!("`{name}` is a table: write [{name}]")));
                }
                value if find(&name).is_some() => {
                    settings.set(&name, Raw::Toml(value)).map_err(|expected| {
                        self.wrong(start, format!("{name}: expected {expected}"))
                    })?
                }
                _ => return Err(self.unknown(start, &name)),
            }
        }
        Ok(())
    }

    fn unknown(&self, start: usize, name: &str) -> Error {
        let tables = KEYS.iter().filter_map(|key| key.name.split_once('.'));
        let known = KEYS.iter().map(|key| &*key.name);
        let known = known.chain(tables.map(|(table, _)| table)).chain([ACCESS]);
        self.wrong(start, nearest::unknown(name, known))
    }

    pub(super) fn wrong(&self, start: usize, problem: String) -> Error {
        let before = self.text.as_bytes().iter().take(start);
        Error::Line {
            path: PathBuf::from(self.path),
            line: 1 + before.filter(|byte| **byte == b'\n').count(),
            problem,
        }
    }
}

fn is_table(name: &str) -> bool {
    let inside = |key: &str| key.split_once('.').is_some_and(|(table, _)| table == name);
    KEYS.iter().any(|key| inside(&key.name))
}
