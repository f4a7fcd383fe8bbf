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

/** How to reach an agent. The other options are those of `connect`. */
export interface A2AOptions extends Omit<ConnectOptions<AgentStub>, "main"> {
  /** A WebSocket that is opened again when it is lost (default), or an HTTP request for each call, without streams. */
  transport?: "websocket" | "batch";
  /** Opens a WebSocket; called for each attempt. */
  webSocket?: (url: string) => WebSocket;
  /** Fetches the card. */
  fetch?: typeof fetch;
}

/** The fields of the request besides the message. */
export type SendOptions = Omit<SendMessageRequest, "message">;

/** Where to begin: after the event with this cursor. Without a cursor, the first event is the task as it is now. */
export interface SubscribeOptions {
  cursor?: Int64;
  tenant?: string;
}

/** Asks with every call that a repeated message get the answer of the first time, and that tasks and events bear cursors. */
const PARAMETERS: ServiceParameters = { "A2A-Extensions": "urn:monas:a2a:ext:repeatable-send:1" };

/** A client for an agent that serves A2A over Cap'n Web. */
export class A2AClient {
  /** The agent as the connection gives it. */
  readonly #root: Channel;
  /** The agent for the caller of the last `authenticate`, or the root. */
  #channel: Channel;
  #card: AgentCard | undefined;

  /**
   * A client for the agent at this address of Cap'n Web, without a look at its card.
   *
   * @param address The address of the binding, such as `https://example.org/a2a/capnweb`; `connect` finds it by the card.
   * @param options Options, or whether to use a WebSocket; without them each call is an HTTP request.
   */
  constructor(address: string, options?: A2AOptions | boolean);
  /** @internal */
  constructor(channel: Channel, card: AgentCard | undefined);
  constructor(to: string | Channel, given?: A2AOptions | AgentCard | boolean) {
    if (typeof to === "string") {
      this.#root = open(to, optionsOf(given as A2AOptions | boolean | undefined));
    } else {
      this.#root = to;
      this.#card = given as AgentCard | undefined;
    }
    this.#channel = this.#root;
  }

  /**
   * Finds an agent by its card.
   *
   * @param at The address of its server, or of its card.
   */
  static async connect(at: string, options: A2AOptions = {}): Promise<A2AClient> {
    return A2AClient.of(await discover(at, options.fetch), options);
  }

  /** A client for the agent of this card. */
  static of(card: AgentCard, options: A2AOptions = {}): A2AClient {
    return new A2AClient(open(addressOf(card), options), card);
  }

