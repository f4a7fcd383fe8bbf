//! Tool servers that send too much, too little, or texts that must not be shown as they are. Their faults are reported
//! and affect their own tools only.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Bytes;
use mcp::ToolLimits;
use serde_json::{Value, json};

use crate::client::caller::Caller;
use crate::client::fake::{Fake, Said, page, text, tool};

/// Small limits and short time limits.
fn limits() -> ToolLimits {
    let mut limits = ToolLimits::default();
    limits.max_pages = 5;
    limits.max_tools = 20;
    limits.max_message = 64 << 10;
    limits.max_definition = 4 << 10;
    limits.pause = Duration::ZERO;
    limits
}

async fn problem(answer: impl Fn(&Value) -> Said + Send + Sync + 'static) -> String {
    let fake = Fake::start(answer).await;
    let caller = Caller::with(fake.server(), &limits()).await;
    assert!(caller.tools.is_empty());
    caller.problems.join("; ")
}

#[tokio::test]
async fn a_list_without_an_end_is_given_up() {
    let pages = AtomicUsize::new(0);
    let endless = problem(move |_| {
        let next = pages.fetch_add(1, Ordering::Relaxed);
        Said::Result(page(&[], Some(&next.to_string())))
    });
    let endless = endless.await;
    assert!(endless.contains("more than 5 pages of tools"), "{endless}");

    let round = problem(|_| Said::Result(page(&[], Some("again")))).await;
    assert!(round.contains("repeats a page"), "{round}");

    let many = problem(|_| Said::Result(page(&vec![tool("x"); 21], None))).await;
    assert!(many.contains("more than 20 tools"), "{many}");
}

#[tokio::test]
async fn a_server_that_says_nothing_is_not_waited_for() {
    let fake = Fake::start(|_| Said::Nothing).await;
    let mut hasty = limits();
    hasty.list = Duration::from_millis(50);
    let caller = Caller::with(fake.server(), &hasty).await;
    let problem = &caller.problems[0];
    assert!(
        problem.starts_with("no tools from server \"box\" at http://127.0.0.1:"),
        "{problem}"
    );
    assert!(
        problem.contains(": no answer within 50ms; start it"),
        "{problem}"
    );
}

#[tokio::test]
async fn one_bad_tool_does_not_keep_the_others_away() {
    let far = json!({ "$ref": "http://127.0.0.1:1/schema.json" });
    let mut tools = vec![
        tool("good"),
        tool("good"),
        tool("a\u{1b}[2Jb"),
        tool(&"x".repeat(200)),
    ];
    tools.push(
        json!({ "name": "far", "inputSchema": { "type": "object", "properties": { "a": far } } }),
    );
    tools.push(json!({ "name": "list", "inputSchema": { "type": "array" } }));
    tools.push(json!({ "name": "wrong", "inputSchema": { "type": "object", "properties": 7 } }));
    let mut large = tool("large");
    large["description"] = json!("x".repeat(5 << 10));
    tools.push(large);
    let mut sly = tool("sly");
    sly["title"] = json!("S\u{202e}ly\n");
    sly["description"] = json!("Does\u{0} it.\nWell.");
    tools.push(sly);
    let fake = Fake::with_tools(tools, |_| text("done")).await;
    let caller = Caller::with(fake.server(), &limits()).await;

    assert_eq!(caller.ids(), ["box-good", "box-sly"]);
    assert_eq!(caller.tool("box-sly").name, "Sly");
    assert_eq!(caller.tool("box-sly").description, "Does it.\nWell.");
    assert_eq!(caller.tool("box-good").origin.as_deref(), Some("good"));
    let problems = caller.problems.join("\n");
    for expected in [
        "\"good\" of server \"box\" not usable: listed twice",
        "\"a[2Jb\" of server \"box\" not usable: its name is empty, too long or holds control characters",
        "\"far\" of server \"box\"",
        "\"list\" of server \"box\" not usable: the input of skill \"box-list\" is not an object",
        "\"wrong\" of server \"box\"",
        "\"large\" of server \"box\" not usable: definition larger than 4096 bytes",
    ] {
        assert!(problems.contains(expected), "{expected}: {problems}");
    }
    assert_eq!(caller.problems.len(), 7, "{problems}");
    assert_eq!(caller.gives("box-good").await, "done");
}

