//! Failures are told apart with every provider.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use model::layer::{Patience, Retry, Timed, Times};
use model::provider::{Endpoint, Key, Kind, Provider};
use model::scripted::{Failure, Scripted, Server, Turn};
use model::{Delta, Error, Model, Request};

use crate::{client, endpoint, wired};

#[tokio::test]
async fn each_failure_is_what_it_is() {
    let hour = Duration::from_secs(3600);
    for (failure, code) in [
        (Failure::Auth, "auth"),
        (Failure::RateLimited(Some(hour)), "rate-limited"),
        (Failure::RateLimited(None), "rate-limited"),
        (Failure::Refused, "refused"),
        (Failure::Server, "server"),
        (Failure::Malformed, "malformed"),
        (Failure::Cut, "cut"),
    ] {
        for kind in Kind::ALL {
            let (_server, model) = wired(kind, [Turn::fails(failure)]).await;
            let error = model.ask(Request::new("?")).await.unwrap_err();
            assert_eq!(error.code(), code, "{kind:?}, {failure:?}: {error}");
            if let (Error::RateLimited { retry_after, .. }, Failure::RateLimited(said)) =
                (error, failure)
            {
                assert_eq!(retry_after, said, "{kind:?}");
            }
        }
    }
}

#[tokio::test]
async fn what_came_before_a_failure_is_told() {
    for kind in Kind::ALL {
        for (failure, code) in [(Failure::Cut, "cut"), (Failure::Malformed, "malformed")] {
            let (_server, model) = wired(kind, [Turn::text("half").fail(failure)]).await;
            let deltas: Vec<_> = model.reply(Request::new("?")).collect().await;
            let [Ok(Delta::Text(text)), Err(error)] = &deltas[..] else {
                panic!("{kind:?}, {failure:?}: {deltas:?}");
            };
            assert_eq!(
                (text.as_str(), error.code()),
                ("half", code),
                "{kind:?}: {error}"
            );
        }
    }
}

#[tokio::test]
async fn an_answer_that_just_stops_has_no_end() {
    for kind in Kind::ALL {
        let (_server, model) = wired(kind, [Turn::text("half").fail(Failure::Stop)]).await;
        let error = model.ask(Request::new("?")).await.unwrap_err();
        assert_eq!(error.code(), "cut", "{kind:?}: {error}");
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_an_answer_is_one() {
    for kind in Kind::ALL {
        let (_server, model) = wired(kind, [Turn::text("half").fail(Failure::Server)]).await;
        let error = model.ask(Request::new("?")).await.unwrap_err();
        assert_eq!(error.code(), "server", "{kind:?}: {error}");
    }
}

#[tokio::test]
async fn a_wrong_key_is_refused_and_not_repeated() {
    for kind in [Kind::OpenAi, Kind::Anthropic, Kind::Gemini] {
        let server = Server::start_with(Scripted::default(), Some("secret"))
            .await
            .unwrap();
        let mut wrong = endpoint(kind, &server);
        wrong.key = Some(Key::new("hunter2"));
        let model = Provider::new(wrong.clone(), client()).unwrap();
        let error = model.ask(Request::new("?")).await.unwrap_err();
        assert_eq!(error.code(), "auth", "{kind:?}");
        for shown in [
            format!("{wrong:?}"),
            format!("{model:?}"),
            error.to_string(),
        ] {
            assert!(!shown.contains("hunter2"), "{shown}");
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    // A port that was free a moment ago.
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    for kind in Kind::ALL {
        let mut endpoint = Endpoint::new(kind, "m");
        endpoint.url = Some(format!("http://{address}"));
        let model = Provider::new(endpoint, client()).unwrap();
        let error = model.ask(Request::new("?")).await.unwrap_err();
        assert_eq!(error.code(), "unreachable", "{kind:?}: {error}");
    }
}

#[tokio::test]
async fn layers_hold_over_the_wire() {
    let turns = [
        Turn::fails(Failure::Server),
        Turn::fails(Failure::Silence),
        Turn::text("at last"),
    ];
    let (server, model) = wired(Kind::OpenAi, turns).await;
    let times = Times {
        next: Duration::from_millis(200),
        whole: Duration::from_secs(60),
    };
    let patience = Patience {
        attempts: 3,
        pause: Duration::from_millis(1),
        longest: Duration::from_secs(1),
        ..Patience::default()
    };
    let model: Arc<dyn Model> = Arc::new(Timed::new(model, times));
    let model = Retry::new(model, patience);
    assert_eq!(model.ask(Request::new("?")).await.unwrap().text, "at last");
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn to_drop_the_stream_is_to_hang_up() {
    let (server, model) = wired(Kind::OpenAi, [Turn::text("so").fail(Failure::Silence)]).await;
    let mut deltas = model.reply(Request::new("?"));
    assert_eq!(deltas.next().await, Some(Ok(Delta::Text("so".to_owned()))));
    drop(deltas);
    server.hung_up().await;
}

/// A server that answers everything with this body, with status 200.
async fn answering(kind: &str, body: &str) -> (std::net::SocketAddr, tokio::task::JoinHandle<()>) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .unwrap();
    let address = listener.local_addr().unwrap();
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let serving = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 64 << 10];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (address, serving)
}

#[tokio::test]
async fn a_web_page_or_a_plain_answer_is_said_to_be_no_event_stream() {
    let page = "<html><body>Please log in.</body></html>";
    for (form, body) in [
        ("text/html; charset=utf-8", page),
        ("text/plain", page),
        ("application/json", "{\"choices\": [{\"message\""),
    ] {
        let (address, serving) = answering(form, body).await;
        for kind in Kind::ALL {
            let mut endpoint = Endpoint::new(kind, "m");
            endpoint.url = Some(format!("http://{address}"));
            let model = Provider::new(endpoint, client()).unwrap();
            let error = model.ask(Request::new("?")).await.unwrap_err();
            assert_eq!(error.code(), "malformed", "{kind:?}, {form}: {error}");
            let said = error.to_string();
            assert!(
                said.contains("no event stream: is model.url right?"),
                "{kind:?}, {form}: {said}"
            );
            assert!(!error.is_transient());
        }
        serving.abort();
    }
}
