//! Terminals where commands are not run: there are none, and no routes for them.

use axum::Router;

use super::files::Projects;
use crate::chat::Chat;

/// The terminals of a project, of which there are none.
#[derive(Clone, Copy, Debug)]
pub enum Terminals {}

/// No routes.
#[expect(
    clippy::needless_pass_by_value,
    reason = "as where there are terminals"
)]
pub fn routes(_: Chat, _: Projects) -> Router {
    Router::new()
}
