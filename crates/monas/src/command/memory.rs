//! `monas memory`: adds to, searches, deletes from, exports, imports and audits the memory of an agent. Requests go to
//! `/api/memory`.

use std::path::{Path, PathBuf};

use axum::http::Method;
use serde_json::Value;
use workspace::api::reply::Imported;

use crate::command::backend::{Backend, DataOptions};
use crate::error::Error;

mod arguments;
#[cfg(test)]
#[path = "memory/arguments_tests.rs"]
mod arguments_tests;
mod show;

pub(crate) use arguments::{definition, read};

/// How many lines of an import are sent at once.
const LINES: usize = 2000;

/// A command about the memory of an agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MemoryCommand {
    action: Action,
    pub(crate) options: DataOptions,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    /// With the body of the request.
    Add(Value),
    /// With the body of the request.
    Query(Value),
    /// With the body of the request.
    Forget(Value),
    Audit,
    /// As Cypher, or as lines of JSON.
    Export {
        cypher: bool,
    },
    /// From a file; `-` is standard input.
    Import(PathBuf),
}

impl MemoryCommand {
    /// Sends the requests and prints the replies.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let lines = async |backend: &Backend| self.lines(backend).await;
        self.options.print(say, lines).await
    }

    /// The lines to print: the reply as JSON, or its text.
    async fn lines(&self, backend: &Backend) -> Result<Vec<String>, Error> {
        let json = self.options.json;
        match &self.action {
            Action::Add(body) => {
                let reply = self.post(backend, "store", body).await?;
                match json {
                    true => Ok(vec![reply]),
                    false => Ok(show::stored(&backend.parse(&reply)?)),
                }
            }
            Action::Query(body) => {
                let reply = self.post(backend, "query", body).await?;
                match json {
                    true => Ok(vec![reply]),
                    false => Ok(show::recalled(&backend.parse(&reply)?)),
                }
            }
            Action::Forget(body) => {
                let reply = self.post(backend, "forget", body).await?;
                match json {
                    true => Ok(vec![reply]),
                    false => Ok(vec![show::forgotten(&backend.parse(&reply)?)]),
                }
            }
            Action::Audit => {
                let path = self.path("audit", "");
                let reply = backend.text(Method::GET, &path, String::new()).await?;
                match json {
                    true => Ok(vec![reply]),
                    false => Ok(show::audit(&backend.parse(&reply)?)),
                }
            }
            Action::Export { cypher } => {
                let format = if *cypher { "cypher" } else { "jsonl" };
                let path = self.path("export", format);
                let text = backend.text(Method::GET, &path, String::new()).await?;
                Ok(text.lines().map(str::to_owned).collect())
            }
            Action::Import(path) => {
                let imported = self.import(backend, path).await?;
                match json {
                    true => Ok(vec![serde_json::json!(imported).to_string()]),
                    false => Ok(vec![show::imported(&imported)]),
                }
            }
        }
    }

    async fn post(&self, backend: &Backend, name: &str, body: &Value) -> Result<String, Error> {
        let mut body = body.clone();
        if let Some(agent) = &self.options.agent {
            body["agent"] = agent.as_str().into();
        }
        let path = format!("/api/memory/{name}");
        backend.text(Method::POST, &path, body.to_string()).await
    }

    async fn import(&self, backend: &Backend, file: &Path) -> Result<Imported, Error> {
        let text = arguments::read_text(file).map_err(|source| Error::System {
            what: "read the file to import",
            source,
        })?;
        let lines: Vec<&str> = text.lines().collect();
        let mut sum = Imported {
            success: true,
            ..Imported::default()
        };
        for lines in lines.chunks(LINES) {
            let path = self.path("import", "");
            let reply = backend.text(Method::POST, &path, lines.join("\n")).await?;
            let part: Imported = backend.parse(&reply)?;
            sum.imported += part.imported;
            sum.known += part.known;
            sum.discarded += part.discarded;
        }
        Ok(sum)
    }

    fn path(&self, name: &str, format: &str) -> String {
        let mut query = self.options.query();
        if !format.is_empty() {
            query.append_pair("format", format);
        }
        format!("/api/memory/{name}?{}", query.finish())
    }
}
