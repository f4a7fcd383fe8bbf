//! The numbered programs of `examples/`, each run and compared with what it should print.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::error::{Doing, Error, Result};
use crate::{process, workspace};

/// What to do with the file that holds an example's expected output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    Compare,
    Write,
}

/// Runs every example and returns how many there are.
pub(crate) fn run(root: &Path, expected: Expected) -> Result<usize> {
    let packages = workspace::packages(root)?;
    let names = packages
        .into_iter()
        .find(|package| package.folder == Path::new("examples"))
        .map(|package| package.examples)
        .ok_or_else(|| Error::Found("examples/ is no member of the workspace".to_owned()))?;
    let folder = root.join("examples/expected");
    if expected == Expected::Compare {
        no_file_without_example(&folder, &names)?;
    }
    // Built like the tests, with the features that the whole workspace asks for, so that nothing
    // is compiled twice.
    let mut programs = process::build(root, &["--workspace", "--examples"])?;
    programs.retain(|program| names.contains(&program.name));
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    for program in &programs {
        let printed = process::output(Command::new(&program.path).current_dir(root))?;
        let file = folder.join(format!("{}.txt", program.name));
        match expected {
            Expected::Write => {
                fs::create_dir_all(&folder).doing(|| format!("create {}", folder.display()))?;
                fs::write(&file, printed).doing(|| format!("write {}", file.display()))?;
            }
            Expected::Compare => {
                let wanted =
                    fs::read_to_string(&file).doing(|| format!("read {}", file.display()))?;
                compare(&program.name, &wanted, &printed)?;
            }
        }
        println!("{}: ok", program.name);
    }
    Ok(programs.len())
}

/// A renamed example must not leave its expected output behind.
fn no_file_without_example(folder: &Path, examples: &[String]) -> Result<()> {
    let known: BTreeSet<&str> = examples.iter().map(String::as_str).collect();
    let entries = fs::read_dir(folder).doing(|| format!("list {}", folder.display()))?;
    for entry in entries {
        let path = entry.doing(|| format!("list {}", folder.display()))?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        if !stem.is_some_and(|stem| known.contains(stem)) {
            let text = format!("{} belongs to no example", path.display());
            return Err(Error::Found(text));
        }
    }
    Ok(())
}

fn compare(name: &str, wanted: &str, printed: &str) -> Result<()> {
    if wanted == printed {
        return Ok(());
    }
    let mut lines = wanted.lines().zip(printed.lines());
    let equal = lines.by_ref().take_while(|(a, b)| a == b).count();
    let at = |text: &str| text.lines().nth(equal).unwrap_or("(nothing)").to_owned();
    Err(Error::Found(format!(
        "example {name} differs at line {}:\n  expected: {}\n  printed:  {}\n\
         If the new output is right: cargo xtask examples --bless",
        equal + 1,
        at(wanted),
        at(printed),
    )))
}
