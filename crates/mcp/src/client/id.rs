//! Makes the skill ids of tools.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};
use skill::{MAX_LABEL, is_label, to_label};

/// The ids of tools, each given as server and name: `server-tool` as a DNS label. An id that is too long, that a skill
/// has, or that two tools would share gets a part of its hash at the end. That applies to both of the two tools: otherwise
/// a server could name its tool so that it takes the id of another server's tool, and with it the rights granted to that
/// id.
pub(super) fn mint(tools: &[(&str, &str)], taken: impl Fn(&str) -> bool) -> Vec<String> {
    let plain = tools
        .iter()
        .map(|(server, tool)| to_label(&format!("{server}-{tool}")));
    let plain: Vec<_> = plain.collect();
    let mut wanted: HashMap<&str, usize> = HashMap::new();
    for id in &plain {
        *wanted.entry(id).or_default() += 1;
    }
    let is_free = |id: &str| is_label(id) && wanted[id] == 1 && !taken(id);
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
    let room = MAX_LABEL - hash.len() - 1;
    let kept = id.get(..id.len().min(room)).unwrap_or_default();
    to_label(&format!("{kept}-{hash}"))
}

#[cfg(test)]
#[path = "id_tests.rs"]
mod tests;
