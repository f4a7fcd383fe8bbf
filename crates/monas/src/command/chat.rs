//! `monas chat`: a conversation, line by line.

use std::io::{IsTerminal as _, Write as _};

use a2a::client::{Client, Error};
use a2a::types::{
    AgentCard, CancelTaskRequest, Event as Payload, Message, SendMessageRequest, StreamResponse,
    TaskState,
};
use clap::Command;
use futures_util::StreamExt as _;
use skill::extension::{self, QuestionKind};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::client::arguments::{calling, option};
use super::client::failure::Failure;
use super::client::print::{self, Printer};
use super::send;
use crate::signals::{Signal, Signals};

const HELP: &str = "\
/new    starts another conversation
/task   prints the id of the task that waits for input
/exit   ends the chat, as does the end of the input
Ctrl-C  cancels the running task";

/// The command line of `monas chat`.
pub(super) fn definition() -> Command {
    let context = option("context-id", "ID", "The conversation to continue");
    let mode = option("mode", "NAME", send::MODE_HELP);
    let command = Command::new("chat").about("Talk with an agent, line by line");
    calling(command.args([context, mode]))
}

/// The state of a conversation.
#[derive(Default)]
struct Place {
    context: String,
    /// The task that the next line answers.
    waiting: Option<String>,
    /// It waits for an approval. Then the server decides whether a line is the answer or another request.
    approval: bool,
    /// The mode of the agent.
    mode: Option<String>,
}

/// Sends each line, until the input ends.
pub(super) async fn talk(
    client: &Client,
    context: Option<String>,
    mode: Option<String>,
    printer: &Printer,
    signals: &mut Signals,
) -> Result<(), Failure> {
    let mut place = Place {
        context: context.unwrap_or_default(),
        waiting: None,
        approval: false,
        mode,
    };
    let asks = std::io::stdin().is_terminal();
    if asks {
        print::note(&format!("{} - /help for help", client.card().name));
    }
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    loop {
        if asks {
            let _ = write!(std::io::stderr(), "> ");
        }
        let line = tokio::select! {
            line = lines.next_line() => line,
            _ = signals.next() => return Ok(()),
        };
        let wrong = |error| Failure::Usage(format!("standard input: {error}"));
        let Some(line) = line.map_err(wrong)? else {
            return Ok(());
        };
        match line.trim() {
            "" => {}
            "/exit" | "/quit" => return Ok(()),
            "/help" => print::note(&help(client.card())),
            "/new" => {
                place = Place {
                    mode: place.mode,
                    ..Place::default()
                }
            }
            "/task" => print::note(
                place
                    .waiting
                    .as_deref()
                    .unwrap_or("no task waits for input"),
            ),
            text => match say(client, &mut place, text, printer, signals).await {
                // A refused message does not end the conversation.
                Err(failure @ Failure::Call(Error::Refused(_))) => printer.failure(&failure),
                said => said?,
            },
        }
    }
}

/// The help: commands of the chat, and examples of the agent's skills.
fn help(card: &AgentCard) -> String {
    let mut help = HELP.to_owned();
    for skill in &card.skills {
        if let Some(example) = skill.examples.first() {
            help = format!("{help}\n{example}: {}", skill.description);
        }
    }
    help
}

/// Sends a line and prints the events.
async fn say(
    client: &Client,
    place: &mut Place,
    text: &str,
    printer: &Printer,
    signals: &mut Signals,
) -> Result<(), Failure> {
    let waiting = place.waiting.take().filter(|_| !place.approval);
    let request: SendMessageRequest = Message {
        context_id: place.context.clone(),
        task_id: waiting.unwrap_or_default(),
        metadata: place.mode.as_deref().map(send::mode),
        ..Message::user(uuid::Uuid::new_v4().to_string(), text)
    }
    .into();
    let capabilities = client.card().capabilities.as_ref();
    if capabilities.and_then(|it| it.streaming) != Some(true) {
        let answer = client.send_message(request).await?;
        printer.answer(&answer);
        let heard = match answer.payload {
            a2a::types::Answer::Task(task) => task.into(),
            a2a::types::Answer::Message(message) => message.into(),
            a2a::types::Answer::Unset => return Ok(()),
        };
        place.hear(&heard);
        return Ok(());
    }
    let mut events = client.send_streaming_message(request).await?;
    let mut shown = printer.follow();
    loop {
        tokio::select! {
            event = events.next() => {
                let Some(event) = event else { return Ok(()) };
                let event = event?;
                shown.event(&event);
                place.hear(event.response());
            }
            signal = signals.next() => {
                if let (Signal::Interrupt, Some(task)) = (signal, place.waiting.clone()) {
                    let request = CancelTaskRequest { id: task, ..CancelTaskRequest::default() };
                    client.cancel_task(request).await?;
                } else {
                    return Err(Failure::Signal(signal));
                }
            }
        }
    }
}

impl Place {
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
        self.approval = question.is_some_and(|it| it.kind == QuestionKind::Approval);
        if !context.is_empty() {
            self.context.clone_from(context);
        }
        self.waiting = task
            .filter(|_| !state.is_some_and(TaskState::is_terminal))
            .cloned();
    }
}
