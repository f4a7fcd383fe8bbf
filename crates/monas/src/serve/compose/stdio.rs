//! An agent's skills over MCP on standard input and output.

use std::future::Future;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::parts::{limit, open};
use crate::app::App;
use crate::config::Config;
use crate::error::Error;
use crate::serve::agents::host::{AgentHost, Extent};
use crate::serve::mcp;

/// Serves the skills of an app's agent over MCP on standard input and output, until that ends or `shutdown` does.
pub(crate) async fn serve_stdio(
    config: &Config,
    app: App,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error> {
    let store = open(config, "the server on standard input").await?;
    let host = AgentHost::start(config, &store, app.into(), Extent::First).await?;
    let agent = host.agents().first();
    let mut served = a2a::server::Config::new(agent.card());
    limit(config, &mut served)?;
    let tasks = a2a::Server::start(served, Arc::new(agent.clone()), store).await?;
    host.serve(&tasks);
    let stopping = CancellationToken::new();
    let handler = mcp::handler(config, agent, Arc::new(tasks.clone()), &stopping)?;
    let session = ::mcp::stdio(handler, config.limits.max_body, stopping.clone());
    tokio::pin!(session);
    let ended = tokio::select! {
        ended = &mut session => ended,
        () = shutdown => {
            stopping.cancel();
            session.await
        }
    };
    tasks.halt().await;
    host.close().await;
    tasks.stop().await;
    Ok(ended?)
}
