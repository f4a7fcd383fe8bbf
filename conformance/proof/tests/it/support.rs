//! The common needs of all requirements: wires of a binding, messages, and receivers of callbacks.

use std::time::Duration;

use a2a::client::{Client, Version};
use a2a::types::{Answer, Message, SendMessageConfiguration, SendMessageRequest, Task, TaskState};
use proof::Wire;

/// One test for each binding, which is a cell of the table: the check, in both versions.
macro_rules! on_every_binding {
    ($check:ident) => {
        on_every_binding!($check: jsonrpc rest grpc capnweb websocket);
    };
    ($check:ident: $($binding:ident)*) => {$(
        #[tokio::test(flavor = "multi_thread")]
        async fn $binding() {
            for wire in crate::support::wires(stringify!($binding)) {
                crate::support::in_time($check(wire)).await;
            }
        }
    )*};
}

/// The wires of a binding: both versions.
pub(crate) fn wires(binding: &str) -> Vec<Wire> {
    #[cfg(feature = "sabotage")]
    if let Ok(requirement) = std::env::var("MONAS_BREAK") {
        a2a::sabotage::break_requirement(&requirement);
    }
    let mut wires = Wire::all();
    wires.retain(|wire| wire.binding.key == binding);
    assert_eq!(wires.len(), 2, "{binding}");
    wires
}

/// What waits for something that does not come fails.
pub(crate) async fn in_time<T>(check: impl Future<Output = T>) -> T {
    let checked = tokio::time::timeout(Duration::from_secs(10), check).await;
    checked.expect("what is waited for does not come")
}

/// The one wire that has no operation to list tasks.
pub(crate) fn cannot_list(wire: Wire) -> bool {
    wire.binding.key == "grpc" && wire.version == Version::V0_3
}

/// A message with a script, answered when the task rests.
pub(crate) fn script(script: &str) -> SendMessageRequest {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    Message::user(format!("message-{number}"), script).into()
}

/// The same, answered as soon as there is a task.
pub(crate) fn begin(text: &str) -> SendMessageRequest {
    SendMessageRequest {
        configuration: Some(SendMessageConfiguration {
            return_immediately: true,
            ..SendMessageConfiguration::default()
        }),
        ..script(text)
    }
}

/// Sends a message that leads to a task.
pub(crate) async fn task(client: &Client, request: SendMessageRequest) -> Task {
    match client.send_message(request).await.unwrap().payload {
        Answer::Task(task) => task,
        other => panic!("no task: {other:?}"),
    }
}

/// How a task stands.
pub(crate) fn state(task: &Task) -> TaskState {
    task.status.as_ref().unwrap().state
}
