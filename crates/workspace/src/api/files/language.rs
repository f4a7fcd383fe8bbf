//! The language of a file, by the ending of its name.

/// Endings, the language, and whether it is code.
const LANGUAGES: &[(&[&str], &str, bool)] = &[
    (&["rs"], "rust", true),
    (&["go"], "go", true),
    (&["py", "pyi"], "python", true),
    (&["ts", "tsx", "mts", "cts"], "typescript", true),
    (&["js", "jsx", "mjs", "cjs"], "javascript", true),
    (&["java"], "java", true),
    (&["kt", "kts"], "kotlin", true),
    (&["swift"], "swift", true),
    (&["c", "h"], "c", true),
    (&["cc", "cpp", "cxx", "hpp", "hh"], "cpp", true),
    (&["cs"], "csharp", true),
    (&["rb"], "ruby", true),
    (&["php"], "php", true),
    (&["scala"], "scala", true),
    (&["sh", "bash", "zsh"], "shell", true),
    (&["sql"], "sql", true),
    (&["lua"], "lua", true),
    (&["zig"], "zig", true),
    (&["hs"], "haskell", true),
    (&["ml", "mli"], "ocaml", true),
    (&["ex", "exs"], "elixir", true),
    (&["html", "htm"], "html", true),
    (&["css", "scss"], "css", true),
    (&["vue"], "vue", true),
    (&["svelte"], "svelte", true),
    (&["proto"], "protobuf", true),
    (&["json"], "json", false),
    (&["toml"], "toml", false),
    (&["yaml", "yml"], "yaml", false),
    (&["xml", "svg"], "xml", false),
    (&["md", "markdown"], "markdown", false),
    (&["csv"], "csv", false),
];

fn find(path: &str) -> Option<&'static (&'static [&'static str], &'static str, bool)> {
    let (_, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
    let ending = ending.to_lowercase();
    LANGUAGES.iter().find(|it| it.0.contains(&&*ending))
}

/// The name of the language; `text` where it is not known.
pub(super) fn language(path: &str) -> &'static str {
    match path.rsplit('/').next() {
        Some("Dockerfile") => "dockerfile",
        Some("Makefile") => "makefile",
        _ => find(path).map_or("text", |it| it.1),
    }
}

/// Whether a file holds a program.
pub(super) fn is_code(path: &str) -> bool {
    find(path).is_some_and(|it| it.2)
}
