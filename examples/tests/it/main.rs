//! The live feed as its users have it: a page in a real browser, and a server that is killed under it.

#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the line that was wrong"
)]

mod browser;
mod guide;
mod page;
mod program;
