//! `monas chat`: a conversation, line by line. `chat/input.rs` is the line editor.

use a2a::client::{Client, Error};
use a2a::types::{
    AgentCard, CancelTaskRequest, Event as Payload, Message, SendMessageRequest, StreamResponse,
    TaskState,
};
use clap::Command;
use futures_util::StreamExt as _;
use skill::extension::{self, QuestionKind};

use super::client::arguments::{calling, option};
use super::client::failure::Failure;
use super::client::flags::Options;
use super::client::print::{self, Manner, Printer};
use super::send;
use crate::signals::{Signal, Signals};

mod input;

use input::{Input, Read};

/// The commands of the chat.
const COMMANDS: [&str; 4] = ["/new", "/task", "/exit", "/help"];

const HELP: &str = "\
/new    starts another conversation
/task   prints the id of the task that waits for input
/exit   ends the chat, as does Ctrl-D
Ctrl-C  cancels the task that runs or waits
Tab     completes commands and skills, the up arrow brings earlier lines";

/// The command line of `monas chat`.
pub(super) fn definition() -> Command {
    let context = option("context-id", "ID", "The conversation to continue");
    let mode = option("mode", "NAME", send::MODE_HELP);
    let command = Command::new("chat")
        .about("Talk with an agent, line by line")
        .long_about(
            "Talks with an agent. On a terminal it is a line editor with history (in the data folder) and completion; in a \
             pipe each line of standard input is a message. Answers go to standard output, everything else to standard error.",
        )
        .after_help("monas chat --server http://127.0.0.1:8080\necho 'what can you do?' | monas chat");
    calling(command.args([context, mode]))
}

/// The state of a conversation.
#[derive(Default)]
struct ChatState {
    context: String,
    /// The task that runs, or that the next line answers.
    waiting: Option<String>,
    /// It waits for an approval. Then the server decides whether a line is the answer or another request.
    approval: bool,
    /// The mode of the agent.
    mode: Option<String>,
}

/// Sends each line, until the input ends.
pub(super) async fn talk(
    options: &Options,
    context: Option<String>,
    mode: Option<String>,
    printer: &Printer,
    signals: &mut Signals,
) -> Result<(), Failure> {
    let client = options.connect().await?;
    let card = client.card();
    let mut place = ChatState {
        context: context.unwrap_or_default(),
        mode,
        ..ChatState::default()
    };
    let skills = card.skills.iter().map(|skill| format!("/{}", skill.id));
    let words = COMMANDS.map(str::to_owned).into_iter().chain(skills);
    let mut input = Input::open(options.data.as_deref(), words.collect());
    if input.is_terminal() {
        let name = printer.paint().bold(&print::printable(&card.name));
        print::note_raw(&format!("{name} - /help for help, Ctrl-D to end"));
    }
    loop {
        let line = match next(&client, &mut input, &mut place, signals).await? {
            Read::Line(line) => line,
            Read::Interrupt => {
                if !cancel(&client, &mut place).await? {
                    print::note("no task runs or waits; Ctrl-D ends the chat");
                }
                continue;
            }
            Read::End => break,
        };
        match line.trim() {
            "" => {}
            "/exit" | "/quit" => break,
            "/help" => print::note(&help(card)),
            "/new" => {
                place.leave();
                place = ChatState {
                    mode: place.mode,
                    ..ChatState::default()
                }
            }
            "/task" => print::note(
                place
                    .waiting
                    .as_deref()
                    .unwrap_or("no task waits for input"),
            ),
            text => match say(&client, &mut place, text, printer, signals).await {
                // A refused message does not end the conversation.
                Err(failure @ Failure::Call(Error::Refused(_))) => printer.failure(&failure),
                Err(failure @ Failure::Call(Error::Unreachable { .. } | Error::Lost(_))) => {
                    place.tell_how_to_go_on();
                    if !input.is_terminal() {
                        return Err(failure);
                    }
                    printer.failure(&failure);
                }
                said => said?,
            },
        }
    }
    place.leave();
    if input.is_terminal() && !place.context.is_empty() {
        let context = &place.context;
        print::note(&format!("continue with: monas chat --context-id {context}"));
    }
    Ok(())
}

/// The next line. A signal that arrives meanwhile cancels the task that waits, or ends the chat.
async fn next(
    client: &Client,
    input: &mut Input,
    place: &mut ChatState,
    signals: &mut Signals,
) -> Result<Read, Failure> {
    let is_terminal = input.is_terminal();
    let reading = input.next();
    tokio::pin!(reading);
    loop {
        tokio::select! {
            read = &mut reading => return read,
            signal = signals.next() => match signal {
                Signal::Interrupt => {
                    if !cancel(client, place).await? && !is_terminal {
                        return Ok(Read::End);
                    }
                }
                Signal::Terminate => return Err(Failure::Signal(signal)),
            },
        }
    }
}

/// Cancels the task that runs or waits; false if there is none.
async fn cancel(client: &Client, place: &mut ChatState) -> Result<bool, Failure> {
    let Some(id) = place.waiting.take() else {
        return Ok(false);
    };
    let request = CancelTaskRequest {
        id: id.clone(),
        ..CancelTaskRequest::default()
    };
    match client.cancel_task(request).await {
        Ok(_) => print::note(&format!("canceled task {id}")),
        // The task has ended already.
        Err(Error::Refused(refusal)) => print::note(&refusal.to_string()),
        Err(error) => return Err(error.into()),
    }
    Ok(true)
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
    place: &mut ChatState,
    text: &str,
    printer: &Printer,
    signals: &mut Signals,
) -> Result<(), Failure> {
    let waiting = place.waiting.take().filter(|_| !place.approval);
    let mut message = Message {
        context_id: place.context.clone(),
        task_id: waiting.unwrap_or_default(),
        metadata: place.mode.as_deref().map(send::mode),
        ..Message::user(uuid::Uuid::new_v4().to_string(), text)
    };
    extension::show_calls(&mut message);
    let request: SendMessageRequest = message.into();
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
    let mut shown = printer.follow(Manner::Chat);
    loop {
        tokio::select! {
            event = events.next() => {
                let Some(event) = event else { return Ok(()) };
                let event = event?;
                shown.event(&event);
                place.hear(event.response());
            }
            signal = signals.next() => {
                if signal == Signal::Terminate || !cancel(client, place).await? {
                    return Err(Failure::Signal(signal));
                }
            }
        }
    }
}

impl ChatState {
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

    /// Says what is left waiting when the conversation is left.
    fn leave(&self) {
        if let Some(task) = &self.waiting {
            print::note(&format!(
                "task {task} goes on waiting: monas send --task-id {task} ANSWER answers it, monas task cancel {task} ends it"
            ));
        }
    }

    /// Says how a conversation goes on that the server left.
    fn tell_how_to_go_on(&self) {
        if let Some(task) = &self.waiting {
            print::note(&format!(
                "when the server is back: monas task subscribe {task}"
            ));
        }
        if !self.context.is_empty() {
            let context = &self.context;
            print::note(&format!(
                "the conversation goes on with: monas chat --context-id {context}"
            ));
        }
    }
}
