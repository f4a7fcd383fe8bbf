//! The smallest agent: one function that answers a message. It counts down and streams its output.
//!
//! You learn what an agent is to the task server (a type that implements `Agent`), how a turn reports its state and its
//! artifacts, and that every event has a number. A client that lost its connection continues after the last number it
//! saw, and misses nothing. There is no network here; `02_a_skill` shows the usual way to serve an agent.
//!
//!     cargo run -p examples --example 01_first_agent
//!
//! Prints:
//!
//!     1: the task begins
//!     2: Working
//!     3: an artifact grows by "three "
//!     -- the connection is lost; later, from 3 on --
//!     4: an artifact grows by "two "
//!     5: an artifact grows by "one"
//!     6: Completed

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use a2a::event::EventStream;
use a2a::server::{Agent, Chunk, Config, Failure, Server, TABLES, Turn};
use a2a::service::{Call, Service as _};
use a2a::types::{
    AgentCard, Artifact, Event, Message, Part, SendMessageRequest, SubscribeToTaskRequest,
};
use access::Principal;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use store::Store;

struct Countdown;

impl Agent for Countdown {
    fn answer(&self, turn: Turn) -> BoxFuture<'static, Result<(), Failure>> {
        Box::pin(async move {
            turn.working().await?;
            for word in ["three ", "two ", "one"] {
                let artifact = Artifact {
                    artifact_id: "countdown".to_owned(),
                    parts: vec![Part::text(word)],
                    ..Artifact::default()
                };
                turn.chunk(artifact, Chunk::More).await?;
                // Waits until the chunk is stored: from here on it survives a crash.
                turn.committed().await?;
            }
            Ok(turn.complete().await?)
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `Store::open` would store the tasks in a folder, and `a2a::binding::routes` serve them over HTTP.
    let config = Config::new(AgentCard::default());
    let server = Server::start(config, Arc::new(Countdown), Store::memory(TABLES)).await?;

    let request = SendMessageRequest {
        message: Some(Message::user("m-1", "go")),
        ..SendMessageRequest::default()
    };
    let me = || Call::by(Principal::anonymous());
    let stream = server.send_streaming_message(me(), request).await?;
    let task = show(stream, Some(3)).await?;

    println!("-- the connection is lost; later, from 3 on --");
    let request = SubscribeToTaskRequest {
        id: task,
        ..SubscribeToTaskRequest::default()
    };
    let call = Call {
        cursor: Some(3),
        ..me()
    };
    show(server.subscribe_to_task(call, request).await?, None).await?;
    server.stop().await;
    Ok(())
}

/// Prints the events of a stream, up to the one with the number `until`, and returns the id of the task.
async fn show(mut stream: EventStream, until: Option<u64>) -> Result<String, a2a::Error> {
    let mut task = String::new();
    while let Some(portion) = stream.next().await {
        for event in portion? {
            let what = match &event.response().payload {
                Event::Task(begun) => {
                    task.clone_from(&begun.id);
                    "the task begins".to_owned()
                }
                Event::StatusUpdate(update) => {
                    let state = update.status.as_ref().map(|status| status.state);
                    format!("{:?}", state.unwrap_or_default())
                }
                Event::ArtifactUpdate(update) => {
                    let parts = update.artifact.iter().flat_map(|artifact| &artifact.parts);
                    let text: String = parts.filter_map(Part::as_text).collect();
                    format!("an artifact grows by {text:?}")
                }
                Event::Message(_) | Event::Unset => continue,
            };
            let cursor = event.cursor().unwrap_or_default();
            println!("{cursor}: {what}");
            if Some(cursor) == until {
                return Ok(task);
            }
        }
    }
    Ok(task)
}
