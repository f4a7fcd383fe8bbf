//! How browsers of a server are started, and what they may do.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::limits::Limits;
use crate::policy::{Policy, Resolver, SystemResolver};
use crate::process::FOLDERS;

/// Finds the value of a secret by its name; the error says why there is none.
pub type FindSecret = Arc<dyn Fn(&str) -> Result<String, String> + Send + Sync>;

/// Everything a [`Browser`](crate::Browser) is started with.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// The program; None: the first of [`PROGRAMS`](crate::PROGRAMS) that is in one of the folders.
    pub program: Option<PathBuf>,
    /// The folders in which the program is looked for; [`FOLDERS`](crate::FOLDERS) unless others are given.
    pub folders: Vec<PathBuf>,
    pub sandbox: Sandbox,
    /// The folder in which profiles are made, one for each start. They are removed with their browser.
    pub profiles: PathBuf,
    /// The hosts that pages may reach.
    pub policy: Policy,
    pub resolver: Arc<dyn Resolver>,
    pub secrets: FindSecret,
    pub limits: Limits,
    /// Width and height of the view, in CSS pixels.
    pub view: (u32, u32),
}

/// Whether Chromium confines the processes of its pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sandbox {
    #[default]
    On,
    /// A page that breaks out of its process has the rights of the server. For machines that hold nothing else.
    Off,
}

impl Options {
    /// Options with the sandbox on, all public hosts allowed and no secrets. Profiles are made in this folder.
    pub fn new(profiles: impl Into<PathBuf>) -> Self {
        Self {
            program: None,
            folders: FOLDERS.map(PathBuf::from).to_vec(),
            sandbox: Sandbox::On,
            profiles: profiles.into(),
            policy: Policy::default(),
            resolver: Arc::new(SystemResolver),
            secrets: Arc::new(|_| Err("there are no secrets here".to_owned())),
            limits: Limits::default(),
            view: (1280, 800),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("program", &self.program)
            .field("sandbox", &self.sandbox)
            .field("profiles", &self.profiles)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
