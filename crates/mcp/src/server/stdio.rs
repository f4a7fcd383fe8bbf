//! One client, on standard input and output.

use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use rmcp::{ServerHandler, transport};
use tokio_util::sync::CancellationToken;

/// Serves whoever started this process, until they close its input or `stopping` ends. Nothing else may be written to
/// standard output meanwhile.
pub async fn stdio<H: ServerHandler>(
    handler: H,
    stopping: CancellationToken,
) -> Result<(), Box<ServerInitializeError>> {
    let serving = serve_server_with_ct(handler, transport::stdio(), stopping).await;
    match serving {
        Ok(serving) => {
            if let Err(error) = serving.waiting().await {
                tracing::error!(%error, "the session broke");
            }
            Ok(())
        }
        // Nobody said anything, and that is fine.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(Box::new(error)),
    }
}
