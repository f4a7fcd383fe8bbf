//! A server inside the test's own process.

use std::net::SocketAddr;

use monas::config::{Access, Config, Data, Switch};
use monas::serve::demo;
use monas::{Error, Serve, Server};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::http::{Answer, Client, Version};

/// A running server, and the way to stop it.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) url: String,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

/// On a port of the system's choice, with nothing kept, no limits on calls and no credentials.
pub(crate) fn config() -> Config {
    let mut config = Config::new(Data::Memory);
    config.listen.set_port(0);
    config.rate_limit = Switch::Off;
    config.access = Access::open();
    config
}

impl Running {
    /// What `monas serve` serves.
    pub(crate) async fn serve(config: &Config) -> Self {
        Self::run(Serve::new(demo::app()).start(config).await)
    }

    /// The agent that `monas serve` gives to its users.
    pub(crate) async fn living(config: &Config) -> Self {
        Self::run(Serve::new(monas::app().alive()).start(config).await)
    }

    /// The agent that conformance suites drive, with this configuration.
    pub(crate) async fn sut_with(config: &Config) -> Self {
        Self::run(::sut::Sut::default().start(config).await)
    }

    fn run(server: Result<Server, Error>) -> Self {
        let server = server.unwrap();
        let (address, url) = (server.address(), server.url().to_owned());
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(server.run(async { drop(stopped.await) }));
        Self {
            address,
            url,
            stop,
            ended,
        }
    }

    pub(crate) async fn client(&self, version: Version) -> Client {
        Client::connect(self.address, version).await
    }

    /// The answer to a plain GET.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        let mut client = self.client(Version::One).await;
        let request = client.request("GET", "localhost", path);
        client
            .send(request.body(axum::body::Body::empty()).unwrap())
            .await
    }

    pub(crate) async fn stop(self) {
        self.stop.send(()).unwrap();
        self.ended.await.unwrap();
    }
}
