//! An agent in the test's own process, called over any binding, with access to its journal.
//!
//! ```no_run
//! # async fn test(agent: agent::Agent) -> Result<(), Box<dyn std::error::Error>> {
//! use a2a::client::Version;
//! use monas::testkit::Kit;
//!
//! let kit = Kit::start(agent).await?;
//! let client = kit.client("grpc", Version::V1_0).await?;
//! let call = skill::extension::call("m1", "greet", serde_json::json!({ "who": "Ada" }));
//! client.send_message(call.into()).await?;
//! kit.stop().await;
//! # Ok(())
//! # }
//! ```

use std::sync::Arc;

use a2a::client::{self, Client, Version};
use a2a::event::Event;
use a2a::service::{Call, Service as _};
use a2a::types::{GetTaskRequest, SubscribeToTaskRequest};
use access::Principal;
use futures_util::StreamExt as _;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::config::{Access, Config, Data, Switch};
use crate::error::Error;
use crate::serve::agents::host::AgentSource;
use crate::serve::compose::Serve;

/// A running server with one agent, on a free port of this machine, with nothing kept on disk.
#[derive(Debug)]
pub struct Kit {
    url: String,
    tasks: a2a::Server,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

impl Kit {
    /// Starts a server with one agent, with several, or with those of an app.
    pub async fn start(agents: impl Into<AgentSource>) -> Result<Self, Error> {
        Self::with(&Self::config(), agents).await
    }

    /// The configuration of [`Kit::start`]: the defaults, a free port, data in memory, no limits on calls, and no credentials.
    pub fn config() -> Config {
        let mut config = Config::new(Data::Memory);
        config.listen.set_port(0);
        config.rate_limit = Switch::Off;
        config.access = Access::open();
        config
    }

    /// As [`Kit::start`], with a configuration.
    pub async fn with(config: &Config, agents: impl Into<AgentSource>) -> Result<Self, Error> {
        let server = Serve::new(agents).start(config).await?;
        let url = server.url().to_owned();
        let tasks = server.tasks().clone();
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(server.run(async { drop(stopped.await) }));
        Ok(Self {
            url,
            tasks,
            stop,
            ended,
        })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// A client over this binding: `jsonrpc`, `rest`, `grpc`, `websocket` or `capnweb`.
    pub async fn client(&self, binding: &str, version: Version) -> Result<Client, client::Error> {
        let mut settings = client::Settings::default();
        settings.bindings = vec![binding.to_owned()];
        settings.version = Some(version);
        Client::discover(&self.url, settings).await
    }

    /// The events of a task so far, in order, as an anonymous caller sees them.
    pub async fn journal(&self, task: &str) -> Result<Vec<Arc<Event>>, a2a::Error> {
        let call = Call::by(Principal::anonymous());
        let get = GetTaskRequest {
            id: task.to_owned(),
            ..GetTaskRequest::default()
        };
        let last = self.tasks.get_task(call.clone(), get).await?.generation;
        let follow = SubscribeToTaskRequest {
            id: task.to_owned(),
            ..SubscribeToTaskRequest::default()
        };
        let from_the_start = Call {
            cursor: Some(0),
            ..call
        };
        let mut following = self.tasks.subscribe_to_task(from_the_start, follow).await?;
        let mut events = Vec::new();
        while i64::try_from(events.len()).unwrap_or(i64::MAX) < last
            && let Some(more) = following.next().await
        {
            events.extend(more?);
        }
        Ok(events)
    }

    /// Stops the server and waits until no connection and no task is left.
    pub async fn stop(self) {
        drop(self.stop);
        // A panic of the server was printed.
        let _ = self.ended.await;
    }
}
