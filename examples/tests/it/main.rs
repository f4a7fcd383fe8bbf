//! The live feed in a real browser, with a server that is killed and restarted meanwhile.

#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the line that was wrong"
)]

mod browser;
mod guide;
mod page;
mod program;
