//! What a server is composed of.
//!
//! Layout:
//! - `compose`: constructs everything from the configuration
//! - `agents`: the agents of a server; `agents/host` gives them memory, files and each other
//! - `door`: authentication; `issuers`: the keys of issuers; `resource`: the server's metadata as a protected resource
//! - [`rules`]: what each route needs of its caller; `signing`: the key that signs the card
//! - `administration`: the routes for users, keys, capabilities and secrets; `capabilities`: which operations a capability may name
//! - `tokens`: the secret of the server's own tokens, and the link with one; `secrets`: the secrets that agents use;
//!   `secret_file`: files that only their owner may read
//! - `large`: large bodies below `/api`; `backup`: all data in one file
//! - `calls`: what happens around every call; `audit`: the trail of calls
//! - `traces`: spans, sent to a receiver of OpenTelemetry
//! - `web`: the page of the workspace at `/`; `page`: the addresses at `/connect`; `metrics`; `operator`: the routes below `/operator`
//! - [`mcp`]: the agent's skills over MCP; `tools`: tools of other MCP servers that the agent uses
//! - `mirror`: the graph of memory in another database
//! - `models`: the models of the configuration
//! - [`demo`]: the small agent of `--demo`

pub(crate) mod administration;
pub(crate) mod agents;
pub(crate) mod audit;
pub(crate) mod backup;
mod browsing;
pub(crate) mod calls;
mod capabilities;
pub(crate) mod compose;
pub mod demo;
pub(crate) mod door;
pub(crate) mod issuers;
mod large;
pub mod mcp;
mod metrics;
pub(crate) mod mirror;
pub(crate) mod models;
pub(crate) mod operator;
mod page;
mod resource;
pub mod rules;
pub(crate) mod secret_file;
pub(crate) mod secrets;
pub(crate) mod signing;
pub(crate) mod tokens;
pub(crate) mod tools;
pub(crate) mod traces;
pub(crate) mod web;
