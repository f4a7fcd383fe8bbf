//! Folders run as people run them: with Python, in the sandbox of this machine.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod commands;
mod escapes;
mod folders;
mod gate;
mod kills;
mod support;
