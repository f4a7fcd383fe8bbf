//! Screenshots without a DOM: what can be clicked or typed into, what is written, what changed.
//!
//! A picture is taken apart into *surfaces* (regions of one colour that something can be painted on), *marks* (ink between
//! them) and *phrases* (marks that are one text), and rules tell from their shape, colour and place what they are. Text is
//! read by two neural networks in this process, when their weights are there, or by tesseract. Nothing here knows HTTP,
//! agents or the network; prefer the DOM where a page is live.
//!
//! ```
//! use vision::{Limits, Picture, Vision};
//!
//! let vision = Vision::without_text(Limits::default());
//! let refused = Picture::decode(b"GIF89a", vision.limits()).unwrap_err();
//! assert_eq!(refused.to_string(), "its format is gif; send PNG, JPEG or WebP");
//! ```
//!
//! Layout: [`Picture`] decodes within [`Limits`]; `surface`, `mark` and `phrase` take it apart (`scene` has all of them);
//! `shape` and `layout` are the rules; `reader` reads; [`Vision`] is the whole; [`reply`] has the messages of the routes.

mod analysis;
mod changed;
mod decode;
mod element;
mod error;
mod find;
mod frame;
mod layout;
mod limits;
mod mark;
mod phrase;
mod picture;
mod reader;
pub mod reply;
mod scene;
mod shape;
mod surface;

pub use analysis::{Analysis, Vision};
pub use changed::Change;
pub use element::{Element, Kind, Position, Source};
pub use error::Error;
pub use find::{Finding, Fit, find};
pub use limits::Limits;
pub use picture::Picture;
pub use reader::{Line, models};
