//! The allow list is checked again when a tool is called.

use std::collections::BTreeMap;
use std::sync::Arc;

use a2a::server::TABLES;
use a2a::service::{Call, Service as _};
use a2a::types::{Answer, Task, TaskState};
use access::Principal;
use agent::{Agent, Options};
use rmcp::model::Tool;
use serde_json::json;
use skill::{Manifest, Registry, ToolServer, extension};
use store::Store;

use super::Peer;
use crate::client::tool::{RemoteTool, definition};
use crate::limits::ToolLimits;

/// The task of a call of `tool` at a server with the allow list `good`.
async fn called(url: &str, tool: &str) -> Task {
    let server = ToolServer {
        url: Some(url.to_owned()),
        allow: Some(vec!["good".to_owned()]),
        ..ToolServer::default()
    };
    let (limits, dialer) = (ToolLimits::default(), dial::Dialer::default());
    let peer = Peer::new("box", &server, &BTreeMap::new(), &limits, &dialer);
    let peer = Arc::new(peer);
    let schema = json!({ "type": "object" }).as_object().cloned();
    let described = Tool::new(tool.to_owned(), "A tool.", schema.unwrap());
    let definition = definition("box-tool".to_owned(), &peer, &described);
    let tool = tool.to_owned();
    let remote = RemoteTool { peer, tool };
    let mut options = Options::default();
    options.skills = Registry::new()
        .with_handler(definition, Arc::new(remote))
        .unwrap();
    let agent = Agent::create(Manifest::new("Caller"), options).unwrap();
    let config = a2a::server::Config::new(agent.card());
    let tasks = a2a::Server::start(config, Arc::new(agent), Store::memory(TABLES));
    let tasks = tasks.await.unwrap();
    let message = extension::call("1", "box-tool", json!({}));
    let call = Call::by(Principal::anonymous());
    let sent = tasks.send_message(call, message.into()).await.unwrap();
    let Answer::Task(task) = sent.payload else {
        panic!("no task: {sent:?}");
    };
    task
}

#[tokio::test]
async fn a_tool_that_is_not_on_the_list_is_not_called_whatever_became_a_skill() {
    // A listener that never replies: a refused call must not connect to it.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap());
    let task = tokio::select! {
        task = called(&url, "bad") => task,
        _ = silent.accept() => panic!("it was called"),
    };
    let status = task.status.unwrap();
    assert_eq!(status.state, TaskState::Rejected);
    let said = status.message.unwrap().parts[0]
        .as_text()
        .unwrap()
        .to_owned();
    assert_eq!(said, "tool \"bad\" is not on the allow list");

    // An allowed tool does connect.
    tokio::select! {
        task = called(&url, "good") => panic!("it was not called: {task:?}"),
        accepted = silent.accept() => drop(accepted.unwrap()),
    }
}
