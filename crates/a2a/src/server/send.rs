//! A message arrives: checked, recognised if it came before, and handed to whoever works on its task.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::journal::Scope;
use super::live::{Opened, Started};
use super::replay::{Admission, Outcome, Ticket};
use super::run::{Command, Incoming, Run, Wants};
use super::{Inner, fold, push};
use crate::error::Error;
use crate::event::{Event, EventStream};
use crate::limits::MAX_ID;
use crate::service::Call;
use crate::types::{
    Answer, Content, Message, Part, SendMessageConfiguration, SendMessageRequest,
    SendMessageResponse, StreamResponse, Task,
};

impl Inner {
    pub(super) async fn send(
        self: Arc<Self>,
        call: Call,
        request: SendMessageRequest,
    ) -> Result<SendMessageResponse, Error> {
        let configuration = request.configuration.clone().unwrap_or_default();
        let scope = Scope::new(&call.caller, &request.tenant);
        let wants = if configuration.return_immediately {
            Wants::Begin
        } else {
            Wants::Rest
        };
        let payload = match self.deliver(&scope, call, request, wants).await? {
            Delivered::Started(Started::Message(message)) => Answer::Message(message),
            Delivered::Started(Started::Task(opened)) => {
                Answer::Task(self.settle(*opened, &configuration).await?)
            }
            Delivered::Again(Outcome::Message(message)) => Answer::Message((*message).clone()),
            Delivered::Again(Outcome::Task(id)) => {
                Answer::Task(self.settle_again(&scope, &id, &configuration).await?)
            }
        };
        Ok(SendMessageResponse { payload })
    }

    pub(super) async fn send_streaming(
        self: Arc<Self>,
        call: Call,
        request: SendMessageRequest,
    ) -> Result<EventStream, Error> {
        let history = request
            .configuration
            .as_ref()
            .and_then(|configuration| configuration.history_length);
        let scope = Scope::new(&call.caller, &request.tenant);
        let cursor = call.cursor;
        let message = match self.deliver(&scope, call, request, Wants::Stream).await? {
            Delivered::Started(Started::Task(opened)) => {
                return Ok(self.answer_stream(scope, *opened, history));
            }
            // The stream was cut off and is asked for again: from the cursor, or all of it.
            Delivered::Again(Outcome::Task(id)) => {
                return self.resume_stream(scope, id, cursor.unwrap_or(0)).await;
            }
            Delivered::Started(Started::Message(message)) => message,
            Delivered::Again(Outcome::Message(message)) => (*message).clone(),
        };
        let event = Arc::new(Event::new(StreamResponse::from(message)));
        Ok(Box::pin(futures_util::stream::once(async {
            Ok(vec![event])
        })))
    }

    async fn deliver(
        self: &Arc<Self>,
        scope: &Scope,
        call: Call,
        request: SendMessageRequest,
        wants: Wants,
    ) -> Result<Delivered, Error> {
        self.check(&request)?;
        match self
            .replay
            .admit(scope, wants, &request, self.now().millis())
            .await?
        {
            Admission::Again(outcome) => Ok(Delivered::Again(outcome)),
            Admission::First(ticket) => self
                .hand_over(scope, call, request, ticket, wants)
                .await
                .map(Delivered::Started),
        }
    }

    /// Hands a message to a run, a new one if need be, and waits for the answer to begin.
    async fn hand_over(
        self: &Arc<Self>,
        scope: &Scope,
        call: Call,
        request: SendMessageRequest,
        ticket: Ticket,
        wants: Wants,
    ) -> Result<Started, Error> {
        let (started, starting) = oneshot::channel();
        let incoming = Incoming {
            message: request.message.unwrap_or_default(),
            configuration: request.configuration.unwrap_or_default(),
            metadata: request.metadata,
            caller: call.caller,
            extensions: call.extensions,
            ticket: Some(ticket),
            started: Some(started),
            wants,
        };
        if incoming.message.task_id.is_empty() {
            let run = Run::new(self.clone(), scope.clone(), incoming, self.place()?);
            self.spawn(run);
        } else {
            let id = incoming.message.task_id.clone();
            let task = self.load(scope, &id).await?;
            let context = &incoming.message.context_id;
            if !context.is_empty() && *context != task.context_id {
                let why = format!("task {id:?} belongs to another context");
                return Err(Error::invalid_field("message.contextId", why));
            }
            self.command(scope, &id, Command::Message(Box::new(incoming)))?;
        }
        // The sender goes only when the run does, which is when the server stops.
        starting
            .await
            .unwrap_or_else(|_| Err(Error::Unavailable("the server is stopping".to_owned())))
    }

    /// Reaches the run of a task, or makes one.
    pub(super) fn command(
        self: &Arc<Self>,
        scope: &Scope,
        task: &str,
        command: Command,
    ) -> Result<(), Error> {
        self.command_in(self.place()?, scope, task, command)
    }

