//! Which media type a client prefers.

use ::http::HeaderMap;
use ::http::header::ACCEPT;

use super::prefers_streams;

#[test]
fn a_client_can_say_that_it_would_rather_have_a_stream() {
    for (accept, prefers) in [
        ("application/json, text/event-stream", false),
        ("text/event-stream, application/json", false),
        ("text/event-stream, application/json;q=0.9", true),
        ("text/event-stream; q=0.5, application/json; q=0.4", true),
        ("text/event-stream;q=0.5, application/json", false),
        ("text/event-stream;q=x, application/json;q=7", false),
        ("*/*", false),
    ] {
        let headers = HeaderMap::from_iter([(ACCEPT, accept.parse().unwrap())]);
        assert_eq!(prefers_streams(&headers), prefers, "{accept}");
    }
}
