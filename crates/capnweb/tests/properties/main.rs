//! What holds for every sequence of operations, and for every input the fuzzer has kept.

mod corpus;
mod operations;
mod sequences;
mod streams;
mod threads;
mod world;
