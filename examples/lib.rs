//! What some of the examples share; most of them are whole in their own file.

pub mod live_feed;
