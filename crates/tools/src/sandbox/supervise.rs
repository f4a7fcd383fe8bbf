//! The first stage: starts the command and ends all that it leaves.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process_group, pidfd_open,
    set_child_subreaper, wait,
};
use serde::{Deserialize, Serialize};

use super::{ENTER, Launch, NOT_RUN, SandboxKind, bubblewrap, processes, stage};

/// How often the number of processes is looked at, and remaining ones are ended.
const TICK: Duration = Duration::from_millis(20);

/// How often processor time is looked at while the command runs, if it is sampled.
const SAMPLE: Duration = Duration::from_millis(250);

/// What the supervisor tells the server, a line of JSON for each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Report {
    /// The command has begun, as this process.
    Began(i32),
    Exited(i32),
    /// A signal ended it.
    Signalled(i32),
    /// It had more processes than it may have, and was ended.
    TooManyProcesses(u64),
    /// How much processor time it and all that it started have used so far, in milliseconds.
    Used(u64),
    /// It was not begun, for this reason.
    Failed(String),
}

/// Supervises the command until it and all that it started have ended.
pub(super) fn run(launch: &Launch) -> ExitCode {
    let outcome = Supervisor::start(launch).map(Supervisor::follow);
    // All processes have ended, so that no one writes to the folder.
    let _ = std::fs::remove_dir_all(&launch.scratch);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&Report::Failed(error.to_string()));
            ExitCode::from(NOT_RUN)
        }
    }
}

/// Standard input is one end of a socket; the server has the other.
fn lifeline() -> io::Result<UnixStream> {
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    Ok(UnixStream::from(socket))
}

/// A server that is gone hears nothing.
fn tell(report: &Report) {
    let line = serde_json::to_string(report).unwrap_or_default();
    if let Ok(mut socket) = lifeline() {
        let _ = writeln!(socket, "{line}");
    }
}

struct Supervisor {
    socket: UnixStream,
    main: Pid,
    most: u64,
    /// The processes of the machine before the command began.
    before: u64,
    grace: Duration,
    /// How the main process ended.
    ended: Option<Report>,
    /// When what is left is killed, after it was asked to end.
    deadline: Option<Instant>,
    /// When processor time is looked at again; never while the command runs if it is not sampled.
    sample: Option<Instant>,
    /// What was told of it, in milliseconds.
    told: u64,
}

impl Supervisor {
    fn start(launch: &Launch) -> io::Result<Self> {
        // Processes that leave their parents become children of this one.
        set_child_subreaper(Some(getpid()))?;
        let before = processes::threads();
        let mut launch = launch.clone();
        launch.protected.push(std::process::id());
        let main = begin(&launch)?;
        tell(&Report::Began(main.as_raw_pid()));
        Ok(Self {
            socket: lifeline()?,
            main,
            most: launch.bounds.processes,
            before,
            grace: launch.bounds.grace,
            ended: None,
            deadline: None,
            sample: launch.sampled.then(|| Instant::now() + SAMPLE),
            told: 0,
        })
    }

    /// Until no process is left.
    fn follow(mut self) {
        let main = pidfd_open(self.main, PidfdFlags::empty()).ok();
        loop {
            self.reap();
            if self.sample.is_some_and(|at| Instant::now() >= at) {
                self.tell_used();
                self.sample = Some(Instant::now() + SAMPLE);
            }
            let left = match self.ended.is_some() || self.deadline.is_some() || self.is_many() {
                true => processes::descendants(),
                false => Vec::new(),
            };
            if self.ended.is_some() && left.is_empty() {
                break;
            }
            let over = self.deadline.is_some_and(|it| Instant::now() >= it);
            let many = left.len() as u64 > self.most;
            if many {
                self.ended = Some(Report::TooManyProcesses(self.most));
            }
            if self.ended.is_some() || over {
                self.end(&left);
            }
            let ending = self.ended.is_some() || self.deadline.is_some();
            let wait = match ending {
                true => Duration::from_millis(5),
                false => TICK,
            };
            let watched = main.as_ref().filter(|_| self.ended.is_none());
            if self.is_dropped(watched.map(|it| it.as_fd()), wait) && self.deadline.is_none() {
                ask_to_end();
                self.deadline = Some(Instant::now() + self.grace);
            }
        }
        self.tell_used();
        if let Some(ended) = &self.ended {
            tell(ended);
        }
    }

