//! `monas memory`: what an agent remembers, from the command line.
//!
//! Whatever is asked is a request to `/api/memory`.

use std::path::PathBuf;

use axum::http::Method;
use serde_json::Value;

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

/// What is asked of a memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    what: What,
    options: DataOptions,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    /// To store this body.
    Add(Value),
    /// To answer this body.
    Query(Value),
    Audit,
    /// As lines of JSON, or as Cypher.
    Export {
        cypher: bool,
    },
    /// From a file; `-` is standard input.
    Import(PathBuf),
}

impl Asked {
    /// Asks, and says each line of what there is to print.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        let backend = Backend::open(&self.options).await?;
        let done = self.ask(&backend, say).await;
        backend.close().await;
        done
    }

    async fn ask(&self, backend: &Backend, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        match &self.what {
            What::Add(body) | What::Query(body) => {
                let adds = matches!(self.what, What::Add(_));
                let path = format!("/api/memory/{}", if adds { "store" } else { "query" });
                let mut body = body.clone();
                if let Some(agent) = &self.options.agent {
                    body["agent"] = agent.as_str().into();
                }
                let answer = backend.json(Method::POST, &path, body.to_string()).await?;
                let show = if adds { show::added } else { show::found };
                self.say(&answer, show, say);
            }
            What::Audit => {
                let answer = backend
                    .json(Method::GET, &self.path("audit", ""), String::new())
                    .await?;
                self.say(&answer, show::audit, say);
            }
            What::Export { cypher } => {
                let format = if *cypher { "cypher" } else { "jsonl" };
                let path = self.path("export", format);
                let text = backend.text(Method::GET, &path, String::new()).await?;
                text.lines().all(say);
            }
            What::Import(path) => {
                let text = arguments::read_text(path).map_err(|source| Error::System {
                    what: "read what is to be imported",
                    source,
                })?;
                let lines: Vec<&str> = text.lines().collect();
                let mut sum = [0, 0];
                for lines in lines.chunks(LINES) {
                    let path = self.path("import", "");
                    let answer = backend.json(Method::POST, &path, lines.join("\n")).await?;
                    for (sum, name) in sum.iter_mut().zip(["imported", "known"]) {
                        *sum += answer[name].as_u64().unwrap_or_default();
                    }
                }
                let answer = serde_json::json!({ "imported": sum[0], "known": sum[1] });
                self.say(&answer, show::imported, say);
            }
        }
        Ok(())
    }

    fn path(&self, name: &str, format: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if let Some(agent) = &self.options.agent {
            query.append_pair("agent", agent);
        }
        if !format.is_empty() {
            query.append_pair("format", format);
        }
        format!("/api/memory/{name}?{}", query.finish())
    }

    fn say(&self, answer: &Value, show: fn(&Value) -> Vec<String>, say: impl Fn(&str) -> bool) {
        if self.options.json {
            say(&answer.to_string());
        } else {
            show(answer).iter().all(|line| say(line));
        }
    }
}
