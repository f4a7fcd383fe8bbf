//! A person who agrees in a browser on this machine: the address is shown, and the answer comes back to a port of ours.

use std::io;
use std::time::Duration;

use oauth::{Consent, ConsentError, Consenting};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::print;
use crate::error::Error;

/// How long a person may take.
const TIME: Duration = Duration::from_secs(5 * 60);

/// How long a browser may take to send its request, and how large its head may be.
const REQUEST_TIME: Duration = Duration::from_secs(5);
const SIZE: usize = 16 << 10;

const PATH: &str = "/callback";

/// Listens on loopback for the answer of an authorization server (RFC 8252 7.3).
pub(super) struct Loopback {
    listener: TcpListener,
    redirect: String,
}

impl Loopback {
    pub(super) async fn listen() -> Result<Self, Error> {
        let failed = |source| Error::System {
            what: "listen for the answer of the authorization server",
            source,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self {
            redirect: format!("http://{address}{PATH}"),
            listener,
        })
    }

    async fn answer(&self) -> io::Result<String> {
        loop {
            let (mut stream, _) = self.listener.accept().await?;
            let asked = timeout(REQUEST_TIME, target(&mut stream)).await;
            let query = match asked {
                Ok(Ok(Some(target))) => target
                    .strip_prefix(PATH)
                    .and_then(|rest| rest.strip_prefix('?'))
                    .map(str::to_owned),
                _ => None,
            };
            let (status, text) = match query {
                Some(_) => ("200 OK", "You can close this page."),
                None => ("404 Not Found", "There is nothing here."),
            };
            let reply = format!(
                "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
                text.len()
            );
            // A browser that has gone away has no use for it.
            let _ = timeout(REQUEST_TIME, stream.write_all(reply.as_bytes())).await;
            let _ = timeout(REQUEST_TIME, stream.shutdown()).await;
            if let Some(query) = query {
                return Ok(query);
            }
        }
    }
}

/// The path and query of a GET; `None` for anything else.
async fn target(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let mut head = Vec::new();
    while !head.windows(4).any(|it| it == b"\r\n\r\n") {
        if stream.read_buf(&mut head).await? == 0 || head.len() > SIZE {
            return Ok(None);
        }
    }
    let head = String::from_utf8_lossy(&head);
    let mut words = head.lines().next().unwrap_or_default().split(' ');
    Ok(match (words.next(), words.next()) {
        (Some("GET"), Some(target)) => Some(target.to_owned()),
        _ => None,
    })
}

impl Consent for Loopback {
    fn redirect(&self) -> Option<String> {
        Some(self.redirect.clone())
    }

    fn agree<'a>(&'a self, url: &'a str) -> Consenting<'a> {
        Box::pin(async move {
            print::note(&format!("open this address to agree:\n{url}"));
            match timeout(TIME, self.answer()).await {
                Ok(answer) => answer.map_err(|error| ConsentError(error.to_string())),
                Err(_) => Err(ConsentError(format!("no answer within {TIME:?}"))),
            }
        })
    }
}