#[tokio::test]
async fn what_is_no_list_of_tools_is_an_error_at_once() {
    let no_object = json!({ "name": "x", "inputSchema": [] });
    let wrong = problem(move |_| Said::Result(page(std::slice::from_ref(&no_object), None))).await;
    assert!(wrong.starts_with("no tools from server \"box\""), "{wrong}");
    let no_json = problem(|_| Said::Bytes("application/json", Bytes::from_static(b"{"))).await;
    assert!(
        no_json.starts_with("no tools from server \"box\""),
        "{no_json}"
    );
    let page = problem(|_| Said::Bytes("text/html", Bytes::from_static(b"<html>"))).await;
    assert!(page.contains("text/html"), "{page}");
}

#[tokio::test]
async fn what_is_too_large_ends_the_call_and_not_the_server() {
    let fake = Fake::with_tools(vec![tool("json"), tool("event"), tool("fine")], |request| {
        let mut large = vec![b' '; 1 << 20];
        match request["params"]["name"].as_str() {
            Some("json") => Said::Bytes("application/json", large.into()),
            Some("event") => {
                large[..6].copy_from_slice(b"data: ");
                Said::Bytes("text/event-stream", large.into())
            }
            _ => text("fine"),
        }
    });
    let fake = fake.await;
    let caller = Caller::with(fake.server(), &limits()).await;
    let (code, said) = caller.fails("box-json").await;
    assert_eq!(code, "tool-server");
    assert!(said.contains("larger than 65536 bytes"), "{said}");
    assert_eq!(caller.fails("box-event").await.0, "tool-server");
    assert_eq!(caller.gives("box-fine").await, "fine");
}

#[tokio::test]
async fn a_connection_that_is_cut_fails_the_call_and_the_next_one_works() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let fake = Fake::with_tools(vec![tool("x")], move |_| {
        match counted.fetch_add(1, Ordering::Relaxed) {
            0 => Said::Cut("application/json", "{\"jsonrpc\""),
            1 => Said::Cut("text/event-stream", ": hello\n\n"),
            2 => Said::Bytes("text/event-stream", Bytes::from_static(b": the end\n\n")),
            _ => text("back"),
        }
    });
    let fake = fake.await;
    let caller = Caller::with(fake.server(), &limits()).await;
    for way in ["cut in JSON", "cut in a stream", "a stream that ends"] {
        let (code, said) = caller.fails("box-x").await;
        assert_eq!(code, "tool-server", "{way}: {said}");
        assert!(
            said.starts_with("tool server \"box\" failed: "),
            "{way}: {said}"
        );
    }
    assert_eq!(caller.gives("box-x").await, "back");
    assert_eq!(calls.load(Ordering::Relaxed), 4, "no call is made twice");
}

#[tokio::test]
async fn a_call_that_is_never_answered_ends_with_its_time() {
    let fake = Fake::with_tools(vec![tool("x")], |_| Said::Nothing).await;
    let mut server = fake.server();
    server.seconds = Some(1);
    let caller = Caller::with(server, &limits()).await;
    assert_eq!(caller.fails("box-x").await.0, "timed-out");
}

#[tokio::test]
async fn a_server_that_asks_and_asks_is_given_up() {
    let fake = Fake::with_tools(vec![tool("x")], |_| {
        Said::Result(json!({ "resultType": "input_required", "requestState": "s" }))
    });
    let fake = fake.await;
    let mut few = limits();
    few.max_questions = 3;
    let caller = Caller::with(fake.server(), &few).await;
    let (code, said) = caller.fails("box-x").await;
    assert_eq!(
        (&*code, &*said),
        (
            "tool-server",
            "tool server \"box\" failed: asked for input more than 3 times in one call"
        )
    );
    let sampling = json!({ "q": { "method": "sampling/createMessage", "params": {
        "messages": [], "maxTokens": 1,
    } } });
    let fake = Fake::with_tools(vec![tool("x")], move |_| {
        Said::Result(json!({ "resultType": "input_required", "inputRequests": sampling }))
    });
    let caller = Caller::with(fake.await.server(), &limits()).await;
    let (_, said) = caller.fails("box-x").await;
    assert!(said.contains("not offered"), "{said}");
}

