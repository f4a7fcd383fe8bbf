//! Data that follows the future of a call: its context, and what records its spans.

use super::{TraceContext, Tracer};

tokio::task_local! {
    static CURRENT: Scope;
}

/// The context of some work, and what records the spans of it.
#[derive(Clone, Debug)]
pub struct Scope {
    pub context: TraceContext,
    /// None where nothing is recorded: the context is passed on as it came.
    pub(super) tracer: Option<Tracer>,
}

impl From<TraceContext> for Scope {
    /// A context that is passed on, without spans of ours.
    fn from(context: TraceContext) -> Self {
        Self {
            context,
            tracer: None,
        }
    }
}

/// The context of the future that is polled now.
pub fn current() -> Option<TraceContext> {
    CURRENT.try_with(|it| it.context).ok()
}

/// The scope of the future that is polled now: for work that goes on in a task of its own.
pub fn scope() -> Option<Scope> {
    CURRENT.try_with(Clone::clone).ok()
}

/// Does work in a scope: requests that it sends bear its context. Tasks that it spawns do not. Without a scope the work
/// stays in the one it is in.
pub async fn within<T>(scope: Option<Scope>, work: impl Future<Output = T>) -> T {
    match scope {
        Some(scope) => CURRENT.scope(scope, work).await,
        None => work.await,
    }
}
