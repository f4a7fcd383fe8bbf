import { Reconnecting } from "../reconnecting.js";
import { ConnectionLostError } from "../errors.js";
import { Core } from "../session.js";
import type { ConnectOptions } from "../session.js";
import { addressOf, discover } from "./card.js";
import { BatchChannel, SocketChannel } from "./channel.js";
import type { AgentStub, Channel } from "./channel.js";
import { A2AError } from "./errors.js";
import { Following } from "./following.js";
import type { OnArtifact, OnStatus } from "./following.js";
import { complete } from "./message.js";
import type { OutgoingMessage } from "./message.js";
import type {
  AgentCard,
  CancelTaskRequest,
  GetTaskRequest,
  Int64,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  SendMessageResponse,
  ServiceParameters,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
  TaskState,
} from "./types.js";

/** How to reach an agent. What is not named here is as for `connect`. */
export interface A2AOptions extends Omit<ConnectOptions<AgentStub>, "main"> {
  /** A WebSocket that is opened again when it is lost, or an HTTP request for each call, without streams. */
  transport?: "websocket" | "batch";
  /** Opens a WebSocket; called for each attempt. */
  webSocket?: (url: string) => WebSocket;
  /** Gets the card. */
  fetch?: typeof fetch;
}

/** What goes with a message. */
export type SendOptions = Omit<SendMessageRequest, "message">;

/** Where to follow a task from: all that came after this event. Without a cursor the task comes first, as it is. */
export interface SubscribeOptions {
  cursor?: Int64;
  tenant?: string;
}

/** An agent that speaks A2A over Cap'n Web. */
export class A2AClient {
  readonly #channel: Channel;

  private constructor(
    /** The card by which it was found. */
    readonly card: AgentCard,
    channel: Channel,
  ) {
    this.#channel = channel;
  }

  /**
   * Finds an agent by its card.
   *
   * @param at The address of its server, or of its card.
   */
  static async connect(at: string, options: A2AOptions = {}): Promise<A2AClient> {
    return A2AClient.of(await discover(at, options.fetch), options);
  }

  /** The agent of a card. */
  static of(card: AgentCard, options: A2AOptions = {}): A2AClient {
    const { transport = "websocket", webSocket = (url) => new WebSocket(url), fetch: _, ...rest } = options;
    const url = addressOf(card);
    if (transport === "batch") return new A2AClient(card, new BatchChannel(url));
    const open = () => webSocket(url.replace(/^http/, "ws"));
    return new A2AClient(card, new SocketChannel(new Reconnecting(new Core(open, rest), undefined)));
  }

