//! The skill `terminal-run`, which needs an approval.

use std::pin::pin;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill::reply::text_artifact;
use skill::{Chunk, Context, DefinitionError, Registry, SkillError, SkillInput, skill};
use tokio::time::{Instant, sleep_until};

use super::output::Letters;
use super::{Capped, CommandLine, Ended, RunningCommand, Shell};
use crate::error::Error;
use crate::path::ProjectPath;
use crate::sandbox::{NOT_RUN, Network};

/// The least memory that a command is begun with, in bytes. With less of the budget left it is refused.
const LEAST_MEMORY: u64 = 16 << 20;

/// How long output is gathered before it is passed on: each part that is passed on is stored.
const GATHER: Duration = Duration::from_millis(200);

/// The skill `terminal-run`, bound to a project and its sandbox. It needs an approval; its preview is the exact command
/// with what the sandbox allows.
#[derive(Clone, Debug)]
pub struct TerminalRun(Shell);

/// The input of the skill `terminal-run`.
#[derive(Clone, Debug, Deserialize, JsonSchema, SkillInput)]
#[non_exhaustive]
pub struct Run {
    /// The command line, as for sh -c.
    pub command: String,
    /// The folder to run it in, relative to the project folder or below /project; the project folder if it is left out.
    pub folder: Option<String>,
    /// True when the command needs the network.
    #[serde(default)]
    pub network: bool,
    /// After how many seconds it is ended; 120 if it is left out.
    #[schemars(range(min = 1, max = 3600))]
    pub seconds: Option<u64>,
}

/// The output of the skill `terminal-run`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Ran {
    /// The command line.
    pub command: String,
    /// What it wrote, both outputs as they came; of a long output the beginning and the end.
    pub output: String,
    /// Its exit code; 128 and the signal if a signal ended it.
    pub exit_code: i32,
    /// True when the exit code is 0.
    pub success: bool,
    /// Which sandbox it ran in: bubblewrap, landlock or none.
    pub sandbox: String,
    /// True when it could use the network.
    pub network: bool,
    /// True when it was ended because its time was over.
    pub timed_out: bool,
    /// How many bytes of the output are left out between its beginning and its end.
    pub left_out: u64,
    /// How long it took.
    pub milliseconds: u64,
    /// What else is to be said of its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A registry with the skill `terminal-run`, too. Without a sandbox a person agrees to each command by itself.
pub fn run_skill(skills: Registry, shell: Shell) -> Result<Registry, DefinitionError> {
    let unconfined = shell.is_unconfined();
    skills.with_traits(TerminalRun::new(shell), |traits| {
        traits.ask_each_time = unconfined;
    })
}

impl TerminalRun {
    pub fn new(shell: Shell) -> Self {
        Self(shell)
    }
}

#[skill(
    name = "Run a command",
    permission = "execute_commands",
    tags = ["terminal", "workspace"],
    examples = ["run ls -la", "run cargo test"],
    seconds = 3700,
    approval,
    destructive,
    open_world
)]
impl TerminalRun {
    /// Runs a command line in the project, in a sandbox, after a person has seen and approved it. Gives its output and its
    /// exit code.
    async fn run(&self, input: Run, ctx: Context) -> Result<Ran, SkillError> {
        let command = input.line()?;
        let time = input.time(&self.0);
        // The limit on its memory counts for the budgets of the turn, and is no more than they leave.
        let account = ctx.account();
        let mut bounds = self.0.sandbox().bounds;
        let left = account.memory_left().filter(|left| *left >= LEAST_MEMORY);
        bounds.data_bytes = left.map_or(bounds.data_bytes, |left| left.min(bounds.data_bytes));
        let held = account.hold_while(bounds.data_bytes);
        let _held = held.map_err(|exceeded| SkillError::failed(exceeded.to_string()))?;
        let running = self
            .0
            .start_within(&command, bounds, account.limits_cpu())
            .await
            .map_err(|error| failed(&error))?;
        Followed::new(&self.0, ctx)
            .follow(running, command, time)
            .await
    }

    /// Fills in the defaults, so that the approval shows all values.
    async fn bind(&self, input: Run) -> Result<Option<Value>, SkillError> {
        let command = input.line()?;
        let mut bound = json!({ "command": command.line, "network": input.network });
        bound["folder"] = json!(command.folder.as_str());
        bound["seconds"] = json!(input.time(&self.0).as_secs());
        Ok(Some(bound))
    }

    async fn preview(&self, input: Run) -> Result<Option<String>, SkillError> {
        let command = input.line()?;
        let shell = self.0.clone();
        let checked = command.clone();
        let check = tokio::task::spawn_blocking(move || shell.check(&checked));
        check
            .await
            .map_err(|_| SkillError::Cancelled)?
            .map_err(|error| failed(&error))?;
        Ok(Some(format!(
            "{}\n\nin {}, for at most {} seconds.\n{}",
            command.line,
            command.folder,
            input.time(&self.0).as_secs(),
            self.0.sandbox().describe(command.network)
        )))
    }

    fn tell(&self, output: &Value) -> Option<String> {
        let mut text = output.get("output")?.as_str()?.trim_end().to_owned();
        let code = output.get("exit_code")?.as_i64()?;
        let over = output.get("timed_out")?.as_bool()?;
        let note = output.get("note").and_then(Value::as_str);
        let end = match (note, code) {
            (Some(note), _) => note.to_owned(),
            (None, 0) if text.is_empty() => {
                "It ended without an error, and wrote nothing.".to_owned()
            }
            (None, 0) => return Some(text),
            (None, _) if over => "It was ended: its time was over.".to_owned(),
            (None, code) => format!("It ended with exit code {code}."),
        };
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&end);
        Some(text)
    }
}

