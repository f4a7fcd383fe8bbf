//! The seccomp filter: system calls that no command needs and that lead out of a sandbox.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::{Launch, Network, SandboxKind};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refused with any arguments. By groups: namespaces and mounts, which lay other files over those that are protected;
/// modules and reboots; keys of the user; files by handle, which have no path to check; memory and files of other
/// processes; `io_uring`, with which sockets are made without the system call for it.
const REFUSED: &[i64] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// The bit of a call in the x32 form, in which a filter would not know it.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;

/// Whether there are filters for this architecture.
pub(super) fn is_supported() -> bool {
    arch().is_some()
}

fn arch() -> Option<TargetArch> {
    match () {
        () if cfg!(target_arch = "x86_64") => Some(TargetArch::x86_64),
        () if cfg!(target_arch = "aarch64") => Some(TargetArch::aarch64),
        () if cfg!(target_arch = "riscv64") => Some(TargetArch::riscv64),
        () => None,
    }
}

/// Applies the filter to this thread and to all that it starts. The thread must have given up new privileges.
pub(super) fn apply(launch: &Launch) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("seccomp cannot be applied: {error}");
    let refused = rules(launch).map_err(|error| failed(&error))?;
    // Flags of `clone3` are in memory, where no filter sees them. The C libraries then use `clone`, which has them in an
    // argument.
    let unknown = Rules::from([(libc::SYS_clone3, Vec::new())]);
    // All processes of a command stay in its group, so that one signal reaches them all, however fast they start others.
    // The calls seem to succeed: build tools give up where they fail. A terminal needs groups for its jobs.
    let ignored: &[i64] = match launch.terminal {
        true => &[],
        false => &[libc::SYS_setsid, libc::SYS_setpgid],
    };
    let ignored = ignored.iter().map(|call| (*call, Vec::new())).collect();
    let errno = |number: i32| SeccompAction::Errno(number.cast_unsigned());
    for (rules, action) in [
        (refused, errno(libc::EPERM)),
        (unknown, errno(libc::ENOSYS)),
        (ignored, errno(0)),
    ] {
        let arch = arch().ok_or_else(|| failed(&"there is no filter for this architecture"))?;
        let filter = SeccompFilter::new(with_x32(rules), SeccompAction::Allow, action, arch);
        let program = filter.and_then(BpfProgram::try_from);
        let program = program.map_err(|error| failed(&error))?;
        seccompiler::apply_filter(&program).map_err(|error| failed(&error))?;
    }
    Ok(())
}

fn rules(launch: &Launch) -> Result<Rules, seccompiler::BackendError> {
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    let mut rules: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let when = |conditions: &[(u8, SeccompCmpOp, i64)]| {
        let conditions = conditions.iter().map(|(argument, is, value)| {
            let value = u64::from(*value as u32);
            SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, is.clone(), value)
        });
        SeccompRule::new(conditions.collect::<Result<_, _>>()?)
    };
    // A socket of this machine, such as that of Docker, is a way to all that its service may do.
    let sockets = match launch.network {
        Network::Off => Vec::new(),
        Network::Granted => vec![when(&[
            (0, Ne, i64::from(libc::AF_INET)),
            (0, Ne, i64::from(libc::AF_INET6)),
            (0, Ne, i64::from(libc::AF_NETLINK)),
        ])?],
    };
    rules.insert(libc::SYS_socket, sockets);
    let user = i64::from(libc::CLONE_NEWUSER);
    let user = when(&[(0, MaskedEq(user.cast_unsigned()), user)])?;
    rules.insert(libc::SYS_clone, vec![user]);
    // Types into the terminal as if the person did.
    let types = when(&[(1, Eq, i64::from(libc::TIOCSTI as u32))])?;
    rules.insert(libc::SYS_ioctl, vec![types]);
    // In a pid namespace the numbers are others, and the processes outside have none.
    if launch.kind == SandboxKind::Landlock {
        let mut everyone = vec![when(&[(0, Eq, -1)])?];
        for pid in &launch.protected {
            let pid = i64::from(*pid);
            everyone.extend([when(&[(0, Eq, pid)])?, when(&[(0, Eq, -pid)])?]);
            for call in [
                libc::SYS_tkill,
                libc::SYS_tgkill,
                libc::SYS_pidfd_open,
                libc::SYS_rt_sigqueueinfo,
            ] {
                rules.entry(call).or_default().push(when(&[(0, Eq, pid)])?);
            }
        }
        rules.insert(libc::SYS_kill, everyone);
    }
    Ok(rules)
}

#[cfg(target_arch = "x86_64")]
fn with_x32(mut rules: Rules) -> Rules {
    let other: Vec<_> = rules
        .iter()
        .map(|(call, rules)| (call | X32, rules.clone()))
        .collect();
    rules.extend(other);
    rules
}

#[cfg(not(target_arch = "x86_64"))]
fn with_x32(rules: Rules) -> Rules {
    rules
}
