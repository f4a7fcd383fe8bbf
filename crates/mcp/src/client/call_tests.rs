//! The allow list is checked again when a tool is called.

use std::collections::BTreeMap;
use std::sync::Arc;

use a2a::types::{Task, TaskState};
use agent::{Agent, Manifest, Options};
use rmcp::model::Tool;
use serde_json::json;
use skill::{Registry, ToolServer};
use testkit::{Kit, memory_store, state, status_text};

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
    let peer = Peer::new("box", &server, &BTreeMap::new(), &limits, &dialer, None);
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
    let kit = Kit::start(config, Arc::new(agent), memory_store()).await;
    kit.call("box-tool", json!({})).await.unwrap()
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
    assert_eq!(state(&task), TaskState::Rejected);
    assert_eq!(status_text(&task), "tool \"bad\" is not on the allow list");

    // An allowed tool does connect.
    tokio::select! {
        task = called(&url, "good") => panic!("it was not called: {task:?}"),
        accepted = silent.accept() => drop(accepted.unwrap()),
    }
}
