//! An agent's skills over MCP on standard input and output.

use std::future::Future;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::parts::{limit, open};
use super::raise;
use crate::app::App;
use crate::config::Config;
use crate::error::Error;
use crate::serve::mcp;

/// Serves the skills of an app's agent over MCP on standard input and output, until that ends or `shutdown` does.
pub(crate) async fn serve_stdio(
    config: &Config,
    app: App,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error> {
    let store = open(config, "the server on standard input").await?;
    let (agents, life) = if app.lives() {
        // Only the first agent is served here, so the agents cannot call each other.
        let (agents, memory, host) = raise(config, &store, false, app).await?;
        (agents, Some((memory, host)))
    } else {
        (app.agent(config).await?.into(), None)
    };
    agents.claim()?;
    let agent = agents.first();
    let mut served = a2a::server::Config::new(agent.card());
    limit(config, &mut served)?;
    let tasks = a2a::Server::start(served, Arc::new(agent.clone()), store).await?;
    if let Some((_, host)) = &life {
        host.serve(&tasks);
    }
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
    if let Some((memory, host)) = life {
        host.close().await;
        memory.close().await;
    }
    tasks.stop().await;
    agents.close().await;
    Ok(ended?)
}
