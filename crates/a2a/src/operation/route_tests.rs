//! Paths find their operation.

use super::route::{RouteMatch, find};

fn check(verb: &str, path: &str, expected: &str) {
    let segments: Vec<String> = path.split('/').skip(1).map(str::to_owned).collect();
    let found = match find(verb, &segments) {
        RouteMatch::Operation(operation, fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            format!("{} {}", operation.name, fields.join(" "))
        }
        RouteMatch::OtherVerbs(verbs) => format!("use {}", verbs.join(", ")),
        RouteMatch::Nothing => "nothing".to_owned(),
    };
    assert_eq!(found.trim(), expected);
}

#[test]
fn a_suffix_is_not_part_of_an_id() {
    check("GET", "/tasks/7", "GetTask id=7");
    check("POST", "/tasks/7:cancel", "CancelTask id=7");
    check("GET", "/tasks/7:subscribe", "SubscribeToTask id=7");
    check("POST", "/tasks/7:subscribe", "SubscribeToTask id=7");
    check("GET", "/tasks/7:cancel", "use POST");
}

#[test]
fn an_id_may_hold_what_is_no_suffix() {
    check("GET", "/tasks/urn:x", "GetTask id=urn:x");
    check("GET", "/tasks/:cancel", "GetTask id=:cancel");
}

#[test]
fn a_tenant_stands_in_front() {
    check("POST", "/acme/message:send", "SendMessage tenant=acme");
    check("GET", "/acme/tasks/7", "GetTask id=7 tenant=acme");
    check(
        "DELETE",
        "/acme/tasks/7/pushNotificationConfigs/1",
        "DeleteTaskPushNotificationConfig task_id=7 id=1 tenant=acme",
    );
}

#[test]
fn what_is_not_there_is_nothing() {
    check("GET", "/", "nothing");
    check("GET", "/tasks/7/nothing", "nothing");
    check("GET", "/a/b/tasks", "nothing");
    check("DELETE", "/tasks/7", "use GET");
}
