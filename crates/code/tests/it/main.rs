//! Outlines of texts in each language, and of texts in none.

#[cfg(feature = "grammars")]
mod languages;
mod markdown;
mod random;

use code::{Language, Limits, Outline, outline};

/// The outline of a text under a file name.
fn outline_of(path: &str, text: &str) -> Outline {
    let language = Language::of(path).expect("a language with outlines");
    outline(language, text, &Limits::default())
}

/// An outline in lines, for comparison.
fn shown(outline: &Outline) -> String {
    let mut lines = vec![format!("{}:", outline.language)];
    for it in &outline.symbols {
        let inside = it.inside.as_deref();
        let inside = inside.map(|it| format!(" in {it}")).unwrap_or_default();
        let kind = it.kind.name();
        lines.push(format!(
            "{}-{} {kind} {}{inside}",
            it.line, it.end_line, it.name
        ));
    }
    lines.extend(outline.imports.iter().map(|it| format!("imports {it}")));
    for it in &outline.calls {
        let from = it.from.as_deref().unwrap_or("(file)");
        lines.push(format!("{from} calls {}", it.to));
    }
    if outline.incomplete {
        lines.push("incomplete".to_owned());
    }
    lines.join("\n") + "\n"
}
