//! r14: the card is found at its well-known address, and by it the way to this binding.

use a2a::Client;
use a2a::binding::CARD_PATHS as PATHS;
use a2a::types::{GetExtendedAgentCardRequest, TaskState};
use proof::{Wire, World};

use crate::support::{script, state, task};

on_every_binding!(the_card_shows_the_way);

async fn the_card_shows_the_way(wire: Wire) {
    let world = World::start().await;
    let host = format!("http://{}", world.address);
    for address in [
        host.clone(),
        format!("{host}{}", PATHS[0]),
        format!("{host}{}", PATHS[1]),
    ] {
        let client = Client::discover(&address, wire.settings()).await.unwrap();
        assert_eq!(client.card().name, "Scripted", "{wire} {address}");
        let endpoint = client.endpoint();
        assert_eq!(
            (endpoint.binding.key, endpoint.version),
            (wire.binding.key, wire.version)
        );
        let done = task(&client, script("done")).await;
        assert_eq!(state(&done), TaskState::Completed, "{wire} {address}");
        // Authenticated callers get the extended card.
        let request = GetExtendedAgentCardRequest::default();
        let extended = client.get_extended_card(request).await.unwrap();
        assert_eq!(client.card().skills.len(), 1, "{wire}");
        assert_eq!(extended.skills.len(), 2, "{wire}");
    }
}
