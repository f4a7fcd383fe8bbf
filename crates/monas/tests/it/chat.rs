//! A conversation at a terminal: the program on a pseudo-terminal, as a person meets it.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tokio::process::{Child, Command};

use crate::support::program::{Monas, living, run};

/// How long something may take to appear.
const TIME: Duration = Duration::from_secs(60);

/// The program on a terminal, with what is on the screen so far.
struct Terminal {
    process: Child,
    keys: File,
    screen: Receiver<String>,
    shown: String,
}

impl Terminal {
    fn start(mut command: Command) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let open = || {
            let path = Path::new(name.to_str().unwrap());
            let file = OpenOptions::new().read(true).write(true).open(path);
            Stdio::from(file.unwrap())
        };
        command.stdin(open()).stdout(open()).stderr(open());
        let process = command.spawn().unwrap();
        drop(command);
        let keys = File::from(controller);
        let mut screen = keys.try_clone().unwrap();
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The read fails when the program has closed the other end.
            while let Ok(read @ 1..) = screen.read(&mut buffer) {
                let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
                if sender.send(text).is_err() {
                    return;
                }
            }
        });
        Self {
            process,
            keys,
            screen: receiver,
            shown: String::new(),
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until these words are on the screen; gives what came before them and forgets it.
    fn expect(&mut self, words: &str) -> String {
        loop {
            if let Some(at) = self.shown.find(words) {
                let rest = self.shown.split_off(at + words.len());
                return std::mem::replace(&mut self.shown, rest);
            }
            match self.screen.recv_timeout(TIME) {
                Ok(more) => self.shown += &more,
                Err(_) => panic!("no {words:?} on the screen:\n{}", self.shown),
            }
        }
    }

    /// Sends the signal of Ctrl-C. The terminal of a test controls no process, so the key alone sends none.
    async fn interrupt(&self) {
        let id = self.process.id().unwrap().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().await;
        assert!(sent.unwrap().success());
    }

    async fn ended(mut self) -> (Option<i32>, String) {
        let code = self.process.wait().await.unwrap().code();
        while let Ok(more) = self.screen.recv_timeout(Duration::from_millis(500)) {
            self.shown += &more;
        }
        (code, self.shown)
    }
}

