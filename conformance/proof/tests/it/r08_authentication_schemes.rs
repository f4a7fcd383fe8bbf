//! r8: every scheme says who calls: bearer tokens, passwords, keys in three places, OAuth, OpenID Connect, certificates.

use proof::Wire;

use crate::schemes::{Guarded, is_refused, whoami};

on_every_binding!(every_scheme_authenticates_the_caller);

async fn every_scheme_authenticates_the_caller(wire: Wire) {
    let guarded = Guarded::start().await;
    for shown in guarded.all(wire) {
        let client = guarded.world.client_with(shown.settings);
        let said = whoami(&client).await;
        assert_eq!(said.unwrap(), shown.caller, "{wire} {}", shown.scheme);
    }
    let stranger = whoami(&guarded.world.client(wire)).await;
    assert!(is_refused(&stranger), "{wire}: {stranger:?}");
}
