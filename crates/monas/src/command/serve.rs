//! `monas serve`: serves until a signal.

use std::process::ExitCode;

use tokio::sync::oneshot;

use crate::program::say;
use crate::serve::compose::Server;
use crate::signals::Signals;

/// Serves until a signal, then stops gracefully; a second signal ends it without waiting.
pub(crate) async fn run(server: Server, mut signals: Signals) -> ExitCode {
    say(&format!("monas listens on {}", server.url()));

    let (stop, stopped) = oneshot::channel::<()>();
    let running = server.run(async { drop(stopped.await) });
    tokio::pin!(running);
    tokio::select! {
        () = &mut running => {}
        signal = signals.next() => tracing::info!(?signal, "stopping; a second signal ends it at once"),
    }
    drop(stop);
    tokio::select! {
        () = &mut running => {
            tracing::info!("stopped");
            ExitCode::SUCCESS
        }
        signal = signals.next() => {
            tracing::warn!(?signal, "ended by a second signal; open requests were cut off");
            ExitCode::from(signal.exit_code())
        }
    }
}
