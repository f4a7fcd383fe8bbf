//! The task server: an agent behind the operations, on a journal.
//!
//! Layout, in the order a message takes:
//! - `send`: checks the message and hands it to a run
//! - `replay`: gives a repeated message the answer of the first time, where the caller asked for that
//! - `run`: drives one task while its agent works; `live` finds the run of a task
//! - `agent`, `turn`: the trait that an agent implements, and its view of one message
//! - `journal`: rows and streams of tasks in the store; `fold` makes a task of its events
//! - `subscribe`, `tasks`, `push`: streams, lists and webhooks
//! - `stats`: what the server has done, in numbers
//! - `upkeep`: recovery after a restart, compaction and deletion of old tasks

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use access::Principal;
use access::budget::Budgets;
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
mod expiry;
mod id;
mod journal;
mod live;
mod push;
mod replay;
mod run;
mod send;
mod stats;
mod subscribe;
mod tasks;
mod turn;
mod upkeep;

pub use crate::event::Chunk;
pub use crate::service::REPEATABLE;
pub use agent::{AfterRestart, Agent, Failure};
pub use expiry::end_of_credentials;
pub use journal::TABLES;
pub use push::{DeadWebhook, Reach};
pub use stats::{Stats, WebhookStats};
pub use subscribe::{COMPACTED, Interrupted};
pub use turn::{Over, Turn};

/// The settings of a task server; its agent and its store come beside them.
#[derive(Clone, Debug)]
pub struct Config {
    /// The public card. Its capabilities decide what is offered.
    pub card: AgentCard,
    /// The card for authenticated callers, if there is one.
    pub extended_card: Option<AgentCard>,
    /// The prefix of context ids that the server makes, usually the name of the agent.
    pub label: String,
    pub limits: Limits,
    /// What turns of agents may use.
    pub budgets: Budgets,
    /// Whether a stream ends when its task waits for input, and not only when the task ends.
    pub interrupted: Interrupted,
    /// The addresses that webhooks may have.
    pub push_targets: Reach,
    /// Makes the connections to webhooks.
    #[cfg(feature = "http")]
    pub dialer: dial::Dialer,
    /// Other forms of deliveries, for webhooks registered with their name.
    pub dialects: Vec<&'static Dialect>,
}

impl Config {
    /// The defaults, with this card; the extensions that every task server has are added to it.
    pub fn new(mut card: AgentCard) -> Self {
        let known = &mut card.capabilities.get_or_insert_default().extensions;
        if !known.iter().any(|extension| extension.uri == REPEATABLE) {
            known.push(AgentExtension {
                uri: REPEATABLE.to_owned(),
                description: "A message that is sent again gets the answer of the first time; so does a send \
                              with the header Idempotency-Key, also without this extension."
                    .to_owned(),
                ..AgentExtension::default()
            });
        }
        Self {
            card,
            extended_card: None,
            label: "agent".to_owned(),
            limits: Limits::default(),
            budgets: Budgets::default(),
            interrupted: Interrupted::EndsForInput,
            push_targets: Reach::Public,
            #[cfg(feature = "http")]
            dialer: dial::Dialer::default(),
            dialects: vec![&v0_3::WEBHOOK],
        }
    }
}

/// A task server: implements [`Service`] for one agent, on one store. Clones are the same server.
///
/// It owns the store's tables of tasks, the runs of tasks that an agent works on, the table of sends that may be
/// repeated, and the workers of webhooks. It owns no socket: bindings call it through [`Service`].
///
/// The order of a start matters. [`start`](Self::start) first loads the sends (a client that repeats a message right
/// after a restart must not cause it twice), then fails or resumes the tasks that were being worked on when the last
/// process ended, and only then returns: no call can see a task that looks alive and has no run. Webhooks are taken
/// up last, since they follow tasks.
///
/// The order of a stop matters as well. [`drain`](Self::drain) ends streams and waiting calls, so that connections can
/// close while tasks go on; [`halt`](Self::halt) then drops all runs wherever they are. That is safe because a run
/// acknowledges nothing before its commit: what was not committed has not happened, and the next start finds the rest
/// in the table of running tasks. [`stop`](Self::stop) also closes the store.
///
/// There is no lock around a task. Each task has at most one run, which is the only writer of its stream; reads
/// go to the journal and see committed state. A cache of tasks beside the journal would be a second truth.
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
    budgets: Budgets,
    counters: stats::Counters,
    interrupted: Interrupted,
    live: live::Live,
    replay: replay::Replay,
    push: push::Push,
    places: Arc<Semaphore>,
    runs: TaskTracker,
    /// Cancelled by [`Server::drain`]: streams end, and waiting calls are answered.
    stopping: CancellationToken,
    /// Cancelled by [`Server::halt`]: runs are dropped at their next await.
    halted: CancellationToken,
}