fn chat(home: &Path, arguments: &[&str]) -> Terminal {
    let mut command = living(home);
    command.arg("chat").args(arguments).env("TERM", "xterm");
    Terminal::start(command)
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_are_edited_completed_and_remembered() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    let mut terminal = chat(home.path(), &[]);
    terminal.expect("/help for help");
    terminal.expect("> ");
    // Ctrl-A goes to the beginning of the line; what was missing is put there.
    terminal.press("emember that Ada likes tea\x01r\r");
    terminal.expect("Ada likes tea\r\n");
    terminal.expect("> ");
    // It went wrong: the up arrow was sent to the agent as "[A".
    terminal.press("\x1b[A");
    terminal.expect("remember that Ada likes tea");
    terminal.press("\x15/hel\t\r");
    terminal.expect("cancels the task");
    terminal.expect("> ");
    terminal.press("\x03");
    terminal.expect("Ctrl-D ends the chat");
    terminal.expect("> ");
    terminal.press("/exit\r");
    terminal.expect("continue with: monas chat --context-id ");
    assert_eq!(terminal.ended().await.0, Some(0));

    let history = home.path().join(".local/share/monas/chat-history");
    let mode = std::fs::metadata(&history).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    let mut terminal = chat(home.path(), &[]);
    terminal.expect("> ");
    terminal.press("\x1b[A\x1b[A\x1b[A");
    terminal.expect("remember that Ada likes tea");
    terminal.press("\x15\x04");
    assert_eq!(terminal.ended().await.0, Some(0));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_shows_its_difference_in_colour_and_interrupting_cancels_it() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    let mut terminal = chat(home.path(), &["--color", "always"]);
    terminal.expect("> ");
    terminal.press("/file-write path=notes.md content=hello\r");
    let question = terminal.expect("\x1b[32m+hello\x1b[0m");
    assert!(question.contains("May I call"), "{question}");
    terminal.expect("> ");
    // It went wrong: Ctrl-C ended the chat and left the task waiting for a week.
    terminal.press("\x03");
    terminal.expect("canceled task");
    terminal.expect("> ");
    terminal.press("/task\r");
    terminal.expect("no task waits");
    terminal.expect("> ");
    // `/new` says what it leaves behind.
    terminal.press("/file-write path=notes.md content=hello\r");
    terminal.expect("May I call");
    terminal.expect("> ");
    terminal.press("/new\r");
    terminal.expect("goes on waiting: monas send --task-id ");
    terminal.expect("> ");
    terminal.press("\x04");
    let (code, screen) = terminal.ended().await;
    assert_eq!(code, Some(0), "{screen}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_without_colours_gets_none_and_a_lost_server_ends_nothing() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    let mut command = living(home.path());
    command.args(["chat", "--timeout", "1s"]);
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    let mut terminal = Terminal::start(command);
    terminal.expect("> ");
    terminal.press("/file-write path=notes.md content=hello\r");
    let question = terminal.expect("+hello");
    assert!(!question.contains("\x1b[3"), "{question}");
    terminal.expect("> ");
    terminal.press("no\r");
    terminal.expect("canceled");
    terminal.expect("> ");
    server.stop().await;
    terminal.press("hello\r");
    terminal.expect("goes on with: monas chat --context-id ");
    terminal.expect("error: ");
    terminal.expect("> ");
    terminal.press("/exit\r");
    assert_eq!(terminal.ended().await.0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_skills_are_shown_when_they_begin_and_when_they_have_ended() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    let mut terminal = chat(home.path(), &["--color", "never"]);
    terminal.expect("> ");
    terminal.press("/file-list path=.\r");
    terminal.expect("calling file-list (path: .)");
    terminal.expect("file-list is done");
    terminal.expect("> ");
    terminal.press("/file-read path=none.md\r");
    terminal.expect("calling file-read (path: none.md)");
    terminal.expect("file-read failed: ");
    terminal.expect("> ");
    terminal.press("/file-write path=notes.md content=hello\r");
    terminal.expect("calling file-write (content: hello; path: notes.md)");
    terminal.expect("May I call");
    terminal.expect("> ");
    terminal.press("yes\r");
    terminal.expect("file-write is done");
    terminal.expect("> ");
    terminal.press("\x04");
    let (code, screen) = terminal.ended().await;
    assert_eq!(code, Some(0), "{screen}");

    let mut send = living(home.path());
    let streamed = run(send.args(["send", "--stream", "list my files"])).await;
    assert!(
        streamed.stderr.contains("calling file-list"),
        "{streamed:?}"
    );
    assert!(
        streamed.stderr.contains("file-list is done"),
        "{streamed:?}"
    );
    assert!(!streamed.stdout.contains("calling"), "{streamed:?}");
    // Where it was not asked for, the answer is all.
    let mut send = living(home.path());
    let plain = run(send.args(["send", "list my files", "-o", "json"])).await;
    assert!(!plain.stdout.contains("calling"), "{plain:?}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_is_typed_while_the_server_is_away_is_answered_when_it_is_back() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    let address = server.authority().to_owned();
    let mut terminal = chat(home.path(), &["--color", "never"]);
    terminal.expect("> ");
    terminal.press("remember that Ada likes tea\r");
    terminal.expect("> ");
    server.signal("KILL").await;
    server.ended().await;
    terminal.press("what do you know about Ada?\r");
    terminal.expect("the connection is lost");
    let server = Monas::start_at(&address, &mut living(home.path())).await;
    terminal.expect("connected again");
    let shown = terminal.expect("> ");
    assert!(shown.contains("tea"), "{shown}");
    terminal.press("\x04");
    let (code, screen) = terminal.ended().await;
    assert_eq!(code, Some(0), "{screen}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_stops_the_turn_and_not_the_program() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    let mut terminal = chat(home.path(), &["--color", "never"]);
    terminal.expect("> ");
    terminal.press("run echo begun; sleep 600\r");
    terminal.expect("May I call");
    terminal.expect("> ");
    terminal.press("yes\r");
    // The output of the command is shown while it runs.
    terminal.expect("begun");
    terminal.interrupt().await;
    terminal.expect("canceled task");
    terminal.expect("> ");
    // Several lines are one message.
    terminal.press("remember that Ada \\\rlikes tea\r");
    terminal.expect("> ");
    terminal.press("what do you know about Ada?\r");
    let shown = terminal.expect("> ");
    assert!(shown.contains("likes tea"), "{shown}");
    terminal.process.kill().await.unwrap();
    server.stop().await;
}

#[tokio::test]
async fn a_pipe_gets_answers_without_colours_and_the_rest_on_standard_error() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    let mut command = living(home.path());
    command.arg("chat").env("TERM", "xterm");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
    let lines = b"run echo one; echo two\nyes\nremember that Ada \\\nlikes tea\n";
    let mut input = process.stdin.take().unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut input, lines)
        .await
        .unwrap();
    drop(input);
    let output = process.wait_with_output().await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(
        !out.contains('\x1b') && !err.contains('\x1b'),
        "{out}\n{err}"
    );
    assert!(out.contains("May I call terminal-run?"), "{out}");
    assert!(out.contains("one\ntwo\n"), "{out}");
    assert!(
        err.contains("calling terminal-run (command: echo one; echo two)"),
        "{err}"
    );
    assert!(err.contains("terminal-run is done"), "{err}");
    // It was a session of the chat, with every message once.
    let mut sessions = living(home.path());
    let sessions = run(sessions.args(["task", "list", "-o", "json"])).await;
    let tasks: serde_json::Value = serde_json::from_str(&sessions.stdout).unwrap();
    let tasks = tasks["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 2, "{sessions:?}");
    assert_eq!(tasks[0]["contextId"], tasks[1]["contextId"]);
    server.stop().await;
}
