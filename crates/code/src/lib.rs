//! The outline of a source text: the symbols that it defines, what it imports, and which of its symbols call which names.
//!
//! An outline is found by syntax alone. Nothing is resolved: a call has the name that stands in the text, and two files may
//! define the same name. That is enough to lead a reader, or an agent, to the place; a compiler knows the rest.
//!
//! ```
//! use code::{Language, Limits, outline};
//!
//! # if cfg!(feature = "grammars") {
//! let text = "use std::fs;\nfn load() { fs::read(\"a\").ok(); }\nfn main() { load(); }\n";
//! let language = Language::of("src/main.rs").unwrap();
//! let outline = outline(language, text, &Limits::default());
//! let names: Vec<&str> = outline.symbols.iter().map(|it| &*it.name).collect();
//! assert_eq!(names, ["load", "main"]);
//! assert_eq!(outline.imports, ["std::fs"]);
//! assert!(outline.calls.iter().any(|it| it.from.as_deref() == Some("main") && it.to == "load"));
//! # }
//! ```
//!
//! Layout:
//! - `outline`: the types; `language`: the language of a file name; `limits`: bounds
//! - `markdown`: headings; `syntax`: the other languages, by tree-sitter; `syntax/tables`: the names of their nodes

mod language;
mod limits;
mod markdown;
mod outline;
#[cfg(feature = "grammars")]
mod syntax;

pub use language::Language;
pub use limits::Limits;
pub use outline::{CallSite, Outline, Symbol, SymbolKind};

/// The outline of a text. One that is too large, or takes too long, gives what was found until then, and says so in
/// [`Outline::incomplete`].
pub fn outline(language: Language, text: &str, limits: &Limits) -> Outline {
    let mut outline = Outline {
        language: language.name().to_owned(),
        ..Outline::default()
    };
    if text.len() > limits.bytes {
        outline.incomplete = true;
        return outline;
    }
    match language {
        Language::Markdown => markdown::headings(text, limits, &mut outline),
        #[cfg(feature = "grammars")]
        language => syntax::walk(language, text, limits, &mut outline),
        #[cfg(not(feature = "grammars"))]
        _ => outline.incomplete = true,
    }
    outline
}
