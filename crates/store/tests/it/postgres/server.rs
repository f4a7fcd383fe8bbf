//! A PostgreSQL server for tests: in a temporary folder, reached over a socket in it, ended with the test process.
//!
//! A shell between the test and the server reads from a pipe that only this process holds. However the process ends, the
//! pipe closes; the shell then stops the server and removes the folder.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a server may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a shell does with: the program, the folder of the data, the folder of all, further settings. It is told to end the
/// server the quick way by a line, and does so the orderly way when the pipe closes.
const KEEP: &str = r#"
program=$1; data=$2; all=$3; shift 3
"$program" -D "$data" -k "$all" "$@" >>"$all/log" 2>&1 &
server=$!
if read -r word; then kill -QUIT $server; wait $server; else kill -INT $server; wait $server; rm -rf "$all"; fi
"#;

/// A running server, or one that was stopped and can be started again.
pub(crate) struct Server {
    programs: PathBuf,
    folder: PathBuf,
    /// The user that the server runs as; none if it is the one that runs the tests.
    user: Option<(u32, u32)>,
    settings: Vec<String>,
    keeper: Option<Child>,
}

impl Server {
    /// The server that the tests of this process share.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Server> = OnceLock::new();
        SHARED.get_or_init(|| Self::start(&[]))
    }

    /// A server of its own, with further settings.
    pub(crate) fn start(settings: &[&str]) -> Self {
        Self::start_with(settings, &[])
    }

    /// The same with files in the folder of its data, which only the server can read.
    pub(crate) fn start_with(settings: &[&str], files: &[(&str, &str)]) -> Self {
        let programs = programs();
        let folder = tempfile::Builder::new()
            .prefix("monas-pg-")
            .tempdir()
            .unwrap()
            .keep();
        let user = other_user(&folder);
        if let Some((user, group)) = user {
            chown(&folder, Some(user), Some(group)).unwrap();
        }
        let settings = settings
            .iter()
            .map(|setting| (*setting).to_owned())
            .collect();
        let mut server = Self {
            programs,
            folder,
            user,
            settings,
            keeper: None,
        };
        let mut initdb = server.command("initdb");
        initdb.args([
            "--auth=trust",
            "--username=monas",
            "--no-sync",
            "--encoding=UTF8",
            "--locale=C",
            "-D",
        ]);
        let made = initdb.arg(server.data()).output().unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        for (name, content) in files {
            let path = server.data().join(name);
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            if let Some((user, group)) = server.user {
                chown(&path, Some(user), Some(group)).unwrap();
            }
        }
        server.resume();
        server
    }

    /// Starts a server that was stopped, and waits until it takes connections.
    pub(crate) fn resume(&mut self) {
        let mut shell = self.command_at(Path::new("/bin/sh"));
        shell
            .args(["-c", KEEP, "keep"])
            .arg(self.programs.join("postgres"));
        shell.arg(self.data()).arg(&self.folder);
        let mut settings = vec![
            "listen_addresses=",
            "fsync=off",
            "full_page_writes=off",
            "max_connections=200",
        ];
        settings.extend(["shared_buffers=64MB", "autovacuum_naptime=5s"]);
        settings.extend(self.settings.iter().map(String::as_str));
        for setting in settings {
            shell.args(["-c", setting]);
        }
        shell
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.keeper = Some(shell.spawn().unwrap());
        let since = Instant::now();
        while !self.is_ready() {
            let log = || fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(
                since.elapsed() < PATIENCE,
                "the server does not start: {}",
                log()
            );
            sleep(Duration::from_millis(30));
        }
    }

    /// Ends the server as a crash does: it says no word to its clients, and recovers from its log when it starts again.
    pub(crate) fn kill(&mut self) {
        let Some(mut keeper) = self.keeper.take() else {
            return;
        };
        keeper.stdin.take().unwrap().write_all(b"now\n").unwrap();
        keeper.wait().unwrap();
    }

    /// The address of its database in a schema of its own, which is made here.
    pub(crate) fn new_schema(&self) -> String {
        static SCHEMAS: AtomicU32 = AtomicU32::new(0);
        let schema = format!("case{}", SCHEMAS.fetch_add(1, Ordering::Relaxed));
        self.run(&format!("CREATE SCHEMA {schema}"));
        self.address(&schema)
    }

    /// The address of a schema.
    pub(crate) fn address(&self, schema: &str) -> String {
        let socket = self.folder.to_str().unwrap().replace('/', "%2F");
        format!(
            "postgres://monas@{socket}:{}/postgres?options=-csearch_path%3D{schema}",
            self.port()
        )
    }

    /// Runs statements from outside of any store.
    pub(crate) fn run(&self, sql: &str) {
        self.ask(sql);
    }

    /// The first column of the first row that a statement gives.
    pub(crate) fn ask(&self, sql: &str) -> Option<String> {
        std::thread::scope(|scope| scope.spawn(|| self.ask_here(sql)).join().unwrap())
    }

    fn ask_here(&self, sql: &str) -> Option<String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let address = self.address("public");
            let (client, connection) = tokio_postgres::connect(&address, tokio_postgres::NoTls)
                .await
                .unwrap();
            let driver = tokio::spawn(connection);
            let messages = client.simple_query(sql).await.unwrap();
            driver.abort();
            messages.iter().find_map(|message| match message {
                tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                _ => None,
            })
        })
    }

    /// The processor time that all processes of the server have used, also those that have ended.
    #[allow(dead_code, reason = "only the bench asks for it")]
    pub(crate) fn cpu(&self) -> Duration {
        let file = fs::read_to_string(self.data().join("postmaster.pid")).unwrap();
        let parent = file.lines().next().unwrap().to_owned();
        let children =
            fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap();
        let all = children.split_whitespace().chain([parent.as_str()]);
        all.map(cpu_of).sum()
    }

    fn is_ready(&self) -> bool {
        let mut ready = self.command("pg_isready");
        ready
            .args(["-q", "-p", self.port(), "-h"])
            .arg(&self.folder);
        ready.status().is_ok_and(|status| status.success())
    }

    /// The port, which is a part of the socket's name, too.
    fn port(&self) -> &str {
        let ports = self
            .settings
            .iter()
            .filter_map(|setting| setting.strip_prefix("port="));
        ports.last().unwrap_or("5432")
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn command(&self, program: &str) -> Command {
        self.command_at(&self.programs.join(program))
    }

    fn command_at(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder).env_remove("PGOPTIONS");
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            let _ = keeper.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The processor time of a process and of its children that have ended.
#[allow(dead_code, reason = "only the bench asks for it")]
pub(crate) fn cpu_of(process: &str) -> Duration {
    // A process may end while it is looked at; its parent has its time then.
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(4);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    // Linux counts in hundredths of a second, on all its platforms.
    Duration::from_millis(ticks * 10)
}

/// The folder of the programs: `MONAS_POSTGRES_BIN`, or the newest of those where Debian installs them.
fn programs() -> PathBuf {
    if let Some(named) = std::env::var_os("MONAS_POSTGRES_BIN") {
        return named.into();
    }
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let folders = versions.map(|version| version.unwrap().path().join("bin"));
    let found = folders
        .filter(|folder| folder.join("initdb").exists())
        .max();
    found.expect("PostgreSQL is installed (apt-get install postgresql), or MONAS_POSTGRES_BIN names its programs")
}

/// The server refuses to run as root: a user that may, if this is root.
fn other_user(folder: &Path) -> Option<(u32, u32)> {
    if fs::metadata(folder).unwrap().uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let found = ["postgres:", "nobody:"].iter().find_map(|name| {
        let line = users.lines().find(|line| line.starts_with(name))?;
        let mut fields = line.split(':').skip(2).map(|number| number.parse().ok());
        Some((fields.next()??, fields.next()??))
    });
    Some(found.expect("root has a user postgres or nobody to run the server as"))
}
