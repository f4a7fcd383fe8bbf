//! A real Chromium, driven against a site that the tests serve.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod acting;
mod lifetime;
mod live;
mod network;
mod pages;
mod site;
mod skills;
mod support;
