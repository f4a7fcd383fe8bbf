//! Files with secrets in the data folder, which only their owner may read.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

/// Reads a secret, or makes the file with a new one. It is written beside the file and then gets its name, so that the file is
/// whole or not there; of two processes that make one at the same time, both get the secret of the first.
pub(crate) fn read_or_make(
    path: &Path,
    make: impl FnOnce() -> io::Result<Vec<u8>>,
) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        read => return read,
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    let beside = folder.join(format!(".new-{}", uuid::Uuid::new_v4()));
    let named = write(&beside, &make()?).and_then(|()| fs::hard_link(&beside, path));
    let removed = fs::remove_file(&beside);
    match named {
        Ok(()) => fs::File::open(folder)?.sync_all()?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    removed?;
    fs::read(path)
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Makes a folder that only its owner may look into, unless it is there.
fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
