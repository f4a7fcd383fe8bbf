//! The caller that a handle is for: which records it is shown, and which are its own.

use std::sync::Arc;

use crate::layer::Lasting;
use crate::record::{Record, Standing};

/// The caller that records are shown to. A caller is known by its name; that of the anonymous caller is empty.
///
/// A handle is for all records unless [`Handle::seen_by`](crate::Handle::seen_by) restricts it. The restriction counts
/// for decisions, too: the records of a caller are compared with those that it sees. Otherwise the outcome of a write
/// (`corroborated`, or the record that it contradicts) would tell what another caller said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Viewer {
    /// Sees and owns every record: an operator, and every caller of a server without access rules.
    #[default]
    All,
    /// Sees every record, and owns those of its own.
    Reader(Arc<str>),
    /// Sees its own records and public ones.
    Caller(Arc<str>),
}

impl Viewer {
    /// The name of the caller; None for [`Viewer::All`].
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::Reader(name) | Self::Caller(name) => Some(name),
        }
    }

    /// Whether it sees every record.
    pub(crate) fn sees_all(&self) -> bool {
        matches!(self, Self::All | Self::Reader(_))
    }

    pub fn sees(&self, record: &Record) -> bool {
        match self {
            Self::All | Self::Reader(_) => true,
            Self::Caller(name) => {
                record.content.public
                    || is_axiom(record)
                    || record.owner() == Some(&**name)
                    || said_by(record, name)
            }
        }
    }

    /// Whether the caller may forget the record.
    pub(crate) fn owns(&self, record: &Record) -> bool {
        self.name().is_none_or(|name| record.owner() == Some(name))
    }
}

fn is_axiom(record: &Record) -> bool {
    matches!(&record.standing, Standing::Kept(kept) if kept.layer == Lasting::Axiom)
}

/// Whether a caller is one of the sources of a lasting record.
fn said_by(record: &Record, name: &str) -> bool {
    let Some(kept) = record.kept() else {
        return false;
    };
    let mut sources = kept.support.iter().map(|it| &*it.source);
    sources.any(|source| caller_of(source) == Some(name))
}

/// The caller that a source names: `user:ada` is ada, and `agent:scout` the caller of this name.
pub fn caller_of(source: &str) -> Option<&str> {
    match source.split_once(':')? {
        ("user", "anonymous") => Some(""),
        ("user", name) => Some(name),
        ("agent", _) => Some(source),
        _ => None,
    }
}
