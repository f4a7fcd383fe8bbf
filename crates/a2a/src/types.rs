//! The protocol's data types, one declaration for both wires.
