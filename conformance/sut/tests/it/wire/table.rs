//! A2A 5.4, all of it: every error in the words of every binding, told by a service that fails as asked,
//! before a stream and in the middle of one.

use std::net::SocketAddr;
use std::sync::Arc;

use a2a::binding::{BindingUses, Wire, routes};
use a2a::event::{Event, EventStream};
use a2a::service::Answering;
use a2a::types::{
    self, AgentCapabilities, AgentCard, AgentExtension, Message, StreamResponse, TaskState,
};
use a2a::{Call, Error, Limits, Service};
use axum::Router;
use futures_util::stream;
use monas::listen::{Listener, Options};
use serde_json::json;

use super::caller::{BINDINGS, Binding, Caller, Failure};
use super::events::Next;

/// Fails every call with the same error; a streamed message gets one event before it.
struct Failing {
    card: AgentCard,
    error: Error,
}

/// Methods that have nothing to say but the error.
macro_rules! failing {
    ($($method:ident($request:ident) -> $reply:ty;)*) => {$(
        fn $method(&self, _: Call, _: types::$request) -> Answering<$reply> {
            Box::pin(std::future::ready(Err(self.error.clone())))
        }
    )*};
}

impl Service for Failing {
    fn card(&self) -> &AgentCard {
        &self.card
    }

    fn send_streaming_message(
        &self,
        _: Call,
        _: types::SendMessageRequest,
    ) -> Answering<EventStream> {
        let event = Arc::new(Event::new(StreamResponse::from(Message::user(
            "m", "first",
        ))));
        let events = [Ok(vec![event]), Err(self.error.clone())];
        let events: EventStream = Box::pin(stream::iter(events));
        Box::pin(std::future::ready(Ok(events)))
    }

    failing! {
        send_message(SendMessageRequest) -> types::SendMessageResponse;
        get_task(GetTaskRequest) -> types::Task;
        list_tasks(ListTasksRequest) -> types::ListTasksResponse;
        cancel_task(CancelTaskRequest) -> types::Task;
        subscribe_to_task(SubscribeToTaskRequest) -> EventStream;
        create_push_config(TaskPushNotificationConfig) -> types::TaskPushNotificationConfig;
        get_push_config(GetTaskPushNotificationConfigRequest) -> types::TaskPushNotificationConfig;
        list_push_configs(ListTaskPushNotificationConfigsRequest) -> types::ListTaskPushNotificationConfigsResponse;
        delete_push_config(DeleteTaskPushNotificationConfigRequest) -> types::Empty;
        get_extended_card(GetExtendedAgentCardRequest) -> AgentCard;
    }
}

/// A card that offers everything.
fn card() -> AgentCard {
    AgentCard {
        capabilities: Some(AgentCapabilities {
            streaming: Some(true),
            push_notifications: Some(true),
            extended_agent_card: Some(true),
            ..AgentCapabilities::default()
        }),
        ..AgentCard::default()
    }
}

/// Serves until the test's runtime ends.
async fn serve(card: AgentCard, error: Error) -> SocketAddr {
    let service = Arc::new(Failing { card, error });
    let router: Router = routes(
        &Wire::new(service, Limits::default()),
        &BindingUses::default(),
    );
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let listener = Listener::bind(any, Options::default()).await.unwrap();
    let address = listener.address();
    tokio::spawn(listener.serve(router, std::future::pending()));
    address
}

