//! Signatures of cards: a reader can check which key signed a card.
//!
//! A card bears signatures (JWS, RFC 7515) over its canonical form (RFC 8785) without them. Which keys are
//! trusted is the reader's to say: an address that a card names for its keys (`jku`) is never called, since
//! a forged card would contain that as well.
//!
//! ```
//! use a2a::signature::{Algorithm, SigningKey, TrustedKeys};
//! use a2a::types::AgentCard;
//!
//! # fn main() -> Result<(), a2a::signature::Error> {
//! let key = SigningKey::from_pem(&SigningKey::generate(Algorithm::Es256)?)?;
//! let mut card = AgentCard { name: "Ada".to_owned(), ..AgentCard::default() };
//! key.sign_card(&mut card)?;
//!
//! let trusted = TrustedKeys::read(&key.public_jwk().to_string())?;
//! assert_eq!(trusted.verify(&card)?.key, key.id());
//! card.name = "Eve".to_owned();
//! assert!(trusted.verify(&card).is_err());
//! # Ok(()) }
//! ```

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::types::wire::WireMessage as _;
use crate::types::{AgentCard, AgentCardSignature};

mod canonical;
#[cfg(test)]
#[path = "signature/canonical_tests.rs"]
mod canonical_tests;
mod key;
#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;

pub use key::{Algorithm, SigningKey};

use canonical::{canonical, without_empty};
use key::PublicKey;

/// How many signatures of a card are looked at.
const MAX_SIGNATURES: usize = 16;

/// Why a card could not be signed, or is not to be trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not a private key that can sign cards.
    #[error("read a private key: not PEM of PKCS #8 with a key for ES256 or EdDSA")]
    PrivateKey,
    /// What should be public keys are none that verify cards.
    #[error("read public keys: neither PEM nor JSON Web Keys for ES256 or EdDSA")]
    PublicKey,
    /// The system gave no random numbers.
    #[error("get random numbers from the system")]
    Random,
    /// The card is not one.
    #[error("read the card: {0}")]
    Card(String),
    /// The card has no signature.
    #[error("verify the card: it has no signature")]
    Unsigned,
    /// The card is signed, but by no trusted key.
    #[error("verify the card: it is signed by {0}, which is not trusted")]
    Untrusted(String),
    /// A trusted key is named, and the card is not what it signed.
    #[error("verify the card: it is not what {0} signed")]
    Forged(String),
}

/// A card with a valid signature.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// The card as it was signed: what the signature does not cover is not in it.
    pub card: AgentCard,
    /// The same as it was written, with members that version 1.0 does not know if they are covered.
    pub json: Value,
    /// The id of the key that signed it, as the signature names it.
    pub key: String,
    /// How it was signed.
    pub algorithm: Algorithm,
}

impl SigningKey {
    /// Adds its signature to a card.
    ///
    /// What is signed is the card as version 1.0 has it. Implementations disagree whether an empty member
    /// counts: where a card has one, there is a signature for either view.
    pub fn sign_card(&self, card: &mut AgentCard) -> Result<(), Error> {
        let header = json!({ "alg": self.algorithm().name(), "kid": self.id(), "typ": "JOSE" });
        let protected = URL_SAFE_NO_PAD.encode(header.to_string());
        let mut whole = serde_json::to_value(&*card).expect("a card is always JSON");
        unsign(&mut whole);
        for form in distinct([without_empty(&whole).unwrap_or_else(|| json!({})), whole]) {
            let signature = self.sign(signing_input(&protected, &form).as_bytes())?;
            card.signatures.push(AgentCardSignature {
                protected: protected.clone(),
                signature: URL_SAFE_NO_PAD.encode(signature),
                header: None,
            });
        }
        Ok(())
    }
}

/// The trusted keys.
#[derive(Clone, Debug, Default)]
pub struct TrustedKeys {
    keys: Vec<PublicKey>,
}

impl TrustedKeys {
    /// Reads public keys: PEM with one or more of them, a JSON Web Key, or a set of those.
    ///
    /// A key that has an id is asked for signatures that name it; one without, for all.
    pub fn read(text: &str) -> Result<Self, Error> {
        let keys = if text.trim_start().starts_with('{') {
            let value: Value = serde_json::from_str(text).map_err(|_| Error::PublicKey)?;
            PublicKey::from_jwk(&value)?
        } else {
            PublicKey::from_pem(text)?
        };
        Ok(Self { keys })
    }

    /// Trusts the keys of another collection as well.
    pub fn add(&mut self, other: Self) {
        self.keys.extend(other.keys);
    }

    /// Whether no key is trusted, so that no card can be.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Verifies a card. One that was read from a peer's JSON has lost what version 1.0 does not know;
    /// [`verify_json`](Self::verify_json) looks at all of it.
    pub fn verify(&self, card: &AgentCard) -> Result<Verified, Error> {
        let value = serde_json::to_value(card).expect("a card is always JSON");
        self.verify_value(value)
    }

