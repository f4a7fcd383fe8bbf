//! Credentials that are revoked while a caller uses them: what is under way ends, and the task goes on.

use a2a::error::Error;
use a2a::service::{Call, Service as _};
use a2a::types::*;
use access::{Principal, Revocation};
use futures_util::StreamExt as _;

use super::support::{Bench, message};

/// A call in the name of ada by credentials that this revocation ends.
fn by(revocation: &Revocation) -> Call {
    Call::by(Principal::named("ada").revocable(revocation.clone()))
}

fn is_revoked<T: std::fmt::Debug>(result: Result<T, Error>) {
    match result {
        Err(error @ Error::Unauthenticated(_)) => {
            assert_eq!(
                error.to_string(),
                "not authenticated: credentials were revoked"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_stream_ends_when_its_caller_is_revoked_and_no_other_stream() {
    let bench = Bench::start().await;
    let ada = bench.by("ada", "");
    let task = ada.task_at_once("working wait chunk:a done").await;
    let (one, other) = (Revocation::new(), Revocation::new());
    let follow = |revocation| {
        let request = SubscribeToTaskRequest {
            id: task.id.clone(),
            ..SubscribeToTaskRequest::default()
        };
        bench.server.subscribe_to_task(by(revocation), request)
    };
    let mut lent = follow(&one).await.unwrap();
    let mut own = follow(&other).await.unwrap();
    assert!(lent.next().await.unwrap().is_ok());
    assert!(own.next().await.unwrap().is_ok());

    one.revoke();
    is_revoked(lent.next().await.unwrap());
    assert!(
        lent.next().await.is_none(),
        "nothing comes after the refusal"
    );
    bench.script.gate.add_permits(1);
    while let Some(event) = own.next().await {
        event.unwrap();
    }
    assert_eq!(
        ada.get(&task.id).await.unwrap().state(),
        TaskState::Completed
    );
}

#[tokio::test]
async fn a_call_that_waits_is_refused_when_its_caller_is_revoked() {
    let bench = Bench::start().await;
    let revocation = Revocation::new();
    let waiting = bench
        .server
        .send_message(by(&revocation), message("working wait done").into());
    let waiting = tokio::spawn(waiting);
    let ada = bench.by("ada", "");
    let task = ada.first().await;
    revocation.revoke();
    is_revoked(waiting.await.unwrap());
    let again = GetTaskRequest {
        id: task.id.clone(),
        ..GetTaskRequest::default()
    };
    is_revoked(bench.server.get_task(by(&revocation), again).await);
    // The task is ada's, whichever of her credentials began it.
    bench.script.gate.add_permits(1);
    ada.until_state(&task.id, TaskState::Completed).await;
}
