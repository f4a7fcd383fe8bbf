//! The client's end of a WebSocket.

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use super::{Gone, Incoming, Outgoing, Settings, Socket, drive};
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

/// As [`connect`], over a stream that is already open.
pub async fn over<S>(
    stream: S,
    url: &str,
    main: impl Into<Capability>,
    options: &Options,
    settings: Settings,
) -> Result<Connection>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let config = WebSocketConfig::default()
        .max_message_size(Some(options.limits.max_message_bytes))
        .max_frame_size(Some(options.limits.max_message_bytes))
        .read_buffer_size(settings.read_buffer.max(8 << 10))
        .write_buffer_size(16 << 10);
    let (socket, _response) =
        tokio_tungstenite::client_async_with_config(url, stream, Some(config))
            .await
            .map_err(|error| Error::new(format!("open a WebSocket to {url}: {error}")))?;
    let connection = Connection::new(main, options);
    let (socket, session) = (Box::new(socket), connection.shared().clone());
    options
        .tasks
        .spawn_tracked(async move { drive(socket, &session, &settings).await });
    Ok(connection)
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

impl<S> Socket for WebSocketStream<S>
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    type Text = ClientText;

    async fn next(&mut self) -> Option<Incoming<ClientText>> {
        Some(match StreamExt::next(self).await? {
            Ok(Message::Text(text)) => Incoming::Text(ClientText(text)),
            Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => Incoming::Alive,
            Ok(Message::Binary(_)) => Incoming::Wrong(Error::type_error(
                "binary frames are not part of the protocol",
            )),
            Ok(Message::Close(frame)) => {
                Incoming::Closed(frame.map(|frame| frame.reason.as_str().to_owned()))
            }
            Err(error) => super::failed(&error)?,
        })
    }

    async fn feed(&mut self, frame: Outgoing) -> Result<(), Gone> {
        let message = match frame {
            Outgoing::Text(text) => Message::Text(text.into()),
            Outgoing::Ping => Message::Ping(Bytes::new()),
            Outgoing::Close(close) => Message::Close(Some(CloseFrame {
                code: close.code.into(),
                reason: close.reason.into(),
            })),
        };
        SinkExt::feed(self, message).await.map_err(|_| Gone)
    }

    async fn flush(&mut self) -> Result<(), Gone> {
        SinkExt::flush(self).await.map_err(|_| Gone)
    }
}

/// A text frame of tungstenite's.
pub(crate) struct ClientText(Utf8Bytes);

impl std::ops::Deref for ClientText {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.as_str()
    }
}
