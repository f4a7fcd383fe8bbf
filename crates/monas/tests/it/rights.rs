//! Who may do what: the real program, called over every wire by a user of each role.
//!
//! - `matrix`: each operation, route and method of the tables, by each role: allowed or refused as its rule says
//! - `skills`: a call of a skill is made with the permissions of its caller, over every protocol and in a conversation
//! - `unseen`: what belongs to another caller is answered like what never existed

mod matrix;
mod skills;
mod unseen;

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use access::{Hash, Principal, Role};
use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::support::http::{Answer, Client, Version};
use crate::support::program::{Monas, living};

const SECRET: &str = "a secret of 32 bytes, for tests..";

/// A token for a user with this role, as another program with the secret would sign it.
pub(crate) fn token(user: &str, role: Role) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let claims = json!({
        "user_id": user, "iat": now.as_secs(), "exp": now.as_secs() + 3600, "monas_role": role.name(),
    });
    let part = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
    let text = format!(
        "{}.{}",
        part(&json!({ "alg": "HS256", "typ": "JWT" })),
        part(&claims)
    );
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    let signature = URL_SAFE_NO_PAD.encode(hmac::sign(&key, text.as_bytes()));
    format!("{text}.{signature}")
}

/// The caller that the server makes of such a token.
pub(crate) fn principal(role: Role) -> Principal {
    Principal::named(role.name()).permitted(role.permissions())
}

/// The living agent, in a folder of its own, for callers with tokens alone.
pub(crate) fn closed(home: &Path) -> Command {
    let file = home.join("monas.toml");
    let hash = Hash::of("token of somebody else");
    let text = format!("[access.tokens]\ntype = 'bearer'\ncallers.somebody = '{hash}'\n");
    std::fs::write(&file, text).unwrap();
    let mut command = living(home);
    command.arg("--config").arg(&file);
    command.arg("--workspace").arg(home.join("workspace"));
    command.env_remove("MONAS_OPEN").env("JWT_SECRET", SECRET);
    command
}

/// A caller of a server; without a token it shows nothing.
struct Caller<'a> {
    monas: &'a Monas,
    token: Option<String>,
}

impl<'a> Caller<'a> {
    fn with(monas: &'a Monas, role: Role) -> Self {
        Self::named(monas, role.name(), role)
    }

    fn named(monas: &'a Monas, user: &str, role: Role) -> Self {
        let token = Some(token(user, role));
        Self { monas, token }
    }

    fn nameless(monas: &'a Monas) -> Self {
        Self { monas, token: None }
    }

    async fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.send_with(&[], method, path, body).await
    }

    async fn send_with(
        &self,
        headers: &[(&str, &str)],
        method: &str,
        path: &str,
        body: &Value,
    ) -> Answer {
        let mut client =
            Client::connect(self.monas.authority().parse().unwrap(), Version::One).await;
        let mut request = client
            .request(method, self.monas.authority(), path)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("a2a-version", "1.0");
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = match method {
            "GET" | "DELETE" => Body::empty(),
            _ => Body::from(body.to_string()),
        };
        client.send(request.body(body).unwrap()).await
    }

    /// A call over JSON-RPC: the result or the error.
    async fn rpc(&self, path: &str, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = self.send("POST", path, &body).await;
        serde_json::from_str(&answer.text).unwrap_or_else(|_| panic!("{answer:?}"))
    }

    /// A request of MCP, of a client that knows tasks.
    async fn mcp(&self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {
                "extensions": { "io.modelcontextprotocol/tasks": {} },
            },
        });
        let named = match method {
            "tools/call" | "prompts/get" => &params["name"],
            "resources/read" => &params["uri"],
            _ => &params["taskId"],
        };
        let named = named.as_str().unwrap_or_default().to_owned();
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
            ("mcp-name", &*named),
        ];
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = self.send_with(&headers, "POST", "/mcp", &body).await;
        let text = answer.text.trim_start_matches("event: message\n");
        let text = text.trim_start_matches("data: ");
        serde_json::from_str(text.trim()).unwrap_or_else(|_| panic!("{method}: {answer:?}"))
    }

    /// What the agent answers to a text, over A2A: the whole reply.
    async fn say(&self, text: &str) -> Value {
        let message = json!({
            "messageId": uuid::Uuid::new_v4().to_string(), "role": "ROLE_USER", "parts": [{ "text": text }],
        });
        let params = json!({ "message": message });
        self.rpc("/a2a/jsonrpc", "SendMessage", params).await
    }

    /// A call of a skill by its name, over A2A.
    async fn call(&self, skill: &str, input: &Value) -> Value {
        let message = json!({
            "messageId": uuid::Uuid::new_v4().to_string(), "role": "ROLE_USER", "parts": [{ "data": input }],
            "extensions": [skill::extension::URI], "metadata": { (skill::extension::SKILL): skill },
        });
        let params = json!({ "message": message });
        self.rpc("/a2a/jsonrpc", "SendMessage", params).await
    }
}
