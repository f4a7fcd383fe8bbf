//! A task server with an agent, and the caller of a test.

use std::sync::Arc;

use a2a::Error;
use a2a::event::EventStream;
use a2a::server::{Agent, Config, Server};
use a2a::service::{Call, Service as _};
use a2a::types::{
    Answer, CancelTaskRequest, GetTaskRequest, ListTasksRequest, ListTasksResponse, Message,
    SendMessageConfiguration, SendMessageRequest, SubscribeToTaskRequest, Task, TaskState,
};
use access::Principal;
use serde_json::Value;
use skill::extension;
use store::Store;

use crate::read::state;

/// A running task server with one agent, and the caller on whose behalf the methods call it. Clones, and kits made by
/// [`by`](Self::by), use the same server.
#[derive(Clone, Debug)]
pub struct Kit {
    pub server: Server,
    caller: Principal,
    tenant: String,
}

impl Kit {
    /// Starts a server. The caller is anonymous until [`by`](Self::by) says otherwise.
    pub async fn start(config: Config, agent: Arc<dyn Agent>, store: Store) -> Self {
        let server = Server::start(config, agent, store).await.unwrap();
        Self::of(server)
    }

    /// A kit for a server that runs already.
    pub fn of(server: Server) -> Self {
        Self {
            server,
            caller: Principal::anonymous(),
            tenant: String::new(),
        }
    }

    /// The same server, called by the user of this name.
    pub fn by(&self, caller: &str) -> Self {
        Self {
            caller: Principal::named(caller),
            ..self.clone()
        }
    }

    /// The same server, called by this principal with what it may do.
    pub fn by_principal(&self, caller: &Principal) -> Self {
        Self {
            caller: caller.clone(),
            ..self.clone()
        }
    }

    /// The same, with a tenant in every request.
    pub fn in_tenant(&self, tenant: &str) -> Self {
        Self {
            tenant: tenant.to_owned(),
            ..self.clone()
        }
    }

    /// The call context of this caller.
    pub fn context(&self) -> Call {
        Call::by(self.caller.clone()).repeatable()
    }

    /// A request of this caller with a message.
    pub fn request(&self, message: Message) -> SendMessageRequest {
        SendMessageRequest {
            tenant: self.tenant.clone(),
            ..message.into()
        }
    }

    /// Sends a message and waits until its task is at rest.
    pub async fn send(&self, request: impl Into<SendMessageRequest>) -> Result<Answer, Error> {
        let sent = self.server.send_message(self.context(), request.into());
        Ok(sent.await?.payload)
    }

    /// The same for a message that must lead to a task.
    pub async fn send_for_task(&self, request: impl Into<SendMessageRequest>) -> Task {
        task_of(self.send(request).await.unwrap())
    }

    /// Sends a message and returns its task as soon as it is recorded.
    pub async fn send_at_once(&self, request: impl Into<SendMessageRequest>) -> Task {
        let mut request = request.into();
        request.configuration = Some(at_once());
        self.send_for_task(request).await
    }

    /// Calls a skill and waits until its task is at rest.
    pub async fn call(&self, skill: &str, input: Value) -> Result<Task, Error> {
        let message = extension::call(fresh_id(), skill, input);
        Ok(task_of(self.send(self.request(message)).await?))
    }

    /// Calls a skill and returns its task as soon as it is recorded.
    pub async fn begin(&self, skill: &str, input: Value) -> Task {
        let message = extension::call(fresh_id(), skill, input);
        self.send_at_once(self.request(message)).await
    }

    /// Answers the open question of a task, or declines it (`None`), and waits until the task is at rest.
    pub async fn answer(&self, task: &Task, answer: Option<Value>) -> Task {
        let message = extension::answer(fresh_id(), task, answer);
        self.send_for_task(self.request(message)).await
    }

    /// Sends a text to a task and waits until the task is at rest.
    pub async fn say(&self, task: &Task, text: &str) -> Task {
        let message = Message {
            task_id: task.id.clone(),
            ..Message::user(fresh_id(), text)
        };
        self.send_for_task(self.request(message)).await
    }

    /// Sends a message and returns the events that follow.
    pub async fn stream(
        &self,
        request: impl Into<SendMessageRequest>,
    ) -> Result<EventStream, Error> {
        let request = request.into();
        self.server
            .send_streaming_message(self.context(), request)
            .await
    }

    /// The events of a task, after this cursor if one is given.
    pub async fn subscribe(&self, id: &str, cursor: Option<u64>) -> Result<EventStream, Error> {
        let request = SubscribeToTaskRequest {
            id: id.to_owned(),
            tenant: self.tenant.clone(),
        };
        let call = Call {
            cursor,
            ..self.context()
        };
        self.server.subscribe_to_task(call, request).await
    }

    pub async fn get(&self, id: &str) -> Result<Task, Error> {
        let request = GetTaskRequest {
            id: id.to_owned(),
            tenant: self.tenant.clone(),
            ..GetTaskRequest::default()
        };
        self.server.get_task(self.context(), request).await
    }

    /// A task that must exist.
    pub async fn load(&self, id: &str) -> Task {
        self.get(id).await.unwrap()
    }

    pub async fn cancel(&self, id: &str) -> Result<Task, Error> {
        let request = CancelTaskRequest {
            id: id.to_owned(),
            tenant: self.tenant.clone(),
            ..CancelTaskRequest::default()
        };
        self.server.cancel_task(self.context(), request).await
    }

    pub async fn list(&self, request: ListTasksRequest) -> ListTasksResponse {
        let listed = self.server.list_tasks(self.context(), request).await;
        listed.unwrap()
    }

    /// All tasks of the caller, last changed first.
    pub async fn all(&self) -> Vec<Task> {
        self.list(ListTasksRequest::default()).await.tasks
    }

    /// Waits until the caller has a task, and returns it.
    pub async fn first(&self) -> Task {
        loop {
            if let Some(task) = self.all().await.into_iter().next() {
                return task;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Waits until a task is as wanted. Waits for events, without a time limit.
    pub async fn until(&self, id: &str, wanted: impl Fn(&Task) -> bool) -> Task {
        let mut task = self.load(id).await;
        while !wanted(&task) {
            task = self.changed(&task).await;
        }
        task
    }

    /// Waits until a task is in this state.
    pub async fn until_state(&self, id: &str, wanted: TaskState) -> Task {
        self.until(id, |task| state(task) == wanted).await
    }

    /// Waits for the next change of a task.
    pub async fn changed(&self, task: &Task) -> Task {
        let request = GetTaskRequest {
            id: task.id.clone(),
            tenant: self.tenant.clone(),
            current_generation: Some(task.generation),
            ..GetTaskRequest::default()
        };
        let now = self.server.get_task(self.context(), request).await;
        now.unwrap()
    }
}

/// The configuration of a request that does not wait until the task is at rest.
pub fn at_once() -> SendMessageConfiguration {
    SendMessageConfiguration {
        return_immediately: true,
        ..SendMessageConfiguration::default()
    }
}

/// An id that was not used before.
pub fn fresh_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The task of an answer that must be one.
pub fn task_of(answer: Answer) -> Task {
    match answer {
        Answer::Task(task) => task,
        other => panic!("not a task: {other:?}"),
    }
}
