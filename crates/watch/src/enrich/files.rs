//! What a file is for, by its path, and what a command line does to files.

/// The kind of a file, by its path.
pub(crate) fn kind(path: &str) -> &'static str {
    let path = path.trim_start_matches("/project/").to_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    let within = |folder: &str| path.starts_with(folder) || path.contains(&format!("/{folder}"));
    let stem = name.split('.').next().unwrap_or_default();
    if within(".github/workflows/")
        || within(".gitlab-ci")
        || within(".circleci/")
        || within(".ci/")
        || name == "jenkinsfile"
    {
        "pipeline"
    } else if within(".git/") || within(".husky/") || within(".git-hooks/") {
        "hook"
    } else if name.starts_with(".env")
        || within(".ssh/")
        || within(".aws/")
        || [".pem", ".key", ".p12"].iter().any(|it| name.ends_with(it))
        || ["authorized_keys", "id_rsa", "id_ed25519"].contains(&name)
    {
        "credential"
    } else if LOCKS.contains(&name) {
        "lock"
    } else if within("tests/")
        || within("test/")
        || within("spec/")
        || within("__tests__/")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || stem.ends_with("_spec")
        || stem.starts_with("test_")
        || name.contains(".test.")
        || name.contains(".spec.")
    {
        "test"
    } else {
        "other"
    }
}

const LOCKS: &[&str] = &[
    "cargo.lock",
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "uv.lock",
    "go.sum",
    "gemfile.lock",
    "composer.lock",
];

/// Folders that a build makes and that may always be removed.
const MADE: &[&str] = &[
    "target",
    "node_modules",
    "dist",
    "build",
    "out",
    "coverage",
    "tmp",
    "__pycache__",
    ".cache",
    ".next",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".turbo",
    ".venv",
];

/// Whether a command line deletes or overwrites more than what a build makes.
pub(crate) fn destroys(command: &str) -> bool {
    let parts = command.split(['\n', ';', '|', '&']);
    parts.into_iter().any(part_destroys)
}

fn part_destroys(part: &str) -> bool {
    let words: Vec<&str> = part.split_whitespace().collect();
    let words = match words.first() {
        Some(&"sudo") => &words[1..],
        _ => &words[..],
    };
    let Some((program, rest)) = words.split_first() else {
        return false;
    };
    let has = |flag: &str| rest.contains(&flag);
    let short = |letter: char| {
        let flags = rest
            .iter()
            .filter(|it| it.starts_with('-') && !it.starts_with("--"));
        flags.into_iter().any(|it| it.contains(letter))
    };
    let targets = || rest.iter().filter(|it| !it.starts_with('-'));
    match program.rsplit('/').next().unwrap_or_default() {
        "rm" if short('r') || short('R') || has("--recursive") => targets().any(|it| !is_made(it)),
        "find" => has("-delete") || part.contains("-exec rm"),
        "git" => match rest.first() {
            Some(&"push") => short('f') || has("--force") || has("--mirror") || has("--delete"),
            Some(&"reset") => has("--hard"),
            Some(&"clean") => short('f') && !short('n') && !has("--dry-run"),
            Some(&"checkout" | &"restore") => has("."),
            Some(&"branch") => short('D'),
            Some(&"filter-branch" | &"filter-repo") => true,
            _ => false,
        },
        "dd" | "shred" | "wipefs" | "fdisk" => true,
        "truncate" => has("-s") && has("0"),
        "chmod" | "chown" => short('R') && targets().any(|it| it.starts_with('/') || *it == "777"),
        name if name.starts_with("mkfs") => true,
        _ => {
            let part = part.to_lowercase();
            [
                "drop table",
                "drop database",
                "truncate table",
                "delete from",
            ]
            .iter()
            .any(|it| part.contains(it) && !part.contains(" where "))
        }
    }
}

fn is_made(target: &str) -> bool {
    let path = target
        .trim_start_matches("./")
        .trim_start_matches("/project/");
    let path = path.trim_end_matches(['/', '*']);
    if path.starts_with("/tmp/") {
        return true;
    }
    !path.contains("..") && path.split('/').any(|it| MADE.contains(&it))
}