impl Server {
    /// Starts on what the store holds: tasks that were interrupted by the end of the last process are resumed or
    /// failed, and webhooks get the events that they lack.
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
            budgets: config.budgets,
            counters: stats::Counters::default(),
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

    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// Compacts and deletes now what is due, instead of within the next minute.
    pub async fn tidy(&self) -> Result<(), store::Error> {
        while self.inner.sweep().await? {}
        Ok(())
    }

    /// Calls the agent again for a task that waits, without a new message: for when the answer is known from elsewhere, or
    /// will not come. For a task that is being worked on the agent is called once more after its turn; a task that has
    /// ended is left alone.
    pub async fn resume(&self, task: &TaskId) -> Result<(), Error> {
        self.inner.resume(task).await
    }

    /// The caller of a task, with the permissions and scopes that it had when it sent its last message: for what is done
    /// in its name without it.
    pub async fn caller_of(&self, task: &TaskId) -> Result<Principal, Error> {
        self.inner.caller_of(task).await
    }

    /// Ends streams, so that connections can close. Calls that wait for a task have [`Limits::stop_grace`] left. Tasks go
    /// on.
    pub fn drain(&self) {
        self.inner.stopping.cancel();
    }

    /// Ends all work: no run is left when this returns. The next start finds the tasks that were being worked on. Agents
    /// may still write to the store.
    pub async fn halt(&self) {
        self.drain();
        self.inner.halted.cancel();
        self.inner.push.stop().await;
        self.inner.runs.close();
        self.inner.runs.wait().await;
    }

    /// [`halt`](Self::halt), and closes the store.
    pub async fn stop(&self) {
        self.halt().await;
        self.inner.store.close().await;
    }
}

impl Inner {
    /// The agent that answers in a scope: that of its tenant, or the server's own.
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

    /// A permit to have an agent work; refused while as many tasks as the limit allows are being worked on.
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

    async fn extended(self: Arc<Self>, _: Call) -> Result<AgentCard, Error> {
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
        let events = match call.cursor {
            Some(cursor) => {
                self.resume_stream(scope, request.id.into(), cursor, None)
                    .await
            }
            None => self.live_stream(scope, request.id.into()).await,
        };
        Ok(expiry::until_expiry(&call.caller, events?))
    }
}

/// A method of the service: the work, which ends early when its caller is revoked.
macro_rules! answered {
    ($server:ident.$work:ident($call:ident $(, $request:expr)?)) => {{
        let caller = $call.caller.clone();
        expiry::unless_revoked(&caller, $server.inner.clone().$work($call $(, $request)?))
    }};
}

#[rustfmt::skip]
impl Service for Server {
    fn card(&self) -> &AgentCard { &self.inner.card }
    fn send_message(&self, call: Call, request: SendMessageRequest) -> Answering<SendMessageResponse> { answered!(self.send(call, request.into())) }
    fn send_streaming_message(&self, call: Call, request: SendMessageRequest) -> Answering<EventStream> { answered!(self.send_streaming(call, request.into())) }
    fn get_task(&self, call: Call, request: GetTaskRequest) -> Answering<Task> { answered!(self.get(call, request)) }
    fn list_tasks(&self, call: Call, request: ListTasksRequest) -> Answering<ListTasksResponse> { answered!(self.list(call, request)) }
    fn cancel_task(&self, call: Call, request: CancelTaskRequest) -> Answering<Task> { answered!(self.cancel(call, request)) }
    fn subscribe_to_task(&self, call: Call, request: SubscribeToTaskRequest) -> Answering<EventStream> { answered!(self.subscribe(call, request)) }
    fn create_push_config(&self, call: Call, request: TaskPushNotificationConfig) -> Answering<TaskPushNotificationConfig> { answered!(self.create_push(call, request)) }
    fn get_push_config(&self, call: Call, request: GetTaskPushNotificationConfigRequest) -> Answering<TaskPushNotificationConfig> { answered!(self.get_push(call, request)) }
    fn list_push_configs(&self, call: Call, request: ListTaskPushNotificationConfigsRequest) -> Answering<ListTaskPushNotificationConfigsResponse> { answered!(self.list_push(call, request)) }
    fn delete_push_config(&self, call: Call, request: DeleteTaskPushNotificationConfigRequest) -> Answering<Empty> { answered!(self.delete_push(call, request)) }
    fn get_extended_card(&self, call: Call, _: GetExtendedAgentCardRequest) -> Answering<AgentCard> { answered!(self.extended(call)) }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.inner.card.name)
            .finish_non_exhaustive()
    }
}
