//! Weights that `monas models pull` can fetch, and their folder: `models/NAME` in the data folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{Embed, Error};

/// The weights of one model.
#[derive(Debug)]
pub(crate) struct Weights {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The URL where they are published; names of files are appended.
    pub(crate) url: &'static str,
    pub(crate) files: &'static [File],
}

/// A file of weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File {
    pub(crate) name: &'static str,
    pub(crate) size: u64,
    pub(crate) sha256: &'static str,
}

/// All weights that can be fetched.
pub(crate) const ALL: &[Weights] = &[Weights {
    name: "all-minilm-l6-v2",
    about: "a small embedder for English, 384 dimensions, Apache-2.0",
    url: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main/",
    files: &[
        File {
            name: "config.json",
            size: 612,
            sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
        },
        File {
            name: "tokenizer.json",
            size: 466_247,
            sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        },
        File {
            name: "model.safetensors",
            size: 90_868_376,
            sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        },
    ],
}];

pub(crate) fn find(name: &str) -> Option<&'static Weights> {
    ALL.iter().find(|weights| weights.name == name)
}

impl Weights {
    /// Their folder in a data folder.
    pub(crate) fn folder(&self, data: &Path) -> PathBuf {
        data.join("models").join(self.name)
    }

    /// Whether all files are there. A file gets its name only after its hash was checked.
    pub(crate) fn are_in(&self, data: &Path) -> bool {
        let folder = self.folder(data);
        self.files
            .iter()
            .all(|file| folder.join(file.name).is_file())
    }
}

/// Opens the local embedder with these weights.
pub(crate) fn open(name: &str, data: Option<&Path>) -> Result<Arc<dyn Embed>, Error> {
    let unusable = |why: String| Err(Error::Unsupported(why));
    let Some(weights) = find(name) else {
        return unusable(format!("unknown weights {name:?}"));
    };
    match data {
        Some(data) if weights.are_in(data) => load(weights, data),
        _ => unusable(format!("weights not fetched; run monas models pull {name}")),
    }
}

/// Opens the local embedder with the first weights that were fetched, if this build has local embedders.
pub(crate) fn open_usual(data: Option<&Path>) -> Result<Option<Arc<dyn Embed>>, Error> {
    let Some(data) = data.filter(|_| cfg!(feature = "local")) else {
        return Ok(None);
    };
    let present = ALL.iter().find(|weights| weights.are_in(data));
    present.map(|weights| load(weights, data)).transpose()
}

#[cfg(feature = "local")]
fn load(weights: &Weights, data: &Path) -> Result<Arc<dyn Embed>, Error> {
    let embedder = model::local::MiniLm::open(weights.name, &weights.folder(data))?;
    Ok(Arc::new(embedder))
}

#[cfg(not(feature = "local"))]
fn load(weights: &Weights, _data: &Path) -> Result<Arc<dyn Embed>, Error> {
    let why = format!(
        "{} needs a program built with the feature local",
        weights.name
    );
    Err(Error::Unsupported(why))
}
