//! A real browser for agents: Chromium, driven over its debugging pipe.
//!
//! A [`Browser`] starts one Chromium when it is first used. Each [`Session`] is a browser context of it: pages, cookies and a
//! way to the network apart from all others. An agent works in a session through a [`Turn`]: it opens a page, reads a numbered
//! list of what can be clicked and typed into, and names elements by these numbers. People watch through a [`LiveView`] and
//! work in the same pages through a [`Takeover`].
//!
//! ```no_run
//! # async fn demo() -> Result<(), browser::Error> {
//! use browser::{Browser, Options, WaitUntil};
//!
//! let browser = Browser::new(Options::new("/var/lib/monas/browser"));
//! let session = browser.session("a conversation").await?;
//! let turn = session.turn().await?;
//! turn.navigate("https://example.org", WaitUntil::Load, None).await?;
//! let list = turn.elements().await?;
//! println!("{}", list.text(None, 4096));
//! turn.click(list.elements[0].index, Some(list.snapshot), false, Some(WaitUntil::Load)).await?;
//! # Ok(()) }
//! ```
//!
//! Layout, from the outside in:
//! - [`skills`]: what agents call; [`Turn`] (`turn/`): what they come to
//! - [`LiveView`], [`Takeover`], [`Deed`] (`live`, `person`): what people see and do, and the record of both
//! - [`Browser`], [`Session`], `targets`, `tab`: what runs, and who ends it; `usage`: what ends a page that uses too much
//! - [`Policy`], `gateway`: what pages reach; every connection of a session goes through its gateway
//! - [`ElementList`] (`elements`, `snapshot`, `numbers`): the numbered list
//! - `hidden`: values of secrets, which no text shows
//! - `connection`, `process`, `profile`: the pipe, the program, its folder
//! - [`Options`], [`Limits`], [`Error`]

mod browser;
mod connection;
mod elements;
mod error;
mod gateway;
mod hidden;
mod limits;
mod live;
mod numbers;
mod options;
mod person;
mod policy;
mod process;
mod profile;
mod session;
pub mod skills;
mod snapshot;
mod tab;
mod targets;
mod turn;
mod usage;

pub use browser::{Browser, Status};
pub use elements::{Element, ElementList, Position};
pub use error::Error;
pub use limits::Limits;
pub use live::{Deed, Frame, LiveView, PersonInput, Takeover};
pub use options::{FindSecret, Options, Sandbox};
pub use policy::{HostRule, HostRuleError, Policy, Resolver, SystemResolver};
pub use process::{FOLDERS, PROGRAMS};
pub use session::{AGENT, Session};
pub use tab::{ConsoleEntry, Dialog, NetworkEntry, WaitUntil};
pub use turn::{
    Area, Condition, Cookie, Download, Extract, Format, Page, Part, Picture, Shot, TabInfo, Turn,
    Typed,
};
