// Written by `cargo xtask types` from the messages and operations of crates/a2a. Do not edit.

import type { RpcStub, RpcTarget } from "capnweb";

/** What JSON can hold. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
/** An object of JSON. */
export type JsonObject = { [name: string]: JsonValue };
/** A number of 64 bits, in decimal. */
export type Int64 = string;
/** Bytes, in base64. */
export type Base64 = string;
/** A moment, as `2026-01-31T12:00:00Z`. */
export type Timestamp = string;
/** Exactly one of the members. */
export type OneOf<T> = {
  [K in keyof T]: Pick<T, K> & { [Other in Exclude<keyof T, K>]?: never };
}[keyof T];
/** What goes with a call beside its request, such as `Last-Event-ID`. */
export type ServiceParameters = { [name: string]: string };

/** A secret key, sent in a header, a query parameter or a cookie. */
export interface APIKeySecurityScheme {
  description?: string;
  /** Where it is sent: `query`, `header` or `cookie`. */
  location: string;
  /** The name of that parameter, header or cookie. */
  name: string;
}

/** Optional parts of the protocol. Where an agent says nothing, it does not have the part. */
export interface AgentCapabilities {
  /** Whether it answers with streams. */
  streaming?: boolean;
  /** Whether it reports to where it is told. */
  pushNotifications?: boolean;
  /** Extensions that it knows. */
  extensions?: AgentExtension[];
  /** Whether known callers get a card with more in it. */
  extendedAgentCard?: boolean;
}

/** What an agent is, can do and asks for, and where it is. */
export interface AgentCard {
  name: string;
  /** What the agent is for, for people and for other agents. */
  description: string;
  /** Where it can be reached and how, the preferred way first. */
  supportedInterfaces: AgentInterface[];
  /** The organisation that runs the agent. */
  provider?: AgentProvider;
  /** The agent's own version, in a form that its provider likes. */
  version: string;
  /** Where more is written about it. */
  documentationUrl?: string;
  /** Which optional parts of the protocol it has. */
  capabilities: AgentCapabilities;
  /** Ways to prove who one is, by names that the requirements use. */
  securitySchemes?: { [name: string]: SecurityScheme };
  /** The credentials that a caller must prove; one of these is enough. */
  securityRequirements?: SecurityRequirement[];
  /** Media types that all skills take unless they say otherwise. */
  defaultInputModes: string[];
  /** Media types that all skills give unless they say otherwise. */
  defaultOutputModes: string[];
  /** What it can do. */
  skills: AgentSkill[];
  /** Proofs that the card is genuine. */
  signatures?: AgentCardSignature[];
  /** A picture of it. */
  iconUrl?: string;
}

/** A signature of a card (RFC 7515), without what it signs. */
export interface AgentCardSignature {
  /** The protected header, as JSON in base64url. */
  protected: string;
  /** The signature, in base64url. */
  signature: string;
  /** The header that is not protected. */
  header?: JsonObject;
}

/** An extension that an agent knows. */
export interface AgentExtension {
  uri?: string;
  /** How the agent uses it. */
  description?: string;
  /** Whether callers must know it as well. */
  required?: boolean;
  /** What the extension wants to be told. */
  params?: JsonObject;
}

/** A place where an agent can be reached, and what is spoken there. */
export interface AgentInterface {
  /** The place; for gRPC host and port alone. */
  url: string;
  /** `JSONRPC`, `GRPC`, `HTTP+JSON`, or the URI of another binding. */
  protocolBinding: string;
  /** What callers put into the `tenant` of every request. */
  tenant?: string;
  /** The version of the protocol that is spoken there: `1.0`. */
  protocolVersion: string;
}

/** Who offers an agent. */
export interface AgentProvider {
  url: string;
  organization: string;
}

/** Something that an agent can do. */
export interface AgentSkill {
  /** Unique for the agent. */
  id: string;
  name: string;
  /** What it does, for people and for other agents. */
  description: string;
  /** Words to find it by. */
  tags: string[];
  /** What one could ask for. */
  examples?: string[];
  /** Media types that it takes, instead of the agent's. */
  inputModes?: string[];
  /** Media types that it gives, instead of the agent's. */
  outputModes?: string[];
  /** The credentials that a caller must prove; one of these is enough. */
  securityRequirements?: SecurityRequirement[];
}

/** Something a task has made. */
export interface Artifact {
  /** Unique within the task. */
  artifactId: string;
  name?: string;
  /** What it is, for people. */
  description?: string;
  /** What it consists of. */
  parts: Part[];
  /** Additional data, by key. */
  metadata?: JsonObject;
  /** URIs of the extensions that had a part in it. */
  extensions?: string[];
}

