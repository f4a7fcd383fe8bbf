//! The wall between callers who are both let in: what one says, stores or takes does not reach another. The real program with
//! a file of access, called by two bearer callers; the model is a scripted server that keeps what it was shown.

mod code;
mod conversations;
mod folders;
mod printing;
mod prompts;
mod shares;

use std::path::Path;

use access::Hash;
use axum::body::Body;
use model::scripted::{Scripted, Server, Turn};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

use crate::support::http::{Answer, Client, Version};
use crate::support::program::{Monas, living};

/// A program with the callers ada, bob and the operator olga, with the tokens `token-of-NAME`.
struct Callers {
    home: TempDir,
    script: Scripted,
    model: Server,
    monas: Monas,
}

impl Callers {
    async fn start() -> Self {
        Self::start_with("", |_, _| {}).await
    }

    /// With more of the file of configuration, and more of the command.
    async fn start_with(file: &str, more: impl FnOnce(&mut Command, &Path)) -> Self {
        let home = tempfile::tempdir().unwrap();
        let script = Scripted::default();
        let model = Server::start(script.clone()).await.unwrap();
        let callers = ["ada", "bob", "olga"].map(|name| {
            let hash = Hash::of(format!("token-of-{name}"));
            let scopes = if name == "olga" { "'operator'" } else { "" };
            format!("callers.{name} = {{ secret = '{hash}', scopes = [{scopes}] }}\n")
        });
        let text = format!(
            "{file}\n[access.tokens]\ntype = 'bearer'\n{}",
            callers.concat()
        );
        let path = home.path().join("monas.toml");
        std::fs::write(&path, text).unwrap();
        let mut command = living(home.path());
        command.env_remove("MONAS_OPEN");
        command.arg("--config").arg(&path);
        command.args(["--model", "openai:small", "--workspace"]);
        command.arg(home.path().join("workspace"));
        command.env("MONAS_MODEL_URL", format!("{}/v1", model.url()));
        command.env("MONAS_MODEL_KEY", "secret");
        // Its requests would take replies of the script.
        command.env("MONAS_MODEL_READS_MEMORY", "false");
        more(&mut command, home.path());
        let monas = Monas::start(&mut command).await;
        Self {
            home,
            script,
            model,
            monas,
        }
    }

    async fn send(&self, by: &str, method: &str, path: &str, body: &Value) -> Answer {
        let authority = self.monas.authority();
        let mut client = Client::connect(authority.parse().unwrap(), Version::One).await;
        let request = client.request(method, authority, path);
        let request = request
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer token-of-{by}"))
            .header("a2a-version", "1.0");
        let body = Body::from(body.to_string());
        client.send(request.body(body).unwrap()).await
    }

    /// The answer as JSON, whatever its status.
    async fn ask(&self, by: &str, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.send(by, method, path, body).await;
        serde_json::from_str(&answer.text).unwrap_or_else(|_| panic!("{answer:?}"))
    }

    /// The result of a call of JSON-RPC.
    async fn call(&self, by: &str, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.ask(by, "POST", "/a2a/jsonrpc", &body).await
    }

    /// Says something in a conversation, and gives the task that comes of it.
    async fn say(&self, by: &str, context: &str, text: &str) -> Value {
        self.message(by, json!({ "contextId": context }), text)
            .await
    }

    async fn message(&self, by: &str, mut message: Value, text: &str) -> Value {
        message["messageId"] = uuid::Uuid::new_v4().to_string().into();
        message["role"] = "ROLE_USER".into();
        message["parts"] = json!([{ "text": text }]);
        let answer = self
            .call(by, "SendMessage", json!({ "message": message }))
            .await;
        match answer["result"].get("task") {
            Some(task) => task.clone(),
            None => panic!("{answer}"),
        }
    }

    /// What the model says next.
    fn replies(&self, turn: Turn) {
        self.script.push(turn);
    }

    /// The last request to the model, as it came over the wire.
    fn prompt(&self) -> Value {
        self.model.seen().last().unwrap().body.clone()
    }
}
