//! Sending a message: it is checked, recognised as a repetition where its caller asked for that, and handed to the run of
//! its task.

use std::sync::Arc;

use dial::trace::{self, Scope as TraceScope};
use futures_util::{poll, stream};
use tokio::sync::oneshot;

use super::Inner;
use super::expiry::until_expiry;
use super::journal::Scope;
use super::live::{Opened, Started};
use super::push::{self, Registration};
use super::replay::{Admission, Outcome, SendName, Ticket};
use super::run::{Command, Incoming, Run, Wants};
use super::turn::TurnInput;
use crate::error::Error;
use crate::event::{Event, EventStream};
use crate::fold;
use crate::limits::MAX_ID;
use crate::sabotage::{self, broken};
use crate::service::Call;
use crate::types::{
    Answer, Content, Message, Part, SendMessageRequest, SendMessageResponse, StreamResponse, Task,
    TaskId, TaskPushNotificationConfig,
};

impl Inner {
    pub(super) async fn send(
        self: Arc<Self>,
        call: Call,
        request: Box<SendMessageRequest>,
    ) -> Result<SendMessageResponse, Error> {
        let configuration = request.configuration.as_ref();
        let history = configuration.and_then(|it| it.history_length);
        let wants = match configuration {
            Some(configuration) if configuration.return_immediately => Wants::Begin,
            _ => Wants::Rest,
        };
        let scope = Scope::new(&call.caller, &request.tenant);
        let mut task = match self.deliver(&scope, call, request, wants).await? {
            Delivered::Message(mut message) => {
                if broken("r02_request_response") {
                    message.parts.clear();
                }
                let payload = Answer::Message(message);
                return Ok(SendMessageResponse { payload });
            }
            Delivered::Task(task) => *task,
            Delivered::Stream(opened) => self.load(&scope, &opened.id).await?,
            Delivered::Again(id, _) => self.settle_again(&scope, &id, wants).await?,
        };
        fold::cut_history(&mut task, history);
        let payload = Answer::Task(task);
        Ok(SendMessageResponse { payload })
    }

    pub(super) async fn send_streaming(
        self: Arc<Self>,
        call: Call,
        request: Box<SendMessageRequest>,
    ) -> Result<EventStream, Error> {
        let history = request
            .configuration
            .as_ref()
            .and_then(|configuration| configuration.history_length);
        let scope = Scope::new(&call.caller, &request.tenant);
        let cursor = call.cursor;
        let caller = call.caller.clone();
        let events: Result<EventStream, Error> = match self
            .deliver(&scope, call, request, Wants::Stream)
            .await?
        {
            Delivered::Message(message) => {
                let event = Arc::new(Event::new(StreamResponse::from(message)));
                Ok(Box::pin(stream::once(async { Ok(vec![event]) })))
            }
            Delivered::Stream(opened) => Ok(self.answer_stream(scope, *opened, history)),
            // The same request after a broken connection: continue from the cursor, or from the beginning.
            Delivered::Again(id, 0) => {
                let cursor = cursor.unwrap_or(0);
                self.resume_stream(scope, id, cursor, history).await
            }
            Delivered::Again(id, _) => match cursor {
                Some(cursor) => self.resume_stream(scope, id, cursor, history).await,
                None => self.snapshot_stream(scope, id, history).await,
            },
            Delivered::Task(task) => self.resume_stream(scope, task.id.into(), 0, history).await,
        };
        Ok(until_expiry(&caller, events?))
    }

    async fn deliver(
        self: &Arc<Self>,
        scope: &Scope,
        call: Call,
        request: Box<SendMessageRequest>,
        wants: Wants,
    ) -> Result<Delivered, Error> {
        self.check(&request)?;
        let Some(name) = SendName::asked(&call, &request) else {
            let started = self.hand_over(scope, call, request, None, wants).await?;
            return Ok(started.into());
        };
        let now = self.now().millis();
        let admission = self.replay.admit(scope, &name, wants, &request, now);
        match admission.await? {
            Admission::Again(Outcome::Message(message)) => {
                Ok(Started::Message((*message).clone()).into())
            }
            Admission::Again(Outcome::Task(id, after)) => Ok(Delivered::Again(id, after)),
            Admission::First(ticket) => {
                let ticket = Some(ticket);
                let started = self.hand_over(scope, call, request, ticket, wants).await?;
                Ok(started.into())
            }
        }
    }

