//! The deeds of skills with files, told to a part of the program that keeps track of them.

use std::fmt;
use std::sync::Arc;

use skill::Context;

use crate::path::ProjectPath;
use crate::project::Project;

/// Something that a skill did with a file, for a caller in a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDeed {
    pub kind: DeedKind,
    pub path: ProjectPath,
    /// The id of the task.
    pub task: String,
    /// The name of the person that the task is for.
    pub caller: String,
}

/// The kind of a [`FileDeed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeedKind {
    Read,
    Wrote,
    /// The file is gone: it was deleted, or has another path now. A folder takes the files in it along.
    Removed,
}

/// Told what skills did with files, after it is done. It returns at once: the skill waits for it.
pub trait FileObserver: Send + Sync {
    fn saw(&self, deed: FileDeed);
}

/// An observer, or none.
#[derive(Clone, Default)]
pub(crate) struct Observed(Option<Arc<dyn FileObserver>>);

impl fmt::Debug for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observed").field(&self.0.is_some()).finish()
    }
}

impl Project {
    /// The same project; its skills tell this observer what they do with files.
    #[must_use]
    pub fn observed_by(self, observer: Arc<dyn FileObserver>) -> Self {
        self.with_observer(Observed(Some(observer)))
    }

    /// Tells the observer what was done with a path as the skill was given or gives it.
    pub(crate) fn tell(&self, ctx: &Context, kind: DeedKind, path: &str) {
        let Some(observer) = &self.observed().0 else {
            return;
        };
        if let Ok(path) = ProjectPath::parse(path) {
            observer.saw(FileDeed {
                kind,
                path,
                task: ctx.task_id(),
                caller: ctx.caller().person().name().to_owned(),
            });
        }
    }
}
