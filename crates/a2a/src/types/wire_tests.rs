//! The description of a message, its faults and those of its input.

use serde_json::json;

use super::super::*;

fn violations(message: &impl WireMessage) -> Vec<String> {
    let found = message.violations().into_iter();
    found
        .map(|violation| format!("{}: {}", violation.field, violation.description))
        .collect()
}

#[test]
fn a_whole_message_lacks_nothing() {
    let request = SendMessageRequest {
        message: Some(Message::user("m", "hello")),
        ..SendMessageRequest::default()
    };
    assert_eq!(violations(&request), Vec::<String>::new());
    assert_eq!(
        violations(&GetExtendedAgentCardRequest::default()),
        Vec::<String>::new()
    );
}

#[test]
fn everything_required_that_is_missing_is_reported_with_its_place() {
    assert_eq!(
        violations(&SendMessageRequest::default()),
        ["message: is required"]
    );
    let request = json!({
        "message": {"parts": [{"text": ""}, {"filename": "f"}]},
        "configuration": {"taskPushNotificationConfig": {"authentication": {}}},
    });
    let request = SendMessageRequest::from_json(request.to_string().as_bytes()).unwrap();
    assert_eq!(
        violations(&request),
        [
            "message.messageId: is required",
            "message.role: is required",
            "message.parts[1].content: needs one of text, raw, url, data",
            "configuration.taskPushNotificationConfig.url: is required",
            "configuration.taskPushNotificationConfig.authentication.scheme: is required",
        ]
    );
    let request = SendMessageRequest {
        message: Some(Message::default()),
        ..SendMessageRequest::default()
    };
    let parts = "message.parts: needs at least one element";
    assert!(violations(&request).contains(&parts.to_owned()));
}

#[test]
fn what_lies_in_choices_and_maps_is_checked_as_well() {
    let card = json!({
        "securitySchemes": {
            "empty": {},
            "oauth": {"oauth2SecurityScheme": {"flows": {"clientCredentials": {}}}},
        },
    });
    let card = AgentCard::from_json(card.to_string().as_bytes()).unwrap();
    let found = violations(&card);
    let schemes: Vec<_> = found
        .iter()
        .filter(|text| text.starts_with("securitySchemes"))
        .collect();
    assert_eq!(
        schemes,
        [
            "securitySchemes.empty.scheme: needs one of apiKeySecurityScheme, httpAuthSecurityScheme, \
             oauth2SecurityScheme, openIdConnectSecurityScheme, mtlsSecurityScheme",
            // Not the scopes, which are required too: a map without entries is a map.
            "securitySchemes.oauth.oauth2SecurityScheme.flows.clientCredentials.tokenUrl: is required",
        ]
    );
    let event = StreamResponse::from(Task::default());
    assert_eq!(
        violations(&event),
        ["task.id: is required", "task.status: is required"]
    );
}

#[test]
fn fields_are_set_from_the_text_of_a_url() {
    let mut request = ListTasksRequest::default();
    for (name, text) in [
        ("contextId", "c"),
        ("status", "TASK_STATE_WORKING"),
        ("page_size", "7"),
        ("historyLength", "0"),
        ("statusTimestampAfter", "2026-01-31T12:00:00Z"),
        ("include_artifacts", "false"),
    ] {
        assert_eq!(request.set_text(name, text), Ok(true), "{name}");
    }
    let expected = ListTasksRequest {
        context_id: "c".to_owned(),
        status: TaskState::Working,
        page_size: Some(7),
        history_length: Some(0),
        status_timestamp_after: "2026-01-31T12:00:00Z".parse().ok(),
        include_artifacts: Some(false),
        ..ListTasksRequest::default()
    };
    assert_eq!(request, expected);
    assert_eq!(request.set_text("status", "3"), Ok(true));
    assert_eq!(request.status, TaskState::Completed);
    assert_eq!(request.set_text("nothing", "3"), Ok(false));

    let mut get = GetTaskRequest::default();
    assert_eq!(
        get.set_text("currentGeneration", "9223372036854775807"),
        Ok(true)
    );
    assert_eq!(get.current_generation, Some(i64::MAX));
    // A list takes what is given again; a choice takes the last.
    let mut message = Message::default();
    for uri in ["a", "b"] {
        assert_eq!(message.set_text("extensions", uri), Ok(true));
    }
    assert_eq!(message.extensions, ["a", "b"]);
    let mut part = Part::default();
    assert_eq!(part.set_text("text", "t"), Ok(true));
    assert_eq!(part.set_text("raw", "AP8"), Ok(true));
    assert_eq!(part.content, Content::Raw(vec![0, 255].into()));
}

