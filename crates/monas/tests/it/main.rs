//! The real program: started, called, stopped.

mod program;
mod server;
