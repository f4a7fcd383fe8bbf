import { Backoff } from "../backoff.js";
import { SessionState } from "./session-state.js";
import type { Kept } from "./session-state.js";
import type { ChatListener, ChatMessage, Outgoing } from "./types.js";

/** Options of a `ChatClient`. Times are in milliseconds. */
export interface ChatOptions {
  /** The session that is kept. One that the server does not know begins with the first command. */
  session: string;
  /** The message after which the session is told; without one it is told from its beginning. */
  cursor?: string;
  /** Where the outbox is kept over reloads, such as `localStorage`; without it, in memory. */
  kept?: Kept;
  /** The bound of the first wait before a new connection. Each further bound is doubled. */
  firstWait?: number;
  longestWait?: number;
  /** How often the server is asked whether it is there. It is taken for gone when it said nothing until the next time. */
  heartbeat?: number;
  /** How long a connection may take to open. */
  attemptLimit?: number;
  /** How long to wait after a refusal because of the rate of messages. */
  limitedWait?: number;
  /** Returns numbers from 0 to 1, for tests. */
  random?: () => number;
}

/** What may come with a command. */
export interface CommandOptions {
  context?: "project" | "file" | "system";
  urgency?: "immediate" | "high" | "normal" | "low";
  attachments?: { name: string; media_type?: string; content?: string; data?: string }[];
}

/** The answer to what waits: a decision about a call, or words. */
export type ChatAnswer =
  | { decision: "approve" | "reject" | "modify"; modified?: unknown; reason?: string }
  | { answer: string };

/** The server ended the connection because of the credentials. */
const POLICY = 1008;

/**
 * A session of `/ws/chat` that outlives its connections: it comes back by itself, and every message arrives once and in
 * order, in both directions.
 */
export class ChatClient {
  readonly #open: () => WebSocket;
  readonly #options: Required<Omit<ChatOptions, "session" | "cursor" | "kept">>;
  readonly #listener: ChatListener;
  readonly #state: SessionState;
  readonly #backoff: Backoff;
  #socket: WebSocket | undefined;
  #heard = false;
  #closed = false;
  #timers = new Map<"attempt" | "again" | "heartbeat" | "limited", ReturnType<typeof setTimeout>>();

  /** @param to The address, or a function that opens a WebSocket; it is called for each attempt. */
  constructor(to: string | (() => WebSocket), options: ChatOptions, listener: ChatListener) {
    this.#open = typeof to === "string" ? () => new WebSocket(to) : to;
    this.#options = {
      firstWait: 1_000,
      longestWait: 30_000,
      heartbeat: 30_000,
      attemptLimit: 10_000,
      limitedWait: 1_000,
      random: Math.random,
      ...options,
    };
    const { firstWait, longestWait, random } = this.#options;
    // A wait is at least half of its bound, so that a server that is down is not asked without end.
    this.#backoff = new Backoff(firstWait, longestWait, () => 0.5 + random() / 2);
    this.#listener = {
      ...bound(listener),
      onRestored: (waiting) => {
        this.#backoff.reset();
        listener.onRestored?.(waiting);
      },
    };
    const send = (message: object) => this.#socket?.send(JSON.stringify(message));
    const pause = () => this.#after("limited", this.#options.limitedWait, () => this.#state.goOn());
    this.#state = new SessionState(options.session, options.cursor, send, pause, this.#listener, options.kept);
    this.#connect();
  }

  /** The cursor of the last message that was told. Store it to go on later. */
  get cursor(): string | undefined {
    return this.#state.cursor;
  }

  /** What was said and is not with the server yet, in order. */
  get outbox(): readonly Outgoing[] {
    return this.#state.outbox;
  }

  /** Says something to the agent, now or when there is a connection. Gives the id of the message. */
  say(command: string, options: CommandOptions = {}): string {
    return this.#send("user_command", { command, ...options });
  }

  /** Answers what waits under an id. */
  answer(request: string, answer: ChatAnswer): string {
    return this.#send("approval_response", { request_id: request, ...answer }, request);
  }

  /** Closes the connection and does not connect again. What is in the outbox stays where it is kept. */
  close(): void {
    this.#closed = true;
    this.#drop();
  }

  /** The same as `close`, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  #send(type: string, payload: object, request?: string): string {
    const id = crypto.randomUUID();
    const timestamp = new Date().toISOString();
    const metadata = { session_id: this.#state.session };
    const message = { id, type, timestamp, source: "user", payload, metadata };
    this.#state.say({ id, message, ...(request === undefined ? {} : { request }) });
    return id;
  }

  #connect(): void {
    const socket = this.#open();
    this.#socket = socket;
    const mine = () => this.#socket === socket;
    socket.addEventListener("open", () => {
      if (!mine()) return;
      this.#clear("attempt");
      this.#heard = true;
      this.#beat();
      this.#state.connected();
    });
    socket.addEventListener("message", ({ data }) => {
      if (!mine()) return;
      this.#heard = true;
      let message: ChatMessage;
      try {
        message = JSON.parse(String(data)) as ChatMessage;
      } catch {
        return this.#lost();
      }
      const why = this.#state.take(message);
      if (why !== undefined) this.#end(why);
    });
    socket.addEventListener("close", ({ code, reason }) => {
      if (!mine()) return;
      if (code === POLICY) this.#end(reason);
      else this.#lost();
    });
    socket.addEventListener("error", () => {
      if (mine()) this.#lost();
    });
    this.#after("attempt", this.#options.attemptLimit, () => this.#lost());
  }

  #beat(): void {
    this.#after("heartbeat", this.#options.heartbeat, () => {
      if (!this.#heard) return this.#lost();
      this.#heard = false;
      this.#socket?.send(JSON.stringify({ type: "ping" }));
      this.#beat();
    });
  }

  #lost(): void {
    this.#drop();
    if (this.#closed) return;
    const wait = this.#backoff.next();
    this.#after("again", wait, () => this.#connect());
    this.#listener.onLost?.(wait);
  }

  #end(why: string): void {
    this.close();
    this.#listener.onEnded?.(why);
  }

  #drop(): void {
    for (const name of this.#timers.keys()) this.#clear(name);
    const socket = this.#socket;
    this.#socket = undefined;
    this.#state.lost();
    socket?.close();
  }

  #after(name: "attempt" | "again" | "heartbeat" | "limited", wait: number, run: () => void): void {
    this.#clear(name);
    this.#timers.set(name, setTimeout(run, wait));
  }

  #clear(name: "attempt" | "again" | "heartbeat" | "limited"): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }
}

/** The functions of a listener that may be an object of a class. */
function bound(listener: ChatListener): ChatListener {
  return {
    onMessage: (message) => listener.onMessage?.(message),
    onPassing: (message) => listener.onPassing?.(message),
    onTaken: (id) => listener.onTaken?.(id),
    onRefused: (refusal) => listener.onRefused?.(refusal),
    onLost: (wait) => listener.onLost?.(wait),
    onEnded: (why) => listener.onEnded?.(why),
  };
}
