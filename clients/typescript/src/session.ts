// Keeps one session open, and opens the next when it ends.

import { newWebSocketRpcSession } from "capnweb";
import { Backoff } from "./backoff.js";
import { NotConnectedError } from "./errors.js";

/** How long to wait for the end of a session after the server abandoned a call. */
const ABANDONED_WAIT = 1_000;

/** Options of `connect`. Times are in milliseconds. */
export interface ConnectOptions<S> {
  /** The object that this side offers to the server in every session. */
  main?: unknown;
  /** Called in every new session, before it is used; if it fails, the session is closed. By default any reply is enough. */
  probe?: (root: S) => PromiseLike<unknown>;
  /** The bound of the first wait before an attempt. Each further bound is doubled. */
  firstWait?: number;
  /** The largest bound. */
  longestWait?: number;
  /** After a session that lasted this long, the wait begins again with the first bound. */
  steadyAfter?: number;
  /** How long one attempt may take, the probe included. */
  attemptLimit?: number;
  /** How often the probe is repeated, since a browser does not notice a dead connection; 0 for never. */
  heartbeat?: number;
  /** How long a call waits for a connection; then it fails with a `NotConnectedError`. */
  patience?: number;
  /** How many times `retry` repeats a call. */
  retries?: number;
  /** Returns numbers from 0 to 1, for tests. */
  random?: () => number;
}

/** A stub or promise of the npm package, without its type. */
export interface Remote {
  [Symbol.dispose](): void;
}

/** One session and the objects that were derived in it. */
export class Live {
  /** Set when the session ended, with the reason. */
  ended: { error: unknown } | undefined;
  /** Resolves when the session ends. */
  readonly end: Promise<void>;
  /** The derived stubs by their handles. They end with the session. */
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
   * Whether an error leaves open if a call was carried out: it is the error with which the session ended, or the server
   * abandoned the call because it stops. In the second case the session will end soon; that is waited for, so that the
   * next call finds another server.
   */
  async lost(error: unknown): Promise<boolean> {
    if (this.ended !== undefined && this.ended.error === error) return true;
    if (!(error instanceof Error && "code" in error && error.code === "abandoned")) return false;
    const enough = new AbortController();
    await Promise.race([this.end, pause(ABANDONED_WAIT, enough.signal)]);
    enough.abort();
    return true;
  }
}

/**
 * The connection that all handles share. It owns the loop that opens a session, uses it until it ends, waits and opens the
 * next. `close` ends the loop for good.
 *
 * A session is used only after its probe was answered: a WebSocket can be open while the server behind it is not ready.
 * While a session is open the probe is repeated (`heartbeat`), because a browser does not report a dead connection.
 */
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
    // A property that no object has. An error is a reply too, unless the session ended with it.
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

  /** The current session; undefined from the moment it ended, also if the loop has not noticed yet. */
  get present(): Live | undefined {
    return this.#live?.ended ? undefined : this.#live;
  }

  /** Ends the session and does not connect again. */
  close(): void {
    if (this.closed) return;
    this.#closing.abort();
    this.#live?.root[Symbol.dispose]();
    this.#live?.socket.close();
    this.#live = undefined;
    this.#changed();
  }

  /** Calls the listener when a session begins or ends. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void {
    this.#changes.addEventListener("change", listener);
    return () => this.#changes.removeEventListener("change", listener);
  }

  /** The current session, or the next one, within `patience`. */
  async live(patience = this.options.patience): Promise<Live> {
    const limit = new AbortController();
    const timer = Number.isFinite(patience) ? setTimeout(() => limit.abort(), patience) : undefined;
    try {
      for (;;) {
        if (this.closed) throw new NotConnectedError("the client was closed", this.#error);
        const live = this.present;
        if (live !== undefined) return live;
        if (limit.signal.aborted) throw new NotConnectedError("no connection within the time limit", this.#error);
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

  /** Opens a session and probes it. */
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

  /** Returns when a session ended, or did not answer the probe in time. */
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

/** Waits; returns early when the signal is aborted. */
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

/** The result of some work, within a time limit. */
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
