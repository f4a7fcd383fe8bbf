//! The sum of a reply's parts, and replies that are no answer.

use std::sync::Arc;

use futures_util::StreamExt as _;
use serde_json::json;

use crate::scripted::{Failure, Scripted, Turn};
use crate::{Call, Delta, End, Error, Message, Model, Request, Usage};

async fn ask(turn: Turn, request: Request) -> Result<crate::Reply, Error> {
    let model: Arc<dyn Model> = Arc::new(Scripted::new([turn]));
    model.ask(request).await
}

#[tokio::test]
async fn a_reply_is_what_its_deltas_add_up_to() {
    let turn = Turn::new()
        .reason("let me ")
        .reason("see")
        .say("It is ")
        .say("four.")
        .call("add", json!({"a": 2}))
        .usage(3, 1)
        .usage(3, 9);
    let reply = ask(turn, Request::new("2 + 2?")).await.unwrap();
    assert_eq!(reply.reasoning, "let me see");
    assert_eq!(reply.text, "It is four.");
    assert_eq!(reply.usage, Some(Usage::new(3, 9)));
    assert_eq!(reply.end, End::Calls);
    let call = Call {
        id: "call-0".to_owned(),
        name: "add".to_owned(),
        arguments: json!({"a": 2}),
    };
    assert_eq!(reply.calls, std::slice::from_ref(&call));
    let Message::Model(said) = reply.into_message() else {
        panic!("a model said it");
    };
    assert_eq!(
        (said.text.as_str(), said.calls),
        ("It is four.", vec![call])
    );
}

#[tokio::test]
async fn nothing_is_asked_before_the_stream_is_polled() {
    let model = Scripted::new([Turn::text("hello")]);
    let mut deltas = model.reply(Request::new("hi"));
    assert_eq!(model.requests(), []);
    assert_eq!(
        deltas.next().await,
        Some(Ok(Delta::Text("hello".to_owned())))
    );
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn what_comes_after_a_failure_is_not_said() {
    let turn = Turn::text("one").fail(Failure::Cut).say("two");
    let deltas: Vec<_> = Scripted::new([turn])
        .reply(Request::new("?"))
        .collect()
        .await;
    assert_eq!(deltas.len(), 2);
    assert!(matches!(deltas[1], Err(Error::Cut(_))));
}

#[tokio::test]
async fn an_answer_without_an_end_is_cut() {
    let deltas = futures_util::stream::iter([Ok(Delta::Text("half".to_owned()))]);
    let reply = crate::Reply::of(Box::pin(deltas)).await;
    assert_eq!(
        reply,
        Err(Error::Cut(
            "the stream ended without an end marker".to_owned()
        ))
    );
}

#[tokio::test]
async fn a_script_that_is_over_says_so() {
    let reply = Scripted::default().ask(Request::new("?")).await;
    assert!(matches!(reply, Err(Error::Refused(_))));
}

fn person() -> Request {
    Request::new("who?").output(json!({
        "type": "object",
        "properties": {"age": {"type": "integer"}},
        "required": ["age"],
    }))
}

#[tokio::test]
async fn an_output_that_fulfils_its_schema_can_be_parsed() {
    #[derive(serde::Deserialize)]
    struct Person {
        age: u8,
    }
    let reply = ask(Turn::text(" {\"age\": 36}\n"), person()).await.unwrap();
    assert_eq!(reply.parse::<Person>().unwrap().age, 36);
}

#[tokio::test]
async fn an_output_that_is_not_what_was_asked_for_is_no_answer() {
    for (said, why) in [
        ("She is 36.", "expected value"),
        (r#"{"age": "36"}"#, "/age"),
        (r#"{}"#, "age"),
    ] {
        let Err(Error::Malformed(problem)) = ask(Turn::text(said), person()).await else {
            panic!("{said}");
        };
        assert!(problem.contains(why), "{said}: {problem}");
    }
    let cut = Turn::text(r#"{"age": 3}"#).ending(End::Length);
    assert!(matches!(ask(cut, person()).await, Err(Error::Malformed(_))));
}

#[tokio::test]
async fn a_call_can_be_asked_for_instead_of_an_output() {
    let reply = ask(Turn::calls("look-up", json!({})), person()).await;
    assert_eq!(reply.unwrap().calls.len(), 1);
}

#[tokio::test]
async fn a_schema_that_is_none_is_refused() {
    let request = Request::new("?").output(json!({"type": 7}));
    assert!(matches!(
        ask(Turn::text("1"), request).await,
        Err(Error::Refused(_))
    ));
}
