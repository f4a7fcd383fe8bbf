//! The chat over the door: the same windows and the same messages as over `/ws/chat`.

use std::sync::Arc;

use ::capnweb::{
    Arguments, Capability, Description, Error as RpcError, Member, Reply, Target, Type, Value,
};
use a2a::binding::capnweb::value::to_json;
use access::Origin;
use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::{Value as Json, json};
use tokio::sync::{mpsc, oneshot};

use super::follow::{Callback, Follower, Over, Subscription};
use super::workspace::{What, WorkspaceObject, failed, said};
use crate::chat::connection::Connection;
use crate::chat::envelope::Envelope;

/// How many messages of the client wait to be taken.
const QUEUE: usize = 16;

/// How many messages are told at once, and how many may wait to be told.
const BATCH: usize = 256;

/// A message of the client, its length, and what is told when it was taken.
type Sent = (Json, usize, oneshot::Sender<()>);

pub(super) async fn follow(
    workspace: &WorkspaceObject,
    what: &What,
    follower: Follower,
) -> Result<Value, RpcError> {
    let chat = &workspace.shared().parts.chat;
    let session = what.text("session_id")?.map(str::to_owned);
    let cursor = what.text("cursor")?.map(str::to_owned);
    let agent = chat
        .thinking_agent(&workspace.as_caller(), what.text("agent")?)
        .await
        .map_err(|failure| said(&failure))?;
    let mut connection = Connection::new(
        chat.clone(),
        workspace.caller().clone(),
        Origin {
            bytes: 0,
            ..workspace.origin().clone()
        },
        agent,
    );
    let mut first = Vec::new();
    if let Some(session) = session {
        let restore = json!({
            "type": "restore_session",
            "payload": { "session_id": session, "cursor": cursor },
        });
        first.extend(connection.take(&restore, 0).await);
    }
    let (send, sent) = mpsc::channel(QUEUE);
    let subscription = follower.run(|callback| run(connection, callback, sent, first));
    Ok(Value::Stub(Capability::new(ChatWindow {
        send,
        subscription,
    })))
}

/// Tells what the windows show, and takes what the client says. A message is taken while another one is told.
async fn run(
    mut connection: Connection,
    callback: Callback,
    mut sent: mpsc::Receiver<Sent>,
    first: Vec<Envelope>,
) -> Result<(), Over> {
    let mut waiting: Vec<Arc<Envelope>> = first.into_iter().map(Arc::new).collect();
    let mut telling: Option<BoxFuture<'static, Result<(), Over>>> = None;
    loop {
        if telling.is_none() && !waiting.is_empty() {
            let batch = json!(std::mem::take(&mut waiting));
            let callback = callback.clone();
            telling = Some(async move { callback.tell(batch).await }.boxed());
        }
        let told = async {
            match telling.as_mut() {
                Some(telling) => telling.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            told = told => {
                told?;
                telling = None;
            }
            message = connection.next(), if waiting.len() < BATCH => {
                waiting.push(message);
                let room = BATCH.saturating_sub(waiting.len());
                waiting.extend(connection.ready(room));
            }
            Some((message, bytes, taken)) = sent.recv() => {
                let answer = connection.take(&message, bytes).await;
                waiting.extend(answer.map(Arc::new));
                let _ = taken.send(());
            }
        }
    }
}

/// A window on a session, as the client holds it.
struct ChatWindow {
    send: mpsc::Sender<Sent>,
    subscription: Subscription,
}

impl Target for ChatWindow {
    fn member(&self, name: &str) -> Member {
        match name {
            "send" | "ended" => Member::Method,
            _ => Member::Absent,
        }
    }

    fn call(self: Arc<Self>, method: &str, arguments: Arguments) -> Reply {
        match method {
            "send" => {
                let message = arguments.rest().into_iter().next().unwrap_or(Value::Null);
                Reply::future(async move { self.take(message).await })
            }
            "ended" => self.subscription.ended(),
            _ => Reply::no_such_method(method),
        }
    }

    fn interface(&self) -> &'static str {
        "ChatWindow"
    }

    fn describe(&self) -> Description {
        let window = Description::new("ChatWindow", "A window on a session.");
        ["send", "ended"].into_iter().fold(window, |window, name| {
            window.method(name, "", Vec::new(), Type::Any)
        })
    }
}

impl ChatWindow {
    /// Hands a message over, and waits until it was taken. Faults are told to the callback.
    async fn take(&self, message: Value) -> Result<Value, RpcError> {
        let bytes = message.weight();
        let message = to_json(message, "").map_err(|error| failed(&error))?;
        let (taken, done) = oneshot::channel();
        let over = || RpcError::new("the window is closed").with_code("closed");
        self.send
            .send((message, bytes, taken))
            .await
            .map_err(|_| over())?;
        done.await.map_err(|_| over())?;
        Ok(Value::Undefined)
    }
}
