//! Messages that the official code made or read, in all their forms, against ours.

use std::collections::BTreeSet;

use serde_json::json;

use super::forms::{check, check_written};
use super::official::{Forms, Official};
use super::table::{Row, rows};

#[test]
fn every_message_passes_with_every_field_in_every_form() {
    let answer = Official::ask(&json!({"do": "corpus"}));
    let corpus: Vec<_> = answer.as_array().unwrap().iter().map(Forms::of).collect();
    let corpus: Vec<_> = corpus.into_iter().map(Result::unwrap).collect();
    let names: BTreeSet<_> = corpus.iter().map(|forms| forms.message.as_str()).collect();
    let ours = rows().into_iter().map(|row| row.description.name).collect();
    assert_eq!(names, ours, "each message is there");
    for forms in &corpus {
        check(forms);
    }
}

/// Messages in JSON that are easy to get wrong, each behind its name.
const HARD: &str = r##"
Part {"data": null}
Part {"data": []}
Part {"data": {}}
Part {"data": ""}
Part {"data": 0}
Part {"data": -0.0}
Part {"data": false}
Part {"data": [null, [null, {"a": null}]]}
Part {"data": 9007199254740993}
Part {"data": [1e-7, 1.7976931348623157e308, 5e-324, 0.1, 1e21, -1.5]}
Part {"data": {"": {"": ""}, "@type": "x", "é": "\u0000\u001f\u2028\ud83d\ude00"}}
Part {"text": ""}
Part {"url": ""}
Part {"raw": ""}
Part {"raw": "AP/+"}
Part {"text": "a", "metadata": {}}
Part {"text": "\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}
Part {"text": null, "url": "u"}
Part {"metadata": {"a": [1, {"b": [true]}]}, "filename": "f", "mediaType": "text/plain"}
Message {"messageId": "", "role": 0, "parts": [], "metadata": null, "extensions": null}
Message {"role": "ROLE_UNSPECIFIED"}
Message {"role": 77, "parts": [{}, {"text": ""}]}
Message {"role": -1}
TaskStatus {"timestamp": "1970-01-01T00:00:00Z"}
TaskStatus {"timestamp": "0001-01-01T00:00:00Z"}
TaskStatus {"timestamp": "9999-12-31T23:59:59.999999999Z"}
TaskStatus {"timestamp": "1969-12-31T23:59:59.000001Z"}
TaskStatus {"timestamp": "2024-02-29T12:00:00.100000001Z"}
SendMessageConfiguration {"historyLength": 0, "returnImmediately": false}
SendMessageConfiguration {"historyLength": -2147483648}
SendMessageConfiguration {"historyLength": 2147483647}
ListTasksRequest {"includeArtifacts": false, "pageSize": 0, "historyLength": 0}
ListTasksResponse {"tasks": [{}], "totalSize": 1}
AgentCapabilities {"streaming": false, "pushNotifications": false, "extendedAgentCard": false}
AgentCard {"documentationUrl": "", "iconUrl": ""}
AgentCard {"securitySchemes": {"": {}, "a": {"mtlsSecurityScheme": {}}}}
SecurityRequirement {"schemes": {"oauth": {"list": ["", "b"]}, "none": {}}}
SecurityScheme {"oauth2SecurityScheme": {"flows": {"implicit": {"scopes": {"": ""}}}}}
StreamResponse {"task": {}}
StreamResponse {"artifactUpdate": {"append": true, "artifact": {"parts": [{"data": null}]}}}
TaskPushNotificationConfig {"authentication": {}}
CancelTaskRequest {"id": "x", "metadata": {"why": ["because", null]}}
"##;

#[test]
fn hard_cases_pass_in_every_form() {
    for line in HARD.trim().lines() {
        let (message, text) = line.split_once(' ').unwrap();
        let forms = Official::read_json(message, text);
        let forms = forms.unwrap_or_else(|error| panic!("{error} in {text}"));
        check(&forms);
        let ours = (Row::named(message).from_json)(text.as_bytes());
        check_written(
            &forms,
            &ours.unwrap_or_else(|error| panic!("{error} in {text}")),
        );
    }
}

/// What is nested as deeply as JSON lets in can still be read as protobuf, in the place that is deepest itself.
#[test]
fn the_deepest_values_pass_in_the_deepest_place() {
    for (open, close, most) in [(r#"{"a":"#, "}", 31), ("[", "]", 47)] {
        let task = |levels: usize| {
            let data = format!("{}1{}", open.repeat(levels), close.repeat(levels));
            format!(r#"{{"tasks":[{{"status":{{"message":{{"parts":[{{"data":{data}}}]}}}}}}]}}"#)
        };
        let row = Row::named("ListTasksResponse");
        let ours = (row.from_json)(task(most).as_bytes()).unwrap();
        assert!((row.from_protobuf)(&ours.protobuf).is_ok());
        assert!(Official::read_protobuf("ListTasksResponse", &ours.protobuf).is_ok());
        let error = (row.from_json)(task(most + 1).as_bytes()).unwrap_err();
        assert_eq!(error.path, "tasks[0].status.message.parts[0].data");
        assert!(error.reason.contains("nested more deeply"), "{error}");
    }
}

/// Fields of version 1.1 survive both wires, though the official code does not know them.
#[test]
fn what_is_ahead_passes_as_well() {
    for (message, text) in [
        ("Task", r#"{"generation":"9223372036854775807"}"#),
        ("TaskStatusUpdateEvent", r#"{"generation":"-1"}"#),
        ("TaskArtifactUpdateEvent", r#"{"generation":"1"}"#),
        ("GetTaskRequest", r#"{"currentGeneration":"0"}"#),
        ("SendMessageConfiguration", r#"{"ifGenerationMatch":"4"}"#),
    ] {
        let row = Row::named(message);
        let both = (row.from_json)(text.as_bytes()).unwrap();
        assert_eq!(both.json, text);
        assert_eq!((row.from_protobuf)(&both.protobuf).unwrap().json, text);
        // They are no hindrance to one who does not know them.
        Official::read_protobuf(message, &both.protobuf).unwrap();
        Official::read_json(message, text).unwrap();
    }
}
