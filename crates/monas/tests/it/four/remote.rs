//! The official python clients of A2A and of ACP, each in a process that is told what to do line by line.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::wires::{Refused, View};
use crate::support::sut::program;

pub(super) struct Remote {
    _process: Child,
    orders: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    /// What it heard about how far the work is.
    pub(super) heard: Vec<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

impl Remote {
    pub(super) fn a2a(url: &str) -> Self {
        let python = program("MONAS_PYTHON", folder().join("a2a/.venv/bin/python"));
        Self::start(python, "a2a/python/remote.py", url)
    }

    pub(super) fn acp(url: &str) -> Self {
        let python = program("MONAS_ACP_PYTHON", folder().join("acp/.venv/bin/python"));
        Self::start(python, "acp/remote.py", &format!("{url}/acp"))
    }

    fn start(python: PathBuf, script: &str, url: &str) -> Self {
        let mut command = Command::new(python);
        // No compiled files beside the sources, and no telemetry.
        command.arg("-B").arg(folder().join(script)).arg(url);
        command.env("OTEL_SDK_DISABLED", "true").kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap_or_else(|error| {
            panic!("{error}: {command:?}; `cargo xtask test` sets up what it needs")
        });
        Self {
            orders: process.stdin.take().unwrap(),
            answers: BufReader::new(process.stdout.take().unwrap()).lines(),
            _process: process,
            heard: Vec::new(),
        }
    }

    pub(super) async fn begin(
        &mut self,
        skill: &str,
        input: Value,
        until: Option<&str>,
    ) -> Result<View, Refused> {
        let order = json!({ "do": "begin", "skill": skill, "input": input, "until": until });
        self.heard.clear();
        self.order(&order).await
    }

    pub(super) async fn answer(&mut self, task: &str, answer: Value) -> Result<View, Refused> {
        self.order(&json!({ "do": "answer", "task": task, "answer": answer }))
            .await
    }

    pub(super) async fn cancel(&mut self, task: &str) -> Result<(), Refused> {
        let order = json!({ "do": "cancel", "task": task });
        self.order(&order).await.map(drop)
    }

    pub(super) async fn show(&mut self, task: &str) -> Result<View, Refused> {
        self.order(&json!({ "do": "show", "task": task })).await
    }

    pub(super) async fn follow(&mut self, task: &str) -> Result<View, Refused> {
        self.order(&json!({ "do": "follow", "task": task })).await
    }

    async fn order(&mut self, order: &Value) -> Result<View, Refused> {
        let line = format!("{order}\n");
        self.orders.write_all(line.as_bytes()).await.unwrap();
        let line = self.answers.next_line().await.unwrap();
        let line = line.unwrap_or_else(|| panic!("it ended at {order}"));
        let told: Value = serde_json::from_str(&line).unwrap();
        if let Some(why) = told["refused"].as_str() {
            return Err(why.to_owned());
        }
        let heard = told["progress"].as_array().unwrap().iter();
        self.heard
            .extend(heard.map(|text| text.as_str().unwrap().to_owned()));
        Ok(serde_json::from_value(told).unwrap())
    }
}
