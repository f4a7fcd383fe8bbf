import type { RpcCompatible, RpcStub } from "capnweb";
import { ConnectionLostError } from "./errors.js";
import { Resumption } from "./resume.js";
import type { ResumeOptions } from "./resume.js";
import { Core } from "./session.js";
import type { ConnectOptions, Live, Remote } from "./session.js";

/**
 * Connects to a server, and again whenever the connection is lost.
 *
 * @param to The address, or what opens a WebSocket; it is called for each attempt.
 */
export function connect<T extends RpcCompatible<T>>(
  to: string | (() => WebSocket),
  options: ConnectOptions<RpcStub<T>> = {},
): Reconnecting<RpcStub<T>> {
  const open = typeof to === "string" ? () => new WebSocket(to) : to;
  return new Reconnecting(new Core(open, options), undefined);
}

/** Where a handle's object comes from when it is not the root. */
interface Derivation {
  readonly parent: Reconnecting<any>;
  readonly get: (parent: any) => PromiseLike<unknown>;
}

/**
 * A handle on an object at the other end of whatever connection there is. `S` is the type of its stub, which
 * is another one in each session.
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
   * Makes a call in the present session, or in the next when there is none.
   *
   * When the session ends before the answer is there, nobody knows whether the call was done, and it fails with
   * a `ConnectionLostError`.
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
   * Makes a call that does no harm when it is done twice: when the session ends before the answer is there, it
   * is made again in the next one.
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
   * Reads a stream of the present session, or of the next when there is none. When the session ends before the stream
   * does, this fails with a `ConnectionLostError`. To leave early ends the stream.
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
      // Nobody minds when the session is gone, or the stream at its end.
      reader?.cancel().catch(() => {});
    }
  }

  /**
   * A handle on an object that one can get from this one. It is got when it is first used in a session, and
   * again when getting it has failed.
   */
  derive<P extends PromiseLike<unknown>>(get: (object: S) => P): Reconnecting<Awaited<P>> {
    return new Reconnecting<Awaited<P>>(this.#core, { parent: this, get });
  }

  /** Follows a log through all sessions: each event once, in order. */
  resume<E>(options: ResumeOptions<S, E>): Resumption {
    return new Resumption(this.#core, (live) => this.#inSession(live), options);
  }

  /** Whether there is a session that can be used. */
  get isConnected(): boolean {
    return this.#core.present !== undefined;
  }

  /** How many sessions there have been that could be used. */
  get sessions(): number {
    return this.#core.sessions;
  }

  /** Calls the listener when a session has come or gone. Gives what stops that. */
  onChange(listener: (isConnected: boolean) => void): () => void {
    return this.#core.onChange(() => listener(this.isConnected));
  }

  /** Releases what was derived; the root's handle ends the connection, and connects no more. */
  close(): void {
    if (this.#derivation === undefined) return this.#core.close();
    const derived = this.#core.present?.derived;
    derived?.get(this)?.[Symbol.dispose]();
    derived?.delete(this);
  }

  /** As `close`, for `using`. */
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
    // Asked for, so that it is known when it cannot be got, and then got again at its next use.
    got.then(undefined, () => {
      if (live.derived.get(this) === (got as unknown)) live.derived.delete(this);
    });
    return got as S;
  }
}
