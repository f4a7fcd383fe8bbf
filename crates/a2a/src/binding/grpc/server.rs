//! gRPC, served: every row of the table is an rpc, one reply or many; those of 0.3 are a service of their own.

use access::Principal;
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::routing::post;
use bytes::Bytes;
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;
use futures_util::{StreamExt as _, stream};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, Request, Response, StatusCode};
use tonic::metadata::MetadataMap;
use tonic::server::{Grpc, ServerStreamingService};
use tonic::{Code, Status};
use tonic_health::ServingStatus;

use super::codec::Raw;
use super::{SERVICE, SERVICE_V0_3, census};
use crate::binding::Wire;
use crate::binding::http_call::{self, VersionSource};
use crate::binding::versioned_operation::VersionedOperation;
use crate::error::{DOMAIN, Error};
use crate::event::Format;
use crate::operation::{self, Input, Operation, Reply, TABLE, beside};
use crate::types::descriptor::{self, Package};
use crate::types::rpc_error;
use crate::types::rpc_error::{Any, BadRequest, ErrorInfo, FieldViolation};
use crate::types::wire::WireMessage;
use crate::v0_3;

/// The services at their own paths, and the same once more under `/a2a/grpc`.
pub fn routes(wire: Wire) -> Router {
    let routes = service(wire);
    Router::new()
        .nest("/a2a/grpc", routes.clone())
        .merge(routes)
}

fn service(wire: Wire) -> Router {
    let (health, checks) = tonic_health::server::health_reporter();
    // The reporter keeps what it is told; it is told once.
    for service in [SERVICE, SERVICE_V0_3] {
        futures_util::FutureExt::now_or_never(
            health.set_service_status(service, ServingStatus::Serving),
        );
    }
    let mut router = Router::new()
        .route(&format!("/{SERVICE}/{{name}}"), post(answer_new))
        .route(&format!("/{SERVICE_V0_3}/{{name}}"), post(answer_v0_3))
        .with_state(wire)
        .route_service("/grpc.health.v1.Health/{*name}", checks);
    let reflection = tonic_reflection::server::Builder::configure()
        .register_file_descriptor_set(descriptor::files(Package::V1_0, &methods()))
        .register_file_descriptor_set(descriptor::files(Package::V0_3, &methods_v0_3()))
        .build_v1();
    match reflection {
        Ok(reflection) => {
            router =
                router.route_service("/grpc.reflection.v1.ServerReflection/{*name}", reflection)
        }
        Err(error) => tracing::error!(%error, "gRPC reflection is not served"),
    }
    router
}

async fn answer_new(
    State(wire): State<Wire>,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let asked = operation::named(&name).map(VersionedOperation::V1_0);
    answer(wire, asked.ok_or(name), request).await
}

async fn answer_v0_3(
    State(wire): State<Wire>,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    answer(
        wire,
        VersionedOperation::rpc_v0_3(&name).ok_or(name),
        request,
    )
    .await
}

/// Answers a call of what was found, or says that there is nothing of that name.
async fn answer(
    wire: Wire,
    asked: Result<VersionedOperation, String>,
    request: Request<Body>,
) -> Response<Body> {
    if !speaks_grpc(request.headers()) {
        let mut response = Response::new(Body::from("this address speaks gRPC"));
        *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return response;
    }
    let asked = match asked {
        Ok(asked) => asked,
        Err(name) => return status(&Error::MethodNotFound(name)).into_http(),
    };
    let mut grpc = Grpc::new(Raw)
        .max_decoding_message_size(wire.limits.max_body)
        .max_encoding_message_size(usize::MAX);
    let limit = wire.limits.max_body;
    let (mut head, body) = request.into_parts();
    let caller = match wire.admit(&head) {
        Ok(caller) => caller,
        Err(error) => return refused(&error),
    };
    let seen = head.clone();
    head.extensions.clear();
    let row = Row {
        asked,
        caller,
        wire,
        head: seen,
    };
    let response = grpc
        .server_streaming(row, Request::from_parts(head, body))
        .await;
    // tonic reports a message over the limit as out of range, without a type of its own.
    match Status::from_header_map(response.headers()) {
        Some(refused) if refused.code() == Code::OutOfRange => {
            status(&Error::TooLarge { limit }).into_http()
        }
        _ => response.map(Body::new),
    }
}

/// Says why a caller is not let in, and what would be taken.
fn refused(error: &Error) -> Response<Body> {
    let mut response = status(error).into_http();
    http_call::challenge(error, response.headers_mut());
    response
}

