//! The task server, called as the bindings call it.

mod cancel;
mod failure;
mod lists;
mod notes;
mod push;
mod replay;
mod restart;
mod revoked;
mod rights;
mod scope;
mod streams;
pub(crate) mod support;
mod task_states;
mod tenants;