    /// Hands a message to the run of its task, or to a new one, and waits for the first reply.
    async fn hand_over(
        self: &Arc<Self>,
        scope: &Scope,
        call: Call,
        request: Box<SendMessageRequest>,
        ticket: Option<Ticket>,
        wants: Wants,
    ) -> Result<Started, Error> {
        let (reply, starting) = oneshot::channel();
        let mut request = *request;
        sabotage::spoil(request.message.as_mut());
        if let Some(message) = request.message.as_mut()
            && message.task_id.is_empty()
            && !message.context_id.is_empty()
        {
            let agent = self.agent_of(scope);
            if let Some(task) = agent.continues(&call.caller, message).await {
                message.task_id = task.to_string();
            }
        }
        let mut configuration = request.configuration.unwrap_or_default();
        let webhook = configuration.task_push_notification_config.take();
        let webhook = webhook.map(|config| Registration {
            config: TaskPushNotificationConfig {
                tenant: request.tenant,
                ..config
            },
            dialect: call.webhook_dialect(),
        });
        let incoming = Incoming {
            if_generation: configuration.if_generation_match,
            always_task: call.always_task,
            webhook,
            asked: Arc::new(TurnInput {
                message: request.message.unwrap_or_default(),
                configuration,
                metadata: request.metadata,
                caller: call.caller,
                extensions: call.extensions,
                // A call within a turn of another agent is part of that turn.
                trace: trace::scope().or(call.origin.trace.map(TraceScope::from)),
                again: false,
            }),
            ticket,
            reply: Some(reply),
            wants,
        };
        let message = &incoming.asked.message;
        if message.task_id.is_empty() {
            let place = Some(self.place()?);
            let mut work = Box::pin(Run::new(self.clone(), scope.clone(), incoming, place).work());
            // Work that needs no waiting is done here, without a spawn; the rest outlives the call.
            if poll!(work.as_mut()).is_pending() {
                self.runs.spawn(work);
            }
        } else {
            let id = TaskId::from(&message.task_id);
            let task = self.load(scope, &id).await?;
            if !message.context_id.is_empty() && message.context_id != task.context_id {
                let why = format!("task {id:?} belongs to another context");
                return Err(Error::invalid_field("message.contextId", why));
            }
            if let Some(webhook) = &incoming.webhook {
                self.check_room(&id, &webhook.config.id).await?;
            }
            self.command(scope, &id, Command::Message(Box::new(incoming)))?;
        }
        let stopping = || Error::Unavailable("the server is stopping".to_owned());
        tokio::select! {
            biased;
            // A run drops the sender unused only when the server stops.
            started = starting => started.unwrap_or_else(|_| Err(stopping())),
            () = self.patience_over() => Err(stopping()),
        }
    }

    /// Gives a command to the run of a task, or starts one. Only a run that calls the agent needs a permit.
    pub(super) fn command(
        self: &Arc<Self>,
        scope: &Scope,
        task: &TaskId,
        command: Command,
    ) -> Result<(), Error> {
        self.live.send_or_enter(task, command, |command| {
            let place = match command {
                Command::Message(_) | Command::Resume(_) => Some(self.place()?),
                Command::Cancel(_) | Command::Fail(_) => None,
            };
            let run = Run::of(self.clone(), scope.clone(), task, command, place);
            let mailbox = run.mailbox();
            self.runs.spawn(run.work());
            Ok(mailbox)
        })
    }

    /// The task of a repeated send: as it is, or once it is settled.
    async fn settle_again(
        self: &Arc<Self>,
        scope: &Scope,
        id: &TaskId,
        wants: Wants,
    ) -> Result<Task, Error> {
        let mut task = self.load(scope, id).await?;
        while wants == Wants::Rest && !task.is_settled() {
            self.wait_for_change(&task).await?;
            task = self.load(scope, id).await?;
        }
        Ok(task)
    }

    /// Checks what the types cannot express.
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

    /// Refuses parts of media types that the card does not list.
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

/// The result of handing a message over.
enum Delivered {
    /// The answer is a message, given now or to an earlier send of the same message.
    Message(Message),
    Task(Box<Task>),
    Stream(Box<Opened>),
    /// An earlier send of the same message led to this task, which was at this generation.
    Again(TaskId, i64),
}

impl From<Started> for Delivered {
    fn from(started: Started) -> Self {
        match started {
            Started::Message(message) => Self::Message(message),
            Started::Task(task) => Self::Task(task),
            Started::Stream(opened) => Self::Stream(opened),
        }
    }
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
