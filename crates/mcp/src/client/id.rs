//! Ids for tools that have names of their own.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

/// The longest id.
const LONGEST: usize = 63;

/// The ids of tools, each given as server and name: `server-tool` in lower case, with a hyphen for whatever is no
/// letter, digit or hyphen. One that is too long, that a skill has, or that two tools would have ends with a piece of
/// its hash instead: no server can come by the id that another one's tool would have without it, and with it whatever
/// was granted to that id.
pub(super) fn mint(tools: &[(&str, &str)], taken: impl Fn(&str) -> bool) -> Vec<String> {
    let plain = tools
        .iter()
        .map(|(server, tool)| label(&format!("{server}-{tool}")));
    let plain: Vec<_> = plain.collect();
    let mut wanted: HashMap<&str, usize> = HashMap::new();
    for id in &plain {
        *wanted.entry(id).or_default() += 1;
    }
    let is_free = |id: &str| !id.is_empty() && id.len() <= LONGEST && wanted[id] == 1 && !taken(id);
    let minted = tools
        .iter()
        .zip(&plain)
        .map(|((server, tool), id)| match is_free(id) {
            true => id.clone(),
            false => hashed(id, server, tool),
        });
    minted.collect()
}

fn hashed(id: &str, server: &str, tool: &str) -> String {
    let hash = Sha256::digest(format!("{server}\n{tool}"));
    let hash: String = hash[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    let room = LONGEST - hash.len() - 1;
    let kept = id.get(..id.len().min(room)).unwrap_or_default();
    label(&format!("{kept}-{hash}"))
}

/// A text as a DNS label, however long.
fn label(text: &str) -> String {
    let mut label = String::with_capacity(text.len());
    for character in text.chars() {
        match character.to_ascii_lowercase() {
            plain @ ('a'..='z' | '0'..='9') => label.push(plain),
            _ if label.ends_with('-') => {}
            _ => label.push('-'),
        }
    }
    label.trim_matches('-').to_owned()
}

#[cfg(test)]
#[path = "id_tests.rs"]
mod tests;
