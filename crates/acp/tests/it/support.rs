//! A server on a free port, skills to call, and a client that checks every reply.

use std::ops::Deref;
use std::sync::Arc;

use a2a::binding::Wire;
use a2a::server::Config;
use a2a::types::Artifact;
use access::Door;
use agent::{Agent, Manifest, Options};
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill::reply::{data_artifact, file_artifact, info, text_artifact};
use skill::{Context, Registry, Reply, SkillError, SkillInput, skill};
use store::Store;
use testkit::{Kit, memory_store};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(crate) struct Said {
    text: String,
}

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(crate) struct Answer {
    answer: String,
}

/// Says what it was told.
#[skill(tags = ["test"], examples = ["say hello"], read_only)]
pub(crate) async fn echo(input: Said, ctx: Context) -> Result<String, SkillError> {
    ctx.progress(1.0, Some(1.0), "listening").await?;
    Ok(input.text)
}

/// Asks before it does anything.
#[skill(tags = ["test"], examples = ["do it"], replayable)]
pub(crate) async fn approve(input: Said, ctx: Context) -> Result<String, SkillError> {
    let answer: Answer = ctx.ask(format!("Do {}?", input.text)).await?;
    Ok(format!("{}: {}", input.text, answer.answer))
}

/// Works until it is cancelled.
#[skill(tags = ["test"], examples = ["take your time"])]
pub(crate) async fn slow(_input: Said, ctx: Context) -> Result<String, SkillError> {
    ctx.progress(0.0, None, "begun").await?;
    ctx.cancelled().cancelled().await;
    Err(SkillError::Cancelled)
}

/// Fails.
#[skill(tags = ["test"], examples = ["fail"])]
pub(crate) async fn boom(_input: Said) -> Result<String, SkillError> {
    Err(SkillError::coded("broken", "it is broken"))
}

/// Panics.
#[skill(tags = ["test"], examples = ["panic"])]
pub(crate) async fn crash(input: Said) -> Result<String, SkillError> {
    match &*input.text {
        "no" => Ok("well".to_owned()),
        text => panic!("told to: {text}"),
    }
}

/// Answers with a message and nothing else.
#[derive(Clone, Copy)]
pub(crate) struct Chat;

impl skill::Skill for Chat {
    const SPEC: skill::Spec = skill::Spec::new(
        skill::Id::new("chat"),
        "Chat",
        "Answers with a message and nothing else.",
        skill::OneOrMore::new(&["test"]),
        skill::OneOrMore::new(&["hello"]),
    );
    type Input = Said;
    type Output = String;

