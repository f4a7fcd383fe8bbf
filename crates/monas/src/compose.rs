//! Everything is constructed here, from the configuration, and handed to those who use it.

use std::future::Future;
use std::net::SocketAddr;

use axum::Router;
use capnweb::demo::Demo;
use capnweb::{Options, OriginPolicy, Tasks};

use crate::config::Config;
use crate::error::Error;
use crate::listen::{self, Guard, Limits, Listener, Tls};
use crate::page::{self, Page};

/// A server that has its address and waits to be run.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    router: Router,
    tasks: Tasks,
    url: String,
}

impl Server {
    /// Takes the address. From here on clients can connect; they are served once it runs.
    pub async fn bind(config: &Config) -> Result<Self, Error> {
        let listener = Listener::bind(config.listen, listen_options(config)?).await?;
        let url = match &config.public_url {
            Some(url) => url.to_string(),
            None => format!("{}://{}", listener.scheme(), listener.address()),
        };
        let tasks = Tasks::new();
        let demo = capnweb::Server::new(|_headers| Demo.into_stub())
            .options(Options::default().tasks(tasks.clone()))
            .origins(OriginPolicy::Any);
        let page = Page {
            name: config.agent.name.clone(),
            description: config.agent.description.clone(),
            skills: Vec::new(),
            ways: Vec::new(),
        };
        let router = page::routes(&page).route("/rpc", demo.route());
        Ok(Self {
            listener,
            router,
            tasks,
            url,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// What clients are told to call.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Serves until `shutdown` ends, then stops: no connection and no task is left when this returns.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        self.listener.serve(self.router, shutdown).await;
        self.tasks.stop().await;
    }
}

fn listen_options(config: &Config) -> Result<listen::Options, Error> {
    let tls = match &config.tls {
        Some(files) => Some(Tls::from_files(&files.certificate, &files.key)?),
        None => None,
    };
    let public = config.public_url.iter();
    Ok(listen::Options {
        tls,
        guard: Guard {
            hosts: public.clone().map(|url| url.host().to_owned()).collect(),
            origins: config.allow_origins.iter().chain(public).cloned().collect(),
        },
        limits: Limits {
            connections: config.limits.max_connections,
            ..Limits::default()
        },
    })
}
