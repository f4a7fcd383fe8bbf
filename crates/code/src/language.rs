//! The language of a file, by its name.

/// A language that has outlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    Rust,
    Python,
    TypeScript,
    /// TypeScript with elements in it.
    Tsx,
    JavaScript,
    Go,
    Markdown,
}

impl Language {
    pub const ALL: [Self; 7] = [
        Self::Rust,
        Self::Python,
        Self::TypeScript,
        Self::Tsx,
        Self::JavaScript,
        Self::Go,
        Self::Markdown,
    ];

    /// The language of a path, by its ending.
    pub fn of(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next()?;
        let (_, ending) = name.rsplit_once('.')?;
        Some(match ending.to_ascii_lowercase().as_str() {
            "rs" => Self::Rust,
            "py" | "pyi" => Self::Python,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "tsx" => Self::Tsx,
            "js" | "mjs" | "cjs" | "jsx" => Self::JavaScript,
            "go" => Self::Go,
            "md" | "markdown" => Self::Markdown,
            _ => return None,
        })
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::TypeScript | Self::Tsx => "typescript",
            Self::JavaScript => "javascript",
            Self::Go => "go",
            Self::Markdown => "markdown",
        }
    }
}
