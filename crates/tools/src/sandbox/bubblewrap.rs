//! The command line of bubblewrap for a launch.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Launch, Network};

const NAME: &str = "bwrap";

/// The program, in one of the folders of the variable `PATH`.
pub(crate) fn find(path: Option<&str>) -> Option<PathBuf> {
    let folders = path?.split(':');
    let mut programs = folders.map(|it| Path::new(it).join(NAME));
    programs.find(|it| it.is_absolute() && it.is_file())
}

/// Whether it can make its namespaces here.
pub(super) fn works(program: &Path) -> bool {
    let tried = Command::new(program)
        .args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"])
        .args([
            "--unshare-pid",
            "--unshare-net",
            "--die-with-parent",
            "true",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|it| it.success())
}

/// Its arguments before the program to run. Later mounts lie over earlier ones. What covers `/tmp` and hidden folders is
/// empty and, once the mounts inside of it are made, read-only: a write there would seem to succeed and be lost.
pub(super) fn arguments(launch: &Launch, program: &Path) -> Vec<String> {
    let mut arguments = Vec::from(
        [
            "--die-with-parent",
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
            "--ro-bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--proc",
            "/proc",
            "--tmpfs",
            "/tmp",
        ]
        .map(str::to_owned),
    );
    let mut add = |option: &str, paths: &[&Path]| {
        arguments.push(option.to_owned());
        arguments.extend(paths.iter().map(|it| it.display().to_string()));
    };
    if launch.network == Network::Off {
        add("--unshare-net", &[]);
    }
    let below = |inner: &&PathBuf| inner.starts_with(&launch.project);
    for hidden in launch.hidden.iter().filter(|it| !below(it)) {
        hide(&mut add, hidden);
    }
    for writable in [&launch.project, &launch.scratch] {
        add("--bind", &[writable, writable]);
    }
    for hidden in launch.hidden.iter().filter(below) {
        hide(&mut add, hidden);
    }
    // The program may lie below a path that is hidden or covered.
    add("--ro-bind", &[program, program]);
    add("--remount-ro", &[Path::new("/tmp")]);
    for hidden in launch.hidden.iter().filter(|it| it.is_dir()) {
        add("--remount-ro", &[hidden]);
    }
    add("--chdir", &[&launch.folder]);
    add("--", &[]);
    arguments
}

fn hide(add: &mut impl FnMut(&str, &[&Path]), hidden: &Path) {
    match hidden.metadata() {
        Ok(found) if found.is_dir() => add("--tmpfs", &[hidden]),
        Ok(_) => add("--ro-bind", &[Path::new("/dev/null"), hidden]),
        Err(_) => {}
    }
}
