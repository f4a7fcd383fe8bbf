//! Several agents behind one server, each under its tenant.

use std::sync::Arc;

use a2a::error::Error;
use a2a::server::{Agent, Failure, Server, Turn};
use a2a::service::{Call, Service, Tenant};
use a2a::types::{AgentCard, Answer, GetTaskRequest, SendMessageRequest, Task, TaskId};
use access::Principal;
use futures_core::future::BoxFuture;

use super::support::{Script, Scripted, config, in_memory, message};

/// One agent without a tenant, and one under a tenant of its own.
struct Two {
    usual: Arc<Script>,
    scout: Arc<Script>,
}

impl Agent for Two {
    fn answer(&self, turn: Turn) -> BoxFuture<'static, Result<(), Failure>> {
        Scripted(self.usual.clone()).answer(turn)
    }

    fn ended(&self, task: &TaskId) {
        Scripted(self.usual.clone()).ended(task);
    }

    fn tenant(&self, name: &str) -> Option<Arc<dyn Agent>> {
        (name == "scout").then(|| Arc::new(Scripted(self.scout.clone())) as Arc<dyn Agent>)
    }
}

async fn send(service: &dyn Service, tenant: &str, text: &str) -> Result<Task, Error> {
    let request = SendMessageRequest {
        tenant: tenant.to_owned(),
        message: Some(message(text)),
        ..SendMessageRequest::default()
    };
    let call = Call::by(Principal::anonymous());
    match service.send_message(call, request).await?.payload {
        Answer::Task(task) => Ok(task),
        other => panic!("{other:?} is no task"),
    }
}

#[tokio::test]
async fn each_tenant_is_answered_by_its_own_agent() {
    let (usual, scout) = (Script::new(), Script::new());
    let two = Arc::new(Two {
        usual: usual.clone(),
        scout: scout.clone(),
    });
    let server = Server::start(config(), two, in_memory()).await.unwrap();
    let card = AgentCard {
        name: "scout".to_owned(),
        ..AgentCard::default()
    };
    let alone = Tenant::new(Arc::new(server.clone()), "scout", card);
    assert_eq!(alone.card().name, "scout");

    let first = send(&server, "", "working done").await.unwrap();
    let second = send(&server, "scout", "working label: done").await.unwrap();
    let third = send(&alone, "", "label:far working done").await.unwrap();
    assert!(third.context_id.starts_with("far"), "{}", third.context_id);
    let ended = |script: &Script| script.ended.lock().unwrap().clone();
    assert_eq!(ended(&usual), std::slice::from_ref(&first.id));
    assert_eq!(ended(&scout), [second.id, third.id.clone()]);

    let get = |id: &str, tenant: &str| {
        let request = GetTaskRequest {
            id: id.to_owned(),
            tenant: tenant.to_owned(),
            ..GetTaskRequest::default()
        };
        alone.get_task(Call::by(Principal::anonymous()), request)
    };
    assert_eq!(get(&third.id, "").await.unwrap().id, third.id);
    assert!(matches!(
        get(&first.id, "").await,
        Err(Error::TaskNotFound(_))
    ));
    let elsewhere = get(&third.id, "somebody").await;
    assert!(matches!(elsewhere, Err(Error::InvalidParams { .. })));
    server.stop().await;
}
