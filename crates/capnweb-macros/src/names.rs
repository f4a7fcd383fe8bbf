//! Rust names on the wire: their spelling there, and the names that may not be used.

use proc_macro2::Ident;
use syn::ext::IdentExt as _;

/// `snake_case` as JavaScript writes it: `get_user` is `getUser`, `_by` is `by`, `r#type` is `type`.
pub(crate) fn camel_case(ident: &Ident) -> String {
    let name = ident.unraw().to_string();
    let mut camel = String::with_capacity(name.len());
    for word in name.split('_').filter(|word| !word.is_empty()) {
        if camel.is_empty() {
            camel.push_str(word);
        } else {
            let mut characters = word.chars();
            camel.extend(characters.next().into_iter().flat_map(char::to_uppercase));
            camel.push_str(characters.as_str());
        }
    }
    camel
}

/// A variant's name as JavaScript writes it: `FriendRequest` is `friendRequest`.
pub(crate) fn lower_first(ident: &Ident) -> String {
    let name = ident.unraw().to_string();
    let mut characters = name.chars();
    let first = characters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(characters.clone()).collect()
}

/// Why a member cannot have this name on the wire, if it cannot.
pub(crate) fn refuse_member(wire: &str) -> Option<String> {
    if wire.is_empty() {
        return Some("a member needs a name".to_owned());
    }
    if is_prototype_member(wire) {
        return Some(format!(
            "in JavaScript every object has its own `{wire}`, so this one could never be reached; choose another name"
        ));
    }
    if wire == "then" {
        return Some(
            "an object with a `then` is a promise to JavaScript, which would call it at once; choose another name"
                .to_owned(),
        );
    }
    if matches!(wire, "catch" | "finally" | "dup" | "map" | "onRpcBroken") {
        return Some(format!(
            "in JavaScript every stub has its own `{wire}`, so this one could never be reached; choose another name"
        ));
    }
    None
}

/// Why a method of this Rust name could not be called on a stub, if it could not.
pub(crate) fn refuse_method(ident: &Ident) -> Option<String> {
    let name = ident.unraw().to_string();
    let taken = matches!(
        name.as_str(),
        "capability"
            | "cast"
            | "clone"
            | "clone_from"
            | "from_capability"
            | "into"
            | "into_stub"
            | "to_owned"
            | "try_into"
    );
    taken.then(|| {
        let wire = camel_case(ident);
        format!(
            "`{name}` is a method of every stub or target, which would hide this one; give it another name in Rust \
             and, for peers, #[method(name = \"{wire}\")]"
        )
    })
}

/// Why a field cannot have this name on the wire, if it cannot.
pub(crate) fn refuse_field(wire: &str) -> Option<String> {
    if wire.is_empty() {
        return Some("a field needs a name".to_owned());
    }
    // The reference implementation drops these from every object it receives.
    (is_prototype_member(wire) || wire == "toJSON").then(|| {
        format!("a field named `{wire}` would be dropped on its way, for safety; choose another with #[value(rename = \"…\")]")
    })
}

fn is_prototype_member(name: &str) -> bool {
    matches!(
        name,
        "constructor"
            | "toString"
            | "toLocaleString"
            | "valueOf"
            | "hasOwnProperty"
            | "isPrototypeOf"
            | "propertyIsEnumerable"
            | "__proto__"
            | "__defineGetter__"
            | "__defineSetter__"
            | "__lookupGetter__"
            | "__lookupSetter__"
    )
}
