//! A server inside the test's own process.

use std::net::SocketAddr;

use monas::config::{Access, Config, Data};
use monas::serve::demo;
use monas::{Error, Serve, Server};
use sut::Sut;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::http::{Answer, Client, Version};

/// A running server, and the way to stop it.
pub(crate) struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

/// On a port of the system's choice, with nothing kept.
pub(crate) fn config() -> Config {
    let mut config = Config::new(Data::Memory);
    config.listen.set_port(0);
    config.access = Access::open();
    config
}

impl Running {
    /// The agent of `sut`.
    pub(crate) async fn sut(agent: Sut) -> Self {
        Self::run(agent.start(&config()).await)
    }

    /// The agent of `monas serve --demo`.
    pub(crate) async fn demo() -> Self {
        Self::run(Serve::new(demo::app()).start(&config()).await)
    }

    fn run(server: Result<Server, Error>) -> Self {
        let server = server.unwrap();
        let address = server.address();
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(server.run(async { drop(stopped.await) }));
        Self {
            address,
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
