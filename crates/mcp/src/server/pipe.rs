//! One client on one stream, on standard output or the stream of the old transport: its messages, one after the other.

use access::{Origin, Principal};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

use super::exchange::{self, Exchange};
use super::outlet::{Outlet, OutletKind};
use super::request::{Request, Shared, introduce, without_meta};
use super::rpc::{self, Message, RpcError};

/// Takes one message of a client. The future, if there is one, handles a request and sends its response; several may run
/// at the same time.
pub(crate) fn take(
    responder: &Shared,
    exchange: &Exchange,
    pipe: &mpsc::Sender<Bytes>,
    caller: Option<Principal>,
    origin: Origin,
    message: Message,
) -> Option<BoxFuture<'static, ()>> {
    let (id, method, params) = match message {
        Message::Request { id, method, params } => (id, method, params),
        Message::Notification { method, params } => {
            exchange.notice(&method, params);
            return None;
        }
        Message::Response { id, result } => {
            exchange.asked.answer(&id, result);
            return None;
        }
    };
    let refuse = {
        let (pipe, id) = (pipe.clone(), id.clone());
        move |error: &RpcError| send(&pipe, rpc::error(Some(&id), error))
    };
    if method == "initialize" {
        let begun = match exchange::announce(responder, &origin, caller.as_ref(), "", &method) {
            Ok(begun) => begun,
            Err(error) => return Some(refuse(&error)),
        };
        let introduced = exchange.initialize(params).and_then(|client| {
            let introduced = introduce(&**responder, &method, &client);
            let answer = introduced.unwrap_or_else(|| Err(RpcError::unknown_method(&method)))?;
            Ok(answer.response(&id, &client))
        });
        begun.end(exchange::outcome(&introduced));
        return Some(match introduced {
            Ok(response) => send(pipe, response),
            Err(error) => refuse(&error),
        });
    }
    let (params, meta) = without_meta(params);
    let open = exchange
        .client_of(&method, &meta)
        .and_then(|client| Ok((client, exchange.begin(&id)?)));
    let (client, open) = match open {
        Ok(open) => open,
        Err(error) => return Some(refuse(&error)),
    };
    let outlet = Outlet {
        kind: OutletKind::Pipe(pipe.clone()),
        asked: (!client.is_modern()).then(|| exchange.asked.clone()),
    };
    let mut request = Request::new(id.clone(), method, params, client, outlet);
    request.meta = meta;
    request.caller = caller;
    request.origin = origin;
    request.cancelled = open.cancelled.clone();
    let (responder, pipe) = (responder.clone(), pipe.clone());
    Some(Box::pin(async move {
        let response = match exchange::answer(&responder, request).await {
            Ok(answer) => answer.response(&id, &client),
            Err(error) => rpc::error(Some(&id), &error),
        };
        // A client that has read the response may use the id again at once, so the id is free before it is sent.
        drop(open);
        let _ = pipe.send(response).await;
    }))
}

fn send(pipe: &mpsc::Sender<Bytes>, message: Bytes) -> BoxFuture<'static, ()> {
    let pipe = pipe.clone();
    Box::pin(async move {
        let _ = pipe.send(message).await;
    })
}