/** What goes into the `Authorization` header of a notification. */
export interface AuthenticationInfo {
  /** A scheme of HTTP authentication: `Bearer`, `Basic`, and others. */
  scheme: string;
  /** What stands behind it. */
  credentials?: string;
}

/** A person agrees in a browser, and a code is exchanged for a token. */
export interface AuthorizationCodeOAuthFlow {
  /** Where the person agrees. */
  authorizationUrl: string;
  /** Where the token is got. */
  tokenUrl: string;
  /** Where a new token is got for an old one. */
  refreshUrl?: string;
  /** The permissions of each scope, by its name. */
  scopes: { [name: string]: string };
  /** Whether the code must be bound to its requester (RFC 7636). */
  pkceRequired?: boolean;
}

/** Asks that a task end. */
export interface CancelTaskRequest {
  /** Which agent behind the endpoint is meant. */
  tenant?: string;
  id: string;
  /** Additional data, by key. */
  metadata?: JsonObject;
}

/** A program gets a token in its own name. */
export interface ClientCredentialsOAuthFlow {
  /** Where the token is got. */
  tokenUrl: string;
  /** Where a new token is got for an old one. */
  refreshUrl?: string;
  /** The permissions of each scope, by its name. */
  scopes: { [name: string]: string };
}

/** Asks that one configuration of a task be forgotten. */
export interface DeleteTaskPushNotificationConfigRequest {
  /** Which agent behind the endpoint is meant. */
  tenant?: string;
  taskId: string;
  id: string;
}

/** A person agrees on another device (RFC 8628). */
export interface DeviceCodeOAuthFlow {
  /** Where the codes for person and device are got. */
  deviceAuthorizationUrl: string;
  /** Where the token is got. */
  tokenUrl: string;
  /** Where a new token is got for an old one. */
  refreshUrl?: string;
  /** The permissions of each scope, by its name. */
  scopes: { [name: string]: string };
}

/** Asks for the card that only known callers see. */
export interface GetExtendedAgentCardRequest {
  /** Which agent behind the endpoint is meant. */
  tenant?: string;
}

/** Asks for one configuration of a task. */
export interface GetTaskPushNotificationConfigRequest {
  /** Which agent behind the endpoint is meant. */
  tenant?: string;
  taskId: string;
  id: string;
}

/** Asks for a task. */
export interface GetTaskRequest {
  /** Which agent behind the endpoint is meant. */
  tenant?: string;
  id: string;
  /** How many of the newest messages the answer shall hold. */
  historyLength?: number;
  /** Wait until the task has a larger generation than this. */
  currentGeneration?: Int64;
}

/** A scheme of HTTP authentication. */
export interface HTTPAuthSecurityScheme {
  description?: string;
  /** Its registered name: `Bearer`, `Basic`, and others. */
  scheme: string;
  /** What a bearer token looks like, such as `JWT`; a hint. */
  bearerFormat?: string;
}

/** A person agrees in a browser, which is handed the token. Deprecated by the protocol. */
export interface ImplicitOAuthFlow {
  /** Where the person agrees. */
  authorizationUrl?: string;
  /** Where a new token is got for an old one. */
  refreshUrl?: string;
  /** The permissions of each scope, by its name. */
  scopes?: { [name: string]: string };
}

/** Asks for the configurations of a task. */
export interface ListTaskPushNotificationConfigsRequest {
  taskId: string;
  /** How many at once. */
  pageSize?: number;
  /** Where the page before ended. */
  pageToken?: string;
  /** Which agent behind the endpoint is meant. */
  tenant?: string;
}

/** A page of configurations. */
export interface ListTaskPushNotificationConfigsResponse {
  configs?: TaskPushNotificationConfig[];
  /** Where the next page begins; empty behind the last one. */
  nextPageToken?: string;
}

/** Asks for the tasks that fit all conditions, newest first. */
export interface ListTasksRequest {
  /** Which agent behind the endpoint is meant. */
  tenant?: string;
  /** Only those of this conversation. */
  contextId?: string;
  /** Only those in this state. */
  status?: TaskState;
  /** How many at once, from 1 to 100. */
  pageSize?: number;
  /** Where the page before ended. */
  pageToken?: string;
  /** How many of the newest messages each task shall hold. */
  historyLength?: number;
  /** Only tasks with a status from this moment or later. */
  statusTimestampAfter?: Timestamp;
  /** Whether the tasks shall have their artifacts. */
  includeArtifacts?: boolean;
}

/** A page of tasks. All of it is in JSON also when there are none. */
export interface ListTasksResponse {
  tasks: Task[];
  /** Where the next page begins; empty behind the last one. */
  nextPageToken: string;
  /** How many were asked for. */
  pageSize: number;
  /** How many fit, on all pages. */
  totalSize: number;
}

