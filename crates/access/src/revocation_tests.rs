//! Revoking ends every principal that depends on what was revoked, and no other.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::{Principal, Revocation};

/// Whether a future is ready now.
fn is_ready(future: impl Future<Output = ()>) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    pin!(future).poll(&mut context) == Poll::Ready(())
}

#[test]
fn any_of_its_revocations_ends_a_principal() {
    let (user, key) = (Revocation::new(), Revocation::new());
    let ada = Principal::named("ada").revocable(user.clone());
    let by_key = ada.revocable(key.clone());
    assert!(!by_key.is_revoked() && !is_ready(by_key.revoked()));
    key.revoke();
    assert!(by_key.is_revoked() && is_ready(by_key.revoked()));
    assert!(!ada.is_revoked() && !is_ready(ada.revoked()));
    user.revoke();
    assert!(ada.is_revoked() && is_ready(ada.revoked()));
}

#[test]
fn what_cannot_be_revoked_is_never_revoked() {
    let ada = Principal::named("ada");
    assert!(!ada.is_revocable() && !ada.is_revoked());
    assert!(!is_ready(ada.revoked()));
}

#[tokio::test]
async fn who_waits_is_woken_by_the_revocation() {
    let (first, second) = (Revocation::new(), Revocation::new());
    let ada = Principal::named("ada");
    let ada = ada.revocable(first).revocable(second.clone());
    let waiting = tokio::spawn(ada.revoked());
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    second.revoke();
    waiting.await.unwrap();
}

#[test]
fn revocations_are_no_part_of_who_a_caller_is() {
    let ada = Principal::named("ada");
    assert_eq!(ada.revocable(Revocation::new()), ada);
}

#[test]
fn a_narrower_principal_ends_with_the_one_that_it_was_made_of() {
    let key = Revocation::new();
    let ada = Principal::named("ada").revocable(key.clone());
    let narrow = ada.attenuated(&super::Bounds::default(), Some(5));
    key.revoke();
    assert!(narrow.is_revoked());
}
