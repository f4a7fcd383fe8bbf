//! The human side of a server: what people and their programs ask of it, over REST, in the chat and through the door of
//! the page.
//!
//! Layout:
//! - [`api`]: the routes below `/api`, one file for each: agents ([`api::agent`], `agents`, `approvals`, `boards`, `command`),
//!   memories ([`api::memory`]), files of projects (`files`), chat sessions (`sessions`), and accounts (`users`, `keys`,
//!   `capabilities`, `secrets`, `session`); `openapi` describes them, `rules` says what each needs of its caller
//! - [`api::reply`]: the replies, which clients read back
//! - [`code`]: the files that skills read and write, taken into graph memory
//! - [`chat`]: `/ws/chat`, sessions told from the journals of agents
//! - [`ag_ui`]: `/ag-ui`, the same sessions as runs of the Agent User Interaction protocol
//! - `changed`: files of projects that change, for those who follow them
//! - [`door`]: `/workspace/capnweb`, the routes and the chat as objects of Cap'n Web
//! - [`watchdog`]: what follows the journals and tells people of alerts
//! - [`packed`]: MessagePack, for clients that ask for it

pub mod ag_ui;
pub mod api;
mod changed;
pub mod chat;
pub mod code;
pub mod door;
pub mod packed;
pub mod watchdog;
