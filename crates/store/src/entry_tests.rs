//! Values derived from an entry: made once for one type.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

#[test]
fn what_is_derived_is_made_once_and_shared() {
    let entry = Entry::new(1, Bytes::from("seven"), None);
    let made = AtomicUsize::new(0);
    let length = |payload: &Bytes| {
        made.fetch_add(1, Ordering::Relaxed);
        payload.len()
    };
    let first = entry.derived(length);
    let second = entry.derived(length);
    assert_eq!((*first, made.load(Ordering::Relaxed)), (5, 1));
    assert!(Arc::ptr_eq(&first, &second));
}

#[test]
fn another_type_is_made_anew_and_disturbs_nothing() {
    let entry = Entry::new(1, Bytes::from("seven"), Some(Arc::new(7_usize)));
    assert_eq!(*entry.derived(|payload| payload[0]), b's');
    assert_eq!(*entry.derived::<usize>(|_| panic!("it is there")), 7);
}