impl Run {
    fn line(&self) -> Result<CommandLine, SkillError> {
        let folder = match &self.folder {
            Some(folder) => ProjectPath::parse(folder).map_err(|error| failed(&error))?,
            None => ProjectPath::root(),
        };
        Ok(CommandLine {
            line: self.command.trim().to_owned(),
            folder,
            network: match self.network {
                true => Network::Granted,
                false => Network::Off,
            },
        })
    }

    fn time(&self, shell: &Shell) -> Duration {
        let limits = shell.limits();
        let asked = self.seconds.map(Duration::from_secs);
        asked.unwrap_or(limits.time).min(limits.most_time)
    }
}

fn failed(error: &Error) -> SkillError {
    SkillError::coded(error.code(), format!("could not run {error}"))
}

/// A command whose output is passed on while it runs, and kept for the result.
struct Followed {
    ctx: Context,
    artifact: String,
    kept: Capped,
    letters: Letters,
    gathered: String,
    /// How much may still be passed on.
    room: usize,
    begun: bool,
    /// The processor time that was charged.
    charged: Duration,
}

impl Followed {
    fn new(shell: &Shell, ctx: Context) -> Self {
        let limits = shell.limits();
        let artifact = match ctx.count("terminal") {
            0 => "terminal".to_owned(),
            count => format!("terminal-{}", count + 1),
        };
        Self {
            ctx,
            artifact,
            kept: Capped::new(limits.head_bytes, limits.tail_bytes),
            letters: Letters::default(),
            gathered: String::new(),
            room: limits.streamed_bytes,
            begun: false,
            charged: Duration::ZERO,
        }
    }

    async fn follow(
        mut self,
        mut running: RunningCommand,
        command: CommandLine,
        time: Duration,
    ) -> Result<Ran, SkillError> {
        let began = Instant::now();
        let cancelled = self.ctx.cancelled();
        let mut used = running.used();
        let mut timed_out = false;
        let mut stopping = false;
        let mut pass_on = began + GATHER;
        loop {
            tokio::select! {
                piece = running.next() => match piece {
                    Ok(Some(piece)) => self.take(&piece.bytes),
                    Ok(None) => break,
                    Err(error) => return Err(SkillError::failed(format!("output of the command: {error}"))),
                },
                Ok(()) = used.changed() => self.charge(*used.borrow_and_update()),
                () = sleep_until(pass_on), if !self.gathered.is_empty() => {
                    self.pass_on(false).await?;
                    pass_on = Instant::now() + GATHER;
                }
                () = sleep_until(began + time), if !stopping => {
                    timed_out = true;
                    stopping = true;
                    running.stop().await;
                }
                () = cancelled.cancelled(), if !stopping => {
                    stopping = true;
                    running.stop().await;
                }
            }
        }
        let sandbox = running.sandbox();
        let mut finish = pin!(running.finish());
        let ended = loop {
            tokio::select! {
                ended = &mut finish => break ended,
                Ok(()) = used.changed() => self.charge(*used.borrow_and_update()),
            }
        };
        self.charge(*used.borrow());
        let ended = ended.map_err(|error| failed(&error))?;
        if cancelled.is_cancelled() {
            return Err(SkillError::Cancelled);
        }
        self.pass_on(true).await?;
        let output = self.kept.text();
        if ended == Ended::Exited(i32::from(NOT_RUN)) && output.starts_with("sandbox: ") {
            let why = output.trim_end().trim_start_matches("sandbox: ");
            return Err(failed(&Error::Command(why.to_owned())));
        }
        let note = match ended {
            Ended::TooManyProcesses(most) => {
                Some(format!("It was ended: it had more than {most} processes."))
            }
            _ => None,
        };
        Ok(Ran {
            command: command.line,
            output,
            exit_code: ended.code(),
            success: ended.code() == 0,
            sandbox: sandbox.to_string(),
            network: command.network == Network::Granted,
            timed_out,
            left_out: self.kept.left_out(),
            milliseconds: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            note,
        })
    }

    /// Charges what was used since the last time. Where that is too much, the turn ends at the next wait, and the command with it.
    fn charge(&mut self, used: Duration) {
        let more = used.saturating_sub(self.charged);
        self.charged = self.charged.max(used);
        self.ctx.account().charge(more);
    }

    fn take(&mut self, bytes: &[u8]) {
        self.kept.write(bytes);
        if self.room == 0 {
            return;
        }
        let mut text = self.letters.text(bytes);
        if text.len() > self.room {
            text.truncate(text.floor_char_boundary(self.room));
            text.push_str("\n… the result has the end of the output …\n");
            self.room = 0;
        } else {
            self.room -= text.len();
        }
        self.gathered.push_str(&text);
    }

    /// Passes on what was gathered. A command that wrote nothing has no artifact.
    async fn pass_on(&mut self, last: bool) -> Result<(), SkillError> {
        let text = std::mem::take(&mut self.gathered);
        let chunk = match (self.begun, last) {
            (false, true) if text.is_empty() => return Ok(()),
            (false, true) => Chunk::Whole,
            (false, false) => Chunk::First,
            (true, true) => Chunk::Last,
            (true, false) => Chunk::More,
        };
        self.begun = true;
        self.ctx
            .chunk(text_artifact(&self.artifact, text), chunk)
            .await
    }
}
