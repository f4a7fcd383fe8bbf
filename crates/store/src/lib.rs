//! What survives a crash: an append-only journal with cursors, and tables beside it.
