import type { RpcCompatible, RpcStub } from "capnweb";
import { ConnectionLostError } from "./errors.js";
import { Resumption } from "./resume.js";
import type { ResumeOptions } from "./resume.js";
import { Core } from "./session.js";
import type { ConnectOptions, Live, Remote } from "./session.js";

/**
 * Connects to a server, and again each time the connection is lost.
 *
 * @param to The address, or a function that opens a WebSocket; it is called for each attempt.
 */
export function connect<T extends RpcCompatible<T>>(
  to: string | (() => WebSocket),
  options: ConnectOptions<RpcStub<T>> = {},
): Reconnecting<RpcStub<T>> {
  const open = typeof to === "string" ? () => new WebSocket(to) : to;
  return new Reconnecting(new Core(open, options), undefined);
}

/** How to get the object of a handle that is not the root. */
interface Derivation {
  readonly parent: Reconnecting<any>;
  readonly get: (parent: any) => PromiseLike<unknown>;
}

/**
 * A handle on an object of the server that outlives sessions. `S` is the type of its stub; each session has a new stub.
 *
 * A stub of the npm package ends with its session. A handle keeps how to get the object instead of the stub: the root of
 * the session, or a function that gets it from another handle. A call is made on the stub of the current session. A
 * derived object is got at its first use in each session, and kept until the session ends or getting it failed.
 */
export class Reconnecting<S> {
  readonly #core: Core;
  readonly #derivation: Derivation | undefined;

  /** Handles are made by `connect` and `derive`. */
  constructor(core: Core, derivation: Derivation | undefined) {
    this.#core = core;
    this.#derivation = derivation;
  }

  /**
   * Makes a call in the current session, or in the next one if there is none.
   *
   * If the session ends before the reply, the call fails with a `ConnectionLostError`: it may or may not have been carried
   * out.
   */
  async call<R>(make: (object: S) => PromiseLike<R>): Promise<R> {
    const live = await this.#core.live();
    try {
      return await make(this.#inSession(live));
    } catch (error) {
      throw (await live.lost(error)) ? new ConnectionLostError(error) : error;
    }
  }

  /**
   * Makes a call that may be carried out twice (it is idempotent): if the session ends before the reply, it is made again
   * in the next one.
   */
  async retry<R>(make: (object: S) => PromiseLike<R>): Promise<R> {
    for (let retries = this.#core.options.retries; ; retries -= 1) {
      try {
        return await this.call(make);
      } catch (error) {
        if (!(error instanceof ConnectionLostError) || retries <= 0) throw error;
      }
    }
  }

  /**
   * Reads a stream of the current session, or of the next one if there is none. If the session ends before the stream,
   * this fails with a `ConnectionLostError`. Leaving the loop early cancels the stream.
   */
  async *stream<E>(open: (object: S) => PromiseLike<ReadableStream<E>>): AsyncGenerator<E, void, void> {
    const live = await this.#core.live();
    let reader: ReadableStreamDefaultReader<E> | undefined;
    try {
      reader = (await open(this.#inSession(live))).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        yield value;
      }
    } catch (error) {
      throw live.ended !== undefined || (await live.lost(error)) ? new ConnectionLostError(error) : error;
    } finally {
      // Fails if the session or the stream has ended, which is fine.
      reader?.cancel().catch(() => {});
    }
  }

  /**
   * A handle on an object that `get` returns. `get` is called at the first use in each session, and again after it
   * failed.
   */
  derive<P extends PromiseLike<unknown>>(get: (object: S) => P): Reconnecting<Awaited<P>> {
    return new Reconnecting<Awaited<P>>(this.#core, { parent: this, get });
  }

  /** Follows a log across sessions: each event arrives once, in order. */
  resume<E>(options: ResumeOptions<S, E>): Resumption {
    return new Resumption(this.#core, (live) => this.#inSession(live), options);
  }

  /** Whether a session is open and has answered its probe. */
  get isConnected(): boolean {
    return this.#core.present !== undefined;
  }

  /** How many sessions have been opened so far, including the current one. */
  get sessions(): number {
    return this.#core.sessions;
  }

  /** Calls the listener when a session begins or ends. Returns a function that removes the listener. */
  onChange(listener: (isConnected: boolean) => void): () => void {
    return this.#core.onChange(() => listener(this.isConnected));
  }

  /** A derived handle releases its object. The root handle closes the connection and does not connect again. */
  close(): void {
    if (this.#derivation === undefined) return this.#core.close();
    const derived = this.#core.present?.derived;
    derived?.get(this)?.[Symbol.dispose]();
    derived?.delete(this);
  }

  /** The same as `close`, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  #inSession(live: Live): S {
    if (this.#derivation === undefined) return live.root as S;
    const known = live.derived.get(this);
    if (known !== undefined) return known as S;
    const { parent, get } = this.#derivation;
    const got = get(parent.#inSession(live));
    live.derived.set(this, got as unknown as Remote);
    // Awaited here so that a failure is noticed: then the object is got again at its next use.
    got.then(undefined, () => {
      if (live.derived.get(this) === (got as unknown)) live.derived.delete(this);
    });
    return got as S;
  }
}
