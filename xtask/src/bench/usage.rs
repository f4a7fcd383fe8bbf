//! Processor time and memory of another process, as Linux tells them.

use std::collections::BTreeMap;
use std::fs;

use crate::error::{Doing, Error, Result};

/// How long one tick of `/proc/PID/stat` is. Linux shows 100 in a second on every platform.
const TICK_NS: u64 = 10_000_000;

/// The processor time a process has used so far.
#[derive(Debug)]
pub(crate) struct ProcessorTime {
    /// Nanoseconds of each living thread.
    threads: BTreeMap<String, u64>,
    /// Ticks of all threads, those that have ended included.
    ticks: u64,
}

impl ProcessorTime {
    pub(crate) fn read(pid: u32) -> Result<ProcessorTime> {
        let folder = format!("/proc/{pid}/task");
        let mut threads = BTreeMap::new();
        for entry in fs::read_dir(&folder).doing(|| format!("list {folder}"))? {
            let entry = entry.doing(|| format!("list {folder}"))?;
            // A thread may end between the listing and the reading.
            let Ok(text) = fs::read_to_string(entry.path().join("schedstat")) else {
                continue;
            };
            let used = text.split(' ').next().and_then(|word| word.parse().ok());
            let name = entry.file_name().to_string_lossy().into_owned();
            threads.insert(name, used.unwrap_or(0));
        }
        Ok(ProcessorTime {
            threads,
            ticks: ticks(pid)?,
        })
    }

    /// Nanoseconds used since an earlier reading. Exact while no thread has ended in between,
    /// otherwise counted in ticks.
    pub(crate) fn since(&self, earlier: &ProcessorTime) -> u64 {
        let ticked = (self.ticks - earlier.ticks) * TICK_NS;
        let mut ended = earlier.threads.keys();
        if ended.any(|thread| !self.threads.contains_key(thread)) {
            return ticked;
        }
        let sum = |time: &ProcessorTime| time.threads.values().sum::<u64>();
        let exact = sum(self) - sum(earlier);
        // A thread that both began and ended in between is known to the ticks alone. They lag
        // behind by less than two, one at each reading.
        match ticked > exact + 2 * TICK_NS {
            true => ticked,
            false => exact,
        }
    }
}

/// The memory of a process that is in use, in KB.
pub(crate) fn resident_kb(pid: u32) -> Result<f64> {
    let path = format!("/proc/{pid}/status");
    let text = fs::read_to_string(&path).doing(|| format!("read {path}"))?;
    text.lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|word| word.parse().ok())
        .ok_or_else(|| Error::Answer(format!("{path} has no VmRSS")))
}

fn ticks(pid: u32) -> Result<u64> {
    let path = format!("/proc/{pid}/stat");
    let text = fs::read_to_string(&path).doing(|| format!("read {path}"))?;
    // The name in the second field may hold spaces; what follows its bracket does not.
    let rest = text.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = rest.split_whitespace().collect();
    // utime and stime are fields 14 and 15 of the file, 12 and 13 after the name.
    let field = |index: usize| fields.get(index).and_then(|word| word.parse::<u64>().ok());
    match (field(11), field(12)) {
        (Some(user), Some(system)) => Ok(user + system),
        _ => Err(Error::Answer(format!("{path} has no times"))),
    }
}
