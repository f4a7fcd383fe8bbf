//! A picture in memory: decoded within limits, without transparency.

use crate::decode::{Format, Raw};
use crate::{Error, Limits};

/// An RGB picture. Transparent pixels are shown on white.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<[u8; 3]>,
    /// Neighbours of one surface may differ by the noise of a lossy format.
    pub(crate) noise: u8,
}

impl Picture {
    /// Decodes PNG, JPEG or WebP. Sizes are checked against `limits` before memory is reserved for pixels.
    pub fn decode(bytes: &[u8], limits: &Limits) -> Result<Self, Error> {
        if bytes.is_empty() {
            return Err(Error::Empty);
        }
        if bytes.len() > limits.bytes {
            return Err(Error::TooManyBytes {
                found: bytes.len(),
                limit: limits.bytes,
            });
        }
        let format = Format::of(bytes)?;
        let raw = format.decode(bytes, limits)?;
        let pixels = on_white(&raw);
        if pixels.len() != raw.width * raw.height {
            return Err(Error::Corrupt(
                "it has fewer pixels than its size".to_owned(),
            ));
        }
        Ok(Self {
            width: raw.width,
            height: raw.height,
            pixels,
            noise: if format == Format::Png { 2 } else { 7 },
        })
    }

    /// The width in pixels.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The height in pixels.
    pub fn height(&self) -> usize {
        self.height
    }

    pub(crate) fn at(&self, x: usize, y: usize) -> [u8; 3] {
        self.pixels[y * self.width + x]
    }
}

fn on_white(raw: &Raw) -> Vec<[u8; 3]> {
    let shown = |value: u8, opacity: u8| {
        let (value, opacity) = (u16::from(value), u16::from(opacity));
        u8::try_from((value * opacity + 255 * (255 - opacity)) / 255).unwrap_or(u8::MAX)
    };
    let pixels = raw.bytes.chunks_exact(raw.channels);
    let pixels = pixels.map(|pixel| match *pixel {
        [grey] => [grey; 3],
        [grey, opacity] => [shown(grey, opacity); 3],
        [red, green, blue] => [red, green, blue],
        [red, green, blue, opacity] => [red, green, blue].map(|it| shown(it, opacity)),
        _ => [u8::MAX; 3],
    });
    pixels.collect()
}

/// The largest difference of two colours in one channel.
pub(crate) fn difference(one: [u8; 3], other: [u8; 3]) -> u8 {
    let channels = one.iter().zip(&other);
    channels.map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0)
}
