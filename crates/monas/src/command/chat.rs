//! `monas chat`: a conversation, line by line.
//!
//! - `session`: with a server of ours, over its chat
//! - `agent`: with an agent of any make, over A2A
//! - `input`: the line editor

use a2a::client::{Client, Error};
use a2a::types::AgentCard;
use clap::Command;

use super::client::arguments::{calling, option};
use super::client::failure::Failure;
use super::client::flags::Options;
use super::client::print::{self, Printer};
use super::{request, send};
use crate::signals::{Signal, Signals};

mod agent;
mod input;
mod session;

use agent::AgentConversation;
use input::{Input, Read};
use session::SessionConversation;

/// The commands of the chat.
const COMMANDS: [&str; 4] = ["/new", "/task", "/exit", "/help"];

const HELP: &str = "\
/new    starts another conversation
/task   prints the id of the task that waits for input
/exit   ends the chat, as does Ctrl-D
Ctrl-C  cancels the task that runs or waits
\\       at the end of a line: the message goes on in the next line
Tab     completes commands and skills, the up arrow brings earlier lines";

/// The command line of `monas chat`.
pub(super) fn definition() -> Command {
    let context = option("context-id", "ID", "The conversation to continue");
    let mode = option("mode", "NAME", send::MODE_HELP);
    let command = Command::new("chat")
        .about("Talk with an agent, line by line")
        .long_about(
            "Talks with an agent. On a terminal it is a line editor with history (in the data folder) and completion; in a \
             pipe each line of standard input is a message, and a line that ends with \\ goes on in the next. With a server of ours \
             it reconnects by itself; an agent of any other make is called over A2A. Answers go to standard output, everything else to standard error.",
        )
        .after_help("monas chat --server http://127.0.0.1:8080\necho 'what can you do?' | monas chat");
    calling(command.args([context, mode]))
}

/// A conversation, with whichever agent.
enum Conversation<'a> {
    Session(Box<SessionConversation<'a>>),
    Agent(AgentConversation<'a>),
}

impl<'a> Conversation<'a> {
    /// Over the chat of a server of ours, if there is one. A mode is a matter of A2A.
    async fn open(
        options: &'a Options,
        client: &'a Client,
        printer: &'a Printer,
        context: Option<String>,
        mode: Option<String>,
    ) -> Result<Self, Failure> {
        if mode.is_none() {
            let opened = SessionConversation::open(options, client, printer, context.clone());
            if let Some(session) = opened.await? {
                return Ok(Self::Session(Box::new(session)));
            }
        }
        let conversation = AgentConversation::new(client, printer, context, mode);
        Ok(Self::Agent(conversation))
    }

    /// The context id; empty if nothing was said.
    fn context(&self) -> &str {
        match self {
            Self::Session(it) => it.context(),
            Self::Agent(it) => it.context(),
        }
    }

    /// The task that runs or waits.
    fn waiting(&self) -> Option<&str> {
        match self {
            Self::Session(it) => it.waiting(),
            Self::Agent(it) => it.waiting(),
        }
    }

    async fn say(&mut self, text: &str, signals: &mut Signals) -> Result<(), Failure> {
        match self {
            Self::Session(it) => it.say(text, signals).await,
            Self::Agent(it) => it.say(text, signals).await,
        }
    }

    /// Cancels the task that runs or waits; false if there is none.
    async fn cancel(&mut self) -> Result<bool, Failure> {
        match self {
            Self::Session(it) => it.cancel().await,
            Self::Agent(it) => it.cancel().await,
        }
    }

    fn begin_another(&mut self) {
        match self {
            Self::Session(it) => it.begin_another(),
            Self::Agent(it) => it.begin_another(),
        }
    }

    /// Says what is left when the conversation is left.
    fn leave(&self) {
        if let Self::Session(it) = self {
            it.tell_unsent();
        }
        if let Some(task) = self.waiting() {
            print::note(&format!(
                "task {task} goes on waiting: monas send --task-id {task} ANSWER answers it, monas task cancel {task} ends it"
            ));
        }
    }

    /// Says how a conversation goes on that the server left.
    fn tell_how_to_go_on(&self) {
        if let Some(task) = self.waiting() {
            print::note(&format!(
                "when the server is back: monas task subscribe {task}"
            ));
        }
        let context = self.context();
        if !context.is_empty() {
            print::note(&format!(
                "the conversation goes on with: monas chat --context-id {context}"
            ));
        }
    }
}

/// Whether the server is gone, and may come back.
fn is_away(failure: &Failure) -> bool {
    matches!(
        failure,
        Failure::Call(Error::Unreachable { .. } | Error::Lost(_))
            | Failure::Request(request::Failure::Unreachable { .. })
    )
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
    let opening = Conversation::open(options, &client, printer, context, mode);
    let mut conversation = opening.await?;
    let skills = card.skills.iter().map(|skill| format!("/{}", skill.id));
    let words = COMMANDS.map(str::to_owned).into_iter().chain(skills);
    let mut input = Input::open(options.data.as_deref(), words.collect());
    if input.is_terminal() {
        let name = printer.paint().bold(&print::printable(&card.name));
        print::note_raw(&format!("{name} - /help for help, Ctrl-D to end"));
    }
    loop {
        let line = match next(&mut input, &mut conversation, printer, signals).await? {
            Read::Line(line) => line,
            Read::Interrupt => {
                if !interrupt(&mut conversation, printer).await? {
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
                conversation.leave();
                conversation.begin_another();
            }
            "/task" => print::note(conversation.waiting().unwrap_or("no task waits for input")),
            text => match conversation.say(text, signals).await {
                // A refused message does not end the conversation.
                Err(failure @ Failure::Call(Error::Refused(_))) => printer.failure(&failure),
                Err(Failure::Signal(Signal::Interrupt)) if input.is_terminal() => {
                    print::note("no task runs; Ctrl-D ends the chat");
                }
                Err(failure) if is_away(&failure) => {
                    conversation.tell_how_to_go_on();
                    if !input.is_terminal() {
                        return Err(failure);
                    }
                    printer.failure(&failure);
                }
                said => said?,
            },
        }
    }
    conversation.leave();
    if input.is_terminal() && !conversation.context().is_empty() {
        let context = conversation.context();
        print::note(&format!("continue with: monas chat --context-id {context}"));
    }
    Ok(())
}

/// Ctrl-C at the prompt: cancels the task that waits; false if there is none. A server that is away ends nothing.
async fn interrupt(
    conversation: &mut Conversation<'_>,
    printer: &Printer,
) -> Result<bool, Failure> {
    match conversation.cancel().await {
        Err(failure) if is_away(&failure) => {
            printer.failure(&failure);
            Ok(true)
        }
        done => done,
    }
}

/// The next line. A signal that arrives meanwhile cancels the task that waits, or ends the chat.
async fn next(
    input: &mut Input,
    conversation: &mut Conversation<'_>,
    printer: &Printer,
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
                    if !interrupt(conversation, printer).await? && !is_terminal {
                        return Ok(Read::End);
                    }
                }
                Signal::Terminate => return Err(Failure::Signal(signal)),
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
