//! The routes below `/api`, as clients see them.

mod memory;
