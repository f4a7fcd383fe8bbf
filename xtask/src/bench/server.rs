//! One server under test, on a port and with data of its own.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::error::{Doing, Error, Result};
use crate::process;

/// How long a server may take until it listens.
const START: Duration = Duration::from_secs(60);

/// A server that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// Kept open for a server that told its address there, so that printing more does not make it fail.
    _stdout: Option<BufReader<ChildStdout>>,
    /// Where it takes requests.
    pub(crate) url: String,
    /// Declared last, so that the data goes after the process.
    _data: Option<Data>,
}

/// A new folder for a server's data, which is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) path: PathBuf,
}

impl Server {
    /// Starts a program and waits until it takes connections on `port`.
    pub(crate) fn start(
        mut command: Command,
        port: u16,
        path: &str,
        data: Option<Data>,
    ) -> Result<Server> {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command
            .spawn()
            .doing(|| format!("start {}", process::line(&command)))?;
        let mut server = Server {
            child,
            _stdout: None,
            url: format!("http://127.0.0.1:{port}{path}"),
            _data: data,
        };
        let deadline = Instant::now() + START;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = server.child.try_wait();
            let ended = ended.doing(|| "look after a server".to_owned())?;
            if ended.is_some() || Instant::now() > deadline {
                let line = process::line(&command);
                return Err(Error::Answer(format!("`{line}` does not listen")));
            }
            sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Starts a program that chooses a port itself and prints one line of JSON with its `url`.
    pub(crate) fn start_announced(mut command: Command) -> Result<Server> {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let line = process::line(&command);
        let mut child = command.spawn().doing(|| format!("start {line}"))?;
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut text = String::new();
        let read = stdout.read_line(&mut text);
        let mut server = Server {
            child,
            _stdout: Some(stdout),
            url: String::new(),
            _data: None,
        };
        read.doing(|| format!("read from {line}"))?;
        let ready: Option<Value> = serde_json::from_str(&text).ok();
        let url = ready.as_ref().and_then(|ready| ready["url"].as_str());
        url.ok_or_else(|| Error::Answer(format!("`{line}` told no address: {text:?}")))?
            .clone_into(&mut server.url);
        Ok(server)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing left to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Data {
    pub(crate) fn new(port: u16) -> Result<Data> {
        let name = format!("monas-bench-{}-{port}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).doing(|| format!("create {}", path.display()))?;
        Ok(Data { path })
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        // What cannot be removed is in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0));
    let address = listener.and_then(|listener| listener.local_addr());
    Ok(address.doing(|| "find a free port".to_owned())?.port())
}
