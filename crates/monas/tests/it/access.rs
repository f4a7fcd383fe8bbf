//! Who is let in: every scheme over every binding in both versions, and how each binding says no.
//!
//! - `cases`: a server for each scheme, and what its callers show
//! - `expiry`: streams that outlive a token
//! - `issuer`: tokens of a real issuer, which publishes its keys
//! - `forms`: a refusal in the words of each binding
//! - `program`: the real program, and the command line
//! - `signatures`: signed requests, with another implementation as the peer
//! - `sessions`: Cap'n Web, where credentials may also be handed over in a call

mod cases;
mod expiry;
mod forms;
mod issuer;
mod program;
mod sessions;
mod signatures;

use a2a::binding::BINDINGS;
use a2a::client::{Client, Error, Settings, Version};
use a2a::types::{
    Answer, GetExtendedAgentCardRequest, GetTaskRequest, Message, Part, SendMessageRequest,
};
use axum::body::Body;
use serde_json::json;

use cases::{Case, cases};

use crate::support::http;
use crate::support::server::Running;

fn say(text: &str) -> SendMessageRequest {
    Message::user(uuid::Uuid::new_v4().to_string(), text).into()
}

/// Every wire that there is: a binding and a version.
fn wires() -> impl Iterator<Item = (&'static str, Version)> {
    let versions = [Version::V1_0, Version::V0_3];
    let of = move |version| BINDINGS.iter().map(move |binding| (binding.key, version));
    versions.into_iter().flat_map(of)
}

fn over(mut settings: Settings, (binding, version): (&str, Version)) -> Settings {
    settings.bindings = vec![binding.to_owned()];
    settings.version = Some(version);
    settings.attempts = 1;
    settings
}

/// The name that the agent sees for the caller.
pub(crate) async fn asked(client: &Client) -> Result<String, Error> {
    match client.send_message(say("whoami")).await?.payload {
        Answer::Message(message) => {
            let texts = message.parts.iter().filter_map(Part::as_text);
            Ok(texts.collect())
        }
        other => panic!("no message: {other:?}"),
    }
}

pub(crate) fn is_401(answer: &Result<String, Error>) -> bool {
    matches!(answer, Err(Error::Unauthorized { status: 401, .. }))
}

/// Without, with wrong and with right credentials, over every wire.
async fn check(case: Case) {
    let server = case.start().await;
    for wire in wires() {
        let about = format!("{} over {} {}", case.name, wire.0, wire.1);
        let connect = async |settings| Client::discover(&server.url, over(settings, wire)).await;
        let stranger = connect(case.stranger()).await.expect(&about);
        assert_eq!(stranger.endpoint().binding.key, wire.0, "{about}");
        let answer = asked(&stranger).await;
        assert!(is_401(&answer), "{about}, without: {answer:?}");
        match connect(case.wrong()).await {
            Ok(liar) => {
                let answer = asked(&liar).await;
                assert!(is_401(&answer), "{about}, wrong: {answer:?}");
            }
            // Other wrong certificates fail in the handshake.
            Err(error) => assert!(case.is_certificate(), "{about}, wrong: {error}"),
        }
        let caller = connect(case.right()).await.expect(&about);
        assert_eq!(asked(&caller).await.expect(&about), case.caller, "{about}");
    }
    server.stop().await;
}

macro_rules! each_scheme {
    ($($name:ident)*) => {$(
        #[tokio::test]
        async fn $name() {
            check(cases::$name()).await;
        }
    )*};
}

each_scheme! {
    bearer_tokens_are_known_over_every_binding
    passwords_are_known_over_every_binding
    keys_in_headers_are_known_over_every_binding
    keys_in_addresses_are_known_over_every_binding
    keys_in_cookies_are_known_over_every_binding
    tokens_of_oauth_are_known_over_every_binding
    tokens_of_openid_connect_are_known_over_every_binding
    certificates_are_known_over_every_binding
    signatures_are_known_over_every_binding
}

#[tokio::test]
async fn the_card_says_what_is_configured_in_both_versions() {
    for case in cases() {
        let server = case.start().await;
        let client = Client::discover(&server.url, case.stranger())
            .await
            .unwrap();
        let card = client.card();
        assert!(card.security_schemes.contains_key(case.name));
        let requirement = &card.security_requirements[0].schemes[case.name];
        assert_eq!(requirement.list, case.scopes(), "{}", case.name);
        // The same for readers of 0.3.
        let raw = client.raw_card();
        let old = &raw["securitySchemes"][case.name];
        assert_eq!(old["type"], case.old_type(), "{old}");
        assert_eq!(raw["security"], json!([{ case.name: case.scopes() }]));
        server.stop().await;
    }
}

