//! One client: it makes one call at a time and checks what it gets.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Work;
use crate::bench::address::Address;
use crate::bench::http::{Connection, HttpResponse};
use crate::error::{Error, Result};

/// What every call has said.
const HELLO: &str = "hello";

#[derive(Debug)]
pub(super) struct Caller {
    connection: Connection,
    work: Work,
    /// The request up to where its length goes.
    head: String,
    /// What ids begin with. No other client uses it, also not in a later run.
    prefix: String,
    sent: u64,
    request: String,
}

impl Caller {
    /// A client that is ready to call: on the older wire with a session of its own.
    pub(super) async fn open(address: &Address, prefix: String, work: Work) -> Result<Caller> {
        let Address { authority, path } = address;
        // A server that has the choice would answer one message with that message.
        let accept = match work {
            Work::SessionCall => "text/event-stream, application/json;q=0.5",
            _ => "application/json, text/event-stream",
        };
        let mut head = format!(
            "POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n\
             Accept: {accept}\r\n"
        );
        head.push_str(match work {
            Work::Call => {
                "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n"
            }
            Work::Task => "A2A-Version: 1.0\r\n",
            Work::SessionCall | Work::Run => "",
        });
        let mut caller = Caller {
            connection: Connection::open(address)?,
            work,
            head,
            prefix,
            sent: 0,
            request: String::new(),
        };
        if work == Work::SessionCall {
            caller.open_session().await?;
        }
        Ok(caller)
    }

    async fn open_session(&mut self) -> Result<()> {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        } });
        let answer = self.send(&hello).await?;
        let session = answer.session.clone();
        answer.body().await?;
        let session = session.ok_or_else(|| Error::Answer("there is no session".to_owned()))?;
        let named = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
        self.head.push_str(&named);
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let answer = self.send(&ready).await?;
        let status = answer.status;
        answer.body().await?;
        expect(status == 202, || format!("status {status} for a note"))
    }

    /// Calls once and checks the whole answer.
    pub(super) async fn call(&mut self) -> Result<()> {
        self.sent += 1;
        let id = format!("{}-{}", self.prefix, self.sent);
        let body = body(self.work, &id);
        let work = self.work;
        let answer = self.send(&body).await?;
        let kind = match work {
            Work::SessionCall => "text/event-stream",
            _ => "application/json",
        };
        expect_kind(&answer, kind)?;
        let body = answer.body().await?;
        let said = said(work, &body, &id);
        let right = said.as_deref().is_some_and(|said| said.ends_with(HELLO));
        expect(right, || String::from_utf8_lossy(&body).into_owned())
    }

    async fn send(&mut self, body: &Value) -> Result<HttpResponse<'_>> {
        let body = body.to_string();
        self.request.clear();
        let (head, length) = (&self.head, body.len());
        write!(self.request, "{head}Content-Length: {length}\r\n\r\n{body}")
            .expect("writing to a String");
        self.connection.send(self.request.as_bytes()).await
    }
}

/// A request with this id.
fn body(work: Work, id: &str) -> Value {
    let rpc = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    // Servers do not agree on what the argument of `echo` is called.
    let arguments = json!({ "text": HELLO, "message": HELLO });
    match work {
        Work::Call => {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
            });
            let call = json!({ "name": "echo", "arguments": arguments, "_meta": meta });
            rpc("tools/call", call)
        }
        Work::SessionCall => rpc(
            "tools/call",
            json!({ "name": "echo", "arguments": arguments }),
        ),
        Work::Task => rpc(
            "SendMessage",
            json!({ "message": {
            "messageId": id,
            "role": "ROLE_USER",
            "metadata": { "urn:monas:a2a:ext:skill:1/skill": "echo" },
            "parts": [{ "data": arguments }],
        } }),
        ),
        Work::Run => json!({ "agent_name": "echo", "mode": "sync", "input": [{ "parts": [{
            "content_type": "application/json",
            "content": arguments.to_string(),
        }] }] }),
    }
}

/// What an answer to the request with this id says, if it is a good one.
fn said(work: Work, body: &[u8], id: &str) -> Option<String> {
    let said = match work {
        Work::Call => result(body, id)?["content"][0]["text"].take(),
        Work::SessionCall => {
            // Events without data only say how to come back.
            let mut lines = body.split(|byte| *byte == b'\n');
            let found = lines.find_map(|line| result(line.strip_prefix(b"data:")?, id));
            found?["content"][0]["text"].take()
        }
        Work::Task => {
            let mut task = result(body, id)?["task"].take();
            let ended = task["status"]["state"] == "TASK_STATE_COMPLETED";
            ended.then(|| task["artifacts"][0]["parts"][0]["text"].take())?
        }
        Work::Run => {
            let mut run: Value = serde_json::from_slice(body).ok()?;
            let ended = run["status"] == "completed";
            ended.then(|| run["output"][0]["parts"][0]["content"].take())?
        }
    };
    said.as_str().map(str::to_owned)
}

/// The result in an answer to the request with this id.
fn result(body: &[u8], id: &str) -> Option<Value> {
    let mut answer: Value = serde_json::from_slice(body).ok()?;
    let right = answer["id"] == id && answer["result"]["isError"] != true;
    right.then(|| answer["result"].take())
}

fn expect_kind(answer: &HttpResponse<'_>, kind: &str) -> Result<()> {
    let (status, found) = (answer.status, &answer.content_type);
    let right = status == 200 && found.starts_with(kind);
    expect(right, || format!("status {status}, {found:?}"))
}

fn expect(right: bool, otherwise: impl FnOnce() -> String) -> Result<()> {
    match right {
        true => Ok(()),
        false => Err(Error::Answer(otherwise())),
    }
}

#[cfg(test)]
#[path = "caller_tests.rs"]
mod tests;
