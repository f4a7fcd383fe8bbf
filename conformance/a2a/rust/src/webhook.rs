//! A webhook on loopback that remembers what was posted to it, in order.

use std::collections::HashMap;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::probe::Result;

/// One notification: its headers by lower-case name, and its body.
#[derive(Debug)]
pub(crate) struct Posted {
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Value,
}

impl Posted {
    /// The state this notification tells of, or "artifact".
    pub(crate) fn told(&self) -> String {
        let state = ["statusUpdate", "task"]
            .iter()
            .find_map(|kind| self.body[*kind]["status"]["state"].as_str());
        match state {
            Some(state) => state.trim_start_matches("TASK_STATE_").to_lowercase(),
            None => "artifact".to_owned(),
        }
    }
}

/// Answers every request with 200.
pub(crate) struct Webhook {
    listener: TcpListener,
    pub(crate) url: String,
}

impl Webhook {
    pub(crate) async fn listen() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/hook", listener.local_addr()?);
        Ok(Self { listener, url })
    }

    /// Takes notifications until one has told of this state, and returns them all.
    pub(crate) async fn until(&self, state: &str) -> Result<Vec<Posted>> {
        let mut posted: Vec<Posted> = Vec::new();
        while posted.last().is_none_or(|last| last.told() != state) {
            let (stream, _) = self.listener.accept().await?;
            posted.push(take(stream).await?);
        }
        Ok(posted)
    }
}

/// One request for each connection, so that they can be taken one after the other.
async fn take(mut stream: TcpStream) -> Result<Posted> {
    let mut reader = BufReader::new(&mut stream);
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).await?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => {
                headers.insert(name.to_lowercase(), value.trim().to_owned());
            }
            None if line.trim_end().is_empty() => break,
            None => {} // The request line.
        }
    }
    let length = headers
        .get("content-length")
        .ok_or("a notification of no length")?;
    let mut body = vec![0; length.parse()?];
    reader.read_exact(&mut body).await?;
    stream
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        .await?;
    Ok(Posted {
        headers,
        body: serde_json::from_slice(&body)?,
    })
}
