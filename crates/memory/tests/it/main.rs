//! Memory as its users see it.

mod junk;
mod keeping;
mod recall;
mod support;
