//! Which call a sealed state is valid for.

use std::time::Duration;

use serde_json::json;

use super::super::question::CallDigest;
use super::StateSeal;

const HOUR: Duration = Duration::from_secs(60 * 60);

#[test]
fn a_state_is_good_for_one_call_of_one_caller() {
    let seal = StateSeal::new(b"key", HOUR);
    let input = json!({ "what": "a lamp" });
    let digest = CallDigest::new("ada", "order", &input);
    let state = seal.seal("task", &digest);
    assert_eq!(seal.open(&state, Some(&digest)).unwrap(), "task");
    for other in [
        CallDigest::new("bob", "order", &input),
        CallDigest::new("ada", "greet", &input),
        CallDigest::new("ada", "order", &json!({ "what": "two lamps" })),
        // The border between two parts counts: "ab" + "c" is not "a" + "bc".
        CallDigest::new("adao", "rder", &input),
    ] {
        assert!(seal.open(&state, Some(&other)).is_err(), "{other:?}");
    }
    assert!(seal.open(&format!("{state}x"), Some(&digest)).is_err());
    let another = StateSeal::new(b"another key", HOUR);
    assert!(another.open(&state, Some(&digest)).is_err());
}

#[test]
fn a_state_expires_and_no_part_of_it_can_be_changed() {
    let digest = CallDigest::new("ada", "order", &json!({}));
    let over = StateSeal::new(b"key", Duration::ZERO).seal("task", &digest);
    let seal = StateSeal::new(b"key", HOUR);
    assert!(seal.open(&over, Some(&digest)).is_err());
    let state = seal.seal("task", &digest);
    for place in 0..state.len() {
        let mut changed = state.clone().into_bytes();
        changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        assert!(seal.open(&changed, Some(&digest)).is_err(), "{place}");
        assert!(
            seal.open(&state[..place], Some(&digest)).is_err(),
            "{place}"
        );
    }
}