/// An error, and how JSON-RPC, gRPC and HTTP number it, and its reason.
type Row = (Error, i64, i64, i64, &'static str);

fn table() -> Vec<Row> {
    let word = || "x".to_owned();
    let cancelable = Error::TaskNotCancelable {
        task: word(),
        state: TaskState::Completed,
    };
    let generation = Error::TaskGenerationMismatch {
        task: word(),
        expected: 1,
        found: 2,
    };
    vec![
        (
            Error::TaskNotFound(word()),
            -32001,
            5,
            404,
            "TASK_NOT_FOUND",
        ),
        (cancelable, -32002, 9, 400, "TASK_NOT_CANCELABLE"),
        (
            Error::PushNotificationNotSupported,
            -32003,
            9,
            400,
            "PUSH_NOTIFICATION_NOT_SUPPORTED",
        ),
        (
            Error::UnsupportedOperation(word()),
            -32004,
            9,
            400,
            "UNSUPPORTED_OPERATION",
        ),
        (
            Error::ContentTypeNotSupported(word()),
            -32005,
            3,
            400,
            "CONTENT_TYPE_NOT_SUPPORTED",
        ),
        (
            Error::InvalidAgentResponse(word()),
            -32006,
            13,
            500,
            "INVALID_AGENT_RESPONSE",
        ),
        (
            Error::ExtendedAgentCardNotConfigured,
            -32007,
            9,
            400,
            "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
        ),
        (
            Error::ExtensionSupportRequired(word()),
            -32008,
            9,
            400,
            "EXTENSION_SUPPORT_REQUIRED",
        ),
        (
            Error::VersionNotSupported(word()),
            -32009,
            9,
            400,
            "VERSION_NOT_SUPPORTED",
        ),
        (generation, -32010, 10, 409, "TASK_GENERATION_MISMATCH"),
        (
            Error::invalid_field("id", "no"),
            -32602,
            3,
            400,
            "INVALID_PARAMS",
        ),
        (Error::Unavailable(word()), -32603, 14, 503, "UNAVAILABLE"),
        (Error::Internal(word()), -32603, 13, 500, "INTERNAL_ERROR"),
    ]
}

fn check(binding: Binding, failure: &Failure, row: &Row) {
    let (_, json_rpc, grpc, http, reason) = row;
    let code = match binding {
        Binding::JsonRpc => json_rpc,
        Binding::Rest => http,
        Binding::Grpc => grpc,
    };
    assert_eq!(
        (&failure.code, failure.reason()),
        (code, Some(*reason)),
        "{binding:?}: {failure:?}"
    );
    assert!(!failure.message.is_empty(), "{binding:?} {reason}");
}

#[tokio::test]
async fn every_error_has_its_code_and_reason_in_every_binding() {
    for row in table() {
        let address = serve(card(), row.0.clone()).await;
        for binding in BINDINGS {
            let mut caller = Caller::connect(address, binding).await;
            let failure = caller
                .call("GetTask", json!({"id": "x"}))
                .await
                .unwrap_err();
            check(binding, &failure, &row);
            let failure = caller
                .open("SubscribeToTask", json!({"id": "x"}))
                .await
                .unwrap_err();
            check(binding, &failure, &row);
        }
    }
}

#[tokio::test]
async fn an_error_after_the_first_event_ends_the_stream_as_one() {
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "go"}]});
    for row in table() {
        let address = serve(card(), row.0.clone()).await;
        for binding in BINDINGS {
            let mut caller = Caller::connect(address, binding).await;
            let request = json!({"message": message});
            let mut events = caller.open("SendStreamingMessage", request).await.unwrap();
            assert_eq!(
                events.event().await.body["message"]["messageId"],
                "m",
                "{binding:?}"
            );
            match events.next().await {
                Next::Failed(failure) => check(binding, &failure, &row),
                other => panic!("{binding:?} {}: {other:?}", row.4),
            }
        }
    }
}

#[tokio::test]
async fn a_required_extension_must_be_announced() {
    let uri = "https://example.com/required/v1";
    let mut card = card();
    card.capabilities
        .get_or_insert_default()
        .extensions
        .push(AgentExtension {
            uri: uri.to_owned(),
            required: true,
            ..AgentExtension::default()
        });
    // An accepted caller gets the error of the service.
    let address = serve(card, Error::TaskNotFound("x".to_owned())).await;
    for binding in BINDINGS {
        let mut caller = Caller::connect(address, binding).await;
        for (announced, reason) in [
            (None, "EXTENSION_SUPPORT_REQUIRED"),
            (
                Some("https://example.com/other/v1"),
                "EXTENSION_SUPPORT_REQUIRED",
            ),
            (Some(uri), "TASK_NOT_FOUND"),
            (
                Some("https://example.com/other/v1, https://example.com/required/v1"),
                "TASK_NOT_FOUND",
            ),
        ] {
            if let Some(announced) = announced {
                caller.set("a2a-extensions", announced);
            }
            let failure = caller
                .call("GetTask", json!({"id": "x"}))
                .await
                .unwrap_err();
            assert_eq!(failure.reason(), Some(reason), "{binding:?} {announced:?}");
            let failure = caller
                .open("SubscribeToTask", json!({"id": "x"}))
                .await
                .unwrap_err();
            assert_eq!(failure.reason(), Some(reason), "{binding:?} {announced:?}");
        }
    }
}

#[tokio::test]
async fn what_the_card_does_not_offer_is_refused_by_every_binding() {
    let nothing = AgentCard::default();
    let address = serve(nothing, Error::TaskNotFound("x".to_owned())).await;
    let config = json!({"taskId": "x", "id": "c", "url": "http://127.0.0.1:9/"});
    for binding in BINDINGS {
        let mut caller = Caller::connect(address, binding).await;
        for (operation, request) in [
            ("CreateTaskPushNotificationConfig", config.clone()),
            (
                "GetTaskPushNotificationConfig",
                json!({"taskId": "x", "id": "c"}),
            ),
            ("ListTaskPushNotificationConfigs", json!({"taskId": "x"})),
            (
                "DeleteTaskPushNotificationConfig",
                json!({"taskId": "x", "id": "c"}),
            ),
        ] {
            let failure = caller.call(operation, request).await.unwrap_err();
            assert_eq!(
                failure.reason(),
                Some("PUSH_NOTIFICATION_NOT_SUPPORTED"),
                "{binding:?} {operation}"
            );
        }
        let failure = caller
            .call("GetExtendedAgentCard", json!({}))
            .await
            .unwrap_err();
        assert_eq!(
            failure.reason(),
            Some("UNSUPPORTED_OPERATION"),
            "{binding:?}"
        );
        for operation in ["SendStreamingMessage", "SubscribeToTask"] {
            let failure = caller.open(operation, json!({"id": "x"})).await;
            assert_eq!(
                failure.unwrap_err().reason(),
                Some("UNSUPPORTED_OPERATION"),
                "{binding:?} {operation}"
            );
        }
        let failure = caller
            .call("GetTask", json!({"id": "x"}))
            .await
            .unwrap_err();
        assert_eq!(failure.reason(), Some("TASK_NOT_FOUND"), "{binding:?}");
    }
}
