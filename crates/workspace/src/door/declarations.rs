//! The declarations of the door for TypeScript, from the table of routes. `cargo xtask types` writes them.

use std::fmt::Write as _;

use access::RouteRule;

use super::table::{Row, methods};
use crate::api::openapi::described::named::NAMED;
use crate::api::openapi::described::{Fields, Kind};

#[cfg(test)]
#[path = "declarations_tests.rs"]
mod tests;

/// What is no route: the first object, and the streams.
const STREAMS: &str = include_str!("streams.ts");

/// The declarations of a server with these routes.
pub fn typescript(rows: &[RouteRule]) -> String {
    let mut text = STREAMS.to_owned();
    for (name, fields) in NAMED {
        let _ = writeln!(text, "\nexport interface {name} {{");
        for (field, kind) in *fields {
            let _ = writeln!(text, "  {};", member(field, &typed(kind)));
        }
        text.push_str("}\n");
    }
    text.push_str(
        "\n/** What a caller may do: a method for each route, and the streams. */\nexport interface Workspace extends Streams {\n",
    );
    for row in methods(rows) {
        let _ = writeln!(
            text,
            "  /** `{} {}`: {} */\n  {}({}): Promise<{}>;",
            row.verb,
            row.path,
            row.about.summary,
            row.name,
            argument(&row),
            reply(&row),
        );
    }
    text.push_str("}\n");
    text
}

/// A field with its type; the mark of what is required is behind its name.
fn member(field: &str, kind: &str) -> String {
    match field.strip_suffix('!') {
        Some(name) => format!("{name}: {kind}"),
        None => format!("{field}?: {kind}"),
    }
}

fn typed(kind: &str) -> String {
    match kind {
        "string" | "boolean" => kind.to_owned(),
        "integer" | "number" => "number".to_owned(),
        "string?" => "string | null".to_owned(),
        "object" => "Fields".to_owned(),
        "objects" => "Fields[]".to_owned(),
        "list" => "Json[]".to_owned(),
        "strings" => "string[]".to_owned(),
        "integers" => "number[]".to_owned(),
        "any" => "Json".to_owned(),
        named if named.starts_with(|it: char| it.is_ascii_uppercase()) => named.to_owned(),
        words => {
            let words = words.split('|').map(|it| format!("\"{it}\""));
            words.collect::<Vec<_>>().join(" | ")
        }
    }
}

/// The one argument of a method: the fields of its path, its query and its body.
fn argument(row: &Row) -> String {
    let mut fields: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, kind: String| {
        let bare = name.trim_end_matches('!');
        if !fields
            .iter()
            .any(|(it, _)| it.trim_end_matches('!') == bare)
        {
            fields.push((name.to_owned(), kind));
        }
    };
    for name in row.in_path() {
        add(&format!("{name}!"), "string | number".to_owned());
    }
    for (name, kind) in row.about.body {
        add(name, typed(kind));
    }
    for (name, _) in row.about.query {
        let kind = match *name {
            "agent" => "string",
            _ => "string | number | boolean | string[]",
        };
        add(name, kind.to_owned());
    }
    if fields.is_empty() {
        return "fields?: {}".to_owned();
    }
    let needed = fields.iter().any(|(name, _)| name.ends_with('!'));
    let members = fields.iter().map(|(name, kind)| member(name, kind));
    let members = members.collect::<Vec<_>>().join("; ");
    let mark = if needed { "" } else { "?" };
    format!("fields{mark}: {{ {members} }}")
}

fn reply(row: &Row) -> String {
    match row.about.reply {
        Kind::Json([]) => "Fields".to_owned(),
        Kind::Json(fields) => object(fields),
        Kind::Other(_) | Kind::Upgrade => "string".to_owned(),
    }
}

fn object(fields: Fields) -> String {
    let members = fields.iter().map(|(name, kind)| member(name, &typed(kind)));
    format!("{{ {} }}", members.collect::<Vec<_>>().join("; "))
}