  /** The card with which it was found. A client that was made with an address has none: ask `getAgentCard`. */
  get card(): AgentCard {
    if (this.#card === undefined) throw new Error("this client was made without a card: call getAgentCard()");
    return this.#card;
  }

  /**
   * Authenticates this client: its calls from now on are those of the owner of the credentials, after a lost connection, too.
   * Rejects if the agent refuses them or knows no scheme; the client is then as before.
   */
  async authenticate(credentials: unknown): Promise<void> {
    const channel = this.#root.authenticate(credentials);
    try {
      await typed(channel.retry((agent) => agent.getAgentCard()));
    } catch (error) {
      channel.close();
      throw error;
    }
    const before = this.#channel;
    this.#channel = channel;
    if (before !== this.#root) before.close();
  }

  /**
   * Another client for the same agent and the owner of these credentials, which are checked with its first call. Disposing
   * of it leaves this client open.
   */
  authenticated(credentials: unknown): A2AClient {
    return new A2AClient(this.#root.authenticate(credentials), this.#card);
  }

  /**
   * Sends a message and returns the task or the agent's answer. If the connection is lost the message is sent again; the
   * agent recognises it by its id and handles it once.
   */
  sendMessage(message: string | OutgoingMessage, options: SendOptions = {}): Promise<SendMessageResponse> {
    const request = { ...options, message: complete(message) };
    return this.#retry((agent) => agent.sendMessage(request, PARAMETERS));
  }

  /** Sends a message and yields the events: each once, also if the connection is lost meanwhile. */
  sendMessageStream(
    message: string | OutgoingMessage,
    options: SendOptions = {},
  ): AsyncGenerator<StreamResponse, void, void> {
    const request = { ...options, message: complete(message) };
    return this.#events((agent, parameters) => agent.sendStreamingMessage(request, parameters));
  }

  /** The same as `sendMessageStream` with callbacks. Resolves with the first event. */
  sendMessageStreaming(
    message: string | OutgoingMessage,
    onStatus: OnStatus,
    onArtifact: OnArtifact,
    options: SendOptions = {},
  ): Promise<Following> {
    return Following.begin(this.sendMessageStream(message, options), onStatus, onArtifact);
  }

  /** The current state of a task, with this many messages of its history, or all of them. */
  getTask(id: string, history: number | Omit<GetTaskRequest, "id"> = {}): Promise<Task> {
    const options = typeof history === "number" ? { historyLength: history } : history;
    return this.#retry((agent) => agent.getTask({ ...options, id }, PARAMETERS));
  }

  /** A page of tasks, newest first. */
  listTasks(request: ListTasksRequest = {}): Promise<ListTasksResponse> {
    return this.#retry((agent) => agent.listTasks(request, PARAMETERS));
  }

  /** Cancels a task. Cancelling a cancelled task is not an error. */
  cancelTask(id: string, options: Omit<CancelTaskRequest, "id"> = {}): Promise<Task> {
    return this.#retry((agent) => agent.cancelTask({ ...options, id }, PARAMETERS));
  }

  /** Follows an existing task: yields each event once, also if the connection is lost meanwhile. */
  subscribe(id: string, { cursor, ...rest }: SubscribeOptions = {}): AsyncGenerator<StreamResponse, void, void> {
    return this.#events((agent, parameters) => agent.subscribeToTask({ ...rest, id }, parameters), cursor);
  }

  /** The same as `subscribe` with callbacks. Other bindings need webhooks for that. Resolves with the first event. */
  subscribeToPushNotifications(
    id: string,
    onStatus: OnStatus,
    onArtifact: OnArtifact,
    options: SubscribeOptions = {},
  ): Promise<Following> {
    return Following.begin(this.subscribe(id, options), onStatus, onArtifact);
  }

  /** Creates a webhook for a task. With an id in `config`, the call is repeated if the connection is lost. */
  createPushConfig(config: TaskPushNotificationConfig): Promise<TaskPushNotificationConfig> {
    const create = (agent: AgentStub) => agent.createTaskPushNotificationConfig(config, PARAMETERS);
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

  /** The current public card. */
  getAgentCard(): Promise<AgentCard> {
    return this.#retry((agent) => agent.getAgentCard());
  }

  /** The card for authenticated callers. */
  getExtendedAgentCard(): Promise<AgentCard> {
    return this.#retry((agent) => agent.getExtendedAgentCard({}));
  }

  /**
   * Closes the connection, or gives up the HTTP requests that are under way. Later calls fail with a `NotConnectedError`. A client
   * made by `authenticated` releases its own object only.
   */
  dispose(): void {
    if (this.#channel !== this.#root) this.#channel.close();
    this.#root.close();
  }

  /** The same as `dispose`, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  #call<R>(make: (agent: AgentStub) => PromiseLike<R>): Promise<R> {
    return typed(this.#channel.call(make));
  }

  #retry<R>(make: (agent: AgentStub) => PromiseLike<R>): Promise<R> {
    return typed(this.#channel.retry(make));
  }

  async *#events(
    open: (agent: AgentStub, parameters: ServiceParameters) => PromiseLike<ReadableStream<StreamResponse>>,
    cursor?: Int64,
  ): AsyncGenerator<StreamResponse, void, void> {
    let begun = false;
    for (;;) {
      const parameters = cursor === undefined ? PARAMETERS : { ...PARAMETERS, "Last-Event-ID": cursor };
      try {
        for await (const event of this.#channel.stream((agent) => open(agent, parameters))) {
          begun = true;
          cursor = cursorOf(event) ?? cursor;
          yield event;
          // A message is the last event, and has no cursor.
          if (event.message !== undefined) return;
        }
        return;
      } catch (error) {
        // Without a cursor the stream cannot be continued.
        if (!(error instanceof ConnectionLostError) || (begun && cursor === undefined)) throw A2AError.of(error);
      }
    }
  }
}

function optionsOf(given: A2AOptions | boolean | undefined): A2AOptions {
  if (typeof given === "object") return given;
  return { transport: given ? "websocket" : "batch" };
}

/** A channel to an agent at an address that begins with `http` or `ws`. */
function open(address: string, options: A2AOptions): Channel {
  const { transport = "websocket", webSocket = (url) => new WebSocket(url), fetch: _, ...rest } = options;
  const url = address.replace(/^ws/, "http");
  if (transport === "batch") return new BatchChannel(url);
  const opening = () => webSocket(url.replace(/^http/, "ws"));
  return new SocketChannel(new Reconnecting(new Core(opening, rest), undefined));
}

/** The cursor of an event, for `subscribe`; undefined if the agent sends none. */
export function cursorOf(event: StreamResponse): Int64 | undefined {
  return (event.task ?? event.statusUpdate ?? event.artifactUpdate)?.generation;
}

/** Whether a task in this state has ended. */
export function isTerminal(state: TaskState): boolean {
  const ends = ["COMPLETED", "FAILED", "CANCELED", "REJECTED"];
  return ends.some((end) => state === `TASK_STATE_${end}`);
}

/** Turns the error of a call into an `A2AError` if the agent sent it. */
async function typed<R>(call: Promise<R>): Promise<R> {
  try {
    return await call;
  } catch (error) {
    throw A2AError.of(error);
  }
}
