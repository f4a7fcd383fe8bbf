//! A server of a scenario's own, its clients and its receiver of webhooks.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use a2a::binding::{self, Address, BindingUses};
use a2a::client::{Client, Settings, Tap, Trust};
use a2a::types::{GetTaskRequest, Task};
use monas::config::{Access, Data, TlsFiles};
use rcgen::CertifiedKey;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::agent::{self, Gates, Scripted};
use crate::wire::Wire;

/// A running server with a scripted agent; it stops when this is dropped.
#[derive(Debug)]
pub struct World {
    pub address: SocketAddr,
    /// Where its agent waits.
    pub gates: Gates,
    /// The authority of its certificate, if its connections are encrypted.
    trusted: Option<Trust>,
    /// Sees how tasks stand, over a wire that shows everything.
    witness: Client,
    /// Is shown what the clients get.
    tap: Option<Tap>,
    stop: CancellationToken,
    running: JoinHandle<()>,
}

impl World {
    /// Starts a server in this process, with its data in memory.
    pub async fn start() -> Self {
        Self::with(Self::config(), None).await
    }

    /// The configuration of such a server: it asks for no credentials.
    pub fn config() -> monas::Config {
        let mut config = monas::Config::new(Data::Memory);
        config.access = Access::open();
        config
    }

    /// The same with encrypted connections, by a certificate of its own.
    pub async fn secure() -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]);
        let CertifiedKey { cert, signing_key } = made.expect("an address can be certified");
        let folder = tempfile::tempdir().expect("there is room for two small files");
        let files = TlsFiles {
            certificate: folder.path().join("certificate.pem"),
            key: folder.path().join("key.pem"),
        };
        let written = std::fs::write(&files.certificate, cert.pem())
            .and_then(|()| std::fs::write(&files.key, signing_key.serialize_pem()));
        written.expect("there is room for two small files");
        let mut config = Self::config();
        config.tls = Some(files);
        Self::with(config, Some(Trust::PublicAnd(vec![cert.der().clone()]))).await
    }

    /// Starts a server of a configuration on a free port, with the authority that its clients trust if it encrypts.
    pub async fn with(mut config: monas::Config, trusted: Option<Trust>) -> Self {
        config.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        config.push_private = true;
        let mut served = a2a::server::Config::new(agent::card());
        served.extended_card = Some(agent::extended_card());
        let agent = Scripted::default();
        let gates = agent.gates.clone();
        let serve = monas::Serve::answerer(served, Arc::new(agent));
        let serve = serve.expect("an answerer is enough for an agent");
        let server = serve.start(&config).await;
        let server = server.expect("a loopback address can be had");
        let address = server.address();
        let stop = CancellationToken::new();
        let running = tokio::spawn(server.run(stop.clone().cancelled_owned()));
        Self {
            address,
            gates,
            witness: client(
                address,
                trusted.is_some(),
                settings(Wire::reference(), trusted.as_ref()),
            ),
            trusted,
            tap: None,
            stop,
            running,
        }
    }

    /// The same world with clients as others write them: they activate no extension of ours. What they get is shown to the
    /// tap.
    pub fn tapped(mut self, tap: Tap) -> Self {
        self.tap = Some(tap);
        self
    }

    /// A client with connections of its own, over a wire.
    pub fn client(&self, wire: Wire) -> Client {
        self.client_with(self.settings(wire))
    }

    /// What such a client is made of.
    pub fn settings(&self, wire: Wire) -> Settings {
        let mut settings = settings(wire, self.trusted.as_ref());
        if self.tap.is_some() {
            settings.extensions.clear();
            settings.tap.clone_from(&self.tap);
        }
        settings
    }

    /// A client of settings that name a wire.
    pub fn client_with(&self, settings: Settings) -> Client {
        client(self.address, self.trusted.is_some(), settings)
    }

    /// The task as it is, if there is one.
    pub async fn task(&self, id: &str) -> Option<Task> {
        self.beyond(id, None).await
    }

    /// Waits until nothing more happens to a task by itself: it rests, or its agent waits at a gate.
    pub async fn settle(&self, id: &str) {
        let mut known = None;
        loop {
            tokio::select! {
                () = self.gates.held(id) => return,
                task = self.beyond(id, known) => {
                    let Some(task) = task else { return };
                    if task.is_settled() {
                        return;
                    }
                    known = Some(task.generation);
                }
            }
        }
    }

    /// The task, once it is beyond a generation.
    async fn beyond(&self, id: &str, current_generation: Option<i64>) -> Option<Task> {
        let request = GetTaskRequest {
            id: id.to_owned(),
            current_generation,
            ..GetTaskRequest::default()
        };
        self.witness.get_task(request).await.ok()
    }

    /// Stops the server and waits until nothing of it is left.
    pub async fn stop(mut self) {
        self.stop.cancel();
        let ended = (&mut self.running).await;
        ended.expect("the server does not panic");
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn settings(wire: Wire, trusted: Option<&Trust>) -> Settings {
    let mut settings = wire.settings();
    // What is refused is refused: nothing in a scenario goes better the second time.
    settings.attempts = 1;
    // Scenarios send messages again and name generations; its own card would have a client ask for that by itself.
    settings.extensions = vec![a2a::service::REPEATABLE.to_owned()];
    settings.dial.trust = trusted.cloned().unwrap_or_default();
    settings
}

/// A client that knows the way: nothing but discovery itself depends on discovery.
fn client(address: SocketAddr, encrypted: bool, settings: Settings) -> Client {
    let mut card = agent::card();
    let address = Address {
        encrypted,
        authority: address.to_string(),
        path: String::new(),
        tenant: None,
    };
    binding::declare(&mut card, &BindingUses::default(), &address);
    // Addresses of gRPC say only by where the card was found whether they are encrypted.
    let bare = |url: &&mut String| encrypted && !url.contains("://");
    let urls = card.supported_interfaces.iter_mut().map(|it| &mut it.url);
    urls.filter(bare)
        .for_each(|url| url.insert_str(0, "grpcs://"));
    let card = serde_json::to_value(card).expect("a card is always JSON");
    Client::of_card(card, settings).expect("the card lists every wire")
}
