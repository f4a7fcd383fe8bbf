//! The process of Chromium: how it is found, started over a pipe, and ended.
//!
//! Commands go through a pipe and not through a port: a port on loopback could be used by every user of the machine and
//! by pages of other browsers. The ends of the pipe are file descriptors 3 and 4 of the child; a shell that replaces
//! itself by Chromium moves them there, since the standard library passes on descriptors 0 to 2 alone. When this process
//! ends, however it ends, the pipe closes, and Chromium ends with it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use crate::error::Error;
use crate::options::{Options, Sandbox};
use crate::profile::Profile;

/// The names under which systems install Chromium, in the order in which they are looked for.
pub const PROGRAMS: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

/// The folders into which systems install it.
pub const FOLDERS: [&str; 5] = [
    "/usr/local/bin",
    "/usr/bin",
    "/snap/bin",
    "/opt/google/chrome",
    "/opt/homebrew/bin",
];

/// How many of the last lines of what Chromium wrote are kept for errors.
const LINES: usize = 8;

/// How long an ordinary end may take.
const GRACE: Duration = Duration::from_secs(3);

const FLAGS: &[&str] = &[
    "--headless=new",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--no-startup-window",
    "--no-pings",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    // A page of the history is loaded anew: one that was frozen tells nothing of its stages.
    "--disable-back-forward-cache",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-features=AutofillServerCommunication,DialMediaRouteProvider,MediaRouter,OptimizationHints,Translate,\
     GlobalMediaControls,HttpsUpgrades,PaintHolding,InterestFeedContentSuggestions,LocalNetworkAccessChecks,PreconnectToSearch,\
     SearchPrefetchServicePrefetching",
    "--disable-hang-monitor",
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--enable-automation",
    "--hide-scrollbars",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    // Two ways around the gateway are closed: names that Chromium resolves itself, and datagrams of WebRTC.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
];

/// The running program. Dropping it kills it and removes its profile.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    group: Option<u32>,
    lines: Arc<Mutex<Vec<String>>>,
    reading: JoinHandle<()>,
    profile: Option<Profile>,
}

/// The two ends of the pipe that commands go through.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) commands: ChildStdin,
    pub(crate) answers: ChildStdout,
}

/// The path of Chromium on this machine.
pub(crate) fn find(options: &Options) -> Result<PathBuf, Error> {
    if let Some(program) = &options.program {
        return match program.is_file() {
            true => Ok(program.clone()),
            false => Err(Error::Missing(format!(
                "there is no program {}",
                program.display()
            ))),
        };
    }
    let found = PROGRAMS
        .iter()
        .flat_map(|name| options.folders.iter().map(move |it| it.join(name)))
        .find(|it| it.is_absolute() && it.is_file());
    found.ok_or_else(|| {
        let folders = options.folders.iter().map(|it| it.display().to_string());
        let folders = folders.collect::<Vec<_>>().join(", ");
        Error::Missing(format!("there is no Chromium in {folders}"))
    })
}

impl Process {
    pub(crate) fn start(options: &Options) -> Result<(Self, Pipe), Error> {
        let program = find(options)?;
        if options.sandbox == Sandbox::On && is_root() {
            return Err(Error::SandboxAsRoot);
        }
        let failed = |doing: &str, error: std::io::Error| Error::Start(format!("{doing}: {error}"));
        let profile =
            Profile::make(&options.profiles).map_err(|error| failed("make its profile", error))?;
        let mut command = command(&program);
        command
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.chromium().display()))
            .arg(format!(
                "--window-size={},{}",
                options.view.0, options.view.1
            ));
        if options.sandbox == Sandbox::Off {
            command.arg("--no-sandbox");
        }
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command
            .spawn()
            .map_err(|error| failed(&program.display().to_string(), error))?;
        let (Some(commands), Some(answers), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Error::Start("its pipes were not made".to_owned()));
        };
        let lines = Arc::default();
        let reading = tokio::spawn(keep_last_lines(errors, Arc::clone(&lines)));
        let process = Self {
            group: child.id(),
            child,
            lines,
            reading,
            profile: Some(profile),
        };
        Ok((process, Pipe { commands, answers }))
    }

    pub(crate) fn profile(&self) -> Option<&Profile> {
        self.profile.as_ref()
    }

    /// The number of its first process.
    pub(crate) fn id(&self) -> Option<u32> {
        self.group
    }

    /// The end of what it wrote, for errors.
    pub(crate) fn last_words(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        match lines.is_empty() {
            true => "it ended without a word".to_owned(),
            false => format!("it ended and wrote: {}", lines.join(" | ")),
        }
    }

    /// Waits until it has ended by itself, and kills it if that takes too long. Its profile is removed.
    pub(crate) async fn end(mut self) {
        if tokio::time::timeout(GRACE, self.child.wait())
            .await
            .is_err()
        {
            self.kill();
            let _ = tokio::time::timeout(GRACE, self.child.wait()).await;
        }
        // Other processes of its group end a moment after the first one.
        self.kill();
        let profile = self.profile.take();
        let _ = tokio::task::spawn_blocking(move || drop(profile)).await;
    }

    fn kill(&self) {
        #[cfg(unix)]
        if let Some(group) = self.group
            && let Some(group) = rustix::process::Pid::from_raw(group.cast_signed())
        {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.reading.abort();
        if self.profile.is_some() {
            self.kill();
        }
    }
}

/// The command that starts Chromium with its pipe as descriptors 3 and 4.
fn command(program: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .arg("-c")
        .arg(r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null"#)
        .arg(program);
    command
}

fn is_root() -> bool {
    #[cfg(unix)]
    {
        rustix::process::geteuid().is_root()
    }
    #[cfg(not(unix))]
    false
}

async fn keep_last_lines(errors: ChildStderr, kept: Arc<Mutex<Vec<String>>>) {
    let mut lines = BufReader::new(errors).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        // Chromium reports the missing desktop of a server.
        if line.contains("dbus") || line.trim().is_empty() {
            continue;
        }
        let line: String = line.chars().take(300).collect();
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == LINES {
            kept.remove(0);
        }
        kept.push(line);
    }
}
