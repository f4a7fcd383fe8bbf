//! The counters of our server's journal, as `sut` tells it.

use serde_json::Value;

use crate::bench::address::Address;
use crate::bench::http::Connection;
use crate::error::{Error, Result};

#[derive(Debug, Clone, Copy)]
pub(super) struct Counters {
    pub(super) commits: u64,
    /// Writes that were waited for; a commit takes all that are there.
    pub(super) batches: u64,
    pub(super) events: u64,
}

impl Counters {
    pub(super) async fn read(address: &Address) -> Result<Counters> {
        let host = &address.authority;
        let request = format!("GET /sut/store HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let mut connection = Connection::open(address)?;
        let answer = connection.send(request.as_bytes()).await?;
        let body = answer.body().await?;
        let counters: Value = serde_json::from_slice(&body).unwrap_or_default();
        let counter = |name: &str| {
            let number = counters[name].as_u64();
            let body = || String::from_utf8_lossy(&body);
            number.ok_or_else(|| Error::Answer(format!("no number {name:?} in {:?}", body())))
        };
        Ok(Counters {
            commits: counter("commits")?,
            batches: counter("batches")?,
            events: counter("events")?,
        })
    }

    pub(super) fn since(&self, earlier: &Counters) -> Counters {
        Counters {
            commits: self.commits - earlier.commits,
            batches: self.batches - earlier.batches,
            events: self.events - earlier.events,
        }
    }
}
