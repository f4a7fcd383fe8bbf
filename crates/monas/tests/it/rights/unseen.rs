//! What belongs to another caller, or to another tenant, is answered like what never existed.

use a2a::client::Error;
use a2a::operation::TABLE;
use access::Role;
use serde_json::{Value, json};

use super::matrix::{client, perform, wires};
use super::{Caller, closed, token};
use crate::support::program::Monas;

/// The id of a task that does not exist.
const NONE: &str = "0199a1b2-0000-7000-8000-000000000000";

fn told(reply: Result<String, Error>, id: &str) -> String {
    match reply {
        Ok(reply) => reply.replace(id, "ID"),
        Err(error) => format!("{error:?}").replace(id, "ID"),
    }
}

#[tokio::test]
async fn tasks_of_others_look_like_none_by_every_operation_over_every_wire() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut closed(home.path())).await;
    let ada = Caller::named(&monas, "ada", Role::User);
    let hers = ada.say("hello").await;
    let hers = hers["result"]["task"]["id"].as_str().unwrap();
    // An operator's permissions do not reach into tasks, either.
    for (bob, role) in [("bob", Role::User), ("olga", Role::Operator)] {
        let token = token(bob, role);
        for wire in wires() {
            let client = client(&monas, Some(&token), wire).await;
            for row in TABLE
                .iter()
                .filter(|row| !matches!(row.name, "ListTasks" | "GetExtendedAgentCard"))
            {
                let theirs = told(perform(&client, row.name, hers).await, hers);
                let none = told(perform(&client, row.name, NONE).await, NONE);
                assert_eq!(theirs, none, "{} over {wire:?}", row.name);
                assert!(
                    theirs.contains("ID"),
                    "{} over {wire:?}: {theirs}",
                    row.name
                );
            }
            let listed = perform(&client, "ListTasks", "").await;
            // The old version has no list over gRPC.
            assert!(
                matches!(listed, Ok(_) | Err(Error::Settings(_))),
                "{wire:?}: {listed:?}"
            );
            let listed = listed.unwrap_or_default();
            assert!(!listed.contains(hers), "{wire:?}: {listed}");
        }
        let bob = Caller::named(&monas, bob, role);
        for row in acp::operation::TABLE {
            let route = row.routes[0];
            let [theirs, none] = [hers, NONE].map(|id| {
                let path = route
                    .path
                    .replace("{run_id}", id)
                    .replace("{session_id}", id);
                let path = path.replace("{resource_id}", &format!("{id}.input-0"));
                format!("/acp{path}")
            });
            if theirs == none {
                continue;
            }
            let body = json!({ "await_resume": {
                "type": "message",
                "message": { "role": "user", "parts": [{ "content_type": "text/plain", "content": "x" }] },
            }});
            let theirs = bob.send(route.verb.as_str(), &theirs, &body).await;
            let none = bob.send(route.verb.as_str(), &none, &body).await;
            assert_eq!(theirs.status, none.status, "{}: {}", row.name, theirs.text);
            assert_eq!(
                theirs.text.replace(hers, "ID"),
                none.text.replace(NONE, "ID"),
                "{}",
                row.name
            );
        }
        for method in [
            "tasks/get",
            "tasks/update",
            "tasks/cancel",
            "resources/read",
        ] {
            let ask = async |id: &str| {
                let params = json!({
                    "taskId": id, "uri": format!("monas://tasks/{id}"), "inputResponses": {},
                });
                let reply: Value = bob.mcp(method, params).await;
                reply.to_string().replace(id, "ID")
            };
            assert_eq!(ask(hers).await, ask(NONE).await, "{method}");
        }
    }
    monas.stop().await;
}