/** One turn of a conversation. */
export interface Message {
  /** Made by who speaks; a message sent again has the same one. */
  messageId: string;
  /** The conversation it belongs to. */
  contextId?: string;
  /** The task it belongs to. */
  taskId?: string;
  /** The author of a message: the user or the agent. */
  role: Role;
  parts: Part[];
  /** Additional data, by key. */
  metadata?: JsonObject;
  /** URIs of the extensions that had a part in it. */
  extensions?: string[];
  /** Other tasks that it speaks of. */
  referenceTaskIds?: string[];
}

/** A certificate of the caller's. */
export interface MutualTlsSecurityScheme {
  description?: string;
}

/** OAuth 2.0, with the flows that the agent supports. */
export interface OAuth2SecurityScheme {
  description?: string;
  /** How a token is got. */
  flows: OAuthFlows;
  /** Where the authorization server describes itself (RFC 8414). */
  oauth2MetadataUrl?: string;
}

/** How an OAuth 2.0 token is got. */
export type OAuthFlows = OneOf<{
  /** By a person's consent and a code. */
  authorizationCode: AuthorizationCodeOAuthFlow;
  /** By a program for itself. */
  clientCredentials: ClientCredentialsOAuthFlow;
  /** By a person's consent alone. Deprecated by the protocol. */
  implicit: ImplicitOAuthFlow;
  /** By a person's password. Deprecated by the protocol. */
  password: PasswordOAuthFlow;
  /** By a person's consent on another device. */
  deviceCode: DeviceCodeOAuthFlow;
}>;

/** OpenID Connect, described by its discovery document. */
export interface OpenIdConnectSecurityScheme {
  description?: string;
  /** Where the provider describes itself. */
  openIdConnectUrl: string;
}

/** A piece of a message or of an artifact. */
export type Part = OneOf<{
  text: string;
  /** Bytes, as they are in a file. */
  raw: Base64;
  /** Where the bytes can be fetched. */
  url: string;
  /** JSON, which may also be `null`. */
  data: JsonValue;
}> & {
  /** Additional data, by key. */
  metadata?: JsonObject;
  /** What a file with this content would be called. */
  filename?: string;
  /** The media type of the content. */
  mediaType?: string;
};

/** A program sends a person's password. Deprecated by the protocol. */
export interface PasswordOAuthFlow {
  /** Where the token is got. */
  tokenUrl?: string;
  /** Where a new token is got for an old one. */
  refreshUrl?: string;
  /** The permissions of each scope, by its name. */
  scopes?: { [name: string]: string };
}

/** The author of a message: the user or the agent. */
export type Role =
  | "ROLE_UNSPECIFIED"
  | "ROLE_USER"
  | "ROLE_AGENT";

/** Schemes that must all be satisfied together. */
export interface SecurityRequirement {
  /** The scopes that are needed, by the name of the scheme. */
  schemes?: { [name: string]: StringList };
}

/** A way to prove who one is. */
export type SecurityScheme = OneOf<{
  /** By a secret key. */
  apiKeySecurityScheme: APIKeySecurityScheme;
  httpAuthSecurityScheme: HTTPAuthSecurityScheme;
  /** By a token from an authorization server. */
  oauth2SecurityScheme: OAuth2SecurityScheme;
  /** By a token from an identity provider. */
  openIdConnectSecurityScheme: OpenIdConnectSecurityScheme;
  mtlsSecurityScheme: MutualTlsSecurityScheme;
}>;

/** How a sent message is to be answered. */
export interface SendMessageConfiguration {
  /** Media types that the sender can take. */
  acceptedOutputModes?: string[];
  /** Where to report on the task from now on. */
  taskPushNotificationConfig?: TaskPushNotificationConfig;
  /** How many of the newest messages the answer shall hold: none for 0, what the server likes if not given. */
  historyLength?: number;
  /** Whether to answer as soon as there is a task, rather than when it has ended or waits for its user. */
  returnImmediately?: boolean;
  /** Refuse the message unless the task has this generation. */
  ifGenerationMatch?: Int64;
}

/** Says something to an agent, and asks for one answer or for a stream. */
export interface SendMessageRequest {
  /** Which agent behind the endpoint is meant. */
  tenant?: string;
  message: Message;
  configuration?: SendMessageConfiguration;
  /** Additional data, by key. */
  metadata?: JsonObject;
}

/** The answer to a sent message. */
export type SendMessageResponse = OneOf<{
  /** The task that works on it. */
  task: Task;
  /** All there is to say. */
  message: Message;
}>;

/** One event of a stream. */
export type StreamResponse = OneOf<{
  /** The whole task, as it stands. */
  task: Task;
  /** All there is to say; the stream ends. */
  message: Message;
  /** The task stands differently. */
  statusUpdate: TaskStatusUpdateEvent;
  /** The task has made something. */
  artifactUpdate: TaskArtifactUpdateEvent;
}>;

