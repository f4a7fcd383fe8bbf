//! The protocol's data types: package `lf.a2a.v1`, one declaration for both wires.
//!
//! A message is declared once, a field in one line (`message_id: String = 1 required`). From that line come
//! the struct, its protobuf form, its JSON form after the ProtoJSON rules, the check for what is
//! required and the description that reflection serves. The *type* of a field decides how it travels and when
//! it counts as given; its *name* gives the JSON key. There is no second set of types and no conversion.
//!
//! ```
//! use a2a::types::{Message, Part, WireMessage};
//!
//! let message = Message::user("m-1", "hello");
//! let json = message.to_json();
//! assert_eq!(&json[..], br#"{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"hello"}]}"#);
//! assert_eq!(Message::from_json(&json)?, message);
//! assert_eq!(Message::from_protobuf(message.to_protobuf())?, message);
//! assert_eq!(message.parts, [Part::text("hello")]);
//! # Ok::<(), a2a::types::DecodeError>(())
//! ```
//!
//! Notes on these types for the receiver of any message:
//! - Field names are those of the protocol's own definition; what it calls `optional`, and every field that
//!   holds a message, is an `Option`. A plain number, string or boolean that is zero, empty or false counts
//!   as not given.
//! - JSON accepts camelCase and snake_case names, `null` for "not given", numbers as strings and enums as
//!   numbers; unknown members are ignored. It prints camelCase names, and only what is given.
//! - That a required field is there is not a matter of decoding: ask [`WireMessage::violations`].
//!
//! # Layout
//!
//! - [`wire`]: the traits and macros behind the declarations, and the protobuf encoding
//! - `task`, `message`, `request`, `push`, `card`, `security`: the messages
//! - `id`: ids as types, past the edge
//! - `value`, `timestamp`, `bytes`: types with a JSON form of their own
//! - [`rpc_error`]: how errors describe themselves on gRPC and in JSON
//! - [`descriptor`]: the descriptors that gRPC reflection serves

mod bytes;
mod card;
mod id;
mod message;
mod push;
mod request;
mod security;
mod task;
mod timestamp;
mod value;

#[cfg(feature = "grpc")]
pub mod descriptor;
pub mod rpc_error;
pub mod wire;

pub use card::{
    AgentCapabilities, AgentCard, AgentCardSignature, AgentExtension, AgentInterface,
    AgentProvider, AgentSkill,
};
pub use id::{ContextId, TaskId};
pub use message::{Content, Message, Part, Role};
pub use push::{
    AuthenticationInfo, DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, TaskPushNotificationConfig,
};
pub use request::{
    Answer, CancelTaskRequest, Empty, Event, GetExtendedAgentCardRequest, GetTaskRequest,
    ListTasksRequest, ListTasksResponse, SendMessageConfiguration, SendMessageRequest,
    SendMessageResponse, StreamResponse, SubscribeToTaskRequest,
};
pub use security::{
    APIKeySecurityScheme, AuthorizationCodeOAuthFlow, ClientCredentialsOAuthFlow,
    DeviceCodeOAuthFlow, Flow, HTTPAuthSecurityScheme, ImplicitOAuthFlow, MutualTlsSecurityScheme,
    OAuth2SecurityScheme, OAuthFlows, OpenIdConnectSecurityScheme, PasswordOAuthFlow, Scheme,
    SecurityRequirement, SecurityScheme, StringList,
};
pub use task::{
    Artifact, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
pub use timestamp::Timestamp;
pub use value::{Struct, Value};
pub use wire::{DecodeError, Violation, WireMessage};
