//! Requests that are understood, answers to others, and that there is always a plan.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Plan, Rules, plan};
use crate::{AssistantMessage, Call, CallResult, Error, Message, Model as _, Request, Tool};

/// A schema of an object with fields of text, of which the first so many must be there.
fn takes(fields: &[&str], required: usize) -> Value {
    let properties: serde_json::Map<_, _> = fields
        .iter()
        .map(|name| ((*name).to_owned(), json!({"type": "string"})))
        .collect();
    json!({"type": "object", "properties": properties, "required": &fields[..required]})
}

fn tools() -> Vec<Tool> {
    vec![
        Tool::new("file-read", "Reads a file.", takes(&["path"], 1)).title("Read a file"),
        Tool::new(
            "file-write",
            "Writes a file.",
            takes(&["path", "content"], 2),
        ),
        Tool::new(
            "code-search",
            "Searches files.",
            takes(&["query", "path"], 1),
        ),
        Tool::new("memory-store", "Remembers.", takes(&["content"], 1)),
        Tool::new("memory-query", "Recalls.", takes(&["query"], 1)),
        Tool::new("weather", "Tells the weather.", takes(&["city", "unit"], 1))
            .title("Weather report")
            .examples(["What is the weather in Riga?", "weather in Oslo"]),
        Tool::new(
            "timer",
            "Waits.",
            json!({
                "type": "object",
                "properties": {
                    "seconds": {"type": "integer"},
                    "loud": {"type": "boolean"},
                    "tone": {"type": "string", "enum": ["high", "low"]},
                },
                "required": ["seconds"],
            }),
        )
        .examples(["wake me in {seconds} seconds"]),
        Tool::new("ping", "Says pong.", takes(&[], 0)).examples(["are you there?"]),
    ]
}

/// What is planned, as one line for each call.
fn said(request: &str, tools: &[Tool]) -> String {
    match plan(request, tools) {
        Plan::Answer(text) | Plan::Decline(text) | Plan::Unknown(text) => text,
        Plan::Calls(calls) => {
            let calls = calls
                .iter()
                .map(|call| format!("{} {}", call.name, call.arguments));
            calls.collect::<Vec<_>>().join("\n")
        }
    }
}

#[track_caller]
fn check(request: &str, expected: &str) {
    assert_eq!(said(request, &tools()), expected, "{request}");
}

