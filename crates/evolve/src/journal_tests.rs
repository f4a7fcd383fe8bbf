use super::*;

#[test]
fn a_line_without_an_end_is_dropped_and_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run/events.jsonl");
    let event = |n| Event::Began { n };
    {
        let mut journal = FileJournal::open(&path).unwrap();
        journal.append(&event(1)).unwrap();
        journal.append(&event(2)).unwrap();
        assert!(matches!(FileJournal::open(&path), Err(Error::Busy(_))));
    }
    let text = fs::read(&path).unwrap();
    fs::write(&path, &text[..text.len() - 3]).unwrap();
    let mut journal = FileJournal::open(&path).unwrap();
    assert_eq!(journal.read().unwrap(), [event(1)]);
    journal.append(&event(3)).unwrap();
    assert_eq!(journal.read().unwrap(), [event(1), event(3)]);
    assert_eq!(FileJournal::look(&path).unwrap().len(), 2);
}
