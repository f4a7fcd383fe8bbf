//! Idle sessions: what each costs the server after one call.

use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use super::message::Message;
use super::round;
use super::socket::Socket;
use crate::bench::address::Address;
use crate::bench::usage::resident_kb;
use crate::error::{Error, Result};

/// How many sessions are many.
pub(super) const CROWD: usize = 10_000;

/// How long the server may tidy up, and park what is idle, before its memory is read.
const SETTLE: Duration = Duration::from_millis(3500);

/// Calls of a first session, after which the server has allocated what belongs to no session.
/// More would grow a garbage collector's heap, which would then hide what sessions take.
const FIRST_CALLS: usize = 500;

pub(super) fn measure(address: &Address, pid: u32, sessions: usize) -> Result<()> {
    let _first = session(address, FIRST_CALLS)?;
    sleep(SETTLE);
    let before = resident_kb(pid)?;
    let mut open = Vec::with_capacity(sessions);
    for _ in 0..sessions {
        open.push(session(address, 1)?);
    }
    sleep(SETTLE);
    let after = resident_kb(pid)?;
    println!(
        "{}",
        json!({
            "sessions": open.len(),
            "kb_before": before,
            "kb_after": after,
            "kb_per_session": round((after - before) / sessions as f64),
        })
    );
    Ok(())
}

/// Opens a session and makes some calls in it, one after the other.
fn session(address: &Address, calls: usize) -> Result<Socket> {
    let mut socket = Socket::open(address)?;
    let Socket { reader, writer } = &mut socket;
    for id in 1..=calls {
        writer.queue(br#"["push",["pipeline",0,["square"],[2]]]"#);
        writer.queue(format!(r#"["pull",{id}]"#).as_bytes());
        match Message::parse(reader.next(writer)?)? {
            Message::Resolve(_, "4") => {
                writer.queue(format!(r#"["release",{id},1]"#).as_bytes());
            }
            other => return Err(Error::Answer(format!("{other:?}"))),
        }
    }
    writer.flush()?;
    socket.shrink();
    Ok(socket)
}
