//! Base64: written in the standard alphabet without padding, read in every variant that peers write.

use std::sync::LazyLock;

use ::base64::Engine;
use ::base64::engine::DecodePaddingMode;
use ::base64::engine::general_purpose::{GeneralPurposeConfig, NO_PAD};

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
type Base64 = ::base64::engine::GeneralPurpose;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
type Base64 = ::base64::engine::Simd;

/// Made once: it looks up what the processor can do.
static BASE64: LazyLock<Base64> = LazyLock::new(|| standard(LENIENT));

/// Padding may be there or not, and the bits that fill the last character may be anything.
const LENIENT: GeneralPurposeConfig = NO_PAD
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn standard(config: GeneralPurposeConfig) -> Base64 {
    Base64::new(&::base64::alphabet::STANDARD, config)
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn standard(config: GeneralPurposeConfig) -> Base64 {
    Base64::standard(config)
}

/// Appends `bytes` in base64.
pub(super) fn write(out: &mut String, bytes: &[u8]) {
    out.reserve(bytes.len().div_ceil(3) * 4);
    BASE64.encode_string(bytes, out);
}

/// The bytes that `text` stands for, in the standard or the URL-safe alphabet; `None` when it is not
/// base64.
pub(super) fn read(text: &str) -> Option<Vec<u8>> {
    BASE64.decode(text).ok().or_else(|| {
        let standard = text
            .contains(['-', '_'])
            .then(|| text.replace('-', "+").replace('_', "/"));
        BASE64.decode(standard?).ok()
    })
}