#[test]
fn direct_requests_are_understood_for_any_tool_that_fits() {
    let table = [
        ("read src/main.rs", r#"file-read {"path":"src/main.rs"}"#),
        (
            "Read the file README.md, please.",
            r#"file-read {"path":"README.md"}"#,
        ),
        (
            "can you show me Makefile?",
            r#"file-read {"path":"Makefile"}"#,
        ),
        (
            "open \"my notes.txt\"",
            r#"file-read {"path":"my notes.txt"}"#,
        ),
        (
            "what is in Cargo.toml?",
            r#"file-read {"path":"Cargo.toml"}"#,
        ),
        (
            "create notes.md with buy milk",
            r#"file-write {"path":"notes.md","content":"buy milk"}"#,
        ),
        (
            "create a file called a.txt with the content two\n  lines.",
            r#"file-write {"path":"a.txt","content":"two\n  lines."}"#,
        ),
        (
            "write \"a to b\" to c.txt",
            r#"file-write {"path":"c.txt","content":"a to b"}"#,
        ),
        (
            "touch empty.txt",
            r#"file-write {"path":"empty.txt","content":""}"#,
        ),
        ("search jwt", r#"code-search {"query":"jwt"}"#),
        (
            "grep for \"fn main\" in src/",
            r#"code-search {"query":"fn main","path":"src/"}"#,
        ),
        (
            "remember that Ada likes tea.",
            r#"memory-store {"content":"Ada likes tea."}"#,
        ),
        (
            "Remember: the door is green",
            r#"memory-store {"content":"the door is green"}"#,
        ),
        (
            "what do you know about Ada?",
            r#"memory-query {"query":"Ada"}"#,
        ),
        (
            "What did I tell you about the green door?",
            r#"memory-query {"query":"the green door"}"#,
        ),
    ];
    for (request, expected) in table {
        let expected: Vec<_> = expected.split_once(' ').into_iter().collect();
        let Plan::Calls(calls) = plan(request, &tools()) else {
            panic!("{request}: {}", said(request, &tools()));
        };
        let arguments: Value = serde_json::from_str(expected[0].1).unwrap();
        assert_eq!(
            (calls[0].name.as_str(), &calls[0].arguments),
            (expected[0].0, &arguments)
        );
        assert_eq!(calls.len(), 1, "{request}");
    }
}

/// Sentences of strangers that were misread or not understood.
#[test]
fn what_strangers_say_first_is_read_as_they_mean_it() {
    let own = |name: &str, fields: &[&str]| Tool::new(name, "Does it.", takes(fields, 1));
    let tools = [
        own("file-write", &["path", "content", "append"]),
        Tool::new("file-list", "Does it.", takes(&["path", "glob"], 0)),
        own("file-delete", &["path"]),
        own("file-search", &["query"]),
        own("remember", &["text", "ask"]),
        own("recall", &["question"]),
        Tool::new("reminders", "Lists.", takes(&["text", "cancel"], 0)),
    ];
    for (request, expected) in [
        (
            "append a line \"call mum\" to notes.md",
            r#"file-write {"append":"true","content":"call mum","path":"notes.md"}"#,
        ),
        (
            "add the milk to notes.md",
            r#"file-write {"append":"true","content":"the milk","path":"notes.md"}"#,
        ),
        ("I'm Grace", r#"remember {"ask":true,"text":"I'm Grace"}"#),
        (
            "Ada lives in Paris, remember that",
            r#"remember {"text":"Ada lives in Paris"}"#,
        ),
        (
            "list everything you remember",
            r#"recall {"question":"everything"}"#,
        ),
        ("how big is notes.md?", r#"file-list {"glob":"notes.md"}"#),
        ("show me everything in src", r#"file-list {"path":"src"}"#),
        (
            "remove the folder drafts",
            r#"file-delete {"path":"drafts"}"#,
        ),
        ("where is the word milk?", r#"file-search {"query":"milk"}"#),
        ("when is my next reminder?", "reminders {}"),
    ] {
        assert_eq!(said(request, &tools), expected, "{request}");
    }
    for (request, answer) in [
        ("search the web for rust", "I cannot search the web"),
        (
            "what's the time in Tokyo?",
            "I cannot tell the time of other places",
        ),
        ("call me Grace", "Tell me your name"),
        ("What do you do exactly?", "I can:"),
        ("can you help me with my files?", "I can:"),
    ] {
        let found = said(request, &tools);
        assert!(found.contains(answer), "{request}: {found}");
    }
}

#[test]
fn several_files_are_a_call_each() {
    check(
        "read a.rs, b.rs and src/c.rs",
        "file-read {\"path\":\"a.rs\"}\nfile-read {\"path\":\"b.rs\"}\nfile-read {\"path\":\"src/c.rs\"}",
    );
    let Plan::Calls(calls) = plan("read a.rs and b.rs", &tools()) else {
        panic!("two files");
    };
    assert_ne!(calls[0].id, calls[1].id);
}

#[test]
fn a_tool_is_called_by_its_name_or_title() {
    check("weather Riga", r#"weather {"city":"Riga"}"#);
    check("/weather Riga", r#"weather {"city":"Riga"}"#);
    check("Weather report: New York", r#"weather {"city":"New York"}"#);
    check("file_read x", r#"file-read {"path":"x"}"#);
    check("File Read x", r#"file-read {"path":"x"}"#);
    check("ping", "ping {}");
    check(r#"/timer {"seconds": 5}"#, r#"timer {"seconds":5}"#);
    check("timer seconds=5", r#"timer {"seconds":5}"#);
    check("timer 5", r#"timer {"seconds":5}"#);
    check(
        r#"memory-store content="two words""#,
        r#"memory-store {"content":"two words"}"#,
    );
}

#[test]
fn what_a_tool_is_given_has_the_type_it_takes() {
    let Plan::Calls(calls) = plan("/timer seconds=5 loud=yes tone=LOW", &tools()) else {
        panic!("all is there");
    };
    assert_eq!(
        calls[0].arguments,
        json!({"seconds": 5, "loud": true, "tone": "low"})
    );
    check(
        "/timer five",
        "seconds of timer must be a whole number. Say it as in /timer seconds=…",
    );
    check(
        "/timer seconds=1 loud=perhaps",
        "loud of timer must be yes or no. Say it as in /timer seconds=…",
    );
    check(
        "/timer seconds=1 tone=shrill",
        "tone of timer must be one of the words it knows. Say it as in /timer seconds=…",
    );
    check(
        "/timer minutes=1",
        "timer has no field minutes; it has loud, seconds, tone. Say it as in /timer seconds=…",
    );
}

#[test]
fn an_example_with_slots_is_a_pattern() {
    check("Wake me in 30 seconds!", r#"timer {"seconds":30}"#);
}

#[test]
fn an_example_is_understood_with_something_else_in_its_place() {
    check(
        "what is the weather in New York?",
        r#"weather {"city":"New York"}"#,
    );
    check("are you there", "ping {}");
    // The example itself: it is not known which of its words are what is asked for.
    check(
        "What is the weather in Riga?",
        r#"weather {"city":"What is the weather in Riga?"}"#,
    );
}

#[test]
fn what_is_missing_is_said() {
    check(
        "/file-write",
        "file-write needs path and content. Say it as in /file-write path=… content=…",
    );
    check(
        "file-write a.txt",
        "file-write needs path and content. Say it as in /file-write path=… content=…",
    );
    check(
        "/wether Riga",
        "There is no tool /wether. Did you mean /weather? Say /help for what I can do.",
    );
}

#[test]
fn what_no_tool_can_do_is_said() {
    let only = &tools()[5..6];
    assert_eq!(
        said("read src/main.rs", only),
        "I cannot read a file: none of my skills does that. Say /help for what I can do."
    );
    assert_eq!(
        said("remember that it rains", &[]),
        "I cannot remember something: none of my skills does that."
    );
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "as expect! makes it")]
fn check_answer(request: &str, expected: Expect) {
    expected.assert_eq(&said(request, &tools()));
}

#[test]
fn what_is_not_understood_is_said_so() {
    check_answer(
        "Why is the sky blue?",
        expect![[
            r#"I did not understand “Why is the sky blue?”. No language model is configured, so I only follow direct requests. Say /help for what I can do."#
        ]],
    );
    check_answer(
        "will the weather be fine tomorrow",
        expect![[r#"
            I did not understand “will the weather be fine tomorrow”. No language model is configured, so I only follow direct requests. Perhaps you mean one of these:
            - /weather city=…
            Say /help for what I can do."#]],
    );
    // It reads like a request for a file, but names none.
    check_answer(
        "open the door",
        expect![[
            r#"I did not understand “open the door”. No language model is configured, so I only follow direct requests. Say /help for what I can do."#
        ]],
    );
}

#[test]
fn help_says_what_can_be_asked() {
    for request in ["/help", "help", "Help", "", "  ", "please /help"] {
        let help = said(request, &tools());
        assert!(
            help.starts_with("No language model is configured"),
            "{request}: {help}"
        );
        for tool in tools() {
            assert!(
                help.contains(&format!("- {}: {}", tool.name, tool.description)),
                "{help}"
            );
        }
    }
    assert!(said("/help", &[]).ends_with("I have no tools, either."));
}

#[tokio::test]
async fn as_a_model_it_calls_and_then_tells_what_came_of_it() {
    let asked = Message::User("read a.rs and b.rs".to_owned());
    let request = Request::of(vec![asked.clone()]).tools(tools());
    let reply = Rules::default().ask(request).await.unwrap();
    assert_eq!(reply.calls.len(), 2);
    let results = reply
        .calls
        .iter()
        .map(|call| CallResult::of(call, format!("{} is here", call.id)));
    let mut messages: Vec<_> = results.map(Message::Result).collect();
    messages.insert(0, reply.into_message());
    messages.insert(0, asked);
    let reply = Rules::default()
        .ask(Request::of(messages).tools(tools()))
        .await
        .unwrap();
    assert_eq!(
        reply.text,
        "file-read:\ncall-0 is here\n\nfile-read:\ncall-1 is here"
    );
}

#[tokio::test]
async fn only_what_came_of_the_last_calls_is_told() {
    let call = Call {
        id: "1".to_owned(),
        name: "ping".to_owned(),
        arguments: json!({}),
    };
    let result = Message::Result(CallResult::of(&call, "pong"));
    let said = Message::Model(AssistantMessage::default());
    let messages = vec![
        result.clone(),
        said,
        Message::User("ping".to_owned()),
        result,
    ];
    assert_eq!(
        Rules::default()
            .ask(Request::of(messages))
            .await
            .unwrap()
            .text,
        "pong"
    );
}

#[tokio::test]
async fn it_does_not_pretend_to_fill_a_schema() {
    let request = Request::new("who?").output(json!({"type": "object"}));
    assert!(matches!(
        Rules::default().ask(request).await,
        Err(Error::Unsupported(_))
    ));
}

/// Texts that are nearly requests.
fn requests() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("read"),
        Just("create"),
        Just("with"),
        Just("search"),
        Just("remember"),
        Just("that"),
        Just("/"),
        Just("/help"),
        Just("/timer"),
        Just("seconds=3"),
        Just("weather"),
        Just("in"),
        Just("what"),
        Just("do"),
        Just("you"),
        Just("know"),
        Just("about"),
        Just("\"a b"),
        Just("\""),
        Just("a.rs"),
        Just("{"),
        Just("{x}"),
        Just("please"),
        Just("…"),
        Just("="),
        Just(""),
        Just("and"),
        Just("'"),
        Just("`"),
        Just("$"),
        Just("ß"),
    ];
    let words = prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "));
    prop_oneof![words, any::<String>(), "(?s).{0,80}"]
}

/// Tools with random names, schemas and examples.
fn any_tools() -> impl Strategy<Value = Vec<Tool>> {
    let schema = prop_oneof![
        Just(json!({})),
        Just(json!(null)),
        Just(json!({"required": 7, "properties": []})),
        Just(json!({"required": ["a", "b"], "properties": {"a": {"type": ["null", "integer"]}}})),
        Just(takes(&["path", "content"], 1)),
    ];
    let tool = (
        any::<String>(),
        any::<String>(),
        schema,
        prop::collection::vec("[a-z{}\\[\\]()| ]{0,20}", 0..3),
    );
    let tool = tool.prop_map(|(name, title, input, examples)| {
        Tool::new(name, "", input).title(title).examples(examples)
    });
    prop::collection::vec(tool, 0..4).prop_map(|more| tools().into_iter().chain(more).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn whatever_is_said_there_is_a_plan_and_always_the_same(request in requests(), tools in any_tools()) {
        let planned = plan(&request, &tools);
        prop_assert_eq!(&planned, &plan(&request, &tools));
        match planned {
            Plan::Answer(text) | Plan::Decline(text) | Plan::Unknown(text) => prop_assert!(!text.is_empty()),
            Plan::Calls(calls) => {
                prop_assert!(!calls.is_empty());
                for call in calls {
                    let tool = tools.iter().find(|tool| tool.name == call.name);
                    prop_assert!(tool.is_some(), "{} was not offered", call.name);
                    prop_assert!(call.arguments.is_object());
                }
            }
        }
    }

    /// What is called has all that must be there.
    #[test]
    fn nothing_is_called_without_what_it_needs(request in requests()) {
        let tools = tools();
        if let Plan::Calls(calls) = plan(&request, &tools) {
            for call in calls {
                let tool = tools.iter().find(|tool| tool.name == call.name).unwrap();
                let schema = jsonschema::validator_for(&tool.input).unwrap();
                prop_assert!(schema.is_valid(&call.arguments), "{call:?}");
            }
        }
    }

    /// A file's name and what is written into it arrive as they are.
    #[test]
    fn what_is_written_arrives_untouched(path in "[a-z]{1,8}\\.[a-z]{1,3}", content in "[a-z][ -~\n]{0,60}[a-z]") {
        let planned = plan(&format!("create {path} with {content}"), &tools());
        let Plan::Calls(calls) = planned else {
            return Err(TestCaseError::fail(format!("{planned:?}")));
        };
        prop_assert_eq!(&calls[0].arguments, &json!({"path": path, "content": content}));
    }
}
