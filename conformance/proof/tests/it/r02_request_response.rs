//! r2: a message has one answer: a message, or the task once it rests.

use a2a::types::{Answer, Part, Role, TaskState};
use proof::{Wire, World};

use crate::support::{begin, script, state, task};

on_every_binding!(a_message_is_answered);

async fn a_message_is_answered(wire: Wire) {
    let world = World::start().await;
    let client = world.client(wire);
    let answer = client.send_message(script("reply hello")).await.unwrap();
    let Answer::Message(message) = answer.payload else {
        panic!("{wire}: {answer:?}");
    };
    assert_eq!(message.role, Role::Agent, "{wire}");
    assert_eq!(message.parts, [Part::text("hello")], "{wire}");

    let done = task(&client, script("work, text made, done")).await;
    assert_eq!(state(&done), TaskState::Completed, "{wire}");
    assert_eq!(done.artifacts[0].parts, [Part::text("made")], "{wire}");
    assert_eq!(
        done.history[0].parts,
        [Part::text("work, text made, done")],
        "{wire}"
    );

    // Who does not want to wait for the end need not.
    let begun = task(&client, begin("work, wait, done")).await;
    assert_eq!(state(&begun), TaskState::Working, "{wire}");
}
