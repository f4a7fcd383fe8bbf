//! The client's end of a WebSocket.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::witnessed::Witnessed;
use super::{Served, Settings};
use crate::connection::{Connection, Options};
use crate::error::{Error, Result};
use crate::stub::Capability;

/// Connects to a `ws://` address and offers `main` to the server; [`Capability::nothing`] offers nothing.
///
/// The session lives until the last stub and connection handle is dropped. For `wss://` open the TLS
/// stream with the library of your choice and use [`over`].
pub async fn connect(
    url: &str,
    main: impl Into<Capability>,
    options: &Options,
) -> Result<Connection> {
    let authority = authority(url)?;
    let stream = TcpStream::connect(&authority)
        .await
        .map_err(|error| Error::new(format!("connect to {authority}: {error}")))?;
    // A call is a small write that someone waits for.
    stream
        .set_nodelay(true)
        .map_err(|error| Error::new(format!("connect to {authority}: {error}")))?;
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
    let mut witnessed = Witnessed::new(stream, Vec::new());
    let opening = tokio_tungstenite::client_async(request, &mut witnessed);
    // Boxed, as it is large and soon over. Its buffers are not kept: ours are made and given up as needed.
    let opened = Box::pin(opening).await.map(drop);
    opened.map_err(|error| {
        let failed = Error::new(format!("open a WebSocket to {url}: {error}"));
        match error {
            // Who is refused may know better than to try again.
            tokio_tungstenite::tungstenite::Error::Http(answer) => {
                failed.with_prop("status", f64::from(answer.status().as_u16()))
            }
            _ => failed,
        }
    })?;
    let Witnessed {
        stream,
        mut witness,
    } = witnessed;
    let read = witness.split_off(head_length(&witness));
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

/// Host and port of a `ws://` address.
fn authority(url: &str) -> Result<String> {
    let rest = url.strip_prefix("ws://").ok_or_else(|| {
        Error::type_error(format!(
            "connect to {url}: expected an address that begins with ws://"
        ))
    })?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() {
        return Err(Error::type_error(format!(
            "connect to {url}: it names no host"
        )));
    }
    let has_port = authority
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    Ok(if has_port {
        authority.to_owned()
    } else {
        format!("{authority}:80")
    })
}
