//! JSON-RPC, called.

use std::sync::Arc;

use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Request, Uri};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::binding::{http_reply, sse};
use crate::client::channel::{Carried, Channel, Outgoing, Piece};
use crate::client::dial::Dialer;
use crate::client::{AgentEndpoint, Error, Refusal};
use crate::event::Format;
use crate::operation::Replies;

/// The wire to an agent.
pub(crate) fn channel(
    endpoint: &AgentEndpoint,
    dialer: &Arc<Dialer>,
) -> Result<Arc<dyn Channel>, Error> {
    Ok(Arc::new(JsonRpc {
        url: http_reply::address(&endpoint.url)?,
        dialer: dialer.clone(),
    }))
}

struct JsonRpc {
    url: Uri,
    dialer: Arc<Dialer>,
}

impl Channel for JsonRpc {
    fn format(&self) -> Format {
        Format::Json
    }

    fn call(&self, call: Outgoing) -> BoxFuture<'static, Result<Carried, Error>> {
        let (url, dialer) = (self.url.clone(), self.dialer.clone());
        Box::pin(async move {
            let accept = match call.asked.replies() {
                Replies::One => "application/json",
                // What fails before it begins is no stream.
                Replies::Many => "text/event-stream, application/json",
            };
            let mut request = Request::post(url)
                .header(CONTENT_TYPE, "application/json")
                .header(ACCEPT, accept);
            for (name, value) in &call.parameters {
                request = request.header(name, value);
            }
            let body = write(1, call.asked.method(), &call.body, None)?;
            let request = request
                .body(body)
                .map_err(|error| Error::Settings(error.to_string()))?;
            let response = dialer.send(request).await?;
            if http_reply::is_stream(&response) {
                let read = |event: sse::Event| {
                    let cursor = sse::cursor(&event);
                    let body = result(&Bytes::from(event.data))?;
                    Ok(Some(Piece { cursor, body }))
                };
                return Ok(Carried::Many(http_reply::stream(response, &dialer, read)));
            }
            let (head, body) = response.into_parts();
            let body = dialer.read(body).await?;
            // An envelope decides, with any status.
            match result(&body) {
                Err(Error::Unclear(_)) if !head.status.is_success() => {
                    Err(http_reply::refused(head.status, &head.headers, &body))
                }
                result => Ok(Carried::One(result?)),
            }
        })
    }
}

/// A request, with the service parameters that it bears itself.
pub(in crate::binding) fn write(
    id: u64,
    method: Option<&str>,
    params: &Bytes,
    parameters: Option<Value>,
) -> Result<Bytes, Error> {
    let method = method.ok_or_else(|| Error::unclear("JSON-RPC has no such method"))?;
    let params: &RawValue = serde_json::from_slice(if params.is_empty() { b"{}" } else { params })
        .map_err(|error| Error::Settings(error.to_string()))?;
    let mut out = Vec::with_capacity(params.get().len() + 128);
    out.extend_from_slice(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}""#).as_bytes());
    if let Some(parameters) = parameters {
        out.extend_from_slice(br#","a2a-service-parameters":"#);
        out.extend_from_slice(parameters.to_string().as_bytes());
    }
    out.extend_from_slice(br#","params":"#);
    out.extend_from_slice(params.get().as_bytes());
    out.push(b'}');
    Ok(out.into())
}

/// The result in a response, or the error.
pub(in crate::binding) fn result(response: &Bytes) -> Result<Bytes, Error> {
    #[derive(serde::Deserialize)]
    struct Response<'a> {
        #[serde(borrow)]
        result: Option<&'a RawValue>,
        #[serde(borrow)]
        error: Option<&'a RawValue>,
    }
    let read: Response<'_> = crate::types::wire::json(response)
        .map_err(|error| Error::unclear(format!("no response of JSON-RPC: {error}")))?;
    match (read.error, read.result) {
        (Some(error), _) => {
            let error: Value = serde_json::from_str(error.get()).unwrap_or_default();
            Err(Refusal::of_json_rpc(&error).into())
        }
        (None, Some(result)) => Ok(response.slice_ref(result.get().as_bytes())),
        // Some leave a result of nothing out.
        (None, None) => Ok(Bytes::from_static(b"null")),
    }
}
