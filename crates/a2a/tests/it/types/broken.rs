//! Input that is unusual or wrong: who takes it, we or the official code.

use super::forms::check_written;
use super::official::Official;
use super::table::Row;

/// Each line says who takes the JSON behind the name of a message: `both`, if it means the same to both,
/// `neither`, or only `ours` or `theirs`, for a reason that stands above.
const CASES: &str = r##"
# Names, and members that nobody knows.
both    Message {"message_id": "m", "contextId": "c", "reference_task_ids": ["t"]}
both    Message {"messageId": "m", "unknown": {"deep": [1, {"x": null}]}, "kind": "message"}
both    Message {"MessageId": "m"}
both    Task {}
both    Task  {  }
neither Message {"messageId": "a", "messageId": "b"}
# Python takes the last one of two that are the same, and says nothing.
theirs  Message {"messageId": "a", "message_id": "b"}
# We leave what metadata and data hold to the JSON parser, which takes the last one.
ours    Task {"metadata": {"a": 1, "a": 2}}

# Null means that nothing is given, but is no element of a list and no value of a map.
both    Task {"id": null, "status": null, "artifacts": null, "metadata": null}
both    AgentCard {"securitySchemes": null, "iconUrl": null, "capabilities": {"streaming": null}}
both    SendMessageConfiguration {"historyLength": null, "returnImmediately": null}
both    Message {"role": null}
neither Message {"parts": [null]}
neither Message {"extensions": [null]}
neither SecurityRequirement {"schemes": {"a": null}}

# Choices.
both    Part {"text": null, "raw": null, "url": null}
both    Part {"url": "u", "text": null}
neither Part {"text": "a", "url": "b"}
neither StreamResponse {"task": {}, "message": {}}
# Here null is a value, so there are two.
theirs  Part {"text": "a", "data": null}

# Kinds.
neither Message {"messageId": 7}
neither Message {"messageId": {}}
neither Part {"text": ["a"]}
neither SendMessageConfiguration {"returnImmediately": "true"}
neither SendMessageConfiguration {"returnImmediately": 1}
neither Message {"parts": {}}
neither Message {"parts": "a"}
neither Task {"metadata": []}
neither Task {"metadata": "a"}
neither SendMessageRequest {"message": [1]}
# Python goes through lists and strings as if they were objects, and knows none of the names it finds.
theirs  SendMessageRequest {"message": []}
theirs  Task {"status": "TASK_STATE_WORKING"}
theirs  Task []

# Numbers.
both    SendMessageConfiguration {"historyLength": "7"}
both    SendMessageConfiguration {"historyLength": "-7"}
both    SendMessageConfiguration {"historyLength": 7.0}
both    SendMessageConfiguration {"historyLength": 1e1}
neither SendMessageConfiguration {"historyLength": 1.5}
neither SendMessageConfiguration {"historyLength": 2147483648}
neither SendMessageConfiguration {"historyLength": "7 "}
neither SendMessageConfiguration {"historyLength": ""}
neither SendMessageConfiguration {"historyLength": true}
neither SendMessageConfiguration {"historyLength": "seven"}
neither Part {"data": NaN}
neither Part {"data": Infinity}
neither Part {"data": 1e400}

# Enums.
both    Message {"role": "ROLE_USER"}
both    Message {"role": 1}
both    Message {"role": "1"}
both    Message {"role": 99}
# Python, told to ignore members that it does not know, ignores values that it does not know as well.
theirs  Message {"role": "ROLE_NOBODY"}
theirs  Message {"role": "user"}
theirs  Message {"role": 1.5}
theirs  Message {"role": true}
theirs  Message {"role": 4294967296}

# Bytes.
both    Part {"raw": "-_8="}
both    Part {"raw": "-_8"}
both    Part {"raw": "+/8"}
both    Part {"raw": "AB=="}
neither Part {"raw": "A"}
neither Part {"raw": [1, 2]}
# Python drops what is not base64, and what is left is something else.
theirs  Part {"raw": "!!!!"}
theirs  Part {"raw": "AA AA"}

# Times.
both    TaskStatus {"timestamp": "2026-01-31T12:00:00Z"}
both    TaskStatus {"timestamp": "2026-01-31T12:00:00.1Z"}
both    TaskStatus {"timestamp": "2026-01-31T12:00:00.12Z"}
both    TaskStatus {"timestamp": "2026-01-31T12:00:00.123Z"}
both    TaskStatus {"timestamp": "2026-01-31T12:00:00.123456Z"}
both    TaskStatus {"timestamp": "2026-01-31T12:00:00.123456789Z"}
both    TaskStatus {"timestamp": "2026-01-31T12:00:00+05:30"}
both    TaskStatus {"timestamp": "2026-01-31T00:30:00.5-08:00"}
neither TaskStatus {"timestamp": "2026-01-31T12:00:00.1234567890Z"}
neither TaskStatus {"timestamp": "2026-01-31T12:00:00"}
neither TaskStatus {"timestamp": "2026-02-29T12:00:00Z"}
neither TaskStatus {"timestamp": "2026-13-01T12:00:00Z"}
neither TaskStatus {"timestamp": "2026-01-31T24:00:00Z"}
neither TaskStatus {"timestamp": "2026-01-31"}
neither TaskStatus {"timestamp": "0000-01-01T00:00:00Z"}
neither TaskStatus {"timestamp": "0001-01-01T00:00:00+00:01"}
neither TaskStatus {"timestamp": 1769860800}
neither TaskStatus {"timestamp": ""}
# RFC 3339 allows small letters.
ours    TaskStatus {"timestamp": "2026-01-31t12:00:00z"}

# Not JSON, or no object.
neither Task
neither Task null
neither Task 7
neither Task {"id": "x"} x
neither Task {"id": "x",}
neither Task {"id": "x"
neither Task {id: "x"}
neither Task {"id": "\ud800"}
"##;

#[test]
fn unusual_and_wrong_input_is_accepted_by_the_formats_in_the_table() {
    let mut surprises = Vec::new();
    for line in CASES.lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (expected, rest) = line.split_at(8);
        let (message, text) = rest.split_once(' ').unwrap_or((rest, ""));
        let official = Official::read_json(message, text);
        let ours = (Row::named(message).from_json)(text.as_bytes());
        let found = match (&ours, &official) {
            (Ok(ours), Ok(official)) => {
                check_written(official, ours);
                "both"
            }
            (Err(_), Err(_)) => "neither",
            (Ok(_), Err(_)) => "ours",
            (Err(_), Ok(_)) => "theirs",
        };
        if found != expected.trim_end() {
            let (ours, official) = (ours.err(), official.err());
            surprises.push(format!("{found}, not {line}\n  {ours:?}\n  {official:?}"));
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}
