//! Why a picture could not be analysed.

/// Why a picture could not be analysed. Each message completes "could not analyse the picture: ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There are no bytes.
    #[error("it is empty; send a PNG, JPEG or WebP file")]
    Empty,
    /// The file is larger than the limit.
    #[error(
        "it has {found} bytes, more than the limit of {limit}; send a smaller or stronger compressed file"
    )]
    TooManyBytes { found: usize, limit: usize },
    /// The bytes are no picture, or one of another format.
    #[error("its format is {0}; send PNG, JPEG or WebP")]
    Format(String),
    /// The picture has more pixels than the limit; nothing of it was decoded.
    #[error(
        "it is {width} x {height}; the limit is {pixels} pixels, and {side} for either side; send a part of it, or a smaller one"
    )]
    TooLarge {
        width: u32,
        height: u32,
        pixels: u64,
        side: u32,
    },
    /// The bytes begin like a picture and cannot be decoded.
    #[error("its data are corrupt: {0}")]
    Corrupt(String),
    /// The analysis took longer than the limit.
    #[error("it took longer than {0:?}; send a part of it, or a smaller one")]
    TooSlow(std::time::Duration),
    /// The two pictures of a comparison have different sizes.
    #[error("it is {after:?} in size and the picture before it {before:?}; send two of one size")]
    Sizes {
        before: (usize, usize),
        after: (usize, usize),
    },
    /// Text cannot be read, because nothing that reads is there.
    #[error("its text cannot be read: {0}")]
    NoReader(String),
    /// Models for reading are there and do not work.
    #[error("its text cannot be read with {file}: {problem}")]
    Models { file: String, problem: String },
}