#[tokio::test]
async fn headers_are_sent_with_every_request_to_this_server_only() {
    let thief = Fake::start(|_| text("thanks")).await;
    let place = thief.url.clone();
    let fake = Fake::with_tools(vec![tool("x"), tool("away")], move |request| {
        match request["params"]["name"].as_str() {
            Some("away") => Said::Elsewhere(place.clone()),
            _ => text("done"),
        }
    });
    let fake = fake.await;
    let mut server = fake.server();
    server.headers = BTreeMap::from([("Authorization".to_owned(), "Bearer s3cret".to_owned())]);
    let caller = Caller::with(server.clone(), &limits()).await;
    assert_eq!(caller.gives("box-x").await, "done");
    assert_eq!(caller.fails("box-away").await.0, "tool-server");
    {
        let seen = fake.seen.lock().unwrap();
        assert!(seen.len() >= 4, "{}", seen.len());
        for (headers, request) in &*seen {
            assert_eq!(headers["authorization"], "Bearer s3cret", "{request}");
        }
        assert!(thief.seen.lock().unwrap().is_empty());
    }

    for (name, value) in [
        ("Mcp-Session-Id", "x"),
        ("Host", "x"),
        ("a b", "x"),
        ("X", "a\nb"),
    ] {
        server.headers = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        let caller = Caller::with(server.clone(), &limits()).await;
        assert!(
            caller.problems[0].contains("is invalid or reserved"),
            "{:?}",
            caller.problems
        );
    }
}

#[tokio::test]
async fn only_tools_that_are_allowed_are_there() {
    let fake = Fake::with_tools(vec![tool("read"), tool("write")], |_| text("done")).await;
    let mut server = fake.server();
    server.allow = Some(vec!["read".to_owned(), "gone".to_owned()]);
    let caller = Caller::with(server, &limits()).await;
    assert_eq!(caller.ids(), ["box-read"]);
    assert_eq!(
        caller.problems,
        ["server \"box\" has no tool \"gone\", which its allow list names"]
    );
}

#[tokio::test]
async fn no_server_comes_by_the_id_of_a_skill_or_of_anothers_tool() {
    let one = Fake::with_tools(vec![tool("b-c")], |_| text("one")).await;
    let two = Fake::with_tools(vec![tool("c")], |_| text("two")).await;
    let servers = BTreeMap::from([
        ("a".to_owned(), one.server()),
        ("a-b".to_owned(), two.server()),
        (
            "".to_owned(),
            Fake::with_tools(vec![tool("greet")], |_| text("no"))
                .await
                .server(),
        ),
    ]);
    let caller = Caller::of(&servers, &limits()).await;
    let ids = caller.ids();
    assert_eq!(ids.len(), 3, "{ids:?}");
    assert!(
        !ids.contains(&"a-b-c") && !ids.contains(&"greet"),
        "{ids:?}"
    );
}

/// What a server says of its tools is its word, unless the manifest believes it: then a call with an input that the caller
/// did not say is not asked about for that reason.
#[tokio::test]
async fn hints_of_a_server_are_believed_where_the_manifest_says_so() {
    let mut hinted = tool("read");
    hinted["annotations"] = json!({ "readOnlyHint": true });
    for trusted in [false, true] {
        let fake = Fake::with_tools(vec![hinted.clone(), tool("write")], |_| text("done")).await;
        let mut server = fake.server();
        server.trust_hints = trusted;
        let caller = Caller::with(server, &limits()).await;
        let skills = caller.agent.skills();
        let (read, write) = (skills.get("box-read"), skills.get("box-write"));
        let (read, write) = (&read.unwrap().traits, &write.unwrap().traits);
        assert_eq!((read.read_only, read.claimed), (true, !trusted));
        // What is not said counts as the worst.
        assert_eq!((write.read_only, write.destructive), (false, true));
    }
}

#[tokio::test]
async fn hidden_tools_are_for_skills_and_not_for_callers() {
    let fake = Fake::with_tools(vec![tool("x")], |_| text("done")).await;
    let mut server = fake.server();
    server.hidden = true;
    let caller = Caller::with(server, &limits()).await;
    assert!(caller.tools.is_empty());
    assert!(caller.agent.skills().get("box-x").is_none());
    assert!(
        caller
            .agent
            .card()
            .skills
            .iter()
            .all(|skill| skill.id != "box-x")
    );
}

/// Regression: the error named types of Rust, and neither the address nor what to do.
#[tokio::test]
async fn a_server_that_is_not_there_is_named_with_its_address_and_the_way_out() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let server = skill::ToolServer {
        url: Some(format!("http://{address}/mcp")),
        ..skill::ToolServer::default()
    };
    let caller = Caller::with(server, &limits()).await;
    let problem = &caller.problems[0];
    let expected = format!("no tools from server \"box\" at http://{address}/mcp: ");
    assert!(problem.starts_with(&expected), "{problem}");
    assert!(
        problem.contains("start it or correct its entry"),
        "{problem}"
    );
    for inner in ["::", "Transport", "Send message"] {
        assert!(!problem.contains(inner), "{inner}: {problem}");
    }
}
