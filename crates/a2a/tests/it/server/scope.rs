//! Callers and tenants see their own.

use a2a::error::Error;
use a2a::event::Format;
use a2a::operation::{self, Input};
use a2a::types::*;
use bytes::Bytes;

use super::support::{Bench, Script, config, follow_up, in_memory, message};

#[tokio::test]
async fn what_is_not_the_callers_is_not_there() {
    let bench = Bench::start().await;
    let (ada, bob) = (bench.by("ada", ""), bench.by("bob", ""));
    let hers = ada.task("ask:?").await;
    assert!(matches!(
        bob.get(&hers.id).await,
        Err(Error::TaskNotFound(_))
    ));
    assert!(matches!(
        bob.cancel(&hers.id).await,
        Err(Error::TaskNotFound(_))
    ));
    assert!(matches!(
        bob.subscribe(&hers.id, None).await,
        Err(Error::TaskNotFound(_))
    ));
    assert!(matches!(
        bob.subscribe(&hers.id, Some(0)).await,
        Err(Error::TaskNotFound(_))
    ));
    let refused = bob.send(bob.request(follow_up(&hers, "done"))).await;
    assert!(matches!(refused, Err(Error::TaskNotFound(_))));
    assert_eq!(bob.list(ListTasksRequest::default()).await.total_size, 0);
    assert_eq!(ada.list(ListTasksRequest::default()).await.total_size, 1);
    let hook = TaskPushNotificationConfig {
        task_id: hers.id.clone(),
        url: "http://127.0.0.1:1/".to_owned(),
        ..TaskPushNotificationConfig::default()
    };
    let refused = a2a::Service::create_push_config(&bench.server, bob.call(), hook).await;
    assert!(matches!(refused, Err(Error::TaskNotFound(_))));
}

#[tokio::test]
async fn tenants_are_apart() {
    let bench = Bench::start().await;
    let acme = bench.by("ada", "acme");
    let theirs = acme.task("done").await;
    assert!(bench.by("ada", "other").get(&theirs.id).await.is_err());
    assert!(bench.by("ada", "").get(&theirs.id).await.is_err());
    assert!(acme.get(&theirs.id).await.is_ok());
    // No name of a caller can reach into a tenant.
    assert!(bench.by("ada\nacme", "").get(&theirs.id).await.is_err());
}

#[tokio::test]
async fn what_the_card_does_not_offer_is_not_served() {
    let mut config = config();
    config.card.capabilities = None;
    let bench = Bench::with(config, in_memory(), Script::new()).await;
    for row in operation::TABLE {
        let input = Input {
            format: Format::Json,
            body: Bytes::from_static(b"{}"),
            fields: Vec::new(),
        };
        let error = row
            .perform(&bench.server, bench.call(), input)
            .await
            .map(drop)
            .map_err(|error| error.code().json_rpc);
        let expected = match row.needs {
            operation::Need::Nothing if row.name == "ListTasks" => Ok(()),
            operation::Need::Nothing => Err(-32602),
            operation::Need::Push => Err(-32003),
            operation::Need::Streaming | operation::Need::ExtendedCard => Err(-32004),
        };
        assert_eq!(error, expected, "{}", row.name);
    }
    let mut request = bench.request(message("done"));
    request
        .configuration
        .get_or_insert_default()
        .task_push_notification_config = Some(TaskPushNotificationConfig::default());
    assert!(matches!(
        bench.send(request).await,
        Err(Error::PushNotificationNotSupported)
    ));
}

#[tokio::test]
async fn a_required_extension_must_be_declared() {
    let mut config = config();
    config
        .card
        .capabilities
        .get_or_insert_default()
        .extensions
        .push(AgentExtension {
            uri: "urn:x".to_owned(),
            required: true,
            ..AgentExtension::default()
        });
    let bench = Bench::with(config, in_memory(), Script::new()).await;
    let row = operation::named("ListTasks").unwrap();
    let input = Input {
        format: Format::Json,
        body: Bytes::new(),
        fields: Vec::new(),
    };
    let refused = row
        .perform(&bench.server, bench.call(), input.clone())
        .await;
    assert!(matches!(refused, Err(Error::ExtensionSupportRequired(_))));
    let mut call = bench.call();
    call.extensions.push("urn:x".to_owned());
    assert!(row.perform(&bench.server, call, input).await.is_ok());
}
