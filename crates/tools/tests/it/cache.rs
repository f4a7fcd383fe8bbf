//! Contents of files that are kept: used while the file is the same, and never longer.

use std::fs;
use std::time::{Duration, Instant};

use tools::{FileCache, Project, ProjectPath};

use crate::support::Bed;

fn cached() -> (Bed, Project, FileCache) {
    let bed = Bed::new();
    let cache = FileCache::default();
    let project = bed.project.clone().cached_in(&cache);
    (bed, project, cache)
}

fn whole(project: &Project, path: &str) -> Result<String, tools::Error> {
    let file = project.whole(&ProjectPath::parse(path)?)?;
    Ok(file.content)
}

/// Reads until the file is in the cache: a moment after its last change.
fn settle(project: &Project, cache: &FileCache, path: &str) {
    let (began, before) = (Instant::now(), cache.counts().hits);
    while cache.counts().hits == before {
        assert!(began.elapsed() < Duration::from_secs(60), "{cache:?}");
        whole(project, path).unwrap();
    }
}

#[test]
fn a_file_is_read_once_while_it_is_the_same() {
    let (bed, project, cache) = cached();
    bed.put("a.txt", "rain\n");
    settle(&project, &cache, "a.txt");
    let before = cache.counts();
    assert_eq!(whole(&project, "a.txt").unwrap(), "rain\n");
    assert_eq!(cache.counts().hits, before.hits + 1);
    assert_eq!(cache.counts().misses, before.misses);
    assert_eq!(before.bytes, 5);
}

/// Contents of one length, so that only the time and the number of the file tell them apart.
#[test]
fn every_change_is_seen_at_once() {
    let (bed, project, cache) = cached();
    let path = ProjectPath::parse("a.txt").unwrap();
    for round in 0..300 {
        let text = format!("{round:04}");
        match round % 4 {
            // In place, by another program.
            0 | 1 => {
                bed.put("a.txt", &text);
            }
            2 => {
                project.write(&path, &text, None).unwrap();
            }
            _ => {
                bed.put("b.txt", &text);
                fs::rename(bed.root.join("b.txt"), bed.root.join("a.txt")).unwrap();
            }
        }
        if round % 100 == 0 {
            settle(&project, &cache, "a.txt");
        }
        for _ in 0..2 {
            assert_eq!(whole(&project, "a.txt").unwrap(), text);
        }
    }
    fs::remove_file(bed.root.join("a.txt")).unwrap();
    assert!(matches!(
        whole(&project, "a.txt"),
        Err(tools::Error::NotFound(_))
    ));
}

/// The time of a content can be set to any; that of the change cannot.
#[test]
fn a_file_with_its_old_time_and_size_is_read_again() {
    let (bed, project, cache) = cached();
    let path = bed.put("a.txt", "rain");
    settle(&project, &cache, "a.txt");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    bed.put("a.txt", "snow");
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(time).unwrap();
    assert_eq!(whole(&project, "a.txt").unwrap(), "snow");
}

#[test]
fn the_cache_is_bounded_in_bytes() {
    let (bed, project, cache) = cached();
    let text = "x".repeat(1 << 20);
    let names: Vec<String> = (0..40).map(|it| format!("{it}.txt")).collect();
    for name in &names {
        bed.put(name, &text);
    }
    bed.put("large.txt", "x".repeat(3 << 20));
    std::thread::sleep(Duration::from_millis(200));
    for name in &names {
        whole(&project, name).unwrap();
    }
    whole(&project, "large.txt").unwrap();
    let bytes = cache.counts().bytes;
    assert!(bytes > 8 << 20 && bytes <= 16 << 20, "{bytes}");
}
