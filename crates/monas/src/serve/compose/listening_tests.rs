//! Which configurations let other machines call.

use std::path::PathBuf;

use access::Unauthenticated;

use super::remote_access;
use crate::config::{Config, Sources};
use crate::listen::RemoteAccess;

/// Settings from a file alone.
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

/// The configuration of a file with this text.
fn config(text: &str) -> Config {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("monas.toml");
    std::fs::write(&path, text).unwrap();
    Config::read(&File(path)).unwrap()
}

#[test]
fn other_machines_may_call_only_if_callers_authenticate_and_the_url_is_https() {
    let hash = "0".repeat(64);
    let access =
        format!("[access.tokens]\ntype = 'bearer'\ncallers = {{ ada = 'sha256:{hash}' }}\n");
    let public = |scheme: &str| format!("public_url = \"{scheme}://agents.example\"\n");
    let https = public("https");
    for (text, expected) in [
        (String::new(), RemoteAccess::NotConfigured),
        (https.clone(), RemoteAccess::Allowed),
        (access.clone(), RemoteAccess::NotConfigured),
        (public("http") + &access, RemoteAccess::NotConfigured),
        (https.clone() + &access, RemoteAccess::Allowed),
    ] {
        assert_eq!(remote_access(&config(&text)), expected, "{text}");
    }
    let mut open = config(&(https + &access));
    open.access.unauthenticated = Unauthenticated::Anonymous;
    assert_eq!(remote_access(&open), RemoteAccess::NotConfigured);
}
