//! The frozen journals of the watchdog are journals that agents read: their form is the stored one.

#[path = "../../../../conformance/watch/journals.rs"]
mod journals;

#[test]
fn the_frozen_journals_have_the_form_of_stored_records() {
    let mut events = 0;
    for journal in journals::all() {
        for record in &journal.records {
            let read = serde_json::from_str::<agent::Record>(record);
            assert!(read.is_ok(), "{}: {:?}\n{record}", journal.name, read.err());
            events += 1;
        }
    }
    assert!(events > 4000, "{events}");
}
