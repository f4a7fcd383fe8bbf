//! Code that several examples share. Most examples are complete in their own file.

pub mod live_feed;
