//! r7: who calls is said by a header: of the request, or of the handshake of a connection.

use a2a::types::GetTaskRequest;
use proof::Wire;

use crate::schemes::{Guarded, is_refused, whoami};
use crate::support::{script, task};

on_every_binding!(a_header_authenticates_the_caller);

async fn a_header_authenticates_the_caller(wire: Wire) {
    let guarded = Guarded::start().await;
    let world = &guarded.world;
    let with = |token: &str| {
        let settings = world.settings(wire).bearer(token).unwrap();
        world.client_with(settings)
    };
    let unauthenticated = whoami(&world.client(wire)).await;
    assert!(
        is_refused(&unauthenticated),
        "{wire}, without a header: {unauthenticated:?}"
    );
    let liar = whoami(&with("token-of-mallory")).await;
    assert!(is_refused(&liar), "{wire}, with a wrong header: {liar:?}");
    let ada = with("token-of-ada");
    assert_eq!(whoami(&ada).await.unwrap(), "ada", "{wire}");

    // What is one caller's does not exist for another.
    let hers = task(&ada, script("done")).await;
    let get = || GetTaskRequest {
        id: hers.id.clone(),
        ..GetTaskRequest::default()
    };
    assert_eq!(ada.get_task(get()).await.unwrap().id, hers.id, "{wire}");
    let basic = world
        .settings(wire)
        .basic("bob", "password of bob")
        .unwrap();
    let refused = world.client_with(basic).get_task(get()).await.unwrap_err();
    assert!(refused.is("TASK_NOT_FOUND"), "{wire}: {refused:?}");
}
