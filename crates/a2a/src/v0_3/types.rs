//! The messages of 0.3 in protobuf: package `a2a.v1`, declared as those of 1.0 are.
//!
//! They carry what a caller of gRPC sends to the translation, and back. Nothing is required of them: what
//! a request must have is decided where 1.0 is read.

mod card;
mod request;
mod task;

pub use card::{
    APIKeySecurityScheme, AgentCapabilities, AgentCard, AgentCardSignature, AgentExtension,
    AgentInterface, AgentProvider, AgentSkill, AuthorizationCodeOAuthFlow,
    ClientCredentialsOAuthFlow, Flow, HTTPAuthSecurityScheme, ImplicitOAuthFlow,
    MutualTlsSecurityScheme, OAuth2SecurityScheme, OAuthFlows, OpenIdConnectSecurityScheme,
    PasswordOAuthFlow, Scheme, Security, SecurityScheme, StringList,
};
pub use request::{
    Answer, AuthenticationInfo, CancelTaskRequest, CreateTaskPushNotificationConfigRequest,
    DeleteTaskPushNotificationConfigRequest, Event, GetAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigResponse, PushNotificationConfig, SendMessageConfiguration,
    SendMessageRequest, SendMessageResponse, StreamResponse, TaskPushNotificationConfig,
    TaskSubscriptionRequest,
};
pub use task::{
    Artifact, DataPart, FileContent, FilePart, Message, Part, PartContent, Role, Task,
    TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
