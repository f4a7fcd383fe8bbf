//! Files by an allow-list: Landlock, a feature of Linux that a process applies to itself without privileges.
//!
//! Landlock knows no exceptions below a folder that is allowed. So that the hidden paths are unreadable, not `/` is
//! allowed but everything beside the way to them: the entries of each folder on the way, except the one that leads on.
//! A command can therefore enter the folders on the way, and cannot list them.

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, RestrictionStatus, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};

use super::Launch;

/// Devices that hold nothing and that programs write to.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// The version that is needed: earlier ones do not restrict truncating files outside.
const NEEDED: ABI = ABI::V3;

/// The version whose further features are used where there are: devices (5), and signals and abstract sockets (6).
const WANTED: ABI = ABI::V6;

pub(super) fn is_supported() -> bool {
    begin().and_then(Ruleset::create).is_ok()
}

fn begin() -> Result<Ruleset, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(NEEDED))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(WANTED))?
        .scope(Scope::from_all(WANTED))
}

/// Restricts the files of this thread and of all that it starts.
pub(super) fn restrict(launch: &Launch) -> Result<(), String> {
    let failed = |error: RulesetError| format!("Landlock cannot be applied: {error}");
    let mut readable = Vec::new();
    allow(Path::new("/"), &launch.hidden, &mut readable);
    let writable = [&launch.project, &launch.scratch];
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::ReadDir | AccessFs::IoctlDev;
    let applied = || -> Result<RestrictionStatus, RulesetError> {
        begin()?
            .create()?
            .set_compatibility(CompatLevel::BestEffort)
            .add_rules(path_beneath_rules(readable, AccessFs::from_read(WANTED)))?
            .add_rules(path_beneath_rules(writable, AccessFs::from_all(WANTED)))?
            .add_rules(path_beneath_rules(DEVICES, device))?
            .restrict_self()
    };
    match applied().map_err(failed)?.ruleset {
        RulesetStatus::NotEnforced => Err("this system does not enforce Landlock".to_owned()),
        _ => Ok(()),
    }
}

/// Collects what may be read below a path: all of it, or all beside the ways to hidden paths. Symlinks are left out,
/// since what they lead to is allowed at its own place or not at all.
fn allow(path: &Path, hidden: &[PathBuf], readable: &mut Vec<PathBuf>) {
    if hidden.iter().any(|it| path.starts_with(it)) {
        return;
    }
    if !hidden.iter().any(|it| it.starts_with(path)) {
        readable.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|it| !it.is_symlink()) {
            allow(&entry.path(), hidden, readable);
        }
    }
}
