//! The files that reading needs: which they are, and where they are published.

use std::path::Path;

/// A file of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name in the folder of models, and in the archive.
    pub name: &'static str,
    /// Its size in bytes.
    pub size: u64,
    /// The SHA-256 of its content.
    pub sha256: &'static str,
}

/// The command that fetches the files.
pub const COMMAND: &str = "monas models pull ocr";

/// The name of the models, which is also the name of their folder.
pub const NAME: &str = "ocr";

/// Finds lines of text (PP-OCRv6, Apache-2.0).
pub const DETECTION: File = File {
    name: "PP-OCRv6_det_small.onnx",
    size: 9_929_594,
    sha256: "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
};

/// Reads a line (PP-OCRv6, Apache-2.0). Its letters are in its metadata.
pub const RECOGNITION: File = File {
    name: "PP-OCRv6_rec_small.onnx",
    size: 21_234_383,
    sha256: "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
};

/// All files.
pub const FILES: [File; 2] = [DETECTION, RECOGNITION];

/// The Python package whose wheel has the files.
pub const PACKAGE: &str = "rapidocr";

/// The version of that package.
pub const VERSION: &str = "3.10.0";

/// Whether all files are in a folder, by name and size. Hashes are checked when files are fetched.
pub fn are_in(folder: &Path) -> bool {
    FILES.iter().all(|file| {
        let found = folder.join(file.name).metadata();
        found.is_ok_and(|found| found.is_file() && found.len() == file.size)
    })
}
