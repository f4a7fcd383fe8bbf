//! Tools of other servers as skills: servers that do what they should, and servers that do not.

mod caller;
mod fake;
mod hostile;
mod programs;
