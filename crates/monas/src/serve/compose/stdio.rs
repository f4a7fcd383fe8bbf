//! An agent's skills over MCP on standard input and output.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;

use access::Calls;
use axum::http::HeaderValue;
use tokio_util::sync::CancellationToken;

use super::parts::{limit, open};
use crate::app::App;
use crate::command::backend::address_in;
use crate::command::client::Target;
use crate::command::mcp::McpCommand;
use crate::config::Config;
use crate::error::Error;
use crate::serve::agents::host::AgentHost;
use crate::serve::audit::Trail;
use crate::serve::calls::CallDesk;
use crate::serve::traces::Exporter;
use crate::serve::{mcp, secrets, tokens};

/// Serves the skills of an app's agent over MCP on standard input and output, until that ends or `shutdown` does. If a
/// server runs on the same data, that server is what answers.
pub(crate) async fn serve_stdio(
    asked: &McpCommand,
    app: App,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error> {
    let config = &asked.config;
    let stopping = CancellationToken::new();
    match open(config, "the server on standard input").await {
        Ok(store) => serve(config, app, store, &stopping, shutdown).await,
        Err(Error::Store(store::Error::InUse { folder, by })) => match address_in(&by) {
            Some(address) => {
                let closed = Target::closed(&folder).is_some();
                let url = format!(
                    "{}{}",
                    address.to_string().trim_end_matches('/'),
                    ::mcp::PATH
                );
                tracing::info!(
                    url,
                    "the data is in use: passing messages on to the running server"
                );
                let session = ::mcp::relay(
                    target(asked, url, closed.then_some(&*folder))?,
                    (tokio::io::stdin(), tokio::io::stdout()),
                    stopping.clone(),
                );
                until(session, &stopping, shutdown).await;
                Ok(())
            }
            None => Err(store::Error::InUse { folder, by }.into()),
        },
        Err(error) => Err(error),
    }
}

/// The running server, with the credentials for it: those that are given, or a token that is made with the secret in the
/// folder.
fn target(
    asked: &McpCommand,
    url: String,
    closed: Option<&Path>,
) -> Result<::mcp::RelayTarget, Error> {
    let config = &asked.config;
    let dialer = config.outbound.dialer()?;
    let mut target = ::mcp::RelayTarget::new(url, dialer, config.limits.max_body);
    let given = asked.bearer.as_ref().map(|token| token.reveal().to_owned());
    if let Some(token) = given.or_else(|| closed.and_then(tokens::of_owner)) {
        let value = HeaderValue::from_str(&format!("Bearer {token}"));
        target.authorization = value.ok();
    }
    Ok(target)
}

/// Every agent is made, as a server at an address does: the one that is served here can ask the others.
async fn serve(
    config: &Config,
    app: App,
    store: store::Store,
    stopping: &CancellationToken,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error> {
    let secrets = secrets::open(config, &store).await?;
    let host = AgentHost::start(config, &store, &secrets, app.into()).await?;
    let agents = host.agents();
    let mut served = a2a::server::Config::new(agents.first().card());
    limit(config, &mut served)?;
    let trail = Trail::start(config, &store).await?;
    let exporter = Exporter::start(config)?;
    let tracer = exporter.as_ref().map(Exporter::tracer);
    let desk = Arc::new(CallDesk::new(config, trail.recorder(), tracer));
    served.budgets = desk.budgets.clone();
    let calls = Calls::new(desk);
    let tasks = a2a::Server::start(served, Arc::new(agents.clone()), store).await?;
    host.serve(&tasks);
    let service = Arc::new(tasks.clone());
    let handler = mcp::handler(config, agents.first(), service, &calls, stopping)?;
    let session = ::mcp::stdio(handler, config.limits.max_body, stopping.clone());
    until(session, stopping, shutdown).await;
    tasks.halt().await;
    host.close().await;
    trail.close().await;
    if let Some(exporter) = exporter {
        exporter.close().await;
    }
    tasks.stop().await;
    Ok(())
}

/// Runs a session until it ends, or is told to by `shutdown`.
async fn until(
    session: impl Future<Output = ()>,
    stopping: &CancellationToken,
    shutdown: impl Future<Output = ()>,
) {
    tokio::pin!(session);
    tokio::select! {
        () = &mut session => {}
        () = shutdown => {
            stopping.cancel();
            session.await;
        }
    }
}
