// The loop that keeps a session, and what the handles know of it.

import { newWebSocketRpcSession } from "capnweb";
import { Backoff } from "./backoff.js";
import { NotConnectedError } from "./errors.js";

/** How long a server that drops its calls may take to drop the session. */
const FAREWELL = 1_000;

/** How to connect, how long things may take, and how often they are tried. Times are in milliseconds. */
export interface ConnectOptions<S> {
  /** What this side offers to the server in every session. */
  main?: unknown;
  /** Asked of every new session; while it fails, another is tried. By default any answer will do. */
  probe?: (root: S) => PromiseLike<unknown>;
  /** The bound of the first wait before an attempt. Each further bound is twice the one before. */
  firstWait?: number;
  /** The largest bound. */
  longestWait?: number;
  /** A session that lasted so long has proved itself: the wait after it is a first one. */
  steadyAfter?: number;
  /** How long one attempt may take, the probe included. */
  attemptLimit?: number;
  /** How often a session is asked whether it is still there, since a browser does not notice; 0 for never. */
  heartbeat?: number;
  /** How long a call waits for a connection. */
  patience?: number;
  /** How many sessions may end during a call that is retried. */
  retries?: number;
  /** Gives numbers from 0 to 1, for tests. */
  random?: () => number;
}

/** A stub or promise of the npm package, whatever its type. */
export interface Remote {
  [Symbol.dispose](): void;
}

/** One session, and what was derived in it. */
export class Live {
  /** Set when the session has ended: why. */
  ended: { error: unknown } | undefined;
  /** Settles when the session ends. */
  readonly end: Promise<void>;
  /** By the handles they belong to. They end with the session. */
  readonly derived = new Map<object, Remote>();
  #finish: () => void = () => {};

