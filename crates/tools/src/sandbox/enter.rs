//! The second stage: gives up rights and becomes the command.

use std::convert::Infallible;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{
    Resource, Rlimit, Signal, getrlimit, ioctl_tiocsctty, set_parent_process_death_signal,
    setrlimit, setsid,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, set_capabilities,
    set_no_new_privs,
};

use super::{Launch, SandboxKind, filter, landlock, processes};

/// What a command of a privileged server keeps: to work on files of the project that belong to others.
const KEPT: CapabilitySet = CapabilitySet::DAC_OVERRIDE
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::CHOWN);

/// Does not return if the command is begun. The order matters: what needs a right comes before it is given up, and the
/// filter, which refuses some of these calls, comes last.
pub(super) fn run(launch: &Launch) -> Result<Infallible, String> {
    let failed = |what: &'static str| move |error: rustix::io::Errno| format!("{what}: {error}");
    if launch.terminal {
        setsid().map_err(failed("a session cannot be begun"))?;
        ioctl_tiocsctty(rustix::stdio::stdin())
            .map_err(failed("the terminal cannot be controlled"))?;
    }
    limit(launch).map_err(failed("a limit cannot be set"))?;
    if launch.kind != SandboxKind::None {
        set_no_new_privs(true).map_err(failed("privileges cannot be given up"))?;
        drop_capabilities().map_err(failed("capabilities cannot be given up"))?;
    }
    if launch.kind == SandboxKind::Landlock {
        landlock::restrict(launch)?;
    }
    // If the supervisor is killed, the command must not go on without it.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(failed("the end of the supervisor cannot be followed"))?;
    if launch.kind != SandboxKind::None {
        filter::apply(launch)?;
    }
    let (program, arguments) = launch.command.split_first().ok_or("there is no command")?;
    let error = Command::new(program)
        .args(arguments)
        .current_dir(&launch.folder)
        .exec();
    Err(format!("{program}: {error}"))
}

fn limit(launch: &Launch) -> rustix::io::Result<()> {
    let bounds = &launch.bounds;
    // The limit counts all processes of the user, so those of others are added.
    let processes = processes::threads().saturating_add(bounds.processes);
    for (resource, most) in [
        (Resource::Core, 0),
        (Resource::Fsize, bounds.file_bytes),
        (Resource::Data, bounds.data_bytes),
        (Resource::Nproc, processes),
    ] {
        // A limit that is stricter already stays.
        let before = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let most = Some(most.min(before));
        let limit = Rlimit {
            current: most,
            maximum: most,
        };
        setrlimit(resource, limit)?;
    }
    Ok(())
}

fn drop_capabilities() -> rustix::io::Result<()> {
    let now = capabilities(None)?;
    clear_ambient_capability_set()?;
    let sets = CapabilitySets {
        effective: now.effective.intersection(KEPT),
        permitted: now.permitted.intersection(KEPT),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets)
}
