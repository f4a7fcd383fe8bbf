//! Clients of one agent, over one wire.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2a::client::{Client, Settings, Trust, Version};
use a2a::types::{
    Answer, CancelTaskRequest, Message, SendMessageConfiguration, SendMessageRequest, Task,
};
use serde_json::{Value, json};

use crate::Error;

/// The keys of all bindings.
pub(crate) const BINDINGS: [&str; 5] = ["jsonrpc", "rest", "grpc", "websocket", "capnweb"];

/// An agent, and how it is called.
#[derive(Clone)]
pub(crate) struct Agent {
    card: Value,
    settings: Settings,
    /// Where the server listens.
    pub(crate) server: SocketAddr,
    pub(crate) encrypted: bool,
    pub(crate) binding: String,
}

impl Agent {
    /// Reads the card of the agent at an address, to call it over one binding in the newest version.
    pub(crate) async fn find(url: &str, binding: &str) -> Result<Self, Error> {
        Self::speaking(url, binding, Version::V1_0).await
    }

    /// The same in either version.
    pub(crate) async fn speaking(
        url: &str,
        binding: &str,
        version: Version,
    ) -> Result<Self, Error> {
        let mut settings = Settings::default();
        settings.dial.trust = Trust::Unchecked;
        settings.time = Duration::from_secs(60);
        settings.pause = Duration::from_millis(50);
        let found = Client::discover(url, settings.clone()).await?;
        settings.bindings = vec![binding.to_owned()];
        settings.version = Some(version);
        let (scheme, authority) = url.split_once("://").ok_or("not a URL")?;
        let authority = authority.trim_end_matches('/');
        // gRPC has addresses without a scheme, which is then that of the card's own; a copy of the card has none.
        let bare = json!(authority);
        let mut card = found.raw_card().clone();
        for interface in card["supportedInterfaces"]
            .as_array_mut()
            .into_iter()
            .flatten()
        {
            if interface["url"] == bare {
                interface["url"] = json!(format!("{scheme}://{authority}"));
            }
        }
        Ok(Self {
            card,
            settings,
            server: authority.parse()?,
            encrypted: scheme == "https",
            binding: binding.to_owned(),
        })
    }

    /// The version that is spoken.
    pub(crate) fn version(&self) -> Version {
        self.settings.version.unwrap_or(Version::V1_0)
    }

    /// The same agent, reached at another address.
    pub(crate) fn behind(&self, address: SocketAddr) -> Result<Self, Error> {
        let card = self.card.to_string();
        let card = card.replace(&self.server.to_string(), &address.to_string());
        Ok(Self {
            card: serde_json::from_str(&card)?,
            ..self.clone()
        })
    }

    /// What opens connections to it.
    pub(crate) fn dialer(&self) -> Result<dial::Dialer, Error> {
        Ok(dial::Dialer::new(&self.settings.dial)?)
    }

    /// A client that shows a token.
    pub(crate) fn client_with(&self, token: &str) -> Result<Client, Error> {
        let settings = self.settings.clone().bearer(token)?;
        Ok(Client::of_card(self.card.clone(), settings)?)
    }

    /// A client with connections of its own.
    pub(crate) fn client(&self) -> Result<Client, Error> {
        let client = Client::of_card(self.card.clone(), self.settings.clone())?;
        match client.endpoint().binding.key == self.binding {
            true => Ok(client),
            false => Err(format!("the card does not list {}", self.binding).into()),
        }
    }
}

/// A message with a new id, different also from those of earlier runs.
pub(crate) fn message(text: &str) -> SendMessageRequest {
    static SENT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let number = SENT.fetch_add(1, Ordering::Relaxed);
    Message::user(format!("{:x}-{number}", now.as_nanos()), text).into()
}

/// Starts a task that goes on until it is cancelled, an event each time this has passed.
pub(crate) async fn begin_long(client: &Client, pause: Duration) -> Result<Task, Error> {
    let mut request = message(&format!("burst 100000 {}ms", pause.as_millis()));
    request.configuration = Some(SendMessageConfiguration {
        return_immediately: true,
        ..SendMessageConfiguration::default()
    });
    match client.send_message(request).await?.payload {
        Answer::Task(task) => Ok(task),
        other => Err(format!("no task: {other:?}").into()),
    }
}

pub(crate) async fn cancel(client: &Client, task: &Task) -> Result<(), Error> {
    let request = CancelTaskRequest {
        id: task.id.clone(),
        ..CancelTaskRequest::default()
    };
    client.cancel_task(request).await?;
    Ok(())
}