#[tokio::test]
async fn tasks_of_one_caller_do_not_exist_for_another() {
    let server = cases::bearer_tokens_are_known_over_every_binding()
        .start()
        .await;
    let caller = async |token: &str, wire| {
        let settings = Settings::default().bearer(token).unwrap();
        let client = Client::discover(&server.url, over(settings, wire)).await;
        client.unwrap()
    };
    for wire in wires() {
        let ada = caller("token-of-ada", wire).await;
        let Answer::Task(task) = ada.send_message(say("task hello")).await.unwrap().payload else {
            panic!("no task");
        };
        let get = || GetTaskRequest {
            id: task.id.clone(),
            ..GetTaskRequest::default()
        };
        assert_eq!(ada.get_task(get()).await.unwrap().id, task.id);
        for wire in wires() {
            let bob = caller("token-of-bob", wire).await;
            let error = bob.get_task(get()).await.unwrap_err();
            assert!(error.is("TASK_NOT_FOUND"), "{wire:?}: {error:?}");
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn where_strangers_are_let_in_they_are_anonymous_and_get_no_extended_card() {
    let mut case = cases::bearer_tokens_are_known_over_every_binding();
    case.config.access.unauthenticated = access::Unauthenticated::Anonymous;
    let server = case.start().await;
    for wire in wires() {
        let connect = async |settings| {
            let client = Client::discover(&server.url, over(settings, wire)).await;
            client.unwrap()
        };
        let stranger = connect(case.stranger()).await;
        assert_eq!(asked(&stranger).await.unwrap(), "anonymous", "{wire:?}");
        assert!(is_401(&asked(&connect(case.wrong()).await).await));
        let caller = connect(case.right()).await;
        assert_eq!(asked(&caller).await.unwrap(), case.caller, "{wire:?}");
        let request = GetExtendedAgentCardRequest::default();
        let refused = stranger.get_extended_card(request.clone()).await;
        let refused = refused.unwrap_err();
        assert!(
            matches!(refused, Error::Unauthorized { status: 401, .. }),
            "{wire:?}: {refused:?}"
        );
        let extended = caller.get_extended_card(request).await;
        assert!(extended.is_ok(), "{wire:?}: {extended:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn an_agent_with_an_allow_list_refuses_other_callers_on_every_wire() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("private.toml");
    std::fs::write(
        &manifest,
        "name = \"Private\"\n[access]\ncallers = [\"ada\"]\n",
    )
    .unwrap();
    let mut config = cases::bearer_tokens_are_known_over_every_binding().config;
    config.manifest = Some(manifest);
    let server = Running::serve(&config).await;
    let settings = |token: &str| Settings::default().bearer(token).unwrap();
    for wire in wires() {
        let connect = async |token: &str| {
            let client = Client::discover(&server.url, over(settings(token), wire)).await;
            client.unwrap()
        };
        let ada = connect("token-of-ada").await;
        assert!(ada.send_message(say("hello")).await.is_ok(), "{wire:?}");
        let bob = connect("token-of-bob")
            .await
            .send_message(say("hello"))
            .await;
        assert!(
            matches!(bob, Err(Error::Unauthorized { status: 403, .. })),
            "{wire:?}: {bob:?}"
        );
    }
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    }});
    for (token, status) in [("token-of-ada", 200), ("token-of-bob", 403)] {
        for (verb, path, body) in [
            ("GET", "/acp/agents", Body::empty()),
            ("POST", "/mcp", Body::from(hello.to_string())),
        ] {
            let mut client = server.client(http::Version::One).await;
            let request = client
                .request(verb, "localhost", path)
                .header("authorization", format!("Bearer {token}"))
                .header("accept", "application/json, text/event-stream")
                .header("content-type", "application/json");
            let answer = client.send(request.body(body).unwrap()).await;
            assert_eq!(answer.status, status, "{path} for {token}");
        }
    }
    server.stop().await;
    // Without schemes no caller can be on a list.
    config.access.schemes.clear();
    let serve = monas::Serve::new(monas::serve::demo::app());
    let refused = serve.start(&config).await.unwrap_err().to_string();
    assert!(refused.contains("no scheme"), "{refused}");
}
