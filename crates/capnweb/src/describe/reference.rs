//! A reference for people, in Markdown.

use std::fmt::Write as _;

use super::schema::Schema;
use super::typescript::{Stubs, ValueFlow, member, type_of};
use super::{ErrorDescription, Type};

pub(super) fn print(schema: &Schema) -> String {
    let mut out = String::from(
        "<!-- Written from the Rust targets by `Schema::reference`. Changes here are lost: change the targets. -->\n",
    );
    out.push_str("\n# Reference\n");
    for target in &schema.targets {
        let _ = write!(out, "\n## {}\n", target.name);
        paragraph(&mut out, &target.described.docs);
        for described in &target.described.members {
            let signature = member(schema, described, Stubs::Bare);
            let _ = write!(out, "\n### `{signature}`\n");
            paragraph(&mut out, &described.docs);
            print_errors(&mut out, &described.errors);
        }
    }
    if schema.structures.is_empty() && schema.choices.is_empty() {
        return out;
    }
    out.push_str("\n# Types\n");
    for structure in &schema.structures {
        let _ = write!(out, "\n## {}\n", structure.name);
        paragraph(&mut out, &structure.described.docs);
        out.push_str("\n| field | type | |\n|---|---|---|\n");
        for field in &structure.described.fields {
            let (holds, optional) = match &field.holds {
                Type::Optional(inner) => (&**inner, ", may be missing"),
                holds => (holds, ""),
            };
            let holds = type_of(schema, holds, ValueFlow::Got, Stubs::Bare);
            let _ = writeln!(
                out,
                "| `{}` | `{}`{optional} | {} |",
                field.name,
                cell(&holds),
                cell(&field.docs)
            );
        }
    }
    for choice in &schema.choices {
        let _ = write!(out, "\n## {}\n", choice.name);
        paragraph(&mut out, &choice.described.docs);
        out.push_str("\n| value | |\n|---|---|\n");
        for (name, docs) in &choice.described.variants {
            let _ = writeln!(out, "| `\"{name}\"` | {} |", cell(docs));
        }
    }
    out
}

fn print_errors(out: &mut String, errors: &[ErrorDescription]) {
    if errors.is_empty() {
        return;
    }
    out.push_str("\nFails with\n\n");
    for ErrorDescription { code, when } in errors {
        let when = if when.is_empty() {
            String::new()
        } else {
            format!(": {when}")
        };
        let _ = writeln!(out, "- `{code}`{when}");
    }
}

fn paragraph(out: &mut String, text: &str) {
    if !text.is_empty() {
        let _ = write!(out, "\n{text}\n");
    }
}

/// Text in a table, where a line is a row and a bar a border.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}
