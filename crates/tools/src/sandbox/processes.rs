//! The processes that descend from this one, as `/proc` lists them.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// A process that descends from this one.
#[derive(Clone, Debug)]
pub(super) struct Descendant {
    pub(super) pid: Pid,
    /// The name of its program, as far as `/proc` keeps it.
    pub(super) name: String,
}

/// All processes that descend from this one, except those that have ended and are not yet reaped.
pub(super) fn descendants() -> Vec<Descendant> {
    let mut children: BTreeMap<i32, Vec<(i32, String)>> = BTreeMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok());
    for number in numbers {
        // One that disappears meanwhile has no entry.
        let Ok(stat) = fs::read_to_string(format!("/proc/{number}/stat")) else {
            continue;
        };
        if let Some((parent, name)) = parent(&stat) {
            children.entry(parent).or_default().push((number, name));
        }
    }
    let mut found = Vec::new();
    let mut next = vec![std::process::id().cast_signed()];
    while let Some(parent) = next.pop() {
        for (number, name) in children.remove(&parent).into_iter().flatten() {
            next.push(number);
            if let Some(pid) = Pid::from_raw(number) {
                found.push(Descendant { pid, name });
            }
        }
    }
    found
}

/// The parent and the name in a line of `/proc/PID/stat`; none for a process that has ended. The name is in
/// parentheses and may itself contain any character.
fn parent(stat: &str) -> Option<(i32, String)> {
    let (before, rest) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let mut fields = rest.split_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    Some((fields.next()?.parse().ok()?, name.to_owned()))
}

/// In which parts of a second `/proc` counts processor time: USER_HZ, which is 100 on every architecture that we run on.
const TICKS: u64 = 100;

/// The processor time that all processes below this one have used: those that have ended and were waited for, and those
/// that run. Between the end of a process and the wait for it, its time is missing.
pub(super) fn used() -> Duration {
    let ticks = |pid: &str, fields: &[usize]| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        times(&stat, fields)
    };
    // Time of its own in user and kernel mode, then that of its children.
    let mut total = ticks("self", &[13, 14]);
    for Descendant { pid, .. } in descendants() {
        total += ticks(&pid.as_raw_pid().to_string(), &[11, 12, 13, 14]);
    }
    Duration::from_millis(total * 1000 / TICKS)
}

/// The sum of fields of a line of `/proc/PID/stat`, counted from the one after the name.
fn times(stat: &str, fields: &[usize]) -> u64 {
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let values: Vec<&str> = rest.split_whitespace().collect();
    let values = fields
        .iter()
        .filter_map(|it| values.get(*it)?.parse::<u64>().ok());
    values.sum()
}

/// Sends a signal to all; one that has ended already is no error.
pub(super) fn signal(processes: &[Descendant], signal: Signal) {
    for process in processes {
        let _ = kill_process(process.pid, signal);
    }
}

/// The number of processes and threads of this machine. Cheap enough to be read often.
pub(super) fn threads() -> u64 {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let field = load.split_whitespace().nth(3).unwrap_or_default();
    let total = field.split_once('/').map(|(_, total)| total);
    total.and_then(|it| it.parse().ok()).unwrap_or_default()
}
