//! Terminals that a person and an agent share: a shell behind a pseudo-terminal, what it wrote, and who typed what.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Socket;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tokio_util::task::AbortOnDropHandle;

use super::{CommandLine, Ended, RunningCommand, Shell, not_begun, stopped};
use crate::error::Error;
use crate::sandbox::{Network, SandboxKind};

/// How much of the output is kept, in bytes.
const SCROLLBACK: usize = 1 << 20;

/// How many entries of what was typed are kept, and how long one may be.
const TYPED: usize = 1_000;
const TYPED_BYTES: usize = 64 << 10;

/// How many terminals of one project may be open.
const TERMINALS: usize = 16;

/// The shell that a terminal begins with.
const SHELL: &[&str] = &["/bin/sh", "-i"];

/// The size of a terminal in letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub rows: u16,
    pub columns: u16,
}

impl Default for Size {
    fn default() -> Self {
        Self {
            rows: 24,
            columns: 80,
        }
    }
}

/// A piece of input with the name of the typist, which the output of the terminal does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    pub by: String,
    pub text: Vec<u8>,
    /// The cursor of the output at that moment.
    pub at: u64,
    /// Its number among all that was typed in this terminal, from 1.
    pub number: u64,
}

/// A part of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    pub bytes: Vec<u8>,
    /// Where the next part begins.
    pub cursor: u64,
    /// How many bytes before this part were dropped already.
    pub missed: u64,
    /// The terminal has ended, and this is all.
    pub ended: Option<Ended>,
}

/// The open terminals of a project, by their ids. Clones are the same. Dropping the last one ends them all.
///
/// It owns a handle on each [`Terminal`] together with a permit. The permit is taken before the shell is started and
/// is released when the entry goes: callers that open terminals at the same time cannot start more than the limit,
/// which a count of the entries would let them do. A terminal of which the shell has ended stays in the list, with its
/// last output, until it is closed.
///
/// Closing drops the running command; the supervisor of the sandbox then ends every process that the shell left, also
/// those in sessions of their own. A handle that a reader still has does not keep the processes alive: it reads the
/// rest of the output and then the end.
///
/// Terminals are not stored. They end with the server, also when it is killed: the supervisor sees its socket close.
#[derive(Clone, Debug)]
pub struct Terminals {
    shell: Shell,
    open: Arc<Mutex<BTreeMap<String, OpenTerminal>>>,
    places: Arc<Semaphore>,
}

/// An open terminal, with the permit that bounds how many there are.
#[derive(Debug)]
struct OpenTerminal {
    terminal: Terminal,
    _permit: OwnedSemaphorePermit,
}

impl Terminals {
    pub fn new(shell: Shell) -> Self {
        Self {
            shell,
            open: Arc::default(),
            places: Arc::new(Semaphore::new(TERMINALS)),
        }
    }

    /// Opens a terminal with a shell in the project. The opener holds it.
    pub async fn open(&self, by: &str, size: Size, network: Network) -> Result<Terminal, Error> {
        // Before the shell begins, so that callers at the same time cannot begin more.
        let Ok(permit) = self.places.clone().try_acquire_owned() else {
            let why = format!("{TERMINALS} terminals are open, which is the most: close one first");
            return Err(Error::Command(why));
        };
        let terminal = Terminal::open(&self.shell, by, size, network).await?;
        let place = OpenTerminal {
            terminal: terminal.clone(),
            _permit: permit,
        };
        lock(&self.open).insert(terminal.id().to_owned(), place);
        Ok(terminal)
    }

    pub fn get(&self, id: &str) -> Option<Terminal> {
        lock(&self.open).get(id).map(|it| it.terminal.clone())
    }

    pub fn list(&self) -> Vec<Terminal> {
        let open = lock(&self.open);
        open.values().map(|it| it.terminal.clone()).collect()
    }

    /// Closes a terminal: its shell and all that it started are ended. False if there is no such terminal.
    pub fn close(&self, id: &str) -> bool {
        let closed = lock(&self.open).remove(id);
        if let Some(place) = &closed {
            place.terminal.close();
        }
        closed.is_some()
    }
}

/// A shell behind a pseudo-terminal. Clones are the same; it ends with the last of them, or when it is closed.
///
/// One name holds it: others read along and cannot type until they take it. So two typists do not mix their lines, and
/// an agent cannot finish a line that a person began. What was typed is kept with its name apart from the output, since
/// an echo does not show which of them typed it.
#[derive(Clone)]
pub struct Terminal {
    inner: Arc<Inner>,
}

struct Inner {
    id: String,
    sandbox: SandboxKind,
    network: Network,
    master: Arc<OwnedFd>,
    state: Arc<Mutex<State>>,
    /// Counts changes of the state.
    changed: watch::Receiver<u64>,
    /// Who may type; told when it changes.
    holder: watch::Sender<Option<String>>,
    /// The name that opened it, and when, in milliseconds since 1970.
    opened: (String, i64),
    /// Follows the output, and holds the running command.
    following: Mutex<Option<AbortOnDropHandle<()>>>,
}