    /// Says how much processor time was used, if that is more than was said.
    fn tell_used(&mut self) {
        let used = u64::try_from(processes::used().as_millis()).unwrap_or(u64::MAX);
        if used > self.told {
            self.told = used;
            tell(&Report::Used(used));
        }
    }

    /// Ends processes: the whole group by one signal, which no process of it can outrun by starting others; and what is in
    /// other groups one by one, stopped before, since one that runs could start others meanwhile.
    fn end(&self, left: &[processes::Descendant]) {
        let _ = kill_process_group(self.main, Signal::KILL);
        processes::signal(left, Signal::STOP);
        processes::signal(left, Signal::KILL);
    }

    /// Reaps what has ended, also processes that became children of this one.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid != self.main || self.ended.is_some() {
                continue;
            }
            let signal = status.terminating_signal().map(Report::Signalled);
            let exit = status.exit_status().map(Report::Exited);
            self.ended = signal.or(exit);
        }
    }

    /// Whether the machine has so many more processes that it is worth a look which of them are the command's.
    fn is_many(&self) -> bool {
        processes::threads() > self.before.saturating_add(self.most)
    }

    /// Waits, and returns whether the server has dropped its end. The end of the main process ends the wait, too.
    fn is_dropped(&mut self, main: Option<BorrowedFd<'_>>, time: Duration) -> bool {
        let time = rustix::time::Timespec::try_from(time).ok();
        let ready = {
            let mut ends = vec![];
            if self.deadline.is_none() {
                ends.push(PollFd::new(&self.socket, PollFlags::IN));
            }
            if let Some(main) = main {
                ends.push(PollFd::from_borrowed_fd(main, PollFlags::IN));
            }
            let _ = poll(&mut ends, time.as_ref());
            self.deadline.is_none() && ends.first().is_some_and(|it| !it.revents().is_empty())
        };
        // The server sends nothing: what can be read is the end.
        ready && !matches!(self.socket.read(&mut [0; 16]), Ok(1..))
    }
}

/// Starts the second stage, inside of bubblewrap if that is the kind.
fn begin(launch: &Launch) -> io::Result<Pid> {
    let helper = &launch.helper;
    let entering = stage(helper, ENTER, launch);
    let mut command = match launch.kind {
        SandboxKind::Bubblewrap => {
            let missing = || io::Error::new(io::ErrorKind::NotFound, "bwrap is not in PATH");
            let mut command = Command::new(launch.bubblewrap.as_ref().ok_or_else(missing)?);
            command.args(bubblewrap::arguments(launch, &helper.program));
            command.arg(&helper.program);
            command
        }
        SandboxKind::Landlock | SandboxKind::None => Command::new(&helper.program),
    };
    command.args(entering);
    match launch.terminal {
        // It begins a session of its own, which the leader of a group cannot.
        true => {
            command.stdin(Stdio::from(io::stdout().as_fd().try_clone_to_owned()?));
        }
        false => {
            command.stdin(Stdio::null()).process_group(0);
        }
    }
    // It is reaped with all other children, by `Supervisor::reap`.
    let child = command.spawn()?;
    Ok(Pid::from_child(&child))
}

/// Asks every process to end, except those that hold a namespace: with them all others would end at once.
fn ask_to_end() {
    let mut left = processes::descendants();
    left.retain(|it| it.name != "bwrap");
    processes::signal(&left, Signal::TERM);
}
