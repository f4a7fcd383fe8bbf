//! Everything is constructed here, from the configuration, and handed to those who use it.

use std::future::Future;
use std::net::SocketAddr;

use axum::Router;
use capnweb::demo::Demo;
use capnweb::{Options, OriginPolicy, Tasks};

use crate::listen::{Error, Guard, Limits, Listener, Options as ListenOptions};

/// What can be set.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen; a loopback address.
    pub listen: SocketAddr,
    /// Origins of pages that may connect, besides the server's own.
    pub allow_origins: Vec<String>,
    /// How many connections may be open at once.
    pub max_connections: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            allow_origins: Vec::new(),
            max_connections: 10_000,
        }
    }
}

/// A server that has its address and waits to be run.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    router: Router,
    tasks: Tasks,
}

impl Server {
    /// Takes the address. From here on clients can connect; they are served once it runs.
    pub async fn bind(config: &Config) -> Result<Self, Error> {
        let tasks = Tasks::new();
        let demo = capnweb::Server::new(|_headers| Demo.into_stub())
            .options(Options::default().tasks(tasks.clone()))
            .origins(OriginPolicy::Listed(config.allow_origins.clone()));
        let router = Router::new().route("/rpc", demo.route());
        let options = ListenOptions {
            limits: Limits {
                connections: config.max_connections,
                ..Limits::default()
            },
            guard: Guard {
                origins: config
                    .allow_origins
                    .iter()
                    .flat_map(|origin| origin.parse())
                    .collect(),
                ..Guard::default()
            },
            ..ListenOptions::default()
        };
        let listener = Listener::bind(config.listen, options).await?;
        Ok(Self {
            listener,
            router,
            tasks,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Serves until `shutdown` ends, then stops: no connection and no task is left when this returns.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        self.listener.serve(self.router, shutdown).await;
        self.tasks.stop().await;
    }
}