#[derive(Debug, Default)]
struct State {
    output: VecDeque<u8>,
    /// How many bytes came before those that are kept.
    before: u64,
    typed: VecDeque<Typed>,
    /// How much was typed, also what is kept no longer.
    typings: u64,
    holder: Option<String>,
    ended: Option<Ended>,
}

impl State {
    fn cursor(&self) -> u64 {
        self.before + self.output.len() as u64
    }

    fn write(&mut self, bytes: &[u8]) {
        self.output.extend(bytes);
        let over = self.output.len().saturating_sub(SCROLLBACK);
        self.output.drain(..over);
        self.before += over as u64;
    }
}

impl Terminal {
    async fn open(shell: &Shell, by: &str, size: Size, network: Network) -> Result<Self, Error> {
        let io = |error: rustix::io::Errno| not_begun(&error.into());
        let os = |error: std::io::Error| not_begun(&error);
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).map_err(io)?;
        grantpt(&master).map_err(io)?;
        unlockpt(&master).map_err(io)?;
        let slave = ioctl_tiocgptpeer(&master, flags).map_err(io)?;
        resize(&master, size).map_err(io)?;
        let master = Arc::new(master);

        let line = CommandLine {
            network,
            ..CommandLine::new(SHELL.join(" "))
        };
        let (own, command) = (
            shell.clone(),
            SHELL.iter().map(|it| (*it).to_owned()).collect(),
        );
        let launched = tokio::task::spawn_blocking(move || own.launch(&line, command, true));
        let launch = launched.await.map_err(|_| stopped())??;
        let (server, supervisor) = Socket::pair().map_err(os)?;
        let begun = shell
            .supervisor(&launch)
            .env("TERM", "xterm-256color")
            .stdin(Stdio::from(OwnedFd::from(supervisor)))
            .stdout(Stdio::from(slave.try_clone().map_err(os)?))
            .stderr(Stdio::from(slave))
            .spawn();
        let running = RunningCommand::new(begun.map_err(os)?, server, shell);
        let running = running.map_err(os)?;

