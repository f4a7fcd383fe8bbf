//! Helpers that open a memory for a test.

use memory::{Content, Keep, Memory, Options, Reason, TABLES};
use store::Store;

pub(crate) fn in_memory() -> Memory {
    Memory::open(Store::memory(TABLES), Options::default())
}

pub(crate) fn open(folder: &std::path::Path) -> (Memory, Store) {
    let store = Store::open(&store::Options::new(folder).tables(TABLES)).unwrap();
    (Memory::open(store.clone(), Options::default()), store)
}

pub(crate) fn reason(source: &str) -> Reason {
    Reason::new(source, 0.8, "what is it?", "it may be asked").unwrap()
}

pub(crate) fn belief(text: &str, source: &str) -> Keep {
    Keep::belief(text, reason(source))
}

pub(crate) fn said(session: &str, speaker: &str, text: &str) -> Content {
    let mut content = Content::text(text);
    content.session = Some(session.to_owned());
    content.speaker = Some(speaker.to_owned());
    content
}
