//! What is found out about a text or a call once, so that rules need not: credentials, signs of injection, hashes, the kind of
//! a file and of a command, themes. All of it is pure.

pub(crate) mod files;
pub(crate) mod secrets;
pub(crate) mod signs;
pub(crate) mod skills;
pub(crate) mod text;
pub(crate) mod themes;
