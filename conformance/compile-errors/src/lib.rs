//! Programs that must not compile, and what the compiler says about them.
//!
//! [`check`] compiles each program of a folder and compares the errors with the file `NAME.stderr` beside it, so that a
//! program which begins to compile, or fails for another reason than it should, fails the test.
//!
//! The compiler is called directly, with the libraries that cargo has built for the test that is running. The crate
//! `trybuild` makes a package of the programs instead, and compiles all its dependencies again for that, which took
//! minutes of the whole test.
//!
//! Cargo does not tell a test which file of `target/debug/deps` a library was linked from, and there may be several with
//! other features or from other days. So each folder has a program that must compile, `accepted.rs`, which uses every
//! library; of the files with the right names the newest are taken with which it compiles. A wrong choice can therefore
//! not hide an error: either the libraries fit together and have what the programs use, or the test fails.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// The program of each folder that must compile.
const ACCEPTED: &str = "accepted.rs";

/// Compiles the programs of a folder, which is named relative to the package of the test. `libraries` are the crates that
/// the programs use, the package's own first.
///
/// With `UPDATE_EXPECT=1` in the environment the files with the expected errors are written instead.
///
/// # Panics
///
/// Panics if a program compiles, if an error differs from the expected one, or if `accepted.rs` does not compile.
pub fn check(folder: &str, libraries: &[&str]) {
    let folder = Path::new(folder);
    let compiler = Compiler::find(&folder.join(ACCEPTED), libraries);
    let mut programs: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a folder that is being listed").path())
        .filter(|path| path.extension().is_some_and(|it| it == "rs") && !path.ends_with(ACCEPTED))
        .collect();
    programs.sort();
    assert!(!programs.is_empty(), "no programs in {}", folder.display());
    let faults: Vec<String> = programs
        .iter()
        .filter_map(|program| compiler.fault(program))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// The compiler with the libraries that the programs use.
struct Compiler {
    /// `target/debug/deps`, where the libraries are and those that they depend on.
    folder: PathBuf,
    libraries: Vec<(String, PathBuf)>,
}

impl Compiler {
    /// Chooses the newest libraries with which `accepted` compiles.
    fn find(accepted: &Path, libraries: &[&str]) -> Self {
        let test = std::env::current_exe().expect("a test has a file");
        let folder = test.parent().expect("a file is in a folder").to_owned();
        let mut compiler = Self {
            libraries: Vec::new(),
            folder,
        };
        let mut said = "no library of that name was built".to_owned();
        for chosen in choices(&compiler.folder, libraries) {
            compiler.libraries = chosen;
            match compiler.errors(accepted) {
                None => return compiler,
                Some(errors) => said = errors,
            }
        }
        panic!("{} must compile, but: {said}", accepted.display());
    }

    /// How the compiler's answer to a program differs from the expected one.
    fn fault(&self, program: &Path) -> Option<String> {
        let shown = program.display();
        let Some(errors) = self.errors(program) else {
            return Some(format!("{shown} compiles, and must not"));
        };
        let file = program.with_extension("stderr");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&file, errors).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            return None;
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        (expected != errors).then(|| {
            format!(
                "{shown}: other errors than {} has; UPDATE_EXPECT=1 writes it\n\nfound:\n{errors}\nexpected:\n{expected}",
                file.display()
            )
        })
    }

    /// The errors of a program; `None` if it compiles.
    fn errors(&self, program: &Path) -> Option<String> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
        let mut command = Command::new(rustc);
        // Metadata alone, as `cargo check`: nothing is generated. Warnings are about what the programs leave unused.
        command.args(["--edition", "2024", "--crate-type", "bin", "-A", "warnings"]);
        command.args(["--crate-name", "program", "--emit", "metadata"]);
        command.args(["--color", "never", "--diagnostic-width", "140"]);
        let dependencies = OsString::from_iter(["dependency=".as_ref(), self.folder.as_os_str()]);
        command.arg("-L").arg(dependencies);
        for (name, file) in &self.libraries {
            let library = OsString::from_iter([format!("{name}=").as_ref(), file.as_os_str()]);
            command.arg("--extern").arg(library);
        }
        let out = self.folder.with_file_name("compile-errors");
        fs::create_dir_all(&out).unwrap_or_else(|error| panic!("{}: {error}", out.display()));
        command.arg("--out-dir").arg(out).arg(program);
        let output = command.output().expect("rustc starts");
        let said = String::from_utf8_lossy(&output.stderr);
        (!output.status.success()).then(|| normalized(&said))
    }
}

/// Every choice of a file for each library, the newest files first.
fn choices(folder: &Path, libraries: &[&str]) -> Vec<Vec<(String, PathBuf)>> {
    let mut choices = vec![Vec::new()];
    for library in libraries {
        let files = built(folder, library);
        choices = choices
            .into_iter()
            .flat_map(|chosen: Vec<(String, PathBuf)>| {
                files.iter().map(move |file| {
                    let mut chosen = chosen.clone();
                    chosen.push(((*library).to_owned(), file.clone()));
                    chosen
                })
            })
            .collect();
    }
    choices
}

/// The files of a library, the newest first.
fn built(folder: &Path, library: &str) -> Vec<PathBuf> {
    let prefix = format!("lib{library}-");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with(&prefix) && name.ends_with(".rlib")
        })
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort();
    files.into_iter().rev().map(|(_, file)| file).collect()
}

/// The errors without what depends on other files than the program: the width of the line numbers, and the parts that
/// show code of a library.
fn normalized(said: &str) -> String {
    let mut text = String::new();
    for error in said.split("\n\n") {
        let mut lines: Vec<&str> = error.lines().filter(|line| !line.is_empty()).collect();
        // The second line of an error has its place. Places below that are in the library, if its source is not found.
        let elsewhere = |(number, line): (usize, &&str)| {
            let line = line.trim_start();
            let is_place = line.starts_with(":::") || line.starts_with("-->");
            line.starts_with("note:") || (is_place && number > 1)
        };
        if let Some(end) = lines.iter().enumerate().position(elsewhere) {
            lines.truncate(end);
        }
        let is_error = lines.first().is_some_and(|first| {
            first.starts_with("error") && !first.starts_with("error: aborting due to")
        });
        if !is_error {
            continue;
        }
        let lines: Vec<&str> = lines.into_iter().map(without_number).collect();
        let used = lines.iter().rposition(|line| *line != "|");
        let lines = &lines[..used.map_or(0, |last| last + 1)];
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&lines.join("\n"));
        text.push('\n');
    }
    text
}

/// A line of an error without the number in front of its bar.
fn without_number(line: &str) -> &str {
    let trimmed = line.trim_start();
    let rest = trimmed.trim_start_matches(|it: char| it.is_ascii_digit());
    let rest = rest.trim_start();
    match rest.starts_with('|') {
        true => rest.trim_end(),
        false if trimmed.starts_with("-->") || trimmed.starts_with('=') => trimmed.trim_end(),
        false => line.trim_end(),
    }
}
