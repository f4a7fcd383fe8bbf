//! Commands that try to leave their sandbox, in each kind of sandbox that works on this machine.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use tools::sandbox::{Helper, Network, Sandbox, SandboxKind};
use tools::terminal::{Capped, CommandLine, Ended, Shell};

use crate::support::{Bed, SECRET, names};

/// A variable of the machine's programs, and one that is a secret of the server.
const SHOWN: &str = "SHOWN_VARIABLE";

pub(crate) struct Ran {
    pub(crate) output: String,
    pub(crate) ended: Ended,
}

impl Bed {
    /// Commands in the project; what is outside of it is hidden but for `outside/deep`.
    pub(crate) fn shell(&self, kind: SandboxKind) -> Shell {
        self.shell_with(kind, |_| {})
    }

    pub(crate) fn shell_with(&self, kind: SandboxKind, change: impl FnOnce(&mut Sandbox)) -> Shell {
        let helper = Helper {
            program: env!("CARGO_BIN_EXE_sandbox-exec").into(),
            arguments: Vec::new(),
        };
        let mut sandbox = Sandbox::new(kind, helper, self.outside.join("scratch"));
        sandbox.hidden = vec![self.outside.clone()];
        sandbox.environment = vec![
            ("PATH".to_owned(), std::env::var("PATH").unwrap()),
            (SHOWN.to_owned(), "shown".to_owned()),
        ];
        sandbox.bounds.grace = Duration::from_millis(500);
        change(&mut sandbox);
        Shell::new(self.project.clone(), sandbox)
    }
}

pub(crate) fn kinds() -> Vec<SandboxKind> {
    let path = std::env::var("PATH").unwrap();
    let kinds = SandboxKind::available(Some(&path));
    assert!(
        !kinds.is_empty(),
        "neither bubblewrap nor Landlock works here"
    );
    kinds
}

pub(crate) async fn run(shell: &Shell, command: &CommandLine) -> Ran {
    let ran = async {
        let mut running = shell.start(command).await.unwrap();
        let mut output = Capped::new(1 << 20, 0);
        while let Some(piece) = running.next().await.unwrap() {
            output.write(&piece.bytes);
        }
        Ran {
            output: output.text(),
            ended: running.finish().await.unwrap(),
        }
    };
    let ran = tokio::time::timeout(Duration::from_secs(60), ran).await;
    ran.expect("a command that ends")
}

async fn sh(shell: &Shell, line: impl Into<String>) -> Ran {
    run(shell, &CommandLine::new(line)).await
}

/// Processes with this text in their command line.
pub(crate) fn processes(text: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|it| {
        let number = it.file_name().into_string().ok()?;
        number.parse::<u32>().ok()?;
        let line = fs::read(it.path().join("cmdline")).ok()?;
        Some(format!("{number} {}", String::from_utf8_lossy(&line)))
    });
    lines.filter(|it| it.contains(text)).collect()
}

#[tokio::test]
async fn a_command_works_in_its_project_and_sees_the_machine_but_not_the_server() {
    for kind in kinds() {
        let bed = Bed::new();
        bed.put("src/a.txt", "rain\n");
        let shell = bed.shell(kind);
        let script = "set -e; cat src/a.txt; echo sun > src/b.txt; mv src/b.txt c.txt; ls /usr > /dev/null; \
            echo t > $TMPDIR/t; cat $TMPDIR/t; rm c.txt; echo new > d.txt; exit 3";
        let ran = sh(&shell, script).await;
        assert_eq!(ran.output, "rain\nt\n", "{kind}");
        assert_eq!(ran.ended, Ended::Exited(3));
        assert_eq!(fs::read_to_string(bed.root.join("d.txt")).unwrap(), "new\n");
        // The folder for temporary files is gone.
        assert_eq!(names(&bed.outside.join("scratch")), Vec::<String>::new());

        let environment = sh(&shell, "env").await.output;
        assert!(
            environment.contains("SHOWN_VARIABLE=shown"),
            "{environment}"
        );
        assert!(!environment.contains("CARGO"), "{environment}");
        let folder = CommandLine {
            folder: tools::ProjectPath::parse("src").unwrap(),
            ..CommandLine::new("cat a.txt")
        };
        assert_eq!(run(&shell, &folder).await.output, "rain\n");
    }
}

