//! A conversation over the chat of a server of ours. It outlives connections: what is said while the server is away is sent
//! when it is back, and every message is shown once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use a2a::client::Client;
use futures_util::FutureExt as _;
use serde_json::json;
use tokio::time::{Instant, sleep_until, timeout};
use workspace::chat::MessageType;
use workspace::chat::client::{ChatClient, ChatEvent, ClientSettings, Received};

use super::agent::cancel_task;
use crate::command::client::failure::Failure;
use crate::command::client::flags::Options;
use crate::command::client::print::{self, Printer, SessionPrinter};
use crate::command::request;
use crate::signals::{Signal, Signals};

/// How long the end of a canceled task is waited for.
const CANCELED: Duration = Duration::from_secs(5);

/// A conversation: a session of the chat.
pub(super) struct SessionConversation<'a> {
    options: &'a Options,
    /// Cancels tasks, for which the chat has no message.
    agent: &'a Client,
    settings: ClientSettings,
    client: ChatClient,
    printer: SessionPrinter,
    /// Messages that were written here and that the server has not taken yet.
    unsent: BTreeSet<String>,
    /// Messages that were written here.
    said: BTreeSet<String>,
    /// The task of the last request, until it has ended.
    running: Option<String>,
    /// Questions that wait for a person, oldest first.
    waiting: Vec<Waiting>,
    /// Why there is no connection, and since when.
    lost: Option<(String, Instant)>,
    /// The session has messages.
    begun: bool,
}

/// Something that waits for an answer.
struct Waiting {
    request: String,
    task: String,
    /// A question that any words answer; else a call that is decided about, or an offer that a yes or no answers.
    question: bool,
}

/// A request under way.
struct Turn {
    /// The id of the message.
    message: String,
    /// Its task, once it is known.
    task: Option<String>,
    over: bool,
}

impl<'a> SessionConversation<'a> {
    /// Opens the chat of a server of ours; none if there is no such chat.
    pub(super) async fn open(
        options: &'a Options,
        agent: &'a Client,
        printer: &Printer,
        context: Option<String>,
    ) -> Result<Option<Self>, Failure> {
        let known = context.is_some();
        let session = context.unwrap_or_else(new_session);
        let Some(settings) = options.chat(agent, &session).await? else {
            return Ok(None);
        };
        // An agent without a law, an older server, a proxy that knows no WebSocket: A2A remains.
        let Ok(client) = ChatClient::connect(settings.clone()).await else {
            return Ok(None);
        };
        let mut conversation = Self {
            options,
            agent,
            settings,
            client,
            printer: SessionPrinter::new(*printer),
            unsent: BTreeSet::new(),
            said: BTreeSet::new(),
            running: None,
            waiting: Vec::new(),
            lost: None,
            begun: known,
        };
        let restored = timeout(options.timeout, conversation.restore()).await;
        Ok(matches!(restored, Ok(true)).then_some(conversation))
    }

    /// Reads what happened before, and shows what waits. False: the server does not tell the session.
    async fn restore(&mut self) -> bool {
        let mut asked = BTreeMap::new();
        loop {
            match self.client.next().await {
                Some(ChatEvent::Message(it)) if it.kind == MessageType::ApprovalRequest => {
                    asked.insert(it.id.clone(), it);
                }
                Some(ChatEvent::Restored { waiting }) => {
                    for question in waiting.iter().filter_map(|id| asked.remove(id)) {
                        self.message(&question, None);
                    }
                    return true;
                }
                Some(ChatEvent::Ended(_)) | None => return false,
                Some(_) => {}
            }
        }
    }

    pub(super) fn context(&self) -> &str {
        match self.begun {
            true => self.client.session(),
            false => "",
        }
    }

    /// The task that runs or waits.
    pub(super) fn waiting(&self) -> Option<&str> {
        let waits = || self.waiting.last().map(|it| &*it.task);
        self.running.as_deref().or_else(waits)
    }

    /// Begins another session.
    pub(super) fn begin_another(&mut self) {
        self.settings.session = new_session();
        self.client = ChatClient::start(self.settings.clone());
        self.unsent.clear();
        self.said.clear();
        self.waiting.clear();
        self.running = None;
        self.begun = false;
    }

    /// Says what the server has not got.
    pub(super) fn tell_unsent(&self) {
        let count = self.unsent.len();
        if count > 0 {
            print::note(&format!("the server did not get {count} of your messages"));
        }
    }

    /// Cancels the task that runs or waits; false if there is none.
    pub(super) async fn cancel(&mut self) -> Result<bool, Failure> {
        self.catch_up();
        let Some(task) = self.waiting().map(str::to_owned) else {
            return Ok(false);
        };
        self.printer.end_lines();
        cancel_task(self.agent, &task).await?;
        // The person knows: what is told of its end is not shown.
        let ended = async {
            loop {
                match self.client.next().await {
                    Some(ChatEvent::Message(it)) => {
                        if ended(&it) == Some(&task) {
                            return;
                        }
                    }
                    Some(event) => drop(self.hear(event, None)),
                    None => return,
                }
            }
        };
        let _ = timeout(CANCELED, ended).await;
        self.running = self.running.take().filter(|it| *it != task);
        self.waiting.retain(|it| it.task != task);
        Ok(true)
    }

