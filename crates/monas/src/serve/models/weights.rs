//! Weights that can be fetched, and where they lie: `models/NAME` in the folder of data.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{Embed, Error};

/// Weights that are known.
#[derive(Debug)]
pub(crate) struct Weights {
    /// What they are called here.
    pub(crate) name: &'static str,
    /// What they are for.
    pub(crate) about: &'static str,
    /// Where they are published: the address that the names of files follow.
    pub(crate) url: &'static str,
    /// What they consist of.
    pub(crate) files: &'static [File],
}

/// A file of weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File {
    pub(crate) name: &'static str,
    pub(crate) size: u64,
    /// What its content hashes to.
    pub(crate) sha256: &'static str,
}

/// All that are known.
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

/// Those of a name.
pub(crate) fn find(name: &str) -> Option<&'static Weights> {
    ALL.iter().find(|weights| weights.name == name)
}

impl Weights {
    /// Where they lie in a folder of data.
    pub(crate) fn folder(&self, data: &Path) -> PathBuf {
        data.join("models").join(self.name)
    }

    /// Whether all of them are there. A file gets its name when it was found to be whole.
    pub(crate) fn are_in(&self, data: &Path) -> bool {
        let folder = self.folder(data);
        self.files
            .iter()
            .all(|file| folder.join(file.name).is_file())
    }
}

/// The embedder that these weights are.
pub(crate) fn open(name: &str, data: Option<&Path>) -> Result<Arc<dyn Embed>, Error> {
    let unusable = |why: String| Err(Error::Unsupported(why));
    let Some(weights) = find(name) else {
        return unusable(format!("there are no weights {name:?}"));
    };
    match data {
        Some(data) if weights.are_in(data) => load(weights, data),
        _ => unusable(format!(
            "its weights are not here: monas models pull {name}"
        )),
    }
}

/// The embedder of the first weights that are there, in a program that can use them.
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
