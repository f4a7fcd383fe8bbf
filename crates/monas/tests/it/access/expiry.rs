//! A stream ends when the token of its caller expires, with the code that every call then gets.

use a2a::binding::BINDINGS;
use a2a::client::{Client, Error, Settings, Version};
use a2a::types::{Event, Message, SubscribeToTaskRequest};
use futures_util::StreamExt as _;
use serde_json::json;

use super::{cases, over};
use crate::support::server::Running;

/// A message for the skill that streams for six seconds.
fn slow() -> Message {
    let mut message = Message::user(uuid::Uuid::new_v4().to_string(), "take your time");
    let metadata = json!({ "urn:monas:a2a:ext:skill:1/skill": "slow" });
    message.metadata = metadata.as_object().cloned().map(Into::into);
    message
}

/// Once 45 of 61 events came after the token had expired.
#[tokio::test]
async fn a_stream_ends_with_the_token_over_every_binding() {
    for binding in BINDINGS {
        let (config, token) = cases::token_that_expires_in(4);
        let server = Running::sut_with(&config).await;
        let settings = Settings::default().bearer(&token).unwrap();
        let settings = over(settings, (binding.key, Version::V1_0));
        let client = Client::discover(&server.url, settings).await.unwrap();
        let mut sent = client.send_streaming_message(slow().into()).await.unwrap();
        let first = sent.next().await.unwrap().unwrap();
        let Event::Task(task) = &first.response().payload else {
            panic!("{}: {first:?}", binding.key);
        };
        let request = SubscribeToTaskRequest {
            id: task.id.clone(),
            ..SubscribeToTaskRequest::default()
        };
        let mut followed = client.subscribe_to_task(request).await.unwrap();
        for (name, events) in [("sent", &mut sent), ("followed", &mut followed)] {
            let mut last = None;
            let mut count = 0;
            while let Some(event) = events.next().await {
                count += 1;
                last = Some(event);
            }
            assert!(count < 100, "{} {name}: {count} events", binding.key);
            match last {
                Some(Err(Error::Refused(refusal))) => {
                    assert_eq!(refusal.code, -31401, "{} {name}: {refusal}", binding.key);
                }
                Some(Err(Error::Unauthorized { status: 401, .. })) => {}
                other => panic!("{} {name} ended with {other:?}", binding.key),
            }
        }
        server.stop().await;
    }
}
