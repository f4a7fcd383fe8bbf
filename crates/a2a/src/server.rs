//! The task server: an agent behind the operations, on a journal.
//!
//! Layout, in the order a message takes:
//! - `send`: the message is checked and handed to a run
//! - `replay`: a message that came before gets the answer of the first time
//! - `run`: the life of a task while somebody works on it; `live` finds it
//! - `agent`, `turn`: what answers, and what it sees
//! - `journal`: how tasks lie in the store; [`fold`](crate::fold) makes a task of its events again
//! - `subscribe`, `tasks`, `push`: who wants to know
//! - `upkeep`: what a dead process left behind, and what has become old

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use access::{Principal, Refusal};
use store::Store;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::error::Error;
use crate::event::EventStream;
use crate::limits::Limits;
use crate::service::{Answering, Call, Service};
use crate::types::*;
use crate::v0_3;
use crate::webhook::Dialect;

mod agent;
mod id;
mod journal;
mod live;
mod push;
mod replay;
mod run;
mod send;
mod subscribe;
mod tasks;
mod turn;
mod upkeep;

pub use crate::event::Chunk;
pub use crate::service::REPEATABLE;
pub use agent::{AfterRestart, Agent, Failure};
pub use journal::TABLES;
pub use push::{DeadWebhook, Reach};
pub use subscribe::{COMPACTED, Interrupted};
pub use turn::{Over, Turn};

/// What a server is made of, besides its agent and its store.
#[derive(Clone, Debug)]
pub struct Config {
    /// The public card. Its capabilities decide what is offered.
    pub card: AgentCard,
    /// The card for those who may call, if there is one.
    pub extended_card: Option<AgentCard>,
    /// What context ids begin with: a word that tells whose they are.
    pub label: String,
    /// The numbers.
    pub limits: Limits,
    /// When a stream ends besides when its task does.
    pub interrupted: Interrupted,
    /// Whom webhooks may reach.
    pub push_targets: Reach,
    /// Makes the connections to webhooks.
    #[cfg(feature = "http")]
    pub dialer: dial::Dialer,
    /// Other ways in which webhooks are told, for callers who name them.
    pub dialects: Vec<&'static Dialect>,
}

impl Config {
    /// The defaults, with this card, which is told what every task server can do.
    pub fn new(mut card: AgentCard) -> Self {
        let known = &mut card.capabilities.get_or_insert_default().extensions;
        if !known.iter().any(|extension| extension.uri == REPEATABLE) {
            known.push(AgentExtension {
                uri: REPEATABLE.to_owned(),
                description: "A message that is sent again gets the answer of the first time."
                    .to_owned(),
                ..AgentExtension::default()
            });
        }
        Self {
            card,
            extended_card: None,
            label: "agent".to_owned(),
            limits: Limits::default(),
            interrupted: Interrupted::EndsForInput,
            push_targets: Reach::Public,
            #[cfg(feature = "http")]
            dialer: dial::Dialer::default(),
            dialects: vec![&v0_3::WEBHOOK],
        }
    }
}

/// A task server. Clones are the same server.
#[derive(Clone)]
pub struct Server {
    inner: Arc<Inner>,
}

struct Inner {
    agent: Arc<dyn Agent>,
    store: Store,
    card: AgentCard,
    extended_card: Option<AgentCard>,
    /// The media types the card says the agent understands.
    input_modes: Vec<String>,
    label: String,
    limits: Limits,
    interrupted: Interrupted,
    live: live::Live,
    replay: replay::Replay,
    push: push::Push,
    places: Arc<Semaphore>,
    runs: TaskTracker,
    /// Streams end, and calls that wait are answered.
    stopping: CancellationToken,
    /// Runs end, wherever they are.
    halted: CancellationToken,
}

impl Server {
    /// Takes up what is in the store: tasks that a dead process left behind go on or end, webhooks
    /// get what they have not got.
    pub async fn start(
        config: Config,
        agent: Arc<dyn Agent>,
        store: Store,
    ) -> Result<Self, store::Error> {
        let skills = config
            .card
            .skills
            .iter()
            .flat_map(|skill| &skill.input_modes);
        let input_modes = config
            .card
            .default_input_modes
            .iter()
            .chain(skills)
            .cloned()
            .collect();
        let push = push::Push::new(&config);
        let inner = Arc::new(Inner {
            agent,
            replay: replay::Replay::open(&store, &config.limits).await?,
            store,
            input_modes,
            card: config.card,
            extended_card: config.extended_card,
            label: config.label,
            interrupted: config.interrupted,
            live: live::Live::default(),
            push,
            places: Arc::new(Semaphore::new(
                config.limits.max_running.min(Semaphore::MAX_PERMITS),
            )),
            limits: config.limits,
            runs: TaskTracker::new(),
            stopping: CancellationToken::new(),
            halted: CancellationToken::new(),
        });
        inner.recover().await?;
        inner.runs.spawn(upkeep::tidy(inner.clone()));
        Ok(Self { inner })
    }

