//! The contents of a refusal: the challenges of `WWW-Authenticate` (RFC 9110 11.6.1) for tokens.

use std::collections::BTreeMap;

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;

/// How much of the header is read. The rest of a longer one is ignored.
const SIZE: usize = 8 << 10;

/// A challenge of the scheme Bearer (RFC 6750 3) or DPoP (RFC 9449 7.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    /// Whether tokens are to be shown with a proof of possession.
    pub wants_proof: bool,
    /// What is wrong with the request, such as `insufficient_scope`.
    pub error: Option<String>,
    /// The scopes that the request needs.
    pub scopes: Vec<String>,
    /// Where the metadata of the resource is (RFC 9728 5.1).
    pub resource_metadata: Option<String>,
}

impl Challenge {
    /// The first challenge for tokens in the headers of a refusal. If both schemes are offered, the one with proofs.
    pub fn find(headers: &HeaderMap) -> Option<Self> {
        let values = headers.get_all(WWW_AUTHENTICATE).iter();
        let found: Vec<Self> = values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|text| read(text.get(..SIZE).unwrap_or(text)))
            .collect();
        let proof = found.iter().find(|it| it.wants_proof);
        proof.or(found.first()).cloned()
    }

    /// Whether the token is valid but allows too little.
    pub fn is_insufficient(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

/// The challenges for tokens in one header.
fn read(text: &str) -> Vec<Challenge> {
    let mut challenges = Vec::new();
    let mut scheme = String::new();
    let mut parameters = BTreeMap::new();
    let mut rest = text;
    let mut end = |scheme: &mut String, parameters: &mut BTreeMap<String, String>| {
        challenges.extend(challenge(scheme, std::mem::take(parameters)));
        scheme.clear();
    };
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let word_end = rest.find([' ', '\t', ',', '=']).unwrap_or(rest.len());
        if word_end == 0 {
            break;
        }
        let (word, after) = rest.split_at(word_end);
        let value = after.trim_start_matches([' ', '\t']).strip_prefix('=');
        match value {
            Some(value) if !scheme.is_empty() => {
                let (value, after) = parameter(value.trim_start());
                parameters.insert(word.to_ascii_lowercase(), value);
                rest = after;
            }
            _ => {
                end(&mut scheme, &mut parameters);
                word.clone_into(&mut scheme);
                rest = after.trim_start_matches('=');
            }
        }
    }
    end(&mut scheme, &mut parameters);
    challenges
}

/// The value at the beginning of a text, quoted or not, and what follows it.
fn parameter(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([' ', '\t', ',']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    (value, "")
}

fn challenge(scheme: &str, mut parameters: BTreeMap<String, String>) -> Option<Challenge> {
    let wants_proof = scheme.eq_ignore_ascii_case("dpop");
    if !wants_proof && !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    let scopes = parameters.remove("scope").unwrap_or_default();
    Some(Challenge {
        wants_proof,
        error: parameters.remove("error"),
        scopes: scopes.split_whitespace().map(str::to_owned).collect(),
        resource_metadata: parameters.remove("resource_metadata"),
    })
}

#[cfg(test)]
#[path = "challenge_tests.rs"]
mod tests;
