//! The client of the Cap'n Web binding: one session for all calls; its main object is the agent.

use std::sync::Arc;

use ::capnweb::transport::websocket;
use ::capnweb::{Any, Capability, Connection, Error as RpcError, Options, ReadableStream, Value};
use bytes::Bytes;
use futures_core::future::BoxFuture;
use futures_util::StreamExt as _;
use http::Uri;
use serde_json::Value as Json;
use tokio::sync::Mutex;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use super::value::{from_json, to_json};
use crate::binding::versioned_operation::VersionedOperation;
use crate::client::channel::{Carried, Channel, Outgoing, Piece};
use crate::client::dial::Dialer;
use crate::client::{AgentEndpoint, Error, Refusal};
use crate::error::Code;
use crate::event::Format;
use crate::operation::Replies;

/// The wire to an agent: its address is that of the batches, or of the WebSocket.
pub(crate) fn channel(
    endpoint: &AgentEndpoint,
    dialer: &Arc<Dialer>,
) -> Result<Arc<dyn Channel>, Error> {
    let wrong = || Error::Card(format!("not an address of Cap'n Web: {:?}", endpoint.url));
    let url = match endpoint.url.split_once("://") {
        Some(("http" | "ws", rest)) => format!("ws://{rest}"),
        Some(("https" | "wss", rest)) => format!("wss://{rest}"),
        _ => return Err(wrong()),
    };
    let url: Uri = url.parse().map_err(|_| wrong())?;
    url.host().ok_or_else(wrong)?;
    Ok(Arc::new(CapnwebChannel(Arc::new(Shared {
        url,
        dialer: dialer.clone(),
        open: Mutex::new(None),
    }))))
}

struct CapnwebChannel(Arc<Shared>);

struct Shared {
    url: Uri,
    dialer: Arc<Dialer>,
    /// The session in use, if there was need of one.
    open: Mutex<Option<Connection>>,
}

impl Channel for CapnwebChannel {
    fn format(&self) -> Format {
        Format::Json
    }

    fn call(&self, call: Outgoing) -> BoxFuture<'static, Result<Carried, Error>> {
        let (shared, call) = (self.0.clone(), call.traced());
        Box::pin(async move {
            let session = shared.session().await?;
            let agent: Capability = session.remote::<Any>().into();
            // Methods have the names of 1.0; the request and its parameters tell the version.
            let method = match call.asked {
                VersionedOperation::V1_0(operation) => operation.name,
                VersionedOperation::V0_3(row, _) | VersionedOperation::V0_3Lenient(row) => {
                    row.operation
                }
            };
            let request: Json = serde_json::from_slice(&call.body)
                .map_err(|error| Error::Settings(error.to_string()))?;
            let parameters = call.parameters.into_iter();
            let parameters = parameters.map(|(name, value)| (name, Json::from(value)));
            let parameters = Json::Object(parameters.collect());
            let promise = agent.call(method, (from_json(request), from_json(parameters)));
            let failed = move |error: RpcError| failed(&session, error);
            if call.asked.replies() == Replies::One {
                let reply = promise.await.map_err(failed)?;
                return json_of(reply).map(Carried::One);
            }
            let stream: ReadableStream = promise.cast().await.map_err(&failed)?;
            let pieces = stream.map(move |event| {
                let body = json_of(event.map_err(&failed)?)?;
                Ok(Piece { cursor: None, body })
            });
            Ok(Carried::Many(Box::pin(pieces)))
        })
    }
}

impl Shared {
    /// The open session; a new one if there is none.
    async fn session(&self) -> Result<Connection, Error> {
        let mut open = self.open.lock().await;
        if let Some(session) = open
            .as_ref()
            .filter(|session| session.close_frame().is_none())
        {
            return Ok(session.clone());
        }
        let request = self.dialer.address(&self.url)?.into_client_request();
        let mut request = request.map_err(|error| Error::unreachable(&self.url, error))?;
        request.headers_mut().extend(self.dialer.headers().clone());
        self.dialer.sign_handshake(&mut request)?;
        let stream = self.dialer.open(&self.url).await?;
        let mut options = Options::default();
        options.limits.max_message_bytes = self.dialer.max_reply();
        let opened = websocket::over(
            stream,
            request,
            Capability::nothing(),
            &options,
            websocket::Settings::default(),
        );
        let session = opened.await.map_err(|error| {
            let status = error.prop("status").and_then(Value::as_f64);
            match status {
                Some(status @ (401.0 | 403.0)) => Error::Unauthorized {
                    status: if status == 401.0 { 401 } else { 403 },
                    message: format!("the handshake with {}", self.url),
                },
                _ => Error::unreachable(&self.url, error),
            }
        })?;
        *open = Some(session.clone());
        Ok(session)
    }
}

fn json_of(value: Value) -> Result<Bytes, Error> {
    let json = to_json(value, "").map_err(|error| Error::unclear(error.to_string()))?;
    Ok(json.to_string().into())
}

/// What a failed call means: a refusal of the agent's, or the end of the session.
fn failed(session: &Connection, error: RpcError) -> Error {
    let code = error.prop("code").and_then(Value::as_f64);
    match (code, session.close_frame()) {
        (None, Some(_)) => Error::lost(error),
        (None, None) => Error::unclear(error.to_string()),
        (Some(number), _) => {
            let code = Code::ALL
                .iter()
                .find(|code| f64::from(code.json_rpc) == number);
            let details = error.prop("details").cloned().unwrap_or(Value::Null);
            let details = match to_json(details, "") {
                Ok(Json::Array(details)) => details,
                _ => Vec::new(),
            };
            Refusal::new(code.copied(), error.message().to_owned(), details).into()
        }
    }
}
