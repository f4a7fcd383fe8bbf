//! Forms of a law that are accepted besides its own: the names that the source document has for the kinds of rules, and
//! a `policy` around them.

use serde_json::{Map, Value};

/// Other names of places in a law.
const NAMES: [(&str, &[&str]); 5] = [
    ("memory_rules", &["memory", "rules"]),
    ("update_rules", &["update"]),
    ("tool_selection_rules", &["skill_selection"]),
    ("tool_selection", &["skill_selection"]),
    ("tool_rules", &["skill_selection"]),
];

/// What surrounds the rules in the source document.
const WRAPPER: &str = "policy";

/// The names of a place in a law, of which the first ones may be those of the source document.
pub(super) fn named(mut names: Vec<String>) -> Vec<String> {
    if names.first().is_some_and(|it| it == WRAPPER) {
        names.remove(0);
    }
    let known = |name: &String| NAMES.iter().find(|(other, _)| other == name);
    if let Some((_, place)) = names.first().and_then(known) {
        names.splice(..1, place.iter().map(|&it| it.to_owned()));
    }
    if names.len() > 1 && names[0] == "memory" && names[1] == "memory_rules" {
        "rules".clone_into(&mut names[1]);
    }
    names
}

/// Whether the top of a law has a name of the source document that the law itself does not have.
pub(super) fn is_foreign(tree: &Value) -> bool {
    let members = tree.as_object().into_iter().flat_map(Map::keys);
    let mut names = members.map(|name| snake(name));
    names.any(|name| name == WRAPPER || NAMES.iter().any(|(other, _)| *other == name))
}

/// The tree of a law with its own names. The error says which rules are there twice.
pub(super) fn own(tree: Value) -> Result<Value, String> {
    let Value::Object(members) = tree else {
        return Ok(tree);
    };
    let mut law = Map::new();
    for (name, value) in members {
        let name = snake(&name);
        if name == WRAPPER {
            let Value::Object(inner) = own(value)? else {
                return Err("policy is not a table of rules".to_owned());
            };
            for (name, value) in inner {
                put(&mut law, &[name], value)?;
            }
        } else {
            put(&mut law, &named(vec![name]), value)?;
        }
    }
    Ok(Value::Object(law))
}

/// Puts a value at a place; tables are merged.
fn put(law: &mut Map<String, Value>, place: &[String], value: Value) -> Result<(), String> {
    let [name, inner @ ..] = place else {
        return Ok(());
    };
    match (law.get_mut(name), inner) {
        (None, []) => {
            law.insert(name.clone(), value);
        }
        (None, inner) => {
            let mut table = Map::new();
            put(&mut table, inner, value)?;
            law.insert(name.clone(), Value::Object(table));
        }
        (Some(Value::Object(table)), []) => match value {
            Value::Object(members) => {
                for (name, value) in members {
                    put(table, &[name], value)?;
                }
            }
            _ => return Err(format!("{name} is there twice")),
        },
        (Some(Value::Object(table)), inner) => put(table, inner, value)?,
        (Some(_), _) => return Err(format!("{name} is there twice")),
    }
    Ok(())
}

/// The name in snake case: `minConfidence` as `min_confidence`.
pub(super) fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
