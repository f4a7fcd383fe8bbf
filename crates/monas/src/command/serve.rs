//! `monas serve`: serves until a signal.

use std::process::ExitCode;

use tokio::sync::oneshot;

use crate::listen::Tls;
use crate::program::say;
use crate::serve::compose::Server;
use crate::signals::{Signals, hangups};

/// Serves until a signal, then stops gracefully; a second signal ends it without waiting. With TLS, SIGHUP does not end it but
/// makes it read its TLS files again.
pub(crate) async fn run(server: Server, mut signals: Signals) -> ExitCode {
    say(&format!("monas listens on {}", server.url()));
    if let Some(link) = server.owner_link() {
        say(&format!(
            "{link}\nopens its page, for a day and for you alone; `monas open` prints a new link"
        ));
    }

    let reloading = reload_at_hangup(server.tls());
    tokio::pin!(reloading);
    let (stop, stopped) = oneshot::channel::<()>();
    let running = server.run(async { drop(stopped.await) });
    tokio::pin!(running);
    tokio::select! {
        () = &mut running => {}
        () = &mut reloading => {}
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

/// Reads the TLS files again at each SIGHUP. Never ends. Without TLS the signal ends the process, as it does by default.
async fn reload_at_hangup(tls: Option<Tls>) {
    let Some(tls) = tls else {
        return std::future::pending().await;
    };
    match hangups() {
        Ok(mut hangups) => {
            while hangups.recv().await.is_some() {
                tls.reload();
            }
        }
        Err(error) => tracing::warn!(%error, "could not catch SIGHUP"),
    }
    std::future::pending().await
}
