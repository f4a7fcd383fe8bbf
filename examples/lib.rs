//! The examples are the `[[example]]` targets of this package; the library itself is empty.
