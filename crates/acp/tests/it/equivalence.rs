//! One scenario over both bindings gives the same replies, events and errors.

use a2a::binding::capnweb::value::{from_json, to_json};
use capnweb::{Callback, Value as Rpc};
use serde_json::{Value, json};

use crate::support::{Bench, request, resume, types};
use crate::wires::{Plain, Wire, failed};

const SESSION: &str = "6f1c2a9e-3c3e-4f5e-9b1e-0a2b3c4d5e6f";

/// Runs every operation and records the results.
struct Trace<'a> {
    bench: &'a Bench,
    wire: &'a Wire,
    plain: Plain,
    lines: Vec<String>,
}

impl Trace<'_> {
    async fn call(&mut self, name: &str, request: Value) -> Value {
        let outcome = self.wire.call(self.bench, name, request).await;
        let plain = self.plain.of(self.bench, outcome.clone());
        self.lines.push(format!("{name}: {plain}"));
        outcome
    }

    /// Waits until a run has this status. The polls are not recorded, since their number varies.
    async fn until(&mut self, run: &Value, status: &str) {
        self.bench.until(run, status).await;
        let id = json!({ "run_id": run["run_id"] });
        self.call("getRun", id).await;
    }
}

fn with(mut request: Value, name: &str, value: Value) -> Value {
    request[name] = value;
    request
}

async fn scenario(wire: &Wire, bench: &Bench) -> Vec<String> {
    let mut trace = Trace {
        bench,
        wire,
        plain: Plain::default(),
        lines: Vec::new(),
    };
    trace.call("ping", json!({})).await;
    trace.call("listAgents", json!({})).await;
    trace
        .call("listAgents", json!({ "limit": 2, "offset": 1 }))
        .await;
    trace.call("listAgents", json!({ "limit": 0 })).await;
    trace.call("getAgent", json!({ "name": "echo" })).await;
    trace.call("getAgent", json!({ "name": "nobody" })).await;

    for agent in ["echo", "make", "chat", "boom", "crash", "test-agent"] {
        for mode in ["sync", "stream"] {
            let asked = with(request(agent, "hello", mode), "session_id", json!(SESSION));
            trace.call("createRun", asked).await;
        }
    }
    let session = json!({ "session_id": SESSION });
    let session = trace.call("getSession", session).await;
    for url in session["reply"]["history"].as_array().unwrap() {
        let id = url.as_str().unwrap().rsplit('/').next().unwrap();
        trace
            .call("getResource", json!({ "resource_id": id }))
            .await;
    }
    trace
        .call("getSession", json!({ "session_id": "none" }))
        .await;
    trace
        .call("getResource", json!({ "resource_id": "none" }))
        .await;

    // A run that waits for input, is resumed, and is read by every operation.
    let run = trace
        .call("createRun", request("approve", "it", "sync"))
        .await;
    let run = &run["reply"];
    let id = json!({ "run_id": run["run_id"] });
    trace.call("getRun", id.clone()).await;
    trace.call("listRunEvents", id.clone()).await;
    let answer = with(resume("yes", "stream"), "run_id", run["run_id"].clone());
    trace.call("resumeRun", answer.clone()).await;
    trace.call("resumeRun", answer).await;
    trace.call("listRunEvents", id.clone()).await;
    trace.call("cancelRun", id).await;

    // A run that is cancelled.
    let run = bench.ask("slow", "go", "async").await.ok();
    let id = json!({ "run_id": run["run_id"] });
    trace.until(&run, "in-progress").await;
    trace.call("cancelRun", id.clone()).await;
    trace.until(&run, "cancelled").await;
    trace.call("listRunEvents", id).await;

    // Invalid requests.
    for wrong in [
        json!({ "agent_name": "echo" }),
        json!({ "agent_name": "echo", "input": [] }),
        json!({ "agent_name": "echo", "input": [{ "parts": [{ "content": 7 }] }] }),
        json!({ "agent_name": "echo", "input": [{ "role": "x", "parts": [] }] }),
        request("nobody", "x", "sync"),
        request("echo", "x", "later"),
        with(request("echo", "x", "sync"), "session_id", json!("x")),
    ] {
        trace.call("createRun", wrong).await;
    }
    for operation in ["getRun", "cancelRun", "listRunEvents"] {
        trace.call(operation, json!({ "run_id": "none" })).await;
    }
    trace
        .call(
            "resumeRun",
            with(resume("x", "sync"), "run_id", json!("none")),
        )
        .await;
    trace.lines
}

#[tokio::test]
async fn both_wires_do_the_same() {
    let (one, other) = (Bench::start().await, Bench::start().await);
    let rest = scenario(&Wire::Rest, &one).await;
    let capnweb = scenario(&Wire::capnweb(&other).await, &other).await;
    for (rest, capnweb) in rest.iter().zip(&capnweb) {
        assert_eq!(rest, capnweb);
    }
    assert_eq!(rest.len(), capnweb.len());
    // The scenario covers every operation.
    for operation in acp::operation::TABLE {
        let good = |line: &&String| {
            line.starts_with(operation.name) && !line.contains("\"error\":{\"code\":\"not")
        };
        assert!(rest.iter().any(|line| good(&line)), "{}", operation.name);
    }
}

#[tokio::test]
async fn arguments_can_be_told_by_their_place() {
    let bench = Bench::start().await;
    let wire = Wire::capnweb(&bench).await;
    let agents = wire.agents();
    let input = json!([{ "parts": [{ "content": "hello" }] }]);
    let input = from_json(input);
    let arguments = (Rpc::from("echo"), input, Rpc::Undefined, Rpc::from(SESSION));
    let run = agents.call("createRun", arguments).await.unwrap();
    let run = to_json(run, "").unwrap();
    assert_eq!(
        (&run["status"], &run["session_id"]),
        (&json!("completed"), &json!(SESSION))
    );
    let id = Rpc::from(run["run_id"].as_str().unwrap());
    let again = agents.call("getRun", (id.clone(),)).await.unwrap();
    let again = to_json(again, "").unwrap();
    assert_eq!(again, run);
    let too_many = agents.call("getRun", (id.clone(), id)).await.unwrap_err();
    assert_eq!(failed(&too_many)["code"], "invalid_input");
}

#[tokio::test]
async fn a_function_is_called_with_what_happens_and_the_answer_is_the_run() {
    let bench = Bench::start().await;
    let wire = Wire::capnweb(&bench).await;
    let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let listening = heard.clone();
    let listener = Callback::<(Rpc,), ()>::new(move |(event,): (Rpc,)| {
        let event = to_json(event, "").unwrap();
        listening.lock().unwrap().push(event);
        std::future::ready(())
    });
    let request = from_json(request("echo", "hello", "sync"));
    let called = wire
        .agents()
        .call("createRun", (request, Rpc::from(listener)));
    let run = to_json(called.await.unwrap(), "").unwrap();
    let heard = heard.lock().unwrap();
    let expected = [
        "run.created",
        "run.in-progress",
        "generic",
        "message.created",
        "message.part",
        "message.completed",
        "run.completed",
    ];
    assert_eq!(types(&heard), expected);
    assert_eq!(run, heard[6]["run"]);
}
