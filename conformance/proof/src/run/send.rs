//! Messages.

use a2a::client::Client;
use a2a::types::{
    Answer, Event as Payload, Message, Part, SendMessageConfiguration, SendMessageRequest,
};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::follow::{Followed, event, shown};
use super::{Run, failed, note};
use crate::agent::Act;
use crate::scenario::{How, Send, With};
use crate::wire::Wire;

impl Run<'_> {
    pub(super) async fn send(
        &mut self,
        number: usize,
        client: &Client,
        send: &Send,
        wire: Wire,
    ) -> Vec<Value> {
        let id = match &send.message {
            Some(message) => message.to_string(),
            None => format!("message-{number}"),
        };
        let before = self.messages.get(&id).cloned();
        if self.would_wait(send, before.as_ref()) {
            return vec![note(
                "not sent: the answer would come only after the agent goes on",
            )];
        }
        let request = self.request(&id, send);
        if send.how == How::Stream {
            return self.stream(client, send, request, before, wire).await;
        }
        let opens = request.message.iter().all(|it| it.task_id.is_empty());
        let answer = match client.send_message(request).await {
            Ok(answer) => answer,
            Err(error) => return vec![failed(&error)],
        };
        if let Answer::Task(task) = &answer.payload {
            self.met(send, &id, &task.id, &task.context_id, opens);
            self.world.settle(&task.id).await;
        }
        vec![json!(answer)]
    }

    /// Whether a sender would wait for an answer for ever.
    fn would_wait(&self, send: &Send, before: Option<&(String, bool)>) -> bool {
        let acts = Act::all(&send.script).unwrap_or_default();
        // There is a task only when the agent has done something.
        if send.to.is_none() && acts.first() == Some(&Act::Wait) {
            return true;
        }
        let held = |task: &str| self.world.gates.holds(task);
        send.how == How::Send
            && (acts.contains(&Act::Wait)
                || send.to.as_ref().is_some_and(|task| held(&self.id(task)))
                || before.is_some_and(|(task, _)| held(task)))
    }

    fn request(&self, id: &str, send: &Send) -> SendMessageRequest {
        let mut message = Message::user(id, &send.script);
        message.parts.extend(send.with.as_ref().map(part));
        if let Some(task) = &send.to {
            message.task_id = self.id(task);
        }
        if let Some(task) = &send.beside {
            message.context_id = self.context(task);
        }
        SendMessageRequest {
            message: Some(message),
            configuration: Some(SendMessageConfiguration {
                return_immediately: send.how == How::Start,
                history_length: send.history.map(u32::cast_signed),
                if_generation_match: send.at.map(i64::from),
                ..SendMessageConfiguration::default()
            }),
            ..SendMessageRequest::default()
        }
    }

    async fn stream(
        &mut self,
        client: &Client,
        send: &Send,
        request: SendMessageRequest,
        before: Option<(String, bool)>,
        wire: Wire,
    ) -> Vec<Value> {
        let message = request.message.clone().unwrap_or_default();
        // How far the stream is before its first event: a task that the message opens begins at the beginning.
        let known = match &before {
            Some((_, true)) => 0,
            Some((task, false)) => self.generation(task).await.saturating_sub(1),
            None => self.generation(&message.task_id).await,
        };
        let mut events = match client.send_streaming_message(request).await {
            Ok(events) => events,
            Err(error) => return vec![failed(&error)],
        };
        let first = match events.next().await {
            Some(Ok(first)) => first,
            Some(Err(error)) => return vec![failed(&error)],
            None => return vec![event::end()],
        };
        let mut seen = vec![shown(&first, events.cursor())];
        if let Payload::Task(task) = &first.response().payload {
            let opens = message.task_id.is_empty();
            self.met(send, &message.message_id, &task.id, &task.context_id, opens);
            self.world.settle(&task.id).await;
            let mut followed = Followed::new(&task.id, known, wire, Some(events));
            seen.extend(followed.past(&first).await);
            if let Some(name) = &send.stream {
                self.streams.insert(name.clone(), followed);
            }
        } else if events.next().await.is_none() {
            seen.push(event::end());
        }
        seen
    }

    /// Remembers a task, and the message that led to it.
    fn met(&mut self, send: &Send, message: &str, task: &str, context: &str, opens: bool) {
        let sent = (task.to_owned(), opens);
        self.messages.entry(message.to_owned()).or_insert(sent);
        if let Some(name) = &send.task {
            let met = (task.to_owned(), context.to_owned());
            self.tasks.insert(name.clone(), met);
        }
    }
}

fn part(with: &With) -> Part {
    match with {
        With::Bytes(text) => Part {
            filename: "sent.bin".to_owned(),
            media_type: "application/octet-stream".to_owned(),
            ..Part::raw(text.clone().into_bytes())
        },
        With::Link(url) => Part {
            media_type: "image/png".to_owned(),
            ..Part::url(url)
        },
        With::Data => Part::data(json!({"sent": [true, "and", 1.5]})),
    }
}
