//! Whom a server may listen to, as it is configured.

use std::path::PathBuf;

use access::Unauthenticated;

use super::beyond;
use crate::config::{Config, Sources};
use crate::listen::Beyond;

/// A file, and nothing else.
struct File(PathBuf);

impl Sources for File {
    fn flag(&self, _: &str) -> Option<String> {
        None
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn file(&self) -> Option<PathBuf> {
        Some(self.0.clone())
    }

    fn data_folder(&self) -> Option<PathBuf> {
        Some("data".into())
    }
}

/// A configuration that says this.
fn config(text: &str) -> Config {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("monas.toml");
    std::fs::write(&path, text).unwrap();
    Config::read(&File(path)).unwrap()
}

#[test]
fn others_are_listened_to_only_where_everybody_is_asked_and_nothing_is_in_the_clear() {
    let hash = "0".repeat(64);
    let access =
        format!("[access.tokens]\ntype = 'bearer'\ncallers = {{ ada = 'sha256:{hash}' }}\n");
    let public = |scheme: &str| format!("public_url = \"{scheme}://agents.example\"\n");
    let https = public("https");
    for (text, expected) in [
        (String::new(), Beyond::NotSo),
        (https.clone(), Beyond::NotSo),
        (access.clone(), Beyond::NotSo),
        (public("http") + &access, Beyond::NotSo),
        (https.clone() + &access, Beyond::Allowed),
    ] {
        assert_eq!(beyond(&config(&text)), expected, "{text}");
    }
    let mut open = config(&(https + &access));
    open.access.unauthenticated = Unauthenticated::Anonymous;
    assert_eq!(beyond(&open), Beyond::NotSo);
}
