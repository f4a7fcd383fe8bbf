//! Replies arrive the same from every provider.

use futures_util::StreamExt as _;
use model::provider::Kind;
use model::scripted::{Scripted, Turn};
use model::{CallResult, Delta, End, Message, Model as _, Reply, Request, Tool};
use serde_json::{Value, json};

use crate::wired;

fn weather() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    });
    Tool::new("weather", "Tells the weather.", input).examples(["weather in Riga"])
}

/// What arrives but for what only the provider knows.
fn told(mut reply: Reply) -> Reply {
    reply.thoughts.clear();
    reply
}

#[tokio::test]
async fn over_the_wire_it_is_the_same_as_in_process() {
    let turns = [
        Turn::text("Hello, ").say("Ada — ☕!").usage(12, 5),
        Turn::new()
            .reason("hm, ")
            .reason("yes")
            .say("Yes.")
            .usage(3, 9),
        Turn::text("Let me see.")
            .call("weather", json!({"city": "Rīga"}))
            .call("weather", json!({"city": "Oslo", "days": [1, 2]}))
            .usage(40, 20),
        Turn::calls("ping", json!({})).usage(1, 1),
        Turn::text("and so on").usage(1, 1).ending(End::Length),
        Turn::text("data: {\"a\":\n\n[DONE]\n\nevent: x").usage(1, 1),
    ];
    for turn in turns {
        let expected = Scripted::new([turn.clone()])
            .ask(Request::new("?"))
            .await
            .unwrap();
        for kind in Kind::ALL {
            let (_server, model) = wired(kind, [turn.clone()]).await;
            let reply = model.ask(Request::new("?")).await;
            assert_eq!(reply.map(told), Ok(expected.clone()), "{kind:?}: {turn:?}");
        }
    }
}

#[tokio::test]
async fn a_reply_arrives_piece_by_piece() {
    for kind in Kind::ALL {
        let (_server, model) = wired(kind, [Turn::text("one ").say("two ").say("three")]).await;
        let deltas: Vec<_> = model.reply(Request::new("?")).collect().await;
        let texts = deltas.iter().filter_map(|delta| match delta {
            Ok(Delta::Text(text)) => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(
            texts.collect::<Vec<_>>(),
            ["one ", "two ", "three"],
            "{kind:?}"
        );
        assert_eq!(deltas.last(), Some(&Ok(Delta::End(End::Said))), "{kind:?}");
    }
}

#[tokio::test]
async fn a_withheld_reply_says_so() {
    for kind in [Kind::OpenAi, Kind::Anthropic, Kind::Gemini] {
        let (_server, model) = wired(kind, [Turn::text("I ").ending(End::Withheld)]).await;
        let reply = model.ask(Request::new("?")).await.unwrap();
        assert_eq!(reply.end, End::Withheld, "{kind:?}");
    }
}

/// All that was sent, as text.
/// What was sent, also of what is JSON within a text.
fn sent(body: &Value) -> String {
    body.to_string().replace('\\', "")
}

#[tokio::test]
async fn what_was_said_called_and_came_of_it_is_sent() {
    for kind in Kind::ALL {
        let called = Turn::new()
            .reason("I need it")
            .call("weather", json!({"city": "Riga"}));
        let (server, model) = wired(kind, [called, Turn::text("It rains.")]).await;
        let question = Message::User("How is the weather in Riga?".to_owned());
        let request = Request::of(vec![question.clone()])
            .system("You are brief.")
            .tools([weather()])
            .max_tokens(99);
        let reply = model.ask(request.clone()).await.unwrap();
        let result = CallResult::of(&reply.calls[0], "rain, 7 degrees");
        let messages = vec![question, reply.into_message(), Message::Result(result)];
        let mut again = request;
        again.messages = messages;
        assert_eq!(model.ask(again).await.unwrap().text, "It rains.");

        let [first, second] = &server.seen()[..] else {
            panic!("{kind:?} was asked {} times", server.seen().len());
        };
        for text in [
            "You are brief.",
            "How is the weather in Riga?",
            "weather in Riga",
            "99",
        ] {
            assert!(
                sent(&first.body).contains(text),
                "{kind:?}, {text}: {}",
                first.body
            );
        }
        assert!(first.body["tools"].is_array(), "{kind:?}");
        assert!(!sent(&first.body).contains("rain, 7 degrees"));
        for text in ["rain, 7 degrees", "\"Riga\"", "\"weather\""] {
            assert!(
                sent(&second.body).contains(text),
                "{kind:?}, {text}: {}",
                second.body
            );
        }
    }
}

#[tokio::test]
async fn what_a_model_thought_before_a_call_is_shown_to_it_again() {
    for (kind, place) in [
        (Kind::Anthropic, "/messages/1/content/0/signature"),
        (Kind::Gemini, "/contents/1/parts/0/thoughtSignature"),
    ] {
        let called = Turn::new()
            .reason("I need it")
            .call("weather", json!({"city": "Riga"}));
        let (server, model) = wired(kind, [called, Turn::text("It rains.")]).await;
        let question = Message::User("?".to_owned());
        let reply = model
            .ask(Request::of(vec![question.clone()]))
            .await
            .unwrap();
        assert_eq!(reply.thoughts.len(), 1, "{kind:?}");
        let result = Message::Result(CallResult::of(&reply.calls[0], "rain"));
        let messages = vec![question, reply.into_message(), result];
        model.ask(Request::of(messages.clone())).await.unwrap();
        let body = server.seen()[1].body.clone();
        assert_eq!(
            body.pointer(place),
            Some(&json!("signed")),
            "{kind:?}: {body}"
        );

        // It is of no use to another model.
        for other in Kind::ALL.into_iter().filter(|it| *it != kind) {
            let (server, model) = wired(other, [Turn::text("so")]).await;
            model.ask(Request::of(messages.clone())).await.unwrap();
            assert!(
                !sent(&server.seen()[0].body).contains("signed"),
                "{kind:?} to {other:?}"
            );
        }
    }
}

#[tokio::test]
async fn an_output_is_asked_for_by_its_schema() {
    let schema = json!({
        "type": "object",
        "properties": {"age": {"type": "integer"}},
        "required": ["age"],
        "additionalProperties": false,
    });
    for kind in Kind::ALL {
        let turns = [Turn::text(r#"{"age": 36}"#), Turn::text("thirty-six")];
        let (server, model) = wired(kind, turns).await;
        let request = Request::new("How old is she?").output(schema.clone());
        let reply = model.ask(request.clone()).await.unwrap();
        assert_eq!(reply.parse::<Value>().unwrap(), json!({"age": 36}));
        let body = &server.seen()[0].body;
        assert!(sent(body).contains("age"), "{kind:?}: {body}");
        assert_eq!(
            model.ask(request).await.unwrap_err().code(),
            "malformed",
            "{kind:?}"
        );
    }
}