  /** The same agent, for whoever these credentials belong to. Closing it leaves this one open. */
  authenticate(credentials: unknown): A2AClient {
    return new A2AClient(this.card, this.#channel.authenticate(credentials));
  }

  /**
   * Sends a message and gives its task or the agent's answer. When the connection is lost it is sent again, which the
   * agent knows by its id: it is done once.
   */
  sendMessage(message: string | OutgoingMessage, options: SendOptions = {}): Promise<SendMessageResponse> {
    const request = { ...options, message: complete(message) };
    return this.#retry((agent) => agent.sendMessage(request));
  }

  /** Sends a message and gives what happens, each event once, however often the connection is lost. */
  sendMessageStream(
    message: string | OutgoingMessage,
    options: SendOptions = {},
  ): AsyncGenerator<StreamResponse, void, void> {
    const request = { ...options, message: complete(message) };
    return this.#events((agent, parameters) => agent.sendStreamingMessage(request, parameters));
  }

  /** As `sendMessageStream`, with callbacks. Returns when the task has begun. */
  sendMessageStreaming(
    message: string | OutgoingMessage,
    onStatus: OnStatus,
    onArtifact: OnArtifact,
    options: SendOptions = {},
  ): Promise<Following> {
    return Following.begin(this.sendMessageStream(message, options), onStatus, onArtifact);
  }

  /** How a task stands. */
  getTask(id: string, options: Omit<GetTaskRequest, "id"> = {}): Promise<Task> {
    return this.#retry((agent) => agent.getTask({ ...options, id }));
  }

  /** A page of tasks, newest first. */
  listTasks(request: ListTasksRequest = {}): Promise<ListTasksResponse> {
    return this.#retry((agent) => agent.listTasks(request));
  }

  /** Ends a task. One that was cancelled already stays so. */
  cancelTask(id: string, options: Omit<CancelTaskRequest, "id"> = {}): Promise<Task> {
    return this.#retry((agent) => agent.cancelTask({ ...options, id }));
  }

  /** Follows a task that has begun, each event once, however often the connection is lost. */
  subscribe(id: string, { cursor, ...rest }: SubscribeOptions = {}): AsyncGenerator<StreamResponse, void, void> {
    return this.#events((agent, parameters) => agent.subscribeToTask({ ...rest, id }, parameters), cursor);
  }

  /** As `subscribe`, with callbacks: what other bindings need webhooks for. Returns when it follows. */
  subscribeToPushNotifications(
    id: string,
    onStatus: OnStatus,
    onArtifact: OnArtifact,
    options: SubscribeOptions = {},
  ): Promise<Following> {
    return Following.begin(this.subscribe(id, options), onStatus, onArtifact);
  }

  /** Has the agent tell an HTTP server about a task. With an id of yours it may be repeated. */
  createPushConfig(config: TaskPushNotificationConfig): Promise<TaskPushNotificationConfig> {
    const create = (agent: AgentStub) => agent.createTaskPushNotificationConfig(config);
    return config.id ? this.#retry(create) : this.#call(create);
  }

  getPushConfig(taskId: string, id: string): Promise<TaskPushNotificationConfig> {
    return this.#retry((agent) => agent.getTaskPushNotificationConfig({ taskId, id }));
  }

  listPushConfigs(
    taskId: string,
    options: Omit<ListTaskPushNotificationConfigsRequest, "taskId"> = {},
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    return this.#retry((agent) => agent.listTaskPushNotificationConfigs({ ...options, taskId }));
  }

  async deletePushConfig(taskId: string, id: string): Promise<void> {
    await this.#retry((agent) => agent.deleteTaskPushNotificationConfig({ taskId, id }));
  }

  /** The public card, as the agent has it now. */
  getAgentCard(): Promise<AgentCard> {
    return this.#retry((agent) => agent.getAgentCard());
  }

  /** The card for whoever is known to the agent. */
  getExtendedAgentCard(): Promise<AgentCard> {
    return this.#retry((agent) => agent.getExtendedAgentCard({}));
  }

  /** Ends the connection, or releases what `authenticate` gave. */
  dispose(): void {
    this.#channel.close();
  }

  /** As `dispose`, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  #call<R>(make: (agent: AgentStub) => PromiseLike<R>): Promise<R> {
    return told(this.#channel.call(make));
  }

  #retry<R>(make: (agent: AgentStub) => PromiseLike<R>): Promise<R> {
    return told(this.#channel.retry(make));
  }

  async *#events(
    open: (agent: AgentStub, parameters: ServiceParameters) => PromiseLike<ReadableStream<StreamResponse>>,
    cursor?: Int64,
  ): AsyncGenerator<StreamResponse, void, void> {
    let begun = false;
    for (;;) {
      const parameters: ServiceParameters = cursor === undefined ? {} : { "Last-Event-ID": cursor };
      try {
        for await (const event of this.#channel.stream((agent) => open(agent, parameters))) {
          begun = true;
          cursor = cursorOf(event) ?? cursor;
          yield event;
          // Nothing comes after it, and it has no cursor.
          if (event.message !== undefined) return;
        }
        return;
      } catch (error) {
        // Without a cursor nobody knows where to go on.
        if (!(error instanceof ConnectionLostError) || (begun && cursor === undefined)) throw A2AError.of(error);
      }
    }
  }
}

/** Where to go on after an event, with `subscribe`; undefined if its agent does not say. */
export function cursorOf(event: StreamResponse): Int64 | undefined {
  return (event.task ?? event.statusUpdate ?? event.artifactUpdate)?.generation;
}

/** Whether a task in this state has ended for good. */
export function isTerminal(state: TaskState): boolean {
  const ends = ["COMPLETED", "FAILED", "CANCELED", "REJECTED"];
  return ends.some((end) => state === `TASK_STATE_${end}`);
}

/** The result of a call, its failure typed. */
async function told<R>(call: Promise<R>): Promise<R> {
  try {
    return await call;
  } catch (error) {
    throw A2AError.of(error);
  }
}
