//! gRPC, called.

use std::sync::Arc;

use bytes::Bytes;
use dial::Http2Pool;
use dial::trace::{Kind, Span};
use futures_core::future::BoxFuture;
use futures_util::StreamExt as _;
use http::uri::PathAndQuery;
use http::{Method, Uri};
use serde_json::{Value, json};
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::metadata::MetadataMap;
use tonic::{Code as Number, Status};

use super::codec::Raw;
use super::{SERVICE, SERVICE_V0_3};
use crate::binding::versioned_operation::VersionedOperation;
use crate::client::channel::{self, Carried, Channel, Outgoing, Piece, Pieces};
use crate::client::dial::Dialer;
use crate::client::{AgentEndpoint, Error, Refusal};
use crate::error::Code;
use crate::event::Format;
use crate::operation::Replies;
use crate::types::rpc_error::{self, BadRequest, ErrorInfo};
use crate::types::wire::WireMessage as _;

/// The wire to an agent. Its address is host and port; some write a URL.
pub(crate) fn channel(
    endpoint: &AgentEndpoint,
    dialer: &Arc<Dialer>,
) -> Result<Arc<dyn Channel>, Error> {
    let origin = match endpoint.url.split_once("://") {
        Some(("grpc", rest)) => format!("http://{rest}"),
        Some(("grpcs", rest)) => format!("https://{rest}"),
        Some(_) => endpoint.url.clone(),
        None if endpoint.secure => format!("https://{}", endpoint.url),
        None => format!("http://{}", endpoint.url),
    };
    let origin = crate::binding::http_reply::address(&origin)?;
    let mut grpc = Grpc::with_origin(dialer.http2(), origin.clone());
    grpc = grpc.max_decoding_message_size(dialer.max_reply());
    Ok(Arc::new(GrpcChannel {
        grpc: grpc.max_encoding_message_size(usize::MAX),
        origin,
        dialer: dialer.clone(),
    }))
}

struct GrpcChannel {
    grpc: Grpc<Http2Pool<Body>>,
    origin: Uri,
    dialer: Arc<Dialer>,
}

impl Channel for GrpcChannel {
    fn format(&self) -> Format {
        Format::Protobuf
    }

    fn call(&self, call: Outgoing) -> BoxFuture<'static, Result<Carried, Error>> {
        let (mut grpc, origin) = (self.grpc.clone(), self.origin.clone());
        let dialer = self.dialer.clone();
        let mut headers = self.dialer.headers().clone();
        let mut span = Span::start(Kind::Client, "gRPC");
        let scope = span.scope();
        let sent = async move {
            for (name, value) in &call.parameters {
                let pair = (name.parse::<http::HeaderName>(), value.parse());
                if let (Ok(name), Ok(value)) = pair {
                    headers.insert(name, value);
                }
            }
            if let Some(context) = dial::trace::current()
                && let Ok(context) = context.to_string().parse()
            {
                headers.insert(dial::trace::HEADER, context);
            }
            // Where there is no room for a parameter, an address of the method alone has some.
            let path = dialer.address(&path(call.asked)?)?;
            let path = PathAndQuery::try_from(path.to_string())
                .map_err(|error| Error::Settings(error.to_string()))?;
            let (target, framed) = (whole(&origin, &path)?, framed(&call.body));
            dialer.sign(&Method::POST, &target, &mut headers, &framed)?;
            let mut request = tonic::Request::new(call.body);
            *request.metadata_mut() = MetadataMap::from_headers(headers);
            let failed = move |status: Status| failed(&origin, &status);
            if call.asked.replies() == Replies::Many {
                let opening = Box::pin(async move {
                    let response = grpc.server_streaming(request, path, Raw).await;
                    let replies = response.map_err(&failed)?.into_inner();
                    let pieces = replies.map(move |reply| match reply {
                        Ok(body) => Ok(Piece { cursor: None, body }),
                        Err(status) => Err(failed(status)),
                    });
                    Ok(Box::pin(pieces) as Pieces)
                });
                return channel::open(opening).await.map(Carried::Many);
            }
            let response = grpc.server_streaming(request, path, Raw).await;
            let mut replies = response.map_err(&failed)?.into_inner();
            let reply = replies.message().await.map_err(&failed)?;
            let nothing = || Error::unclear("no message where one was expected");
            Ok(Carried::One(reply.ok_or_else(nothing)?))
        };
        if span.is_recorded() {
            span.set("rpc.system", "grpc");
            span.set(
                "server.address",
                self.origin.host().unwrap_or_default().to_owned(),
            );
        }
        Box::pin(async move {
            let sent = dial::trace::within(scope, sent).await;
            if let Err(error) = &sent {
                span.fail(error);
            }
            sent
        })
    }
}

