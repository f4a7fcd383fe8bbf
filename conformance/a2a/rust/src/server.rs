//! The agent of `../python/server.py` on the official Rust SDK: `a2a-interop serve`.

use std::sync::Arc;

use a2a::{A2AError, AgentCapabilities, AgentCard, StreamResponse};
use a2a_grpc::GrpcHandler;
use a2a_pb::proto::a2a_service_server::A2aServiceServer;
use a2a_server::{
    AgentExecutor, DefaultRequestHandler, ExecutorContext, HttpPushSender, HttpPushSenderConfig,
    InMemoryPushConfigStore, InMemoryTaskStore, StaticAgentCard,
};
use futures::stream::{self, BoxStream, StreamExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Does what the first word of a message says.
struct Agent;

type Event = Result<StreamResponse, A2AError>;

/// A value of the SDK's, as the protocol writes it.
fn of<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).expect("the SDK reads what the protocol says")
}

fn now(task: &str, context: &str, state: &str) -> Event {
    Ok(of(json!({ "statusUpdate": {
        "taskId": task, "contextId": context, "status": { "state": format!("TASK_STATE_{state}") },
    } })))
}

impl AgentExecutor for Agent {
    fn execute(&self, called: ExecutorContext) -> BoxStream<'static, Event> {
        let (task, context) = (called.task_id.to_string(), called.context_id);
        let Some(message) = called.message else {
            return stream::empty().boxed();
        };
        let text = message.text().unwrap_or_default().to_owned();
        let mut words = text.split(' ');
        let word = words.next().unwrap_or_default();
        if word == "echo" {
            let answer = json!({ "message": {
                "messageId": format!("answer-to-{}", message.message_id), "role": "ROLE_AGENT",
                "contextId": context, "parts": [{ "text": text }],
            } });
            return stream::iter([Ok(of(answer))]).boxed();
        }
        let mut events = Vec::new();
        if message.task_id.is_none() {
            events.push(Ok(of(json!({ "task": {
                "id": task, "contextId": context, "status": { "state": "TASK_STATE_SUBMITTED" },
                "history": [message],
            } }))));
            if word == "ask" {
                events.push(now(&task, &context, "INPUT_REQUIRED"));
                return stream::iter(events).boxed();
            }
        }
        events.push(now(&task, &context, "WORKING"));
        if word == "hold" {
            return stream::iter(events).chain(stream::pending()).boxed();
        }
        let count = match word {
            "burst" => words.next().and_then(|count| count.parse().ok()),
            _ => None,
        };
        let count: usize = count.unwrap_or(1);
        for number in 0..count {
            let part = format!("{number} of {text}\n");
            events.push(Ok(of(json!({ "artifactUpdate": {
                "taskId": task, "contextId": context, "append": number > 0, "lastChunk": number + 1 == count,
                "artifact": { "artifactId": "made", "parts": [{ "text": part }] },
            } }))));
        }
        events.push(now(&task, &context, "COMPLETED"));
        stream::iter(events).boxed()
    }

    fn cancel(&self, called: ExecutorContext) -> BoxStream<'static, Event> {
        let ended = now(&called.task_id.to_string(), &called.context_id, "CANCELED");
        stream::iter([ended]).boxed()
    }
}

/// Serves on free ports until the process is killed, and prints the address of the card.
pub(crate) async fn serve() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let base = format!("http://{}", listener.local_addr()?);
    // The SDK binds gRPC itself; the port is given back for it to take.
    let rpc = TcpListener::bind("127.0.0.1:0").await?.local_addr()?;
    let capabilities = json!({ "streaming": true, "pushNotifications": true });
    let at = |binding: &str, url: String| json!({ "protocolBinding": binding, "url": url, "protocolVersion": "1.0" });
    let card: AgentCard = of(json!({
        "name": "official", "description": "An agent on the official SDK.", "version": "1.0.0",
        "supportedInterfaces": [
            at("JSONRPC", format!("{base}/rpc")), at("HTTP+JSON", format!("{base}/rest")), at("GRPC", rpc.to_string()),
        ],
        "capabilities": capabilities,
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{ "id": "try", "name": "Try", "description": "Something to try.", "tags": ["test"] }],
    }));
    let sender = HttpPushSender::new(Some(HttpPushSenderConfig {
        validate_urls: false,
        ..Default::default()
    }));
    let handler = DefaultRequestHandler::new(Agent, InMemoryTaskStore::new())
        .with_capabilities(of::<AgentCapabilities>(capabilities))
        .with_push_notifications(InMemoryPushConfigStore::new(), sender);
    let handler = Arc::new(handler);
    let app = axum::Router::new()
        .nest("/rpc", a2a_server::jsonrpc::jsonrpc_router(handler.clone()))
        .nest("/rest", a2a_server::rest::rest_router(handler.clone()))
        .merge(a2a_server::agent_card::agent_card_router(Arc::new(
            StaticAgentCard::new(card),
        )));
    let service = A2aServiceServer::new(GrpcHandler::new(handler));
    tokio::spawn(
        tonic::transport::Server::builder()
            .add_service(service)
            .serve(rpc),
    );
    println!("{base}");
    axum::serve(listener, app).await
}