  constructor(
    readonly root: Remote & { onRpcBroken(callback: (error: unknown) => void): void },
    readonly socket: WebSocket,
  ) {
    this.end = new Promise((resolve) => (this.#finish = resolve));
    root.onRpcBroken((error) => {
      this.ended ??= { error };
      this.#finish();
    });
  }

  /**
   * Whether an error means that nobody knows what became of a call: it is that of the session's end, or the server
   * dropped the call, as it does when it stops. Then the session's end is near, and waited for, so that what comes
   * next finds another server.
   */
  async lost(error: unknown): Promise<boolean> {
    if (this.ended !== undefined && this.ended.error === error) return true;
    if (!(error instanceof Error && "code" in error && error.code === "abandoned")) return false;
    const enough = new AbortController();
    await Promise.race([this.end, pause(FAREWELL, enough.signal)]);
    enough.abort();
    return true;
  }
}

/** What all handles of one connection share. */
export class Core {
  readonly options: Required<Omit<ConnectOptions<any>, "main" | "probe">>;
  readonly #main: unknown;
  readonly #probe: (root: any) => PromiseLike<unknown>;
  readonly #open: () => WebSocket;
  readonly #closing = new AbortController();
  readonly #changes = new EventTarget();
  #live: Live | undefined;
  #sessions = 0;
  #error: unknown;

  constructor(open: () => WebSocket, options: ConnectOptions<any>) {
    const { main, probe, ...rest } = options;
    this.#open = open;
    this.#main = main;
    // A property that no object has. A refusal is an answer as well, unless it is the session's end.
    this.#probe = probe ?? ((root) => root.isConnected.then(undefined, () => undefined));
    this.options = {
      firstWait: 200,
      longestWait: 30_000,
      steadyAfter: 5_000,
      attemptLimit: 10_000,
      heartbeat: 20_000,
      patience: 60_000,
      retries: 10,
      random: Math.random,
      ...rest,
    };
    void this.#run();
  }

  get closed(): boolean {
    return this.#closing.signal.aborted;
  }

  get sessions(): number {
    return this.#sessions;
  }

  /** The present session, unless it has ended and nobody has noticed yet. */
  get present(): Live | undefined {
    return this.#live?.ended ? undefined : this.#live;
  }

  /** Ends the session, and connects no more. */
  close(): void {
    if (this.closed) return;
    this.#closing.abort();
    this.#live?.root[Symbol.dispose]();
    this.#live?.socket.close();
    this.#live = undefined;
    this.#changed();
  }

  /** Calls the listener whenever there is a session or there is none any more. Gives what stops that. */
  onChange(listener: () => void): () => void {
    this.#changes.addEventListener("change", listener);
    return () => this.#changes.removeEventListener("change", listener);
  }

  /** The present session, or the next, if it comes in time. */
  async live(patience = this.options.patience): Promise<Live> {
    const limit = new AbortController();
    const timer = Number.isFinite(patience) ? setTimeout(() => limit.abort(), patience) : undefined;
    try {
      for (;;) {
        if (this.closed) throw new NotConnectedError("connecting was stopped", this.#error);
        const live = this.present;
        if (live !== undefined) return live;
        if (limit.signal.aborted) throw new NotConnectedError("there is no connection", this.#error);
        await this.#nextChange(limit.signal);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  async #run(): Promise<void> {
    const { firstWait, longestWait, steadyAfter, random } = this.options;
    const backoff = new Backoff(firstWait, longestWait, random);
    while (!this.closed) {
      try {
        const live = await this.#attempt();
        const begun = Date.now();
        this.#live = live;
        this.#sessions += 1;
        this.#changed();
        await this.#keep(live);
        this.#error = live.ended?.error;
        if (Date.now() - begun >= steadyAfter) backoff.reset();
      } catch (error) {
        this.#error = error;
      }
      if (this.closed) return;
      this.#live = undefined;
      this.#changed();
      await pause(backoff.next(), this.#closing.signal);
    }
  }

  /** Connects and asks; only a session that has answered is worth something. */
  async #attempt(): Promise<Live> {
    const socket = this.#open();
    try {
      return await within(this.options.attemptLimit, this.#closing.signal, async () => {
        await opened(socket);
        const live = new Live(newWebSocketRpcSession<any>(socket, this.#main) as any, socket);
        await this.#probe(live.root);
        if (live.ended) throw live.ended.error;
        return live;
      });
    } catch (error) {
      socket.close();
      throw error;
    }
  }

  /** Returns when a session is over, which it also is when it does not answer any more. */
  async #keep(live: Live): Promise<void> {
    const { heartbeat, attemptLimit } = this.options;
    while (live.ended === undefined && !this.closed) {
      const over = await Promise.race([
        live.end.then(() => true),
        heartbeat > 0 ? pause(heartbeat, this.#closing.signal).then(() => false) : live.end.then(() => true),
      ]);
      if (over || live.ended !== undefined) return;
      try {
        await within(attemptLimit, this.#closing.signal, async () => this.#probe(live.root));
      } catch (error) {
        live.ended ??= { error };
        live.socket.close();
        return;
      }
    }
  }

  #changed(): void {
    this.#changes.dispatchEvent(new Event("change"));
  }

  #nextChange(limit: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#changes.removeEventListener("change", done);
        limit.removeEventListener("abort", done);
        resolve();
      };
      this.#changes.addEventListener("change", done);
      limit.addEventListener("abort", done);
    });
  }
}

/** Waits, or returns early when the signal says so. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}

/** The result of some work, which must not take too long. */
async function within<R>(limit: number, signal: AbortSignal, work: () => PromiseLike<R>): Promise<R> {
  const inTime = new AbortController();
  const late = pause(limit, AbortSignal.any([signal, inTime.signal])).then(() => {
    throw new Error("the server did not answer in time");
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    late.catch(() => {});
    inTime.abort();
  }
}

function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = () => reject(new Error(`could not connect to ${socket.url}`));
    socket.addEventListener("open", () => resolve(), { once: true });
    socket.addEventListener("error", failed, { once: true });
    socket.addEventListener("close", failed, { once: true });
  });
}