    /// The same with a place that was taken before.
    pub(super) fn command_in(
        self: &Arc<Self>,
        place: OwnedSemaphorePermit,
        scope: &Scope,
        task: &str,
        command: Command,
    ) -> Result<(), Error> {
        let sent = self.live.send_or_enter(task, command, |command| {
            let mut run = Run::of(self.clone(), scope.clone(), task, command, place);
            let handle = run.handle();
            self.spawn(run);
            handle
        });
        let busy = || Error::Unavailable(format!("too many calls wait for task {task:?}"));
        sent.map_err(|_| busy())
    }

    /// The task once it has ended or waits for its caller, or at once if the caller wants that.
    async fn settle(
        &self,
        opened: Opened,
        configuration: &SendMessageConfiguration,
    ) -> Result<Task, Error> {
        let mut task = match opened.snapshot {
            Some(task) if configuration.return_immediately => task,
            _ => {
                let mut settled = opened.settled;
                let later = |task: &Option<Arc<Task>>| {
                    task.as_ref()
                        .is_some_and(|task| task.generation.unsigned_abs() > opened.generation)
                };
                let settled = settled.wait_for(later).await;
                let task = settled.ok().and_then(|task| task.as_deref().cloned());
                task.ok_or_else(|| {
                    Error::Unavailable(
                        "the server is stopping; the task can be asked for later".to_owned(),
                    )
                })?
            }
        };
        fold::cut_history(&mut task, configuration.history_length);
        Ok(task)
    }

    /// The same for a send that is repeated: the task as it is, or once it rests.
    async fn settle_again(
        self: &Arc<Self>,
        scope: &Scope,
        id: &str,
        configuration: &SendMessageConfiguration,
    ) -> Result<Task, Error> {
        let mut task = self.load(scope, id).await?;
        while !configuration.return_immediately && !rests(&task) {
            self.wait_for_change(&task).await?;
            task = self.load(scope, id).await?;
        }
        fold::cut_history(&mut task, configuration.history_length);
        Ok(task)
    }

    /// What the types cannot say about a message.
    fn check(&self, request: &SendMessageRequest) -> Result<(), Error> {
        let message = request
            .message
            .as_ref()
            .ok_or_else(|| Error::invalid_field("message", "is required"))?;
        for (field, id) in [
            ("message.messageId", &message.message_id),
            ("message.contextId", &message.context_id),
            ("message.taskId", &message.task_id),
            ("tenant", &request.tenant),
        ] {
            if id.len() > MAX_ID {
                return Err(Error::invalid_field(
                    field,
                    format!("is longer than {MAX_ID} bytes"),
                ));
            }
        }
        self.check_parts(message)?;
        let configuration = request.configuration.as_ref();
        if configuration.is_some_and(|it| it.if_generation_match.is_some())
            && message.task_id.is_empty()
        {
            return Err(Error::invalid_field(
                "configuration.ifGenerationMatch",
                "needs message.taskId",
            ));
        }
        if configuration
            .and_then(|it| it.history_length)
            .is_some_and(|length| length < 0)
        {
            return Err(Error::invalid_field(
                "configuration.historyLength",
                "is negative",
            ));
        }
        match configuration.and_then(|it| it.task_push_notification_config.as_ref()) {
            Some(_) if !self.offers_push() => Err(Error::PushNotificationNotSupported),
            Some(config) => push::check(config, self.push.targets()),
            None => Ok(()),
        }
    }

    /// Whether the card says that the agent understands such parts.
    fn check_parts(&self, message: &Message) -> Result<(), Error> {
        let understood = |part: &&Part| match &*part.media_type {
            "" => true,
            given => self
                .input_modes
                .iter()
                .any(|mode| matches_mode(mode, given)),
        };
        let typed = message
            .parts
            .iter()
            .filter(|part| !matches!(part.content, Content::Text(_)));
        match typed.into_iter().find(|part| !understood(part)) {
            Some(part) => Err(Error::ContentTypeNotSupported(part.media_type.clone())),
            None => Ok(()),
        }
    }
}

enum Delivered {
    Started(Started),
    Again(Outcome),
}

fn rests(task: &Task) -> bool {
    let state = super::run::state(task);
    state.is_terminal() || state.is_interrupted()
}

/// Whether `text/plain; charset=utf-8` is of the kind `text/plain`, `text/*` or `*/*`.
fn matches_mode(mode: &str, given: &str) -> bool {
    let given = given.split(';').next().unwrap_or_default().trim();
    match mode.strip_suffix("/*") {
        Some("*") => true,
        Some(kind) => given
            .split('/')
            .next()
            .is_some_and(|given| given.eq_ignore_ascii_case(kind)),
        None => mode.eq_ignore_ascii_case(given),
    }
}
