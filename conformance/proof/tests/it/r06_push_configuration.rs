//! r6: webhooks of a task are added, shown, listed and removed, and they are told what happens.

use a2a::types::{
    DeleteTaskPushNotificationConfigRequest, GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest, TaskPushNotificationConfig,
};
use proof::{Wire, World};

use crate::receiver::Receiver;
use crate::support::{begin, task};

on_every_binding!(webhooks_are_configured_and_told);

async fn webhooks_are_configured_and_told(wire: Wire) {
    let world = World::start().await;
    let client = world.client(wire);
    let mut receiver = Receiver::open().await;
    let begun = task(&client, begin("work, wait, done")).await;
    let config = |id: &str| TaskPushNotificationConfig {
        task_id: begun.id.clone(),
        id: id.to_owned(),
        url: receiver.url.clone(),
        token: format!("token of {id}"),
        ..TaskPushNotificationConfig::default()
    };
    for id in ["kept", "removed"] {
        let made = client.create_push_config(config(id)).await.unwrap();
        assert_eq!(made, config(id), "{wire}");
    }
    let list = || async {
        let request = ListTaskPushNotificationConfigsRequest {
            task_id: begun.id.clone(),
            ..ListTaskPushNotificationConfigsRequest::default()
        };
        let listed = client.list_push_configs(request).await.unwrap();
        listed
            .configs
            .into_iter()
            .map(|config| config.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(list().await, ["kept", "removed"], "{wire}");
    let delete = DeleteTaskPushNotificationConfigRequest {
        task_id: begun.id.clone(),
        id: "removed".to_owned(),
        ..DeleteTaskPushNotificationConfigRequest::default()
    };
    client.delete_push_config(delete).await.unwrap();
    assert_eq!(list().await, ["kept"], "{wire}");
    let get = |id: &str| {
        client.get_push_config(GetTaskPushNotificationConfigRequest {
            task_id: begun.id.clone(),
            id: id.to_owned(),
            ..GetTaskPushNotificationConfigRequest::default()
        })
    };
    assert_eq!(get("kept").await.unwrap(), config("kept"), "{wire}");
    assert!(get("removed").await.is_err(), "{wire}");

    world.settle(&begun.id).await;
    assert!(world.gates.open(&begun.id), "{wire}");
    let states = receiver.states("token of kept").await;
    assert_eq!(states.last().unwrap(), "COMPLETED", "{wire}");
}
