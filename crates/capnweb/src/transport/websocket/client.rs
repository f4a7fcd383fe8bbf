//! The client's end of a WebSocket.

use dial::Dialer;
use http::Uri;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::observed::ObservedStream;
use super::{Served, Settings};
use crate::connection::{Connection, Options};
use crate::error::{Error, Result};
use crate::stub::Capability;

/// Connects to a `ws://` or `wss://` address and offers `main` to the server; [`Capability::nothing`] offers nothing.
/// It trusts the Mozilla roots and uses no proxy.
///
/// The session lives until the last stub and connection handle is dropped. For authorities of one's own or a proxy, open
/// the stream with a [`Dialer`] and use [`over`].
pub async fn connect(
    url: &str,
    main: impl Into<Capability>,
    options: &Options,
) -> Result<Connection> {
    let address = address(url)?;
    let stream = Dialer::default().open(&address).await;
    let stream = stream.map_err(|error| Error::new(error.to_string()))?;
    over(stream, url, main, options, Settings::default()).await
}

/// As [`connect`], over a stream that is already open. The handshake is an address, or a whole request with
/// headers of its own.
pub async fn over<S>(
    stream: S,
    handshake: impl IntoClientRequest,
    main: impl Into<Capability>,
    options: &Options,
    settings: Settings,
) -> Result<Connection>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let request = handshake
        .into_client_request()
        .map_err(|error| Error::type_error(format!("open a WebSocket: {error}")))?;
    let url = request.uri().to_string();
    let mut observed = ObservedStream::new(stream, Vec::new());
    let opening = tokio_tungstenite::client_async(request, &mut observed);
    // Boxed, as it is large and soon over. Its buffers are not kept: ours are made and given up as needed.
    let opened = Box::pin(opening).await.map(drop);
    opened.map_err(|error| {
        let failed = Error::new(format!("open a WebSocket to {url}: {error}"));
        match error {
            // The status lets the caller decide whether to try again.
            tokio_tungstenite::tungstenite::Error::Http(answer) => {
                failed.with_prop("status", f64::from(answer.status().as_u16()))
            }
            _ => failed,
        }
    })?;
    let ObservedStream {
        stream,
        mut observer,
    } = observed;
    let read = observer.split_off(head_length(&observer));
    let connection = Connection::new(main, options);
    let settings = Settings {
        read_buffer: settings.read_buffer.max(8 << 10),
        ..settings
    };
    let (stream, session) = (Box::new(stream), connection.shared());
    Served::new(stream, read, session, None, settings.into(), Role::Client).spawn();
    Ok(connection)
}

/// How long the head of an answer is, up to and with the empty line. What follows are the first frames.
fn head_length(answer: &[u8]) -> usize {
    let lines = answer.split_inclusive(|byte| *byte == b'\n');
    let mut length = 0;
    for line in lines {
        length += line.len();
        if matches!(line, b"\n" | b"\r\n") {
            break;
        }
    }
    length
}

/// The address of a WebSocket.
fn address(url: &str) -> Result<Uri> {
    let wrong = |problem: &str| Error::type_error(format!("connect to {url}: {problem}"));
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    if !matches!(scheme, "ws" | "wss") {
        return Err(wrong(
            "expected an address that begins with ws:// or wss://",
        ));
    }
    if rest.is_empty() || rest.starts_with(['/', '?', '#']) {
        return Err(wrong("it names no host"));
    }
    url.parse().map_err(|_| wrong("not an address"))
}
