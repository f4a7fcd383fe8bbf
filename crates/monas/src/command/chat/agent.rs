//! A conversation over A2A, with an agent of any make.

use a2a::client::{Client, Error};
use a2a::types::{
    CancelTaskRequest, Event as Payload, Message, SendMessageRequest, StreamResponse, TaskState,
};
use futures_util::StreamExt as _;
use skill::extension::{self, QuestionKind};

use crate::command::client::failure::Failure;
use crate::command::client::print::{self, Manner, Printer};
use crate::command::send;
use crate::signals::{Signal, Signals};

/// A conversation, by its context id.
pub(super) struct AgentConversation<'a> {
    client: &'a Client,
    printer: &'a Printer,
    context: String,
    /// The task that runs, or that the next line answers.
    waiting: Option<String>,
    /// It waits for an approval. Then the server decides whether a line is the answer or another request.
    approval: bool,
    /// The mode of the agent.
    mode: Option<String>,
}

impl<'a> AgentConversation<'a> {
    pub(super) fn new(
        client: &'a Client,
        printer: &'a Printer,
        context: Option<String>,
        mode: Option<String>,
    ) -> Self {
        Self {
            client,
            printer,
            context: context.unwrap_or_default(),
            waiting: None,
            approval: false,
            mode,
        }
    }

    pub(super) fn context(&self) -> &str {
        &self.context
    }

    /// The task that runs or waits.
    pub(super) fn waiting(&self) -> Option<&str> {
        self.waiting.as_deref()
    }

    /// Begins another conversation.
    pub(super) fn begin_another(&mut self) {
        self.context.clear();
        self.waiting = None;
        self.approval = false;
    }

    /// Cancels the task that runs or waits; false if there is none.
    pub(super) async fn cancel(&mut self) -> Result<bool, Failure> {
        let Some(id) = self.waiting.take() else {
            return Ok(false);
        };
        cancel_task(self.client, &id).await?;
        Ok(true)
    }

    /// Sends a line and prints the events.
    pub(super) async fn say(&mut self, text: &str, signals: &mut Signals) -> Result<(), Failure> {
        let waiting = self.waiting.take().filter(|_| !self.approval);
        let mut message = Message {
            context_id: self.context.clone(),
            task_id: waiting.unwrap_or_default(),
            metadata: self.mode.as_deref().map(send::mode),
            ..Message::user(uuid::Uuid::new_v4().to_string(), text)
        };
        extension::show_calls(&mut message);
        let request: SendMessageRequest = message.into();
        let capabilities = self.client.card().capabilities.as_ref();
        if capabilities.and_then(|it| it.streaming) != Some(true) {
            let answer = self.client.send_message(request).await?;
            self.printer.answer(&answer);
            let heard = match answer.payload {
                a2a::types::Answer::Task(task) => task.into(),
                a2a::types::Answer::Message(message) => message.into(),
                a2a::types::Answer::Unset => return Ok(()),
            };
            self.hear(&heard);
            return Ok(());
        }
        let mut events = self.client.send_streaming_message(request).await?;
        let mut shown = self.printer.follow(Manner::Chat);
        loop {
            tokio::select! {
                event = events.next() => {
                    let Some(event) = event else { return Ok(()) };
                    let event = event?;
                    shown.event(&event);
                    self.hear(event.response());
                }
                signal = signals.next() => {
                    if signal == Signal::Terminate || !self.cancel().await? {
                        return Err(Failure::Signal(signal));
                    }
                }
            }
        }
    }

    /// Updates the conversation and the task that waits for input.
    fn hear(&mut self, heard: &StreamResponse) {
        let (context, task, status) = match &heard.payload {
            Payload::Task(task) => (&task.context_id, Some(&task.id), task.status.as_ref()),
            Payload::StatusUpdate(update) => (
                &update.context_id,
                Some(&update.task_id),
                update.status.as_ref(),
            ),
            Payload::Message(message) => (&message.context_id, None, None),
            Payload::ArtifactUpdate(_) | Payload::Unset => return,
        };
        let state = status.map(|it| it.state);
        let question = status.and_then(|it| extension::asked_in(it.message.as_ref()?));
        self.approval = question.is_some_and(|it| {
            it.kind == QuestionKind::Approval || it.message.ends_with(agent::YES_OR_NO)
        });
        if !context.is_empty() {
            self.context.clone_from(context);
        }
        self.waiting = task
            .filter(|_| !state.is_some_and(TaskState::is_terminal))
            .cloned();
    }
}

/// Cancels a task, and says so.
pub(super) async fn cancel_task(client: &Client, id: &str) -> Result<(), Failure> {
    let request = CancelTaskRequest {
        id: id.to_owned(),
        ..CancelTaskRequest::default()
    };
    match client.cancel_task(request).await {
        Ok(_) => print::note(&format!("canceled task {id}")),
        // The task has ended already.
        Err(Error::Refused(refusal)) => print::note(&refusal.to_string()),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
