//! Parts of a message from files, and files from parts of an artifact.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use a2a::types::{Artifact, Content, Part};
use serde_json::Value;

use super::failure::Failure;

/// The largest file that is sent, in bytes.
const MAX_FILE: u64 = 64 << 20;

/// A file part: the content of a file, or the URL itself.
pub(in crate::command) fn part(name: &str) -> Result<Part, Failure> {
    if name.starts_with("http://") || name.starts_with("https://") {
        return Ok(Part {
            filename: base_name(name.split(['?', '#']).next().unwrap_or(name)),
            media_type: media_type(name),
            ..Part::url(name)
        });
    }
    let path = Path::new(name);
    plain(path)?;
    let file = std::fs::File::open(path).map_err(|error| Failure::file(path, &error))?;
    let mut bytes = Vec::new();
    let read = file.take(MAX_FILE + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::file(path, &error))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(Failure::file(
            path,
            &format!("larger than {MAX_FILE} bytes"),
        ));
    }
    Ok(Part {
        filename: base_name(name),
        media_type: media_type(name),
        ..Part::raw(bytes)
    })
}

/// Refuses anything but a regular file: reading a pipe could wait for ever.
fn plain(path: &Path) -> Result<(), Failure> {
    let about = std::fs::metadata(path).map_err(|error| Failure::file(path, &error))?;
    if about.is_file() {
        Ok(())
    } else {
        Err(Failure::file(path, &"is not a file"))
    }
}

/// A data part: JSON, or `@` and the name of a file with JSON.
pub(in crate::command) fn data(text: &str) -> Result<Part, Failure> {
    let read = match text.strip_prefix('@') {
        Some(name) => {
            let path = Path::new(name);
            plain(path)?;
            std::fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?
        }
        None => text.to_owned(),
    };
    Ok(Part {
        media_type: "application/json".to_owned(),
        ..Part::data(json(&read, "--data")?)
    })
}

/// Parses JSON of a flag.
pub(in crate::command) fn json(text: &str, flag: &str) -> Result<Value, Failure> {
    let wrong = |error| Failure::Usage(format!("{flag} is no JSON: {error}"));
    serde_json::from_str(text).map_err(wrong)
}

fn media_type(name: &str) -> String {
    let guess = mime_guess::from_path(name.split(['?', '#']).next().unwrap_or(name));
    guess.first_or_octet_stream().to_string()
}

/// The last part of a path, which cannot lead out of a folder.
pub(in crate::command) fn base_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept = |c: &char| !c.is_control() && *c != ':';
    let last: String = last.chars().filter(kept).take(200).collect();
    let last = last.trim_matches(['.', ' ']);
    last.to_owned()
}

/// A file to write.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::command) struct File {
    pub(in crate::command) name: String,
    pub(in crate::command) bytes: Vec<u8>,
}

/// The files in an artifact: all parts that hold their content. Parts that only have a URL are left out.
pub(in crate::command) fn of(artifact: &Artifact) -> Vec<File> {
    let parts = joined(&artifact.parts);
    let numbered = parts.iter().enumerate();
    let file = |(number, part): (usize, &Part)| {
        let (bytes, ending) = match &part.content {
            Content::Text(text) => (text.clone().into_bytes(), "txt"),
            Content::Raw(bytes) => (bytes.to_vec(), "bin"),
            Content::Data(data) => {
                let data = serde_json::to_value(data).unwrap_or_default();
                (data.to_string().into_bytes(), "json")
            }
            Content::Url(_) | Content::Unset => return None,
        };
        let mut name = base_name(&part.filename);
        let known = ending_of(&part.media_type);
        if let (false, false, Some(ending)) = (name.is_empty(), name.contains('.'), known) {
            name = format!("{name}.{ending}");
        }
        if name.is_empty() {
            let artifact = [&artifact.name, &artifact.artifact_id];
            let artifact = artifact.map(|name| base_name(name));
            let artifact = artifact.into_iter().find(|name| !name.is_empty());
            let artifact = artifact.unwrap_or_else(|| "artifact".to_owned());
            let ending = known.unwrap_or(ending);
            name = match (artifact.contains('.'), artifact.len(), number) {
                (true, _, 0) => artifact,
                (_, _, 0) => format!("{artifact}.{ending}"),
                _ => format!("{artifact}-{number}.{ending}"),
            };
        }
        Some(File { name, bytes })
    };
    numbered.filter_map(file).collect()
}

/// How names of files of a media type end; none for plain text, which has too many endings to choose from.
fn ending_of(media_type: &str) -> Option<&'static str> {
    let (_, kind) = media_type.split_once('/')?;
    let endings = mime_guess::get_mime_extensions_str(media_type)?;
    let same = endings.iter().find(|ending| **ending == kind);
    let ending = same.or_else(|| endings.first()).copied();
    ending.filter(|_| media_type != "text/plain")
}

/// The parts, with consecutive texts joined: a stream brings a text in pieces.
fn joined(parts: &[Part]) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::new();
    for part in parts {
        let last = joined
            .last_mut()
            .filter(|last| last.filename == part.filename);
        match (last.map(|last| &mut last.content), &part.content) {
            (Some(Content::Text(text)), Content::Text(more)) => text.push_str(more),
            _ => joined.push(part.clone()),
        }
    }
    joined
}

/// Writes a file into a folder. An existing file is only replaced with `replace`.
pub(in crate::command) fn write(
    folder: &Path,
    file: &File,
    replace: bool,
) -> Result<PathBuf, Failure> {
    use std::io::Write as _;
    std::fs::create_dir_all(folder).map_err(|error| Failure::file(folder, &error))?;
    let path = folder.join(&file.name);
    let mut options = std::fs::OpenOptions::new();
    options.write(true);
    if replace {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    let written = options
        .open(&path)
        .and_then(|mut open| open.write_all(&file.bytes));
    match written {
        Ok(()) => Ok(path),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(Failure::file(&path, &"exists; --force replaces it"))
        }
        Err(error) => Err(Failure::file(&path, &error)),
    }
}
