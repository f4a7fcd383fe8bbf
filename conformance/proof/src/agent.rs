//! What answers in a scenario: the text of a message is a script of acts, separated by commas.
//!
//! Nothing in it takes time. Where an agent would work for a while it waits at a gate until the scenario lets it
//! go on, and everything it did before is committed when it waits there: so what a client sees next does not
//! depend on who is faster.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a::server::{Agent, Chunk, Failure, Over, Turn};
use a2a::types::{AgentCapabilities, AgentCard, AgentSkill, Artifact, Part, TaskState};
use futures_core::future::BoxFuture;
use tokio::sync::{Notify, oneshot};

/// One thing that an agent does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// `work`: the task is being worked on.
    Work,
    /// `say …`: the same, with something to say.
    Say(String),
    /// `text …`: an artifact of text.
    Text(String),
    /// `pieces 3`: an artifact that comes in so many pieces.
    Pieces(u8),
    /// `file`: an artifact of bytes.
    File,
    /// `link`: an artifact that is elsewhere.
    Link,
    /// `data`: an artifact of JSON.
    Data,
    /// `echo`: an artifact of the parts that came with the script.
    Echo,
    /// `wait`: goes on when it is let.
    Wait,
    /// `ask`: the turn ends with a question.
    Ask,
    /// `reply …`: the answer is a message.
    Reply(String),
    /// `whoami`: the answer is the name of the caller as the agent sees it.
    Whoami,
    /// `done`, `fail`, `reject`: the task ends.
    End(TaskState),
    /// `nothing`: the turn ends.
    Nothing,
}

impl Act {
    /// The acts of a script; unknown words are repeated in the answer.
    pub fn all(script: &str) -> Result<Vec<Self>, String> {
        script.split(',').map(str::trim).map(Self::of).collect()
    }

    fn of(text: &str) -> Result<Self, String> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let rest = || rest.trim().to_owned();
        Ok(match word {
            "work" => Self::Work,
            "say" => Self::Say(rest()),
            "text" => Self::Text(rest()),
            "pieces" => Self::Pieces(rest().parse().map_err(|_| unknown(text))?),
            "file" => Self::File,
            "link" => Self::Link,
            "data" => Self::Data,
            "echo" => Self::Echo,
            "wait" => Self::Wait,
            "ask" => Self::Ask,
            "reply" => Self::Reply(rest()),
            "whoami" => Self::Whoami,
            "done" => Self::End(TaskState::Completed),
            "fail" => Self::End(TaskState::Failed),
            "reject" => Self::End(TaskState::Rejected),
            "nothing" => Self::Nothing,
            _ => return Err(unknown(text)),
        })
    }

    async fn perform(&self, turn: &Turn, gates: &Gates) -> Result<(), Over> {
        match self {
            Self::Work => turn.working().await,
            Self::Say(text) => turn.status(TaskState::Working, Some(turn.say(text))).await,
            Self::Text(text) => turn.artifact(artifact("text", Part::text(text))).await,
            Self::Pieces(count) => {
                for number in 1..=*count {
                    let chunk = match number {
                        1 => Chunk::First,
                        last if last == *count => Chunk::Last,
                        _ => Chunk::More,
                    };
                    let piece = Part::text(format!("piece {number} "));
                    turn.chunk(artifact("pieces", piece), chunk).await?;
                }
                Ok(())
            }
            Self::File => {
                let bytes = (0..=255).collect::<Vec<u8>>();
                let part = named(Part::raw(bytes), "all.bin", "application/octet-stream");
                turn.artifact(artifact("file", part)).await
            }
            Self::Link => {
                let part = Part::url("https://example.com/picture.png");
                let part = named(part, "picture.png", "image/png");
                turn.artifact(artifact("link", part)).await
            }
            Self::Data => {
                let data = serde_json::json!({"list": [1, 2.5, null], "deep": {"yes": true}});
                turn.artifact(artifact("data", Part::data(data))).await
            }
            Self::Echo => {
                let parts = turn.message().parts[1..].to_vec();
                let echo = Artifact {
                    parts,
                    ..artifact("echo", Part::text("nothing but the script"))
                };
                turn.artifact(echo).await
            }
            Self::Wait => gates.pass(turn).await,
            Self::Ask => turn.ask("What next?").await,
            Self::Reply(text) => turn.reply(turn.say(text)).await,
            Self::Whoami => turn.reply(turn.say(turn.caller().name())).await,
            Self::End(TaskState::Completed) => turn.complete().await,
            Self::End(state) => turn.status(*state, Some(turn.say("as asked"))).await,
            Self::Nothing => Ok(()),
        }
    }
}

