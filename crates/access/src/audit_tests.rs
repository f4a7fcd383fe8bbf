//! Faults that show in a chain.

use super::*;

fn links() -> Vec<String> {
    let mut chain = Chain::default();
    ["one", "two", "three"].map(|it| chain.add(it)).to_vec()
}

/// How many links can be followed, and whether that is all of them.
fn followed(links: &[String]) -> (usize, bool) {
    let mut chain = Chain::default();
    let good = links.iter().take_while(|it| chain.follow(it).is_ok());
    let good = good.count();
    (good, good == links.len())
}

#[test]
fn an_untouched_chain_is_whole() {
    let links = links();
    assert_eq!(followed(&links), (3, true));
    assert_eq!(line(&links[1]), Some("two"));
    let mut chain = Chain::default();
    for link in &links {
        chain.follow(link).unwrap();
    }
    assert_eq!(Chain::read(&chain.head()), Some(chain));
}

#[test]
fn what_was_altered_removed_inserted_or_moved_shows() {
    let mut altered = links();
    altered[1] = altered[1].replace("two", "2");
    assert_eq!(followed(&altered), (1, false));
    let mut removed = links();
    removed.remove(0);
    assert_eq!(followed(&removed), (0, false));
    let mut inserted = links();
    inserted.insert(1, Chain::default().add("more"));
    assert_eq!(followed(&inserted), (1, false));
    let mut moved = links();
    moved.swap(1, 2);
    assert_eq!(followed(&moved), (1, false));
}

#[test]
fn what_is_no_link_is_none() {
    for wrong in ["", "short", &"é".repeat(40), &"0".repeat(64)] {
        assert_eq!(Chain::default().follow(wrong), Err(BrokenChain));
        assert_eq!(Chain::read(&format!("{wrong} ")), None);
    }
}