    async fn run(&self, input: Said, _: Context) -> Result<Reply<String>, SkillError> {
        Ok(info(format!("you said {}", input.text)))
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Counted {
    letters: usize,
}

/// Makes one of everything: a text in two chunks, data, a file, and a number.
#[skill(tags = ["test"], examples = ["make"])]
pub(crate) async fn make(input: Said, ctx: Context) -> Result<Counted, SkillError> {
    use skill::Chunk;
    let chunk = |text: &str| -> Artifact { text_artifact("story.txt", text) };
    ctx.chunk(chunk("Once "), Chunk::First).await?;
    ctx.chunk(chunk("upon a time"), Chunk::Last).await?;
    ctx.artifact(data_artifact("facts", json!({ "true": true })))
        .await?;
    ctx.artifact(file_artifact("dot.png", "image/png", &b"\x89PNG"[..]))
        .await?;
    Ok(Counted {
        letters: input.text.len(),
    })
}

pub(crate) fn registry() -> Registry {
    let skills = Registry::new().with(echo).unwrap();
    let skills = skills.with(approve).unwrap().with(slow).unwrap();
    let skills = skills.with(boom).unwrap().with(crash).unwrap();
    skills.with(Chat).unwrap().with(make).unwrap()
}

/// An ACP server, the task server behind it, and an HTTP client.
pub(crate) struct Bench {
    kit: Kit,
    pub(crate) authority: String,
    serving: JoinHandle<()>,
    client: HttpClient<HttpConnector, Full<Bytes>>,
    /// The credentials that requests carry.
    pub(crate) token: Option<&'static str>,
}

/// The response of a server.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Bench {
    pub(crate) async fn start() -> Self {
        Self::on(memory_store()).await
    }

    pub(crate) async fn on(store: Store) -> Self {
        Self::behind(Door::open(), store).await
    }

    /// A server behind this door.
    pub(crate) async fn behind(door: Door, store: Store) -> Self {
        let mut options = Options::default();
        options.skills = registry();
        let manifest = Manifest::new("Test Agent!").describe("Does what tests need.");
        let agent = Agent::create(manifest, options).unwrap();
        let mut card = agent.card();
        // The agent accepts media types that its skills do not.
        card.default_input_modes.push("image/png".to_owned());
        let skills = agent.skills().clone();
        let mut config = Config::new(card);
        config.limits.max_body = 64 << 10;
        let limits = config.limits.clone();
        let kit = Kit::start(config, Arc::new(agent), store).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        let mut wire = Wire::new(Arc::new(kit.server.clone()), limits);
        wire.door = Arc::new(door);
        let routes = acp::routes(&wire, &skills, &format!("http://{authority}"));
        let serving = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self {
            kit,
            authority,
            serving,
            client: HttpClient::builder(TokioExecutor::new()).build_http(),
            token: None,
        }
    }

    pub(crate) async fn stop(self) {
        self.server.stop().await;
    }

    /// Sends a request, as the clients of ACP do: without a media type.
    pub(crate) async fn send(&self, verb: Method, path: &str, body: impl Into<Bytes>) -> Heard {
        let mut request = Request::builder()
            .method(verb)
            .uri(format!("http://{}{path}", self.authority));
        if let Some(token) = self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(Full::new(body.into())).unwrap();
        let response = self.client.request(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Heard {
            status: head.status,
            headers: head.headers,
            text: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Heard {
        self.send(Method::GET, &format!("/acp{path}"), "").await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Heard {
        let path = format!("/acp{path}");
        self.send(Method::POST, &path, body.to_string()).await
    }

    /// Starts a run; the default mode is sync.
    pub(crate) async fn ask(&self, agent: &str, text: &str, mode: &str) -> Heard {
        self.post("/runs", &request(agent, text, mode)).await
    }

    pub(crate) async fn resume(&self, run: &Value, text: &str, mode: &str) -> Heard {
        let path = format!("/runs/{}", run["run_id"].as_str().unwrap());
        self.post(&path, &resume(text, mode)).await
    }

    /// Waits until a run has this status.
    pub(crate) async fn until(&self, run: &Value, status: &str) -> Value {
        let path = format!("/runs/{}", run["run_id"].as_str().unwrap());
        loop {
            let run = self.get(&path).await.json();
            if run["status"] == status {
                return run;
            }
            let over = ["completed", "failed", "cancelled"];
            assert!(!over.contains(&run["status"].as_str().unwrap()), "{run}");
            tokio::task::yield_now().await;
        }
    }
}

impl Deref for Bench {
    type Target = Kit;

    fn deref(&self) -> &Kit {
        &self.kit
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

pub(crate) fn request(agent: &str, text: &str, mode: &str) -> Value {
    json!({
        "agent_name": agent,
        "input": [{ "role": "user", "parts": [{ "content": text, "content_url": null }] }],
        "mode": mode,
        "session": null,
    })
}

pub(crate) fn resume(text: &str, mode: &str) -> Value {
    let message = json!({ "role": "user", "parts": [{ "content": text }] });
    json!({ "await_resume": { "type": "message", "message": message }, "mode": mode })
}

impl Heard {
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.headers["content-type"], "application/json", "{self:?}");
        serde_json::from_str(&self.text).unwrap()
    }

    /// The body of a successful response.
    pub(crate) fn ok(&self) -> Value {
        assert!(self.status.is_success(), "{self:?}");
        self.json()
    }

    /// The events of a stream that consists of `data:` lines only.
    pub(crate) fn events(&self) -> Vec<Value> {
        assert_eq!(
            self.headers["content-type"], "text/event-stream",
            "{self:?}"
        );
        let lines = self.text.lines().filter(|line| !line.is_empty());
        let data = lines.map(|line| line.strip_prefix("data: ").unwrap());
        data.map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }

    /// The status and the code of an error, which must have the form of ACP.
    pub(crate) fn refused(&self) -> (u16, String) {
        assert!(!self.status.is_success(), "{self:?}");
        let error = self.json();
        assert!(!error["message"].as_str().unwrap().is_empty(), "{error}");
        let code = error["code"].as_str().unwrap().to_owned();
        (self.status.as_u16(), code)
    }
}

/// The types of events.
pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect()
}

/// The texts of all parts of the output of a run.
pub(crate) fn texts(run: &Value) -> Vec<&str> {
    let messages = run["output"].as_array().unwrap().iter();
    let parts = messages.flat_map(|message| message["parts"].as_array().unwrap());
    parts.filter_map(|part| part["content"].as_str()).collect()
}