/** A list, where a map needs one as a value. */
export interface StringList {
  list?: string[];
}

/** Asks for what happens to a task from now on. */
export interface SubscribeToTaskRequest {
  /** Which agent behind the endpoint is meant. */
  tenant?: string;
  id: string;
}

/** Work that an agent does for someone. */
export interface Task {
  /** Made by the server when it accepts the first message. */
  id: string;
  /** The conversation it belongs to. */
  contextId?: string;
  status: TaskStatus;
  /** What it has made so far. */
  artifacts?: Artifact[];
  /** The messages so far, oldest first. */
  history?: Message[];
  /** Additional data, by key. */
  metadata?: JsonObject;
  /** Counts its changes of state and artifacts from 1 on; 0 means that its server does not count. */
  generation?: Int64;
}

/** A task has made something, or more of it. */
export interface TaskArtifactUpdateEvent {
  taskId: string;
  contextId: string;
  /** What it made: the whole, or what is added. */
  artifact: Artifact;
  /** Whether the parts are added to the artifact of the same id; otherwise they replace it. */
  append?: boolean;
  /** Whether this is the last part of the artifact. */
  lastChunk?: boolean;
  /** Additional data, by key. */
  metadata?: JsonObject;
  /** The task's generation with this event. */
  generation?: Int64;
}

/** Where to report on a task. */
export interface TaskPushNotificationConfig {
  /** Which agent behind the endpoint is meant. */
  tenant?: string;
  /** Tells several configurations of a task apart; made by the server if not given. */
  id?: string;
  taskId?: string;
  /** Where each event is sent. */
  url: string;
  /** Sent along, so that the receiver knows that the report was asked for. */
  token?: string;
  /** How the server proves to the receiver who it is. */
  authentication?: AuthenticationInfo;
}

/** How a task stands. */
export type TaskState =
  | "TASK_STATE_UNSPECIFIED"
  | "TASK_STATE_SUBMITTED"
  | "TASK_STATE_WORKING"
  | "TASK_STATE_COMPLETED"
  | "TASK_STATE_FAILED"
  | "TASK_STATE_CANCELED"
  | "TASK_STATE_INPUT_REQUIRED"
  | "TASK_STATE_REJECTED"
  | "TASK_STATE_AUTH_REQUIRED";

/** How a task stands, and since when. */
export interface TaskStatus {
  state: TaskState;
  /** What the agent says about it. */
  message?: Message;
  /** When it came to stand so. */
  timestamp?: Timestamp;
}

/** A task stands differently now. */
export interface TaskStatusUpdateEvent {
  taskId: string;
  contextId: string;
  status: TaskStatus;
  /** Additional data, by key. */
  metadata?: JsonObject;
  /** The task's generation with this event. */
  generation?: Int64;
}

/** The agent as an object: the main one of a session. */
export interface Agent extends RpcTarget {
  sendMessage(request: SendMessageRequest, parameters?: ServiceParameters): Promise<SendMessageResponse>;
  sendStreamingMessage(request: SendMessageRequest, parameters?: ServiceParameters): Promise<ReadableStream<StreamResponse>>;
  getTask(request: GetTaskRequest, parameters?: ServiceParameters): Promise<Task>;
  listTasks(request: ListTasksRequest, parameters?: ServiceParameters): Promise<ListTasksResponse>;
  cancelTask(request: CancelTaskRequest, parameters?: ServiceParameters): Promise<Task>;
  subscribeToTask(request: SubscribeToTaskRequest, parameters?: ServiceParameters): Promise<ReadableStream<StreamResponse>>;
  createTaskPushNotificationConfig(request: TaskPushNotificationConfig, parameters?: ServiceParameters): Promise<TaskPushNotificationConfig>;
  getTaskPushNotificationConfig(request: GetTaskPushNotificationConfigRequest, parameters?: ServiceParameters): Promise<TaskPushNotificationConfig>;
  listTaskPushNotificationConfigs(request: ListTaskPushNotificationConfigsRequest, parameters?: ServiceParameters): Promise<ListTaskPushNotificationConfigsResponse>;
  deleteTaskPushNotificationConfig(request: DeleteTaskPushNotificationConfigRequest, parameters?: ServiceParameters): Promise<Record<string, never>>;
  getExtendedAgentCard(request: GetExtendedAgentCardRequest, parameters?: ServiceParameters): Promise<AgentCard>;
  /** The public card. */
  getAgentCard(): Promise<AgentCard>;
  /** The same agent, for the owner of these credentials. */
  authenticate(credentials: unknown): Promise<RpcStub<Agent>>;
}
