//! From bytes to pixels, for the three formats of screenshots. Sizes are known and checked before pixels are decoded.

use std::io::Cursor;

use image_webp::WebPDecoder;
use png::{ColorType, Transformations};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::{Error, Limits};

/// Memory of a decoder beside the pixels, for its tables.
const TABLES: usize = 16 << 20;

/// Decoded pixels, one after the other.
pub(crate) struct Raw {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Grey; grey and opacity; red, green, blue; or these and opacity.
    pub(crate) channels: usize,
    pub(crate) bytes: Vec<u8>,
}

/// A format of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Png,
    Jpeg,
    WebP,
}

impl Format {
    /// The format, by the first bytes.
    pub(crate) fn of(bytes: &[u8]) -> Result<Self, Error> {
        let named = |name: &str| Err(Error::Format(name.to_owned()));
        match bytes {
            [0x89, b'P', b'N', b'G', ..] => Ok(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Ok(Self::Jpeg),
            [
                b'R',
                b'I',
                b'F',
                b'F',
                _,
                _,
                _,
                _,
                b'W',
                b'E',
                b'B',
                b'P',
                ..,
            ] => Ok(Self::WebP),
            [b'G', b'I', b'F', ..] => named("gif"),
            [b'B', b'M', ..] => named("bmp"),
            [b'I', b'I', b'*', 0, ..] | [b'M', b'M', 0, b'*', ..] => named("tiff"),
            [b'%', b'P', b'D', b'F', ..] => named("pdf"),
            [b'<', ..] => named("svg, html or xml"),
            _ => named("unknown"),
        }
    }

    pub(crate) fn decode(self, bytes: &[u8], limits: &Limits) -> Result<Raw, Error> {
        match self {
            Self::Png => png(bytes, limits),
            Self::Jpeg => jpeg(bytes, limits),
            Self::WebP => webp(bytes, limits),
        }
    }
}

fn corrupt(error: impl std::fmt::Debug + std::fmt::Display) -> Error {
    Error::Corrupt(error.to_string())
}

/// Checks a size against the limits, and returns how many pixels there are.
fn allowed(width: u32, height: u32, limits: &Limits) -> Result<usize, Error> {
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 {
        return Err(Error::Corrupt(format!("its size is {width} x {height}")));
    }
    match usize::try_from(pixels) {
        Ok(count) if pixels <= limits.pixels && width.max(height) <= limits.side => Ok(count),
        _ => Err(Error::TooLarge {
            width,
            height,
            pixels: limits.pixels,
            side: limits.side,
        }),
    }
}

fn png(bytes: &[u8], limits: &Limits) -> Result<Raw, Error> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(Transformations::normalize_to_color8());
    let header = decoder.read_header_info().map_err(corrupt)?;
    let (width, height) = (header.width, header.height);
    let pixels = allowed(width, height, limits)?;
    decoder.set_limits(png::Limits {
        bytes: pixels * 8 + TABLES,
    });
    let mut reader = decoder.read_info().map_err(corrupt)?;
    let size = reader.output_buffer_size();
    let size = size.ok_or_else(|| Error::Corrupt("its size overflows".to_owned()))?;
    let mut bytes = vec![0; size];
    let shown = reader.next_frame(&mut bytes).map_err(corrupt)?;
    let channels = match shown.color_type {
        ColorType::Grayscale => 1,
        ColorType::GrayscaleAlpha => 2,
        ColorType::Rgb => 3,
        ColorType::Rgba => 4,
        ColorType::Indexed => return Err(Error::Corrupt("its palette is missing".to_owned())),
    };
    Ok(Raw {
        width: width as usize,
        height: height as usize,
        channels,
        bytes,
    })
}

fn jpeg(bytes: &[u8], limits: &Limits) -> Result<Raw, Error> {
    let side = limits.side as usize;
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .set_max_width(side.max(usize::from(u16::MAX)))
        .set_max_height(side.max(usize::from(u16::MAX)))
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(corrupt)?;
    let size = decoder.info().map(|it| (it.width, it.height));
    let (width, height) = size.unwrap_or_default();
    allowed(width.into(), height.into(), limits)?;
    Ok(Raw {
        width: width.into(),
        height: height.into(),
        channels: 3,
        bytes: decoder.decode().map_err(corrupt)?,
    })
}

fn webp(bytes: &[u8], limits: &Limits) -> Result<Raw, Error> {
    let mut decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(corrupt)?;
    let (width, height) = decoder.dimensions();
    let pixels = allowed(width, height, limits)?;
    decoder.set_memory_limit(pixels * 8 + TABLES);
    let channels = if decoder.has_alpha() { 4 } else { 3 };
    let mut bytes = vec![0; pixels * channels];
    decoder.read_image(&mut bytes).map_err(corrupt)?;
    Ok(Raw {
        width: width as usize,
        height: height as usize,
        channels,
        bytes,
    })
}