fn speaks_grpc(headers: &HeaderMap) -> bool {
    let media_type = headers
        .get(CONTENT_TYPE)
        .map(|value| value.as_bytes())
        .unwrap_or_default();
    media_type == b"application/grpc"
        || media_type.starts_with(b"application/grpc+")
        || media_type.starts_with(b"application/grpc;")
}

/// A call of one operation. One reply is a stream of one.
struct Row {
    asked: VersionedOperation,
    caller: Principal,
    wire: Wire,
    head: Parts,
}

type Replies = BoxStream<'static, Result<Bytes, Status>>;

impl ServerStreamingService<Bytes> for Row {
    type Response = Bytes;
    type ResponseStream = Replies;
    type Future = BoxFuture<'static, Result<tonic::Response<Replies>, Status>>;

    fn call(&mut self, request: tonic::Request<Bytes>) -> Self::Future {
        let (asked, caller) = (self.asked, self.caller.clone());
        let (wire, head) = (self.wire.clone(), self.head.clone());
        Box::pin(async move {
            let answered = perform(asked, &caller, &wire, &head, request.into_inner()).await;
            answered.map_err(|error| status(&error))
        })
    }
}

async fn perform(
    asked: VersionedOperation,
    caller: &Principal,
    wire: &Wire,
    head: &Parts,
    body: Bytes,
) -> Result<tonic::Response<Replies>, Error> {
    // The package of the service is the version's own.
    let versioned = match asked {
        VersionedOperation::V1_0(_) => VersionSource::Package,
        VersionedOperation::V0_3(..) | VersionedOperation::V0_3Lenient(_) => {
            VersionSource::NameOfV0_3
        }
    };
    let call = http_call::call(wire.name, caller, head, versioned)?;
    if let Some(request) = asked.rpc_request() {
        beside(body.len(), || census::check(&body, request)).await?;
    }
    let extensions = http_call::activated(&call, wire.service.card());
    let input = Input {
        format: Format::Protobuf,
        body,
        fields: Vec::new(),
    };
    let replies: Replies = match asked.perform(wire, call, input).await? {
        Reply::One(reply) => Box::pin(stream::once(async { Ok(reply) })),
        Reply::Many(frames) => Box::pin(frames.flat_map(|portion| {
            let portion: Vec<Result<Bytes, Status>> = match portion {
                Ok(frames) => frames.into_iter().map(|frame| Ok(frame.body)).collect(),
                Err(error) => vec![Err(status(&error))],
            };
            stream::iter(portion)
        })),
    };
    let mut response = tonic::Response::new(replies);
    if let Some(extensions) = extensions {
        let mut headers = HeaderMap::new();
        headers.insert(versioned.extensions_header(), extensions);
        *response.metadata_mut() = MetadataMap::from_headers(headers);
    }
    Ok(response)
}

/// An error with its details, as a message of `google.rpc`.
fn status(error: &Error) -> Status {
    let code = error.code();
    let metadata = error.metadata().into_iter();
    let information = ErrorInfo {
        reason: code.reason.to_owned(),
        domain: DOMAIN.to_owned(),
        metadata: metadata
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    };
    let mut details = vec![any("ErrorInfo", &information)];
    if !error.violations().is_empty() {
        let violation = |it: &crate::types::wire::Violation| FieldViolation {
            field: it.field.clone(),
            description: it.description.clone(),
        };
        details.push(any(
            "BadRequest",
            &BadRequest {
                field_violations: error.violations().iter().map(violation).collect(),
            },
        ));
    }
    let message = error.to_string();
    let status = rpc_error::Status {
        code: code.grpc,
        message: message.clone(),
        details,
    };
    Status::with_details(Code::from_i32(code.grpc), message, status.to_protobuf())
}

fn any(name: &str, message: &impl WireMessage) -> Any {
    Any {
        type_url: format!("type.googleapis.com/google.rpc.{name}"),
        value: message.to_protobuf(),
    }
}

fn methods() -> Vec<descriptor::Method> {
    let method = |operation: &Operation| descriptor::Method {
        name: operation.name,
        input: (operation.request)(),
        output: (operation.reply)(),
        streaming: operation.replies == operation::Replies::Many,
    };
    TABLE.iter().map(method).collect()
}

fn methods_v0_3() -> Vec<descriptor::Method> {
    let method = |row: &v0_3::Row| {
        let rpc = row.rpc.as_ref()?;
        Some(descriptor::Method {
            name: rpc.name,
            input: (rpc.request)(),
            output: (rpc.reply)(),
            streaming: row.replies == operation::Replies::Many,
        })
    };
    v0_3::TABLE.iter().filter_map(method).collect()
}