    /// Verifies a card as it was received.
    pub fn verify_json(&self, json: &[u8]) -> Result<Verified, Error> {
        let unreadable = |error: serde_json::Error| Error::Card(error.to_string());
        self.verify_value(serde_json::from_slice(json).map_err(unreadable)?)
    }

    /// Verifies a card as it was received: one signature of a trusted key is enough.
    ///
    /// Signers differ in what they sign: all members, or those that version 1.0 knows; empty ones, or not. A
    /// signature may hold for any of these views, and the card that is returned is that view of it.
    pub fn verify_value(&self, mut received: Value) -> Result<Verified, Error> {
        let signatures = unsign(&mut received);
        let whole = read_card(&received)?;
        let known = serde_json::to_value(&whole).expect("a card is always JSON");
        let forms = [&received, &known].map(without_empty);
        let [received_less, known_less] = forms.map(Option::unwrap_or_default);
        let forms = distinct([received, received_less, known, known_less]);

        let mut failed = Error::Unsigned;
        for signature in signatures {
            let Some(header) = Header::read(&signature.protected) else {
                failed = failed.or(Error::Untrusted("a key that it does not name".to_owned()));
                continue;
            };
            let bytes = URL_SAFE_NO_PAD.decode(signature.signature.trim_end_matches('='));
            let bytes = bytes.unwrap_or_default();
            let keys = self.keys.iter().filter(|key| header.may_be(key));
            let keys: Vec<&PublicKey> = keys.collect();
            if keys.is_empty() {
                failed = failed.or(Error::Untrusted(format!("{:?}", header.key)));
                continue;
            }
            for form in &forms {
                let input = signing_input(&signature.protected, form);
                if let Some(key) = keys.iter().find(|key| key.verify(input.as_bytes(), &bytes)) {
                    return Ok(Verified {
                        card: read_card(form)?,
                        json: form.clone(),
                        key: header.key,
                        algorithm: key.algorithm,
                    });
                }
            }
            failed = Error::Forged(format!("{:?}", header.key));
        }
        Err(failed)
    }
}

impl Error {
    /// The one of two that says more; a forgery says most.
    fn or(self, other: Self) -> Self {
        match self {
            Self::Unsigned => other,
            first => first,
        }
    }
}

/// What a signature says about itself.
struct Header {
    algorithm: Algorithm,
    key: String,
}

impl Header {
    /// The protected header. None for one without a key's id, of another algorithm, or with demands
    /// (`crit`) that are unknown here: RFC 7515 has such a signature refused.
    fn read(protected: &str) -> Option<Self> {
        let header = URL_SAFE_NO_PAD
            .decode(protected.trim_end_matches('='))
            .ok()?;
        let header: Value = serde_json::from_slice(&header).ok()?;
        if header.get("crit").is_some() {
            return None;
        }
        let algorithm = match header["alg"].as_str()? {
            "ES256" => Algorithm::Es256,
            "EdDSA" => Algorithm::EdDsa,
            _ => return None,
        };
        Some(Self {
            algorithm,
            key: header["kid"].as_str()?.to_owned(),
        })
    }

    /// Whether a key may have made the signature. The algorithm is the key's, never the header's alone.
    fn may_be(&self, key: &PublicKey) -> bool {
        key.algorithm == self.algorithm && key.id.as_ref().is_none_or(|id| *id == self.key)
    }
}

/// What is signed: the header and the card, both in base64url.
fn signing_input(protected: &str, card: &Value) -> String {
    format!("{protected}.{}", URL_SAFE_NO_PAD.encode(canonical(card)))
}

/// Takes the signatures off a card, as many as are looked at. Invalid ones are left out.
fn unsign(card: &mut Value) -> Vec<AgentCardSignature> {
    let signatures = card.as_object_mut().and_then(|it| it.remove("signatures"));
    let signatures = match signatures {
        Some(Value::Array(signatures)) => signatures,
        _ => Vec::new(),
    };
    let signatures = signatures.into_iter().take(MAX_SIGNATURES);
    let signatures = signatures.map(|it| AgentCardSignature::from_json(it.to_string().as_bytes()));
    signatures.filter_map(Result::ok).collect()
}

fn read_card(value: &Value) -> Result<AgentCard, Error> {
    let card = AgentCard::from_json(value.to_string().as_bytes());
    card.map_err(|error| Error::Card(error.to_string()))
}

/// Forms of a card, each once.
fn distinct<const N: usize>(forms: [Value; N]) -> Vec<Value> {
    let mut distinct: Vec<Value> = Vec::new();
    for form in forms {
        if !distinct.contains(&form) {
            distinct.push(form);
        }
    }
    distinct
}
