//! An MCP server on the official Rust crate alone, with one tool, over HTTP on the port given as argument. The benchmarks
//! compare ours with it.

use std::sync::Arc;

use axum::Router;
use axum::serve::ListenerExt as _;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;

#[derive(Debug, Clone, Copy)]
struct Echo;

#[derive(Debug, Deserialize, JsonSchema)]
struct Text {
    text: String,
}

#[tool_router]
impl Echo {
    #[tool(description = "Returns the text it is given.")]
    fn echo(&self, Parameters(Text { text }): Parameters<Text>) -> String {
        text
    }
}

#[tool_handler]
impl ServerHandler for Echo {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port: u16 = std::env::args().nth(1).unwrap_or_default().parse()?;
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Echo), sessions, config);
    // Without `nodelay` a reply that is a stream is delayed by 40 ms.
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    Ok(axum::serve(listener, Router::new().nest_service("/mcp", service)).await?)
}
