//! Damaged messages, and those that the fuzzer has kept: nothing panics, and what is read can be written.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::table::Row;

#[path = "../../../fuzz/targets.rs"]
mod targets;

/// Whole messages to be damaged, each behind the letter that the targets know its kind by.
const WHOLE: [(char, &str, &str); 6] = [
    (
        'a',
        "SendMessageRequest",
        r#"{"tenant":"t","message":{"messageId":"m","contextId":"c","role":"ROLE_USER","parts":[{"text":"é"},
        {"raw":"AP8=","filename":"f","mediaType":"a/b"},{"url":"u"},{"data":{"a":[1,-2.5,null,true,"x"],"b":{}}}],
        "extensions":["e"],"referenceTaskIds":["r"]},"configuration":{"acceptedOutputModes":["a/b"],
        "historyLength":0,"returnImmediately":true,"ifGenerationMatch":"3"},"metadata":{"k":[]}}"#,
    ),
    (
        'b',
        "StreamResponse",
        r#"{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING",
        "timestamp":"2026-01-31T12:00:00.123Z","message":{"role":2,"parts":[{"data":null}]}},
        "artifacts":[{"artifactId":"a","name":"n","parts":[{"text":""}]}],"history":[{}],"generation":"7"}}"#,
    ),
    (
        'b',
        "StreamResponse",
        r#"{"artifactUpdate":{"taskId":"t","contextId":"c","append":true,"lastChunk":true,
        "artifact":{"artifactId":"a","parts":[{"raw":"AAEC"}]},"generation":9007199254740993}}"#,
    ),
    (
        'd',
        "ListTasksRequest",
        r#"{"contextId":"c","status":3,"pageSize":10,"pageToken":"p","historyLength":"2",
        "statusTimestampAfter":"1969-12-31T23:59:59+01:00","includeArtifacts":false}"#,
    ),
    (
        'e',
        "ListTasksResponse",
        r#"{"tasks":[{"id":"a"},{"id":"b","metadata":{"x":1e300}}],"nextPageToken":"n","pageSize":2,"totalSize":-1}"#,
    ),
    (
        'g',
        "AgentCard",
        r#"{"name":"n","supportedInterfaces":[{"url":"u","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
        "capabilities":{"streaming":false,"extensions":[{"uri":"e","required":true,"params":{}}]},
        "securitySchemes":{"o":{"oauth2SecurityScheme":{"flows":{"deviceCode":{"tokenUrl":"t","scopes":{"s":""}}}}},
        "k":{"apiKeySecurityScheme":{"location":"header","name":"X"}}},"securityRequirements":[{"schemes":{"o":
        {"list":["s"]}}}],"skills":[{"id":"i","tags":["t"]}],"signatures":[{"protected":"p","signature":"s"}],"iconUrl":""}"#,
    ),
];

/// Pieces of JSON that mean something in the wrong place.
const PIECES: [&str; 18] = [
    "null",
    "true",
    "{}",
    "[]",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\u0000",
    "\\ud800",
    "-0.0",
    "1e400",
    "99999999999999999999",
    "\"text\":\"\",",
    "\"data\":null,",
];

/// One piece of damage, at a place that is taken modulo the length.
#[derive(Debug, Clone)]
enum Damage {
    Replace(usize, u8),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    /// Copies so many bytes from the first place to the second.
    Copy(usize, usize, usize),
}

impl Damage {
    fn inflict(&self, bytes: &mut Vec<u8>) {
        let place = |place: usize| place % (bytes.len() + 1);
        let end = |start: usize, length: usize| (start + length).min(bytes.len());
        match self {
            Damage::Replace(at, byte) => {
                let at = place(*at);
                bytes.splice(at..end(at, 1), [*byte]);
            }
            Damage::Insert(at, piece) => {
                let at = place(*at);
                bytes.splice(at..at, piece.iter().copied());
            }
            Damage::Remove(at, length) => {
                let at = place(*at);
                bytes.drain(at..end(at, *length));
            }
            Damage::Copy(from, to, length) => {
                let (from, to) = (place(*from), place(*to));
                let piece = bytes[from..end(from, *length)].to_vec();
                bytes.splice(to..to, piece);
            }
        }
    }
}

fn damage() -> impl Strategy<Value = Vec<Damage>> {
    let place = || any::<usize>();
    let piece = prop_oneof![
        proptest::sample::select(&PIECES[..]).prop_map(|piece| piece.as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 1..4),
    ];
    let one = prop_oneof![
        (place(), any::<u8>()).prop_map(|(at, byte)| Damage::Replace(at, byte)),
        (place(), piece).prop_map(|(at, piece)| Damage::Insert(at, piece)),
        (place(), 1..20usize).prop_map(|(at, length)| Damage::Remove(at, length)),
        (place(), place(), 1..40usize)
            .prop_map(|(from, to, length)| Damage::Copy(from, to, length)),
    ];
    proptest::collection::vec(one, 1..5)
}

fn damaged(kind: char, mut bytes: Vec<u8>, damage: &[Damage]) -> Vec<u8> {
    for damage in damage {
        damage.inflict(&mut bytes);
    }
    bytes.insert(0, kind as u8);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn damaged_json_is_refused_or_means_something(
        (kind, _, json) in proptest::sample::select(&WHOLE[..]),
        damage in damage(),
    ) {
        targets::json(&damaged(kind, json.as_bytes().to_vec(), &damage));
    }

    #[test]
    fn damaged_protobuf_is_refused_or_means_something(
        (kind, message, json) in proptest::sample::select(&WHOLE[..]),
        damage in damage(),
    ) {
        let whole = (Row::named(message).from_json)(json.as_bytes()).unwrap();
        targets::protobuf(&damaged(kind, whole.protobuf.to_vec(), &damage));
    }

    #[test]
    fn any_text_in_a_url_is_refused_or_means_something(
        kind in proptest::char::range('a', 'h'),
        name in proptest::sample::select(&FIELDS[..]),
        text in prop_oneof!["\\PC*", "-?[0-9]{1,20}", "[0-9T:Z.+-]{15,25}", "(true|false|ROLE_USER)", "[\\w+/=-]*"],
    ) {
        targets::text(format!("{kind}{name}={text}").as_bytes());
    }
}

/// Names of fields of every kind, and of none.
const FIELDS: [&str; 14] = [
    "tenant",
    "message",
    "metadata",
    "contextId",
    "status",
    "page_size",
    "pageToken",
    "historyLength",
    "statusTimestampAfter",
    "include_artifacts",
    "tasks",
    "code",
    "iconUrl",
    "nothing",
];

/// The undamaged ones do mean something; else the tests above would test little.
#[test]
fn whole_messages_are_read() {
    for (_, message, json) in WHOLE {
        let both = (Row::named(message).from_json)(json.as_bytes()).unwrap();
        (Row::named(message).from_protobuf)(&both.protobuf).unwrap();
    }
}

#[test]
fn what_the_fuzzer_has_kept_passes() {
    run("json", targets::json);
    run("protobuf", targets::protobuf);
    run("text", targets::text);
}

/// Runs every file of a corpus. A failure names the file.
fn run(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(name);
    let mut paths: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "the corpus {name} is empty");
    for path in paths {
        let input = fs::read(&path).unwrap();
        let run = std::panic::AssertUnwindSafe(|| target(&input));
        let result = std::panic::catch_unwind(run);
        assert!(result.is_ok(), "{} fails", path.display());
    }
}
