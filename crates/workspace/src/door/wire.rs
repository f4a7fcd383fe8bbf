//! The calls on every wire, without their content, for those who may see them.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ::capnweb::{Error as RpcError, Value};
use access::{CallRecord, Outcome};
use serde_json::{Value as Json, json};
use tokio::sync::broadcast::{self, error::RecvError};

use super::follow::{Follower, Over};
use super::workspace::{What, WorkspaceObject};

/// How many calls wait for one who looks on; a slower one is told how many it missed.
const QUEUE: usize = 1_024;

/// How many calls are told at once.
const BATCH: usize = 128;

/// A call that has ended. Nothing of what was asked or answered is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct WireCall {
    /// When it ended, in milliseconds since 1970.
    pub at: i64,
    pub wire: &'static str,
    pub version: &'static str,
    pub operation: String,
    /// The name of the caller; empty for the anonymous one.
    pub caller: String,
    pub outcome: &'static str,
    pub milliseconds: f64,
    /// The name of the request, by which the log and the audit trail have it, too.
    pub request: String,
    /// How long the request was, as far as that was known.
    pub bytes: u64,
}

/// Where calls are shown to those who look on. Clones are the same.
#[derive(Clone, Debug)]
pub struct WireTap(broadcast::Sender<Arc<WireCall>>);

impl Default for WireTap {
    fn default() -> Self {
        Self(broadcast::Sender::new(QUEUE))
    }
}

impl WireTap {
    /// Shows a call that has ended. It costs nothing while no one looks on.
    pub fn show(&self, asked: &CallRecord, outcome: Outcome, time: Duration) {
        if self.0.receiver_count() == 0 {
            return;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let caller = match asked.caller.is_anonymous() {
            true => String::new(),
            false => asked.caller.name().to_owned(),
        };
        let call = WireCall {
            at: i64::try_from(now.unwrap_or_default().as_millis()).unwrap_or_default(),
            wire: asked.origin.wire,
            version: asked.version,
            operation: asked.operation.clone().into_owned(),
            caller,
            outcome: outcome.name(),
            milliseconds: time.as_secs_f64() * 1000.0,
            request: asked.origin.request.clone(),
            bytes: asked.origin.bytes,
        };
        // Whoever looked on may have gone.
        let _ = self.0.send(Arc::new(call));
    }
}

pub(super) fn follow(
    workspace: &WorkspaceObject,
    what: &What,
    follower: Follower,
) -> Result<Value, RpcError> {
    let wire = what.text("wire")?.map(str::to_owned);
    let caller = what.text("caller")?.map(str::to_owned);
    let wanted = move |call: &WireCall| {
        wire.as_ref().is_none_or(|it| call.wire.starts_with(&**it))
            && caller.as_ref().is_none_or(|it| call.caller == *it)
    };
    let mut calls = workspace.shared().parts.tap.0.subscribe();
    let subscription = follower.run(|callback| async move {
        let mut number: u64 = 0;
        loop {
            let mut next = match calls.recv().await {
                Ok(call) => vec![call],
                Err(RecvError::Lagged(missed)) => {
                    number += missed;
                    continue;
                }
                Err(RecvError::Closed) => return Err(Over::because("the server is stopping")),
            };
            while next.len() < BATCH
                && let Ok(call) = calls.try_recv()
            {
                next.push(call);
            }
            let mut told = Vec::new();
            for call in next {
                number += 1;
                if wanted(&call) {
                    told.push(shown(number, &call));
                }
            }
            if !told.is_empty() {
                callback.tell(told.into()).await?;
            }
        }
    });
    Ok(subscription.into_value())
}

fn shown(number: u64, call: &WireCall) -> Json {
    json!({
        "number": number,
        "at": memory::format_time(call.at),
        "wire": call.wire,
        "version": call.version,
        "operation": call.operation,
        "caller": call.caller,
        "outcome": call.outcome,
        "milliseconds": call.milliseconds,
        "request": call.request,
        "bytes": call.bytes,
    })
}
