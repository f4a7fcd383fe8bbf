//! Python with the packages of reference implementations, in an environment for each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{find_on_path, is_root};
use crate::error::{Doing, Error, Result};
use crate::process;

/// A reference implementation, in one version.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packages {
    /// Where the environment and what belongs into it are, from the root.
    folder: &'static str,
    /// The variable by which tests find the python that has them.
    variable: &'static str,
    /// The package that brings the others.
    package: &'static str,
    /// The oldest python that they support.
    oldest: (u32, u32),
}

/// Those of A2A 1.0.
pub(crate) const A2A_V1_0: Packages = Packages {
    folder: "conformance/a2a",
    variable: "MONAS_PYTHON",
    package: "the python package a2a-sdk",
    oldest: (3, 10),
};

/// Those of A2A 0.3, which cannot be in one environment with the newer ones.
pub(crate) const A2A_V0_3: Packages = Packages {
    folder: "conformance/a2a/v0_3",
    variable: "MONAS_V0_3_PYTHON",
    package: "the python package a2a-sdk",
    oldest: (3, 10),
};

/// The packages of ACP.
pub(crate) const ACP: Packages = Packages {
    folder: "conformance/acp",
    variable: "MONAS_ACP_PYTHON",
    package: "the python package acp-sdk",
    oldest: (3, 11),
};

/// The packages that drive our routes by their description.
pub(crate) const OPENAPI: Packages = Packages {
    folder: "conformance/openapi",
    variable: "MONAS_OPENAPI_PYTHON",
    package: "the python package schemathesis",
    oldest: (3, 10),
};

/// A database that speaks Bolt, and the official driver.
pub(crate) const BOLT: Packages = Packages {
    folder: "conformance/bolt",
    variable: "MONAS_BOLT_PYTHON",
    package: "the python package arcadedb-embedded",
    oldest: (3, 11),
};

/// A python that has the packages.
#[derive(Debug, Clone)]
pub(crate) struct Python {
    pub(crate) path: PathBuf,
    variable: &'static str,
}

impl Python {
    /// Lets a program find this python.
    pub(crate) fn offer_to(&self, command: &mut Command) {
        command.env(self.variable, &self.path);
    }
}

/// The python of the folder's `.venv`, which is made from `MONAS_PYTHON` or the machine's own python, and made
/// again when `requirements.txt` has changed.
pub(crate) fn python(root: &Path, packages: Packages) -> Result<Python> {
    let folder = root.join(packages.folder);
    let environment = folder.join(".venv");
    let requirements = folder.join("requirements.txt");
    let stamp = environment.join(".installed-requirements.txt");
    let python = Python {
        path: environment.join("bin/python"),
        variable: packages.variable,
    };
    let wanted = fs::read(&requirements).doing(|| format!("read {}", requirements.display()))?;
    let installed = fs::read(&stamp).is_ok_and(|installed| installed == wanted);
    // The machine's python may have gone since, and the environment with it.
    if installed && new_enough(&python.path, packages.oldest) {
        return Ok(python);
    }
    make_environment(&new_enough_base(packages.oldest)?, &environment)?;
    let mut pip = Command::new(&python.path);
    pip.args(["-m", "pip", "install", "--quiet", "--no-input"]);
    pip.args(["--disable-pip-version-check", "--requirement"]);
    pip.arg(&requirements);
    process::run(&mut pip).map_err(|error| Error::Missing {
        tool: packages.package,
        why: format!("{}: {error}", folder.display()),
        install: ".venv/bin/pip install -r requirements.txt, in the folder of requirements.txt",
    })?;
    fs::write(&stamp, wanted).doing(|| format!("write {}", stamp.display()))?;
    Ok(python)
}

/// Makes an empty environment in place of any that is there. Some systems package the module for it by itself.
fn make_environment(base: &Path, environment: &Path) -> Result<()> {
    if !can_make_environments(base) && is_root() {
        let mut apt = Command::new("apt-get");
        apt.args(["install", "--yes", "python3-venv"]);
        // Whether it helped shows in the next step.
        let _ = process::run(&mut apt);
    }
    let mut venv = Command::new(base);
    venv.args(["-m", "venv", "--clear"]).arg(environment);
    process::run(&mut venv).map_err(|error| Error::Missing {
        tool: "python's module venv",
        why: error.to_string(),
        install: "apt-get install python3-venv",
    })
}

fn new_enough_base(oldest: (u32, u32)) -> Result<PathBuf> {
    let named = std::env::var_os("MONAS_PYTHON").map(PathBuf::from);
    let found = named.into_iter().chain(find_on_path("python3"));
    let mut found = found.filter(|path| new_enough(path, oldest));
    found.next().ok_or_else(|| Error::Missing {
        tool: "python",
        why: format!(
            "neither MONAS_PYTHON nor python3 is {}.{} or newer",
            oldest.0, oldest.1
        ),
        install: "apt-get install python3 python3-venv (or see https://www.python.org)",
    })
}

fn new_enough(path: &Path, (major, minor): (u32, u32)) -> bool {
    let check = format!("import sys; sys.exit(sys.version_info < ({major}, {minor}))");
    succeeds(Command::new(path).args(["-c", &check]))
}

fn can_make_environments(path: &Path) -> bool {
    succeeds(Command::new(path).args(["-c", "import venv, ensurepip"]))
}

fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
