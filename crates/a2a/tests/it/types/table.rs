//! Every message by its name, so that a test can go through them all.

use a2a::types::wire::MessageDescription;
use a2a::types::*;
use bytes::Bytes;

/// A message on both wires.
#[derive(Debug)]
pub(crate) struct Both {
    pub(crate) json: Bytes,
    pub(crate) protobuf: Bytes,
}

/// What one kind of message can do.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) description: &'static MessageDescription,
    pub(crate) from_json: fn(&[u8]) -> Result<Both, DecodeError>,
    pub(crate) from_protobuf: fn(&[u8]) -> Result<Both, DecodeError>,
}

impl Row {
    /// The row of the message with this short name.
    pub(crate) fn named(name: &str) -> Row {
        let mut rows = rows().into_iter();
        rows.find(|row| row.description.name == name).unwrap()
    }
}

fn row<M: WireMessage>() -> Row {
    fn both<M: WireMessage>(message: &M) -> Both {
        Both {
            json: message.to_json(),
            protobuf: message.to_protobuf(),
        }
    }
    Row {
        description: M::describe(),
        from_json: |bytes| M::from_json(bytes).map(|message| both(&message)),
        from_protobuf: |bytes| {
            let message = M::from_protobuf(Bytes::copy_from_slice(bytes));
            message.map(|message| both(&message))
        },
    }
}

macro_rules! rows {
    ($($message:ident),* $(,)?) => {
        /// All messages of the protocol's package.
        pub(crate) fn rows() -> Vec<Row> {
            vec![$(row::<$message>()),*]
        }
    };
}

rows!(
    APIKeySecurityScheme,
    AgentCapabilities,
    AgentCard,
    AgentCardSignature,
    AgentExtension,
    AgentInterface,
    AgentProvider,
    AgentSkill,
    Artifact,
    AuthenticationInfo,
    AuthorizationCodeOAuthFlow,
    CancelTaskRequest,
    ClientCredentialsOAuthFlow,
    DeleteTaskPushNotificationConfigRequest,
    DeviceCodeOAuthFlow,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    HTTPAuthSecurityScheme,
    ImplicitOAuthFlow,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    MutualTlsSecurityScheme,
    OAuth2SecurityScheme,
    OAuthFlows,
    OpenIdConnectSecurityScheme,
    Part,
    PasswordOAuthFlow,
    SecurityRequirement,
    SecurityScheme,
    SendMessageConfiguration,
    SendMessageRequest,
    SendMessageResponse,
    StreamResponse,
    StringList,
    SubscribeToTaskRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskPushNotificationConfig,
    TaskStatus,
    TaskStatusUpdateEvent,
);
