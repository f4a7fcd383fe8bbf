//! The declarations have every method, and every name in them is declared.

use super::typescript;
use crate::api::openapi::described::named::NAMED;
use crate::api::rules::RULES;
use crate::door::table::methods;

#[test]
fn every_route_is_a_method_of_the_workspace() {
    let text = typescript(RULES);
    for row in methods(RULES) {
        assert!(
            text.contains(&format!("\n  {}(fields", row.name)),
            "{}",
            row.name
        );
    }
    assert!(text.contains(
        "patchSessionsById(fields: { id: string | number; title?: string; archived?: boolean; agent?: string })"
    ));
}

#[test]
fn a_named_object_inside_a_reply_is_declared() {
    let known = |name: &str| NAMED.iter().any(|(it, _)| *it == name);
    let replies = methods(RULES).into_iter().map(|row| row.about);
    let replies = replies.filter_map(|about| match about.reply {
        crate::api::openapi::described::Kind::Json(fields) => Some(fields),
        _ => None,
    });
    let named = NAMED.iter().map(|(_, fields)| *fields);
    for (_, kind) in replies.chain(named).flatten() {
        let name = kind.trim_end_matches("[]");
        let is_name = name.starts_with(|it: char| it.is_ascii_uppercase());
        assert!(!is_name || known(name), "{name} is not declared");
    }
}