#[test]
fn text_that_does_not_fit_a_field_is_refused_with_its_name() {
    for (name, text, reason) in [
        ("pageSize", "many", "\"many\" is not a number of 32 bits"),
        (
            "pageSize",
            "2147483648",
            "\"2147483648\" is not a number of 32 bits",
        ),
        ("status", "WORKING", "\"WORKING\" is not a TaskState"),
        (
            "includeArtifacts",
            "True",
            "\"True\" is neither true nor false",
        ),
        (
            "statusTimestampAfter",
            "now",
            "\"now\" is not an RFC 3339 time",
        ),
    ] {
        let error = ListTasksRequest::default()
            .set_text(name, text)
            .unwrap_err();
        assert_eq!((error.path.as_str(), error.reason.as_str()), (name, reason));
    }
    let error = CancelTaskRequest::default().set_text("metadata", "{}");
    assert_eq!(
        error.unwrap_err().to_string(),
        "read metadata: cannot be given as plain text"
    );
}

#[test]
fn errors_in_json_name_the_place() {
    let place = |json: &str| {
        let error = SendMessageRequest::from_json(json.as_bytes()).unwrap_err();
        (error.path, error.reason)
    };
    let (path, reason) = place(r#"{"message":{"parts":[{"text":"a"},{"text":7}]}}"#);
    assert_eq!(path, "message.parts[1].text");
    assert!(
        reason.starts_with("invalid type: integer `7`, expected a string"),
        "{reason}"
    );
    let (path, reason) = place(r#"{"message":{"parts":[{"text":"a","url":"b"}]}}"#);
    assert_eq!(path, "message.parts[0].url");
    assert!(reason.contains("excludes another member"), "{reason}");
    let (path, reason) = place(r#"{"message":{"messageId":"a","message_id":"b"}}"#);
    assert_eq!(path, "message.message_id");
    assert!(reason.starts_with("given twice"), "{reason}");
    let (path, _) = place("{} {}");
    assert_eq!(path, "");
}

#[test]
fn errors_in_protobuf_name_the_place_as_well() {
    // message = 2 { parts = 5 {}, parts = 5 { text = 1 of two bytes that are not UTF-8 } }
    let bytes = [0x12, 8, 0x2a, 0, 0x2a, 4, 0x0a, 2, 0xff, 0xff];
    let error = SendMessageRequest::from_protobuf(bytes.to_vec().into()).unwrap_err();
    assert_eq!(error.to_string(), "read message.parts[1].text: not UTF-8");
    // message = 2 as a number.
    let error = SendMessageRequest::from_protobuf(vec![0x10, 1].into()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "read message: encoded as Varint, expected Block"
    );
    // securitySchemes = 8 { key = 1 "a", value = 2 { mtlsSecurityScheme = 5, cut } }
    let bytes = [0x42, 7, 0x0a, 1, b'a', 0x12, 2, 0x2a, 9];
    let error = AgentCard::from_protobuf(bytes.to_vec().into()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "read securitySchemes.a.mtlsSecurityScheme: the bytes end too early"
    );
}

#[test]
fn a_page_of_no_tasks_is_written_in_full() {
    let page = ListTasksResponse::default();
    assert_eq!(
        page.to_json(),
        r#"{"tasks":[],"nextPageToken":"","pageSize":0,"totalSize":0}"#
    );
    assert!(page.to_protobuf().is_empty());
    assert_eq!(violations(&page), Vec::<String>::new());
}

#[test]
fn a_message_that_occurs_again_in_protobuf_adds_to_what_is_there() {
    let task = |json: serde_json::Value| Task::from_json(json.to_string().as_bytes()).unwrap();
    let one = task(json!({"id": "a", "status": {"state": 2}, "history": [{"messageId": "1"}]}));
    let other = task(json!({"status": {"message": {}}, "history": [{"messageId": "2"}]}));
    let both = [one.to_protobuf(), other.to_protobuf()].concat();
    let expected = task(json!({
        "id": "a",
        "status": {"state": 2, "message": {}},
        "history": [{"messageId": "1"}, {"messageId": "2"}],
    }));
    assert_eq!(Task::from_protobuf(both.into()), Ok(expected));
    // Of a choice the last one wins.
    let both = [Part::text("a").to_protobuf(), Part::url("b").to_protobuf()].concat();
    assert_eq!(Part::from_protobuf(both.into()), Ok(Part::url("b")));
}

#[test]
fn what_is_written_goes_behind_what_is_there() {
    let mut out = b"data: ".to_vec();
    Part::text("a").write_json(&mut out);
    assert_eq!(out, br#"data: {"text":"a"}"#);
}

#[test]
fn states_know_whether_they_are_final() {
    for number in 0..10 {
        let state = TaskState::from(number);
        assert_eq!(
            state.is_terminal(),
            [3, 4, 5, 7].contains(&number),
            "{state:?}"
        );
        assert_eq!(
            state.is_interrupted(),
            [6, 8].contains(&number),
            "{state:?}"
        );
        assert_eq!(state.number(), number);
    }
    assert_eq!(TaskState::from(9), TaskState::Other(9));
}

#[test]
fn enums_keep_numbers_without_a_name() {
    let message = Message::from_json(br#"{"role":42}"#).unwrap();
    assert_eq!(message.role, Role::Other(42));
    assert_eq!(message.to_json(), r#"{"role":42}"#);
    assert_eq!(Message::from_protobuf(message.to_protobuf()), Ok(message));
}