    /// Says a line and shows what comes of it, until the request has ended or waits for an answer.
    pub(super) async fn say(&mut self, text: &str, signals: &mut Signals) -> Result<(), Failure> {
        self.catch_up();
        let asked = self.waiting.last();
        let sent = match asked.filter(|it| it.question) {
            Some(question) => self
                .client
                .answer(&question.request, json!({ "answer": text })),
            // The server decides whether a line is the answer to what waits for a decision, or another request.
            None => self.client.say(text),
        };
        let message = sent.map_err(|error| self.unreachable(&error.to_string()))?;
        self.begun = true;
        self.unsent.insert(message.clone());
        self.said.insert(message.clone());
        let mut turn = Turn {
            message,
            task: asked_task(&self.waiting),
            over: false,
        };
        // A server that has been away for long is given the whole time again for each line.
        if let Some((_, since)) = &mut self.lost {
            *since = Instant::now();
        }
        while !turn.over {
            let patience = self
                .lost
                .as_ref()
                .map(|(_, since)| *since + self.options.timeout);
            tokio::select! {
                event = self.client.next() => match event {
                    Some(event) => self.hear(event, Some(&mut turn))?,
                    None => return Err(self.unreachable("the chat has ended")),
                },
                () = sleep_until(patience.unwrap_or_else(Instant::now)), if patience.is_some() => {
                    let (why, _) = self.lost.clone().unwrap_or((String::new(), Instant::now()));
                    self.printer.end_lines();
                    if self.unsent.contains(&turn.message) {
                        print::note("the message is kept, and sent when the server is back");
                    }
                    return Err(self.unreachable(&why));
                }
                signal = signals.next() => {
                    // Of a message that has no task yet nothing can be canceled.
                    if signal == Signal::Terminate || !self.cancel().await? {
                        return Err(Failure::Signal(signal));
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Shows what happened since the last line.
    fn catch_up(&mut self) {
        while let Some(Some(event)) = self.client.next().now_or_never() {
            // A fault that ends the chat is met again by the next message.
            let _ = self.hear(event, None);
        }
    }

    fn hear(&mut self, event: ChatEvent, turn: Option<&mut Turn>) -> Result<(), Failure> {
        match event {
            ChatEvent::Message(message) => self.message(&message, turn),
            ChatEvent::Passing(message) => self.printer.message(&message, false),
            ChatEvent::Taken { id } => drop(self.unsent.remove(&id)),
            ChatEvent::Refused { id, message, .. } => {
                self.unsent.remove(&id);
                self.printer.end_lines();
                print::note(&format!("error: {message}"));
                if let Some(turn) = turn {
                    turn.over |= turn.message == id;
                }
            }
            ChatEvent::Lost { why, .. } => {
                if self.lost.is_none() {
                    self.printer.end_lines();
                    print::note("the connection is lost; trying again");
                }
                let since = self.lost.as_ref().map_or_else(Instant::now, |it| it.1);
                self.lost = Some((why, since));
            }
            ChatEvent::Restored { waiting } => {
                self.waiting.retain(|it| waiting.contains(&it.request));
                if self.lost.take().is_some() {
                    print::note("connected again");
                }
            }
            ChatEvent::Ended(error) => return Err(self.unreachable(&error.to_string())),
        }
        Ok(())
    }

    fn message(&mut self, message: &Received, turn: Option<&mut Turn>) {
        self.printer
            .message(message, self.said.contains(&message.id));
        let task = message.task.clone().unwrap_or_default();
        let mut over = None;
        match message.kind {
            MessageType::UserCommand if self.said.contains(&message.id) => {
                self.running = Some(task.clone());
            }
            MessageType::ApprovalRequest => {
                self.waiting.push(Waiting {
                    request: message.id.clone(),
                    task: task.clone(),
                    question: is_open_question(message),
                });
                over = Some(task.clone());
            }
            _ => {}
        }
        if let Some("approval_decided" | "question_answered") = message.event() {
            let answered = message.data("request_id");
            self.waiting.retain(|it| Some(&*it.request) != answered);
        }
        if let Some(ended) = ended(message) {
            self.running = self.running.take().filter(|it| it != ended);
            self.waiting.retain(|it| it.task != ended);
            over = Some(ended.to_owned());
        }
        let Some(turn) = turn else { return };
        if message.id == turn.message {
            turn.task = Some(task);
        }
        turn.over |= over.is_some() && over == turn.task;
    }

    fn unreachable(&self, why: &str) -> Failure {
        Failure::Request(request::Failure::Unreachable {
            server: self.options.target().server().0,
            problem: why.to_owned(),
        })
    }
}

/// The task that has ended with this message.
fn ended(message: &Received) -> Option<&str> {
    match message.event()? {
        "task_completed" | "task_failed" | "task_rejected" | "task_canceled" => {
            message.data("task_id")
        }
        _ => None,
    }
}

/// Whether any words answer what is asked. To an offer only a yes or no is an answer, and the server reads which lines are one.
fn is_open_question(message: &Received) -> bool {
    let text = message.text("description").unwrap_or_default();
    message.text("action") == Some("question") && !text.ends_with(agent::YES_OR_NO)
}

fn asked_task(waiting: &[Waiting]) -> Option<String> {
    waiting.last().map(|it| it.task.clone())
}

fn new_session() -> String {
    uuid::Uuid::new_v4().to_string()
}
