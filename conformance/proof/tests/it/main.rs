//! Every wire does the same: for scenarios that are written down, for those that are not, and for each requirement
//! of the protocol. The tests are the evidence in `docs/proof.md`, which `cargo xtask prove` makes.

#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the line that was wrong"
)]

#[macro_use]
mod support;

mod batch;
mod laws;
mod random;
mod receiver;
mod schemas;
mod schemes;
mod security;
mod written;

mod r01_http;
mod r02_request_response;
mod r03_streaming;
mod r04_task_state;
mod r05_cancellation;
mod r06_push_configuration;
mod r07_header_authentication;
mod r08_authentication_schemes;
mod r09_calling_back;
mod r10_structured_data;
mod r11_files;
mod r12_errors;
mod r13_context;
mod r14_card;
