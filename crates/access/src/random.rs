//! Random ids and tokens.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};

/// The system gave no random numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoRandom;

pub(crate) fn random<const N: usize>() -> Result<[u8; N], NoRandom> {
    let mut bytes = [0; N];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map(|()| bytes).map_err(|_| NoRandom)
}

/// A token of 256 random bits behind a prefix, which tells a door what it looks at and is found by searches for leaked
/// secrets.
pub(crate) fn token(prefix: &str) -> Result<String, NoRandom> {
    Ok(format!(
        "{prefix}{}",
        URL_SAFE_NO_PAD.encode(random::<32>()?)
    ))
}

/// An id behind a prefix that is not taken, short enough to be typed.
pub(crate) fn id(prefix: &str, is_taken: impl Fn(&str) -> bool) -> Result<String, NoRandom> {
    loop {
        let bytes = random::<6>()?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let id = format!("{prefix}{digits}");
        if !is_taken(&id) {
            return Ok(id);
        }
    }
}
