//! One agent of several, served as if it were alone: calls here need not name its tenant.

use std::sync::Arc;

use super::{Answering, Call, Service};
use crate::error::Error;
use crate::event::EventStream;
use crate::types::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, Empty,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    ListTasksRequest, ListTasksResponse, SendMessageRequest, SendMessageResponse,
    SubscribeToTaskRequest, Task, TaskPushNotificationConfig,
};

/// A service under one tenant.
pub struct Tenant {
    service: Arc<dyn Service>,
    name: String,
    card: AgentCard,
    extended_card: Option<AgentCard>,
}

impl Tenant {
    /// Passes all calls on to a service under this tenant, with the card of that tenant.
    pub fn new(service: Arc<dyn Service>, name: impl Into<String>, card: AgentCard) -> Self {
        let name = name.into();
        Self {
            service,
            name,
            card,
            extended_card: None,
        }
    }

    /// The same with an extended card.
    #[must_use]
    pub fn extended_card(mut self, card: Option<AgentCard>) -> Self {
        self.extended_card = card;
        self
    }

    /// Fills in the tenant. A call that names another one is refused.
    fn claim(&self, tenant: &mut String) -> Result<(), Error> {
        if tenant.is_empty() {
            tenant.clone_from(&self.name);
        }
        if *tenant == self.name {
            return Ok(());
        }
        let why = format!("{tenant:?} is not the agent at this address");
        Err(Error::invalid_field("tenant", why))
    }
}

impl std::fmt::Debug for Tenant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Tenant").field(&self.name).finish()
    }
}

/// Methods that pass on what they are asked, under the tenant.
macro_rules! under_the_tenant {
    ($($method:ident($request:ty) -> $reply:ty;)*) => {
        $(fn $method(&self, call: Call, mut request: $request) -> Answering<$reply> {
            match self.claim(&mut request.tenant) {
                Ok(()) => self.service.$method(call, request),
                Err(error) => Box::pin(std::future::ready(Err(error))),
            }
        })*
    };
}

impl Service for Tenant {
    fn card(&self) -> &AgentCard {
        &self.card
    }

    under_the_tenant! {
        send_message(SendMessageRequest) -> SendMessageResponse;
        send_streaming_message(SendMessageRequest) -> EventStream;
        get_task(GetTaskRequest) -> Task;
        list_tasks(ListTasksRequest) -> ListTasksResponse;
        cancel_task(CancelTaskRequest) -> Task;
        subscribe_to_task(SubscribeToTaskRequest) -> EventStream;
        create_push_config(TaskPushNotificationConfig) -> TaskPushNotificationConfig;
        get_push_config(GetTaskPushNotificationConfigRequest) -> TaskPushNotificationConfig;
        list_push_configs(ListTaskPushNotificationConfigsRequest) -> ListTaskPushNotificationConfigsResponse;
        delete_push_config(DeleteTaskPushNotificationConfigRequest) -> Empty;
    }

    fn get_extended_card(
        &self,
        _: Call,
        mut request: GetExtendedAgentCardRequest,
    ) -> Answering<AgentCard> {
        let found = self.claim(&mut request.tenant).and_then(|()| {
            let card = self.extended_card.clone();
            card.ok_or(Error::ExtendedAgentCardNotConfigured)
        });
        Box::pin(std::future::ready(found))
    }
}