/// The address that a request is sent to, which its signature covers.
fn whole(origin: &Uri, path: &PathAndQuery) -> Result<Uri, Error> {
    let below = origin.path().trim_end_matches('/');
    let mut parts = origin.clone().into_parts();
    let path = format!("{below}{path}").parse();
    parts.path_and_query = Some(path.map_err(|_| Error::unclear("no address"))?);
    Uri::from_parts(parts).map_err(|_| Error::unclear("no address"))
}

/// A message as gRPC frames it: not compressed, its length, its bytes.
fn framed(message: &Bytes) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    [&[0], &length.to_be_bytes()[..], message].concat()
}

fn path(asked: VersionedOperation) -> Result<Uri, Error> {
    let path = match asked {
        VersionedOperation::V1_0(operation) => Some(format!("/{SERVICE}/{}", operation.name)),
        VersionedOperation::V0_3(row, _) | VersionedOperation::V0_3Lenient(row) => {
            let rpc = row.rpc.as_ref();
            rpc.map(|rpc| format!("/{SERVICE_V0_3}/{}", rpc.name))
        }
    };
    let path = path.and_then(|path| path.parse().ok());
    path.ok_or_else(|| Error::unclear("gRPC has no such method"))
}

/// The error of a status: a refusal by the agent, or a connection that failed.
fn failed(origin: &Uri, status: &Status) -> Error {
    let mut why = status.message().to_owned();
    let mut cause = std::error::Error::source(status);
    while let Some(error) = cause {
        if dial::is_connect_error(error) {
            return Error::unreachable(origin, error);
        }
        why = format!("{why}: {error}");
        cause = error.source();
    }
    if std::error::Error::source(status).is_some() {
        return Error::lost(why);
    }
    match status.code() {
        Number::Unauthenticated | Number::PermissionDenied => Error::Unauthorized {
            status: if status.code() == Number::Unauthenticated {
                401
            } else {
                403
            },
            message: status.message().to_owned(),
        },
        number => {
            let number = number as i32;
            let code = Code::ALL.iter().find(|code| code.grpc == number);
            let details = details(status.details());
            Refusal::new(code.copied(), status.message().to_owned(), details).into()
        }
    }
}

/// The details of a status, as the JSON bindings have them.
fn details(bytes: &[u8]) -> Vec<Value> {
    let status = rpc_error::Status::from_protobuf(Bytes::copy_from_slice(bytes));
    let details = status.unwrap_or_default().details.into_iter();
    let read = |any: rpc_error::Any| {
        let of = |message: Option<Value>| {
            let mut message = message?;
            message["@type"] = json!(any.type_url);
            Some(message)
        };
        let name = any.type_url.rsplit('/').next().unwrap_or_default();
        match name {
            "google.rpc.ErrorInfo" => {
                let read = ErrorInfo::from_protobuf(any.value.clone()).ok();
                of(read.and_then(|it| serde_json::to_value(it).ok()))
            }
            "google.rpc.BadRequest" => {
                let read = BadRequest::from_protobuf(any.value.clone()).ok();
                of(read.and_then(|it| serde_json::to_value(it).ok()))
            }
            _ => None,
        }
    };
    details.filter_map(read).collect()
}