        let state = Arc::new(Mutex::new(State {
            holder: Some(by.to_owned()),
            ..State::default()
        }));
        let (tell, changed) = watch::channel(0);
        let follow = follow(running, read(&master, &state, &tell)?, state.clone(), tell);
        Ok(Self {
            inner: Arc::new(Inner {
                id: uuid::Uuid::new_v4().to_string(),
                sandbox: shell.sandbox().kind,
                network,
                master,
                state,
                changed,
                holder: watch::Sender::new(Some(by.to_owned())),
                opened: (by.to_owned(), now()),
                following: Mutex::new(Some(AbortOnDropHandle::new(tokio::spawn(follow)))),
            }),
        })
    }

    pub fn id(&self) -> &str {
        &self.inner.id
    }

    pub fn sandbox(&self) -> SandboxKind {
        self.inner.sandbox
    }

    pub fn network(&self) -> Network {
        self.inner.network
    }

    /// The name that may type.
    pub fn holder(&self) -> Option<String> {
        lock(&self.inner.state).holder.clone()
    }

    /// Told when another name may type.
    pub fn holders(&self) -> watch::Receiver<Option<String>> {
        self.inner.holder.subscribe()
    }

    /// The name that opened it, and when, in milliseconds since 1970.
    pub fn opened(&self) -> (&str, i64) {
        (&self.inner.opened.0, self.inner.opened.1)
    }

    pub fn has_ended(&self) -> bool {
        lock(&self.inner.state).ended.is_some()
    }

    /// From now on this name may type, and no other. Returns the name that could before.
    pub fn take(&self, by: &str) -> Option<String> {
        let before = lock(&self.inner.state).holder.replace(by.to_owned());
        self.inner.holder.send_replace(Some(by.to_owned()));
        before
    }

    /// This name gives it back: from now on every name may type. False if another name holds it.
    pub fn release(&self, by: &str) -> bool {
        let mut state = lock(&self.inner.state);
        let is_holder = state.holder.as_deref().is_none_or(|it| it == by);
        if is_holder {
            state.holder = None;
            self.inner.holder.send_replace(None);
        }
        is_holder
    }

    /// Types something as this name, which must hold the terminal.
    pub async fn write(&self, by: &str, text: &[u8]) -> Result<(), Error> {
        if text.len() > TYPED_BYTES {
            let why = format!(
                "{} bytes are too many to type at once, the limit is {TYPED_BYTES}",
                text.len()
            );
            return Err(Error::Command(why));
        }
        {
            let mut state = lock(&self.inner.state);
            if let Some(holder) = state.holder.as_ref().filter(|it| *it != by) {
                let why = format!("{holder} holds the terminal: take it before you type");
                return Err(Error::Command(why));
            }
            if state.ended.is_some() {
                return Err(Error::Command("the terminal has ended".to_owned()));
            }
            let at = state.cursor();
            state.typings += 1;
            let number = state.typings;
            state.typed.push_back(Typed {
                by: by.to_owned(),
                text: text.to_owned(),
                at,
                number,
            });
            if state.typed.len() > TYPED {
                state.typed.pop_front();
            }
        }
        let (master, text) = (self.inner.master.clone(), text.to_owned());
        // It waits while the program does not read, and fails when the terminal has ended.
        let typed = tokio::task::spawn_blocking(move || write_all(&master, &text));
        let typed = typed.await.map_err(|_| stopped())?;
        typed.map_err(|error| Error::Command(error.to_string()))
    }

    /// What was typed, each with the name of the typist, oldest first.
    pub fn typed(&self) -> Vec<Typed> {
        lock(&self.inner.state).typed.iter().cloned().collect()
    }

    /// What was typed after the typing of this number.
    pub fn typed_after(&self, number: u64) -> Vec<Typed> {
        let state = lock(&self.inner.state);
        let after = state.typed.iter().filter(|it| it.number > number);
        after.cloned().collect()
    }

    pub fn resize(&self, size: Size) -> Result<(), Error> {
        resize(&self.inner.master, size).map_err(|it| Error::Command(it.to_string()))
    }

    /// The output from a cursor on; 0 is the beginning. Waits until there is some, or until the terminal ends. A follower
    /// that is slower than the scrollback is told how much it missed.
    pub async fn follow(&self, cursor: u64) -> Followed {
        let mut changed = self.inner.changed.clone();
        loop {
            changed.mark_unchanged();
            if let Some(followed) = self.since(cursor) {
                return followed;
            }
            // An error: the threads that tell are gone, and so is the terminal.
            if changed.changed().await.is_err() {
                lock(&self.inner.state)
                    .ended
                    .get_or_insert(Ended::Signalled(15));
            }
        }
    }

    fn since(&self, cursor: u64) -> Option<Followed> {
        let state = lock(&self.inner.state);
        let begin = cursor.clamp(state.before, state.cursor());
        if begin == state.cursor() && state.ended.is_none() {
            return None;
        }
        let skip = usize::try_from(begin - state.before).unwrap_or(usize::MAX);
        Some(Followed {
            bytes: state.output.iter().skip(skip).copied().collect(),
            cursor: state.cursor(),
            missed: begin.saturating_sub(cursor),
            ended: state.ended,
        })
    }

    /// Ends the shell and all that it started.
    pub fn close(&self) {
        lock(&self.inner.following).take();
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal")
            .field("id", &self.inner.id)
            .field("holder", &self.holder())
            .finish_non_exhaustive()
    }
}

/// Waits until the shell has ended. Dropping this future ends the shell.
async fn follow(
    running: RunningCommand,
    output: oneshot::Receiver<()>,
    state: Arc<Mutex<State>>,
    tell: watch::Sender<u64>,
) {
    let ended = running.finish().await.unwrap_or(Ended::Signalled(9));
    // After the last process has ended the rest of its output is read.
    let _ = output.await;
    lock(&state).ended = Some(ended);
    tell.send_modify(|it| *it += 1);
}

/// Reads the output in a thread of its own, since reading a terminal blocks. It ends when the last process that has the
/// terminal closes it, for which Linux gives an error. Nothing joins the thread: the supervisor ends every process of the
/// terminal when the command is dropped, and the receiver that is returned tells that the output is complete.
fn read(
    master: &Arc<OwnedFd>,
    state: &Arc<Mutex<State>>,
    tell: &watch::Sender<u64>,
) -> Result<oneshot::Receiver<()>, Error> {
    let (done, wait) = oneshot::channel();
    let (master, state, tell) = (master.clone(), state.clone(), tell.clone());
    let thread = std::thread::Builder::new().name("terminal".to_owned());
    let begun = thread.spawn(move || {
        let mut buffer = vec![0; 16 << 10];
        loop {
            match rustix::io::read(&*master, &mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    lock(&state).write(&buffer[..count]);
                    tell.send_modify(|it| *it += 1);
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => break,
            }
        }
        let _ = done.send(());
    });
    begun.map_err(|error| not_begun(&error))?;
    Ok(wait)
}

fn write_all(master: &OwnedFd, mut text: &[u8]) -> rustix::io::Result<()> {
    while !text.is_empty() {
        match rustix::io::write(master, text) {
            Ok(count) => text = &text[count..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn resize(master: &OwnedFd, size: Size) -> rustix::io::Result<()> {
    let size = Winsize {
        ws_row: size.rows,
        ws_col: size.columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(master, size)
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