#[tokio::test]
async fn nothing_outside_of_the_project_is_written_and_no_secret_is_read() {
    for kind in kinds() {
        let bed = Bed::new();
        bed.link(&bed.outside, "out");
        let shell = bed.shell(kind);
        let outside = bed.outside.display();
        let home = bed.root.parent().unwrap().display().to_string();
        for attempt in [
            format!("echo x > {outside}/new.txt"),
            format!("echo x > {home}/new.txt"),
            "echo x > out/new.txt".to_owned(),
            "echo x > out/secret.txt".to_owned(),
            "echo x > /usr/new.txt".to_owned(),
            "echo x >> /etc/hostname".to_owned(),
            format!("truncate -s 0 {outside}/secret.txt"),
            format!("rm -r {outside}/deep"),
            format!("ln {outside}/secret.txt hard.txt"),
            format!("mv {outside}/secret.txt here.txt"),
            "cat out/secret.txt".to_owned(),
            format!("cat {outside}/deep/secret.txt"),
            format!("cat /proc/self/root{outside}/secret.txt"),
            format!("cat /proc/{}/root{outside}/secret.txt", std::process::id()),
            format!(
                "cat /proc/{}/environ | tr '\\0' '\\n' | grep CARGO",
                std::process::id()
            ),
            format!("cat /proc/{}/cwd/Cargo.toml", std::process::id()),
            format!("unshare -rm mount --bind {outside} src"),
        ] {
            // Some of these change the times of the folder by being refused; contents count.
            let ran = sh(&shell, &*attempt).await;
            assert!(
                !ran.output.contains(SECRET),
                "{kind}: {attempt}: {}",
                ran.output
            );
            assert_ne!(
                ran.ended,
                Ended::Exited(0),
                "{kind}: {attempt}: {}",
                ran.output
            );
            let _ = fs::remove_dir(bed.outside.join("scratch"));
            bed.check_outside();
        }
        assert!(!Path::new("/usr/new.txt").exists());
    }
}

#[tokio::test]
async fn the_network_is_reached_only_if_it_is_granted() {
    for kind in kinds() {
        let bed = Bed::new();
        let shell = bed.shell(kind);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let line = format!("bash -c 'echo hello > /dev/tcp/127.0.0.1/{port}'");
        assert_ne!(sh(&shell, &*line).await.ended, Ended::Exited(0), "{kind}");
        listener.set_nonblocking(true).unwrap();
        assert!(
            listener.accept().is_err(),
            "{kind}: a connection came through"
        );

        let granted = CommandLine {
            network: Network::Granted,
            ..CommandLine::new(line)
        };
        let ran = run(&shell, &granted).await;
        assert_eq!(ran.ended, Ended::Exited(0), "{kind}: {}", ran.output);
        assert!(listener.accept().is_ok(), "{kind}");
    }
}

#[tokio::test]
async fn no_process_outlives_its_command_and_none_kills_the_server() {
    for kind in kinds() {
        let bed = Bed::new();
        let shell = bed.shell(kind);
        let server = std::process::id();
        // Signal 0 asks whether a signal may be sent: a sandbox that fails here ends nothing of this machine. A
        // namespace has other numbers: the parent there is a process of the sandbox itself.
        let targets = match kind {
            SandboxKind::Landlock => format!("$PPID {server} -{server} -1"),
            _ => format!("{server} -{server}"),
        };
        let script = format!(
            "for it in {targets}; do kill -s 0 -- $it 2> /dev/null && echo reached $it; done; echo ended"
        );
        let ran = sh(&shell, script).await;
        assert_eq!(ran.output, "ended\n", "{kind}");

        let mark = format!("7{server}.5{}", kind as u8);
        let script = format!(
            "setsid sleep {mark} & (setsid setsid sleep {mark} &) ; nohup sleep {mark} > /dev/null & sleep 0.1; echo begun"
        );
        let ran = sh(&shell, script).await;
        assert_eq!(
            (&*ran.output, ran.ended),
            ("begun\n", Ended::Exited(0)),
            "{kind}"
        );
        assert_eq!(processes(&mark), Vec::<String>::new(), "{kind}");

        // Dropped in the middle, with processes that ignore the request to end.
        let script =
            format!("trap '' TERM; setsid sleep {mark} & echo begun; sleep {mark}; sleep {mark}");
        let mut running = shell.start(&CommandLine::new(script)).await.unwrap();
        assert_eq!(running.next().await.unwrap().unwrap().bytes, b"begun\n");
        assert_ne!(processes(&mark), Vec::<String>::new());
        drop(running);
        let gone = async {
            while !processes(&mark).is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let gone = tokio::time::timeout(Duration::from_secs(20), gone).await;
        gone.expect("all processes end");
    }
}

/// The bomb ends by itself after 500 processes: where the bound does not hold, the machine of the tests goes on.
#[tokio::test]
async fn a_fork_bomb_is_bounded() {
    for kind in kinds() {
        let bed = Bed::new();
        let shell = bed.shell_with(kind, |it| it.bounds.processes = 64);
        let mark = format!("6{}.7{}", std::process::id(), kind as u8);
        let bomb = format!(
            "f() {{ [ $1 = 0 ] || {{ f $(($1 - 1)) & f $(($1 - 1)) & }}; sleep {mark}; }}; f 7; sleep {mark}"
        );
        let ran = sh(&shell, bomb).await;
        // As a privileged user the supervisor ends it, else the kernel lets it start no more, and it is stopped here.
        assert_ne!(ran.ended, Ended::Exited(0), "{kind}: {}", ran.output);
        assert_eq!(processes(&mark), Vec::<String>::new(), "{kind}");
    }
}
