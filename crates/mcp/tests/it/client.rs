//! Tools of other servers as skills: servers that follow the protocol, and servers that do not.

mod caller;
mod fake;
mod hostile;
mod programs;