    /// The numbers it works by.
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// Makes room now rather than at the next turn: compacts and forgets what is due.
    pub async fn tidy(&self) -> Result<(), store::Error> {
        while self.inner.sweep().await? {}
        Ok(())
    }

    /// Has the agent take up a task that waits, though nobody has said anything: what it waits for will not come, or is
    /// there already. One that is being worked on is taken up once more after that, and one that has ended is left alone.
    pub async fn resume(&self, task: &TaskId) -> Result<(), Error> {
        self.inner.resume(task).await
    }

    /// Ends streams and calls that wait, so that connections can close. Tasks go on.
    pub fn drain(&self) {
        self.inner.stopping.cancel();
    }

    /// Ends all work: no task is alive when this returns. What was being worked on is found by the next start. Agents
    /// may still write.
    pub async fn halt(&self) {
        self.drain();
        self.inner.halted.cancel();
        self.inner.push.stop().await;
        self.inner.runs.close();
        self.inner.runs.wait().await;
    }

    /// The same, and closes the store.
    pub async fn stop(&self) {
        self.halt().await;
        self.inner.store.close().await;
    }
}

impl Inner {
    /// Who answers in a scope.
    fn agent_of(&self, scope: &journal::Scope) -> Arc<dyn Agent> {
        let other = self.agent.tenant(scope.tenant());
        other.unwrap_or_else(|| Arc::clone(&self.agent))
    }

    #[expect(clippy::unused_self, reason = "the clock belongs to the server")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// A place among those that are worked on.
    fn place(&self) -> Result<OwnedSemaphorePermit, Error> {
        let full = || {
            Error::Unavailable(format!(
                "{} tasks are being worked on",
                self.limits.max_running
            ))
        };
        self.places.clone().try_acquire_owned().map_err(|_| full())
    }

    fn offers_push(&self) -> bool {
        let capabilities = self.card.capabilities.as_ref();
        cfg!(feature = "http") && capabilities.and_then(|it| it.push_notifications) == Some(true)
    }

    /// The card for callers who are known, where they can be.
    async fn extended(self: Arc<Self>, caller: Principal) -> Result<AgentCard, Error> {
        if caller.is_anonymous() && !self.card.security_schemes.is_empty() {
            return Err(Refusal::anonymous().into());
        }
        self.extended_card
            .clone()
            .ok_or(Error::ExtendedAgentCardNotConfigured)
    }

    async fn subscribe(
        self: Arc<Self>,
        call: Call,
        request: SubscribeToTaskRequest,
    ) -> Result<EventStream, Error> {
        let scope = journal::Scope::new(&call.caller, &request.tenant);
        match call.cursor {
            Some(cursor) => {
                self.resume_stream(scope, request.id.into(), cursor, None)
                    .await
            }
            None => self.live_stream(scope, request.id.into()).await,
        }
    }
}

#[rustfmt::skip]
impl Service for Server {
    fn card(&self) -> &AgentCard { &self.inner.card }
    fn send_message(&self, call: Call, request: SendMessageRequest) -> Answering<SendMessageResponse> { Box::pin(self.inner.clone().send(call, request.into())) }
    fn send_streaming_message(&self, call: Call, request: SendMessageRequest) -> Answering<EventStream> { Box::pin(self.inner.clone().send_streaming(call, request.into())) }
    fn get_task(&self, call: Call, request: GetTaskRequest) -> Answering<Task> { Box::pin(self.inner.clone().get(call, request)) }
    fn list_tasks(&self, call: Call, request: ListTasksRequest) -> Answering<ListTasksResponse> { Box::pin(self.inner.clone().list(call, request)) }
    fn cancel_task(&self, call: Call, request: CancelTaskRequest) -> Answering<Task> { Box::pin(self.inner.clone().cancel(call, request)) }
    fn subscribe_to_task(&self, call: Call, request: SubscribeToTaskRequest) -> Answering<EventStream> { Box::pin(self.inner.clone().subscribe(call, request)) }
    fn create_push_config(&self, call: Call, request: TaskPushNotificationConfig) -> Answering<TaskPushNotificationConfig> { Box::pin(self.inner.clone().create_push(call, request)) }
    fn get_push_config(&self, call: Call, request: GetTaskPushNotificationConfigRequest) -> Answering<TaskPushNotificationConfig> { Box::pin(self.inner.clone().get_push(call, request)) }
    fn list_push_configs(&self, call: Call, request: ListTaskPushNotificationConfigsRequest) -> Answering<ListTaskPushNotificationConfigsResponse> { Box::pin(self.inner.clone().list_push(call, request)) }
    fn delete_push_config(&self, call: Call, request: DeleteTaskPushNotificationConfigRequest) -> Answering<Empty> { Box::pin(self.inner.clone().delete_push(call, request)) }
    fn get_extended_card(&self, call: Call, _: GetExtendedAgentCardRequest) -> Answering<AgentCard> { Box::pin(self.inner.clone().extended(call.caller)) }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.inner.card.name)
            .finish_non_exhaustive()
    }
}
