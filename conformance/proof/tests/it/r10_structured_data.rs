//! r10: structured data arrives as it was sent, in messages, in metadata and in artifacts.

use a2a::types::{Part, SendMessageRequest};
use proof::{Wire, World};
use serde_json::json;

use crate::support::{script, task};

on_every_binding!(data_arrives_as_it_was_sent);

async fn data_arrives_as_it_was_sent(wire: Wire) {
    let world = World::start().await;
    let client = world.client(wire);
    let data = json!({
        "text": "ü \" \\ \u{1f600}",
        "numbers": [0, -1, 2.5, 1e21, 9_007_199_254_740_991_i64],
        "nothing": null,
        "deep": [{"deeper": [[], {}, {"yes": true, "no": false}]}],
    });
    let mut request: SendMessageRequest = script("echo, data, done");
    let message = request.message.as_mut().unwrap();
    message.parts.push(Part::data(data.clone()));
    message.metadata = data.as_object().cloned().map(Into::into);
    let done = task(&client, request).await;
    assert_eq!(
        done.artifacts[0].parts,
        [Part::data(data.clone())],
        "{wire}"
    );
    let made = json!({"list": [1, 2.5, null], "deep": {"yes": true}});
    assert_eq!(done.artifacts[1].parts, [Part::data(made)], "{wire}");
    let metadata = done.history[0].metadata.clone();
    assert_eq!(json!(metadata), data, "{wire}");
}
