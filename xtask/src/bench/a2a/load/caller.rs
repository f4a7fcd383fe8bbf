//! One client: it asks for one thing at a time and checks what it gets.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::super::scenario::Work;
use crate::bench::address::Address;
use crate::bench::http::{Connection, HttpResponse};
use crate::error::{Error, Result};

#[derive(Debug)]
pub(super) struct Caller {
    connection: Connection,
    address: Address,
    /// What the ids of this client's messages begin with. No other client uses it, also not in a
    /// later run: a server that knows a message again does not do its work again.
    prefix: String,
    sent: u64,
    /// Streamed events so far, those of streams that failed later included.
    pub(super) events: u64,
    request: String,
}

/// What a request brought that went well.
#[derive(Debug, Default)]
pub(super) struct Done {
    /// How long the first event of a stream took.
    pub(super) first_event: Option<Duration>,
    /// The task that came of it.
    pub(super) task: Option<String>,
}

impl Caller {
    pub(super) fn open(address: &Address, prefix: String) -> Result<Caller> {
        Ok(Caller {
            connection: Connection::open(address)?,
            address: address.clone(),
            prefix,
            sent: 0,
            events: 0,
            request: String::new(),
        })
    }

    /// Asks once and checks the whole answer. After an error the next call works again, on a new
    /// connection if it must.
    pub(super) async fn ask(&mut self, work: Work) -> Result<Done> {
        match work {
            Work::Echo => self.echo().await,
            Work::Task => self.task().await,
            Work::Chunks(chunks) => self.stream(chunks).await,
        }
    }

    /// Reads a task that was made by [`Work::Task`] and checks that it is whole.
    pub(super) async fn read(&mut self, task: &str) -> Result<()> {
        let id = self.compose("GetTask", &format!(r#"{{"id":"{task}"}}"#));
        let found = self.call(&id).await?;
        check_task(&found, TASK)?;
        expect(found["id"] == task, || format!("{found} for {task}"))
    }

    async fn echo(&mut self) -> Result<Done> {
        let id = self.message("SendMessage", ECHO);
        let result = self.call(&id).await?;
        let message = &result["message"];
        let right = message["role"] == "ROLE_AGENT" && message["parts"][0]["text"] == ECHO;
        expect(right, || format!("no echo: {result}"))?;
        Ok(Done::default())
    }

    async fn task(&mut self) -> Result<Done> {
        let id = self.message("SendMessage", TASK);
        let result = self.call(&id).await?;
        let task = &result["task"];
        check_task(task, TASK)?;
        Ok(Done {
            task: task["id"].as_str().map(str::to_owned),
            ..Done::default()
        })
    }

    async fn stream(&mut self, chunks: u64) -> Result<Done> {
        let id = self.message("SendStreamingMessage", &format!("burst {chunks}"));
        let started = Instant::now();
        let mut answer = self.connection.send(self.request.as_bytes()).await?;
        expect_kind(&answer, "text/event-stream")?;
        let mut seen = Stream::default();
        let mut first_event = None;
        let mut text = Vec::new();
        while let Some(piece) = answer.next().await? {
            text.extend_from_slice(piece);
            let mut used = 0;
            while let Some(length) = text[used..].iter().position(|byte| *byte == b'\n') {
                let line = &text[used..used + length];
                used += length + 1;
                // Every event we expect has one line of data. Ids and comments are left out.
                if let Some(data) = line.strip_prefix(b"data:") {
                    first_event.get_or_insert_with(|| started.elapsed());
                    seen.add(&result(data, &id)?)?;
                    self.events += 1;
                }
            }
            text.drain(..used);
        }
        let whole = seen.completed && seen.chunks == chunks;
        expect(whole, || format!("the stream ended with {seen:?}"))?;
        Ok(Done {
            first_event,
            task: None,
        })
    }

    /// Puts a request with a user's message together and returns its id.
    fn message(&mut self, method: &str, text: &str) -> String {
        let params = format!(
            r#"{{"message":{{"messageId":"{}-{}","role":"ROLE_USER","parts":[{{"text":"{text}"}}]}}}}"#,
            self.prefix,
            self.sent + 1
        );
        self.compose(method, &params)
    }

    fn compose(&mut self, method: &str, params: &str) -> String {
        self.sent += 1;
        let id = format!("{}-{}", self.prefix, self.sent);
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"{method}","params":{params}}}"#);
        let Address { authority, path } = &self.address;
        self.request.clear();
        write!(
            self.request,
            "POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nA2A-Version: 1.0\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("writing to a String");
        id
    }

    /// Sends the request and takes the result out of the answer.
    async fn call(&mut self, id: &str) -> Result<Value> {
        let answer = self.connection.send(self.request.as_bytes()).await?;
        expect_kind(&answer, "application/json")?;
        result(&answer.body().await?, id)
    }
}

const ECHO: &str = "echo hello";
const TASK: &str = "task hello";

/// What a stream has brought so far.
#[derive(Debug, Default)]
struct Stream {
    events: u64,
    chunks: u64,
    completed: bool,
}

impl Stream {
    /// Adds an event, which must be the next one.
    fn add(&mut self, event: &Value) -> Result<()> {
        expect(!self.completed, || format!("{event} after the end"))?;
        self.events += 1;
        let update = &event["artifactUpdate"];
        if let Some(text) = update["artifact"]["parts"][0]["text"].as_str() {
            let next = text == format!("c{} ", self.chunks);
            expect(next, || format!("{text:?} after {} chunks", self.chunks))?;
            self.chunks += 1;
        } else if !event["statusUpdate"].is_null() {
            self.completed = event["statusUpdate"]["status"]["state"] == COMPLETED;
        } else {
            let begun = self.events == 1 && !event["task"].is_null();
            expect(begun, || format!("{event} in place {}", self.events))?;
        }
        Ok(())
    }
}

const COMPLETED: &str = "TASK_STATE_COMPLETED";

fn check_task(task: &Value, text: &str) -> Result<()> {
    let artifact = &task["artifacts"][0]["parts"][0]["text"];
    let right = task["status"]["state"] == COMPLETED && artifact == text;
    expect(right && task["id"].is_string(), || {
        format!("not a finished task: {task}")
    })
}

/// The result in an answer to the request with this id.
fn result(body: &[u8], id: &str) -> Result<Value> {
    let show = || String::from_utf8_lossy(body).into_owned();
    let mut answer: Value = serde_json::from_slice(body).map_err(|_| Error::Answer(show()))?;
    expect(answer["error"].is_null() && answer["id"] == id, show)?;
    Ok(answer["result"].take())
}

fn expect_kind(answer: &HttpResponse<'_>, kind: &str) -> Result<()> {
    let HttpResponse {
        status,
        content_type,
        ..
    } = answer;
    let right = *status == 200 && content_type.starts_with(kind);
    expect(right, || format!("status {status}, {content_type:?}"))
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