fn unknown(text: &str) -> String {
    format!("unknown instruction {text:?}")
}

fn artifact(id: &str, part: Part) -> Artifact {
    Artifact {
        artifact_id: id.to_owned(),
        name: format!("the {id}"),
        parts: vec![part],
        ..Artifact::default()
    }
}

fn named(part: Part, filename: &str, media_type: &str) -> Part {
    Part {
        filename: filename.to_owned(),
        media_type: media_type.to_owned(),
        ..part
    }
}

/// The agent. What it does is in the messages.
#[derive(Clone, Debug, Default)]
pub struct Scripted {
    pub gates: Gates,
}

impl Agent for Scripted {
    fn answer(&self, turn: Turn) -> BoxFuture<'static, Result<(), Failure>> {
        let gates = self.gates.clone();
        Box::pin(async move {
            let script = turn.message().parts.first().and_then(Part::as_text);
            let acts = Act::all(script.unwrap_or_default()).map_err(Failure::new)?;
            for act in acts {
                // A task that is cancelled meanwhile is over.
                if act.perform(&turn, &gates).await.is_err() || act == Act::Ask {
                    break;
                }
            }
            Ok(())
        })
    }
}

/// What the agent says about itself.
pub fn card() -> AgentCard {
    let modes = [
        "text/plain",
        "application/json",
        "application/octet-stream",
        "image/*",
    ];
    AgentCard {
        name: "Scripted".to_owned(),
        description: "Does what the script in a message says.".to_owned(),
        version: "1".to_owned(),
        capabilities: Some(AgentCapabilities {
            streaming: Some(true),
            push_notifications: Some(true),
            extended_agent_card: Some(true),
            ..AgentCapabilities::default()
        }),
        default_input_modes: modes.map(str::to_owned).to_vec(),
        default_output_modes: modes.map(str::to_owned).to_vec(),
        skills: vec![skill("script", "Performs a script.")],
        ..AgentCard::default()
    }
}

/// What it says to those who ask for more.
pub fn extended_card() -> AgentCard {
    let mut card = card();
    card.skills.push(skill("secret", "Is known to few."));
    card
}

fn skill(id: &str, description: &str) -> AgentSkill {
    AgentSkill {
        id: id.to_owned(),
        name: id.to_owned(),
        description: description.to_owned(),
        tags: vec!["proof".to_owned()],
        ..AgentSkill::default()
    }
}

/// Where agents wait. Clones are the same gates.
#[derive(Clone, Debug, Default)]
pub struct Gates(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Tasks that wait at a gate, each with the sender that opens it.
    waiting: Mutex<HashMap<String, oneshot::Sender<()>>>,
    arrived: Notify,
}

impl Gates {
    /// Waits until the gate is opened; that the task is cancelled opens it, too.
    async fn pass(&self, turn: &Turn) -> Result<(), Over> {
        turn.committed().await?;
        let (opener, opened) = oneshot::channel();
        self.waiting().insert(turn.task_id().to_string(), opener);
        self.0.arrived.notify_waiters();
        tokio::select! {
            _ = opened => Ok(()),
            () = turn.cancelled().cancelled() => {
                self.waiting().remove(turn.task_id().as_str());
                Err(Over)
            }
        }
    }

    /// Lets the agent go on with a task; tells whether it waited.
    pub fn open(&self, task: &str) -> bool {
        let opener = self.waiting().remove(task);
        opener.is_some_and(|opener| opener.send(()).is_ok())
    }

    /// Whether the agent waits with this task.
    pub fn holds(&self, task: &str) -> bool {
        self.waiting().contains_key(task)
    }

    /// Ends when the agent waits with this task.
    pub async fn held(&self, task: &str) {
        loop {
            let arrived = self.0.arrived.notified();
            tokio::pin!(arrived);
            // From here on no arrival is missed; what came before is looked at.
            arrived.as_mut().enable();
            if self.holds(task) {
                return;
            }
            arrived.await;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<()>>> {
        let waiting = self.0.waiting.lock();
        waiting.unwrap_or_else(PoisonError::into_inner)
    }
}
