// Sends calls to the agent: through the current session, or each in its own HTTP request.

import { newHttpBatchRpcSession } from "capnweb";
import type { Reconnecting } from "../reconnecting.js";
import { NotConnectedError } from "../errors.js";
import { A2AError } from "./errors.js";
import type { Agent } from "./types.js";

/** The agent's methods, without what stubs of the npm package have besides. */
export type AgentStub = Omit<Agent, "authenticate"> & { authenticate(credentials: unknown): PromiseLike<AgentStub> };

export interface Channel {
  /** Makes a call once. */
  call<R>(make: (agent: AgentStub) => PromiseLike<R>): Promise<R>;
  /** Makes a call that may be carried out twice, and repeats it if the connection was lost. */
  retry<R>(make: (agent: AgentStub) => PromiseLike<R>): Promise<R>;
  /** Reads a stream up to its end, or to the end of the connection. */
  stream<E>(open: (agent: AgentStub) => PromiseLike<ReadableStream<E>>): AsyncGenerator<E, void, void>;
  /** The same agent for the owner of these credentials. */
  authenticate(credentials: unknown): Channel;
  close(): void;
}

/** Over a WebSocket that is opened again each time it is lost. */
export class SocketChannel implements Channel {
  constructor(readonly agent: Reconnecting<AgentStub>) {}

  call<R>(make: (agent: AgentStub) => PromiseLike<R>): Promise<R> {
    return this.agent.call(make);
  }

  retry<R>(make: (agent: AgentStub) => PromiseLike<R>): Promise<R> {
    return this.agent.retry(make);
  }

  stream<E>(open: (agent: AgentStub) => PromiseLike<ReadableStream<E>>): AsyncGenerator<E, void, void> {
    return this.agent.stream(open);
  }

  authenticate(credentials: unknown): Channel {
    return new SocketChannel(this.agent.derive((agent) => agent.authenticate(credentials)));
  }

  close(): void {
    this.agent.close();
  }
}

/** Each call is an HTTP request. Streams are not supported. */
export class BatchChannel implements Channel {
  readonly #closed = new AbortController();

  constructor(
    readonly url: string,
    readonly credentials: readonly unknown[] = [],
    /** Aborted when the channel that this one was derived from is closed. */
    readonly parent?: AbortSignal,
  ) {}

  async call<R>(make: (agent: AgentStub) => PromiseLike<R>): Promise<R> {
    const signal = this.#signal();
    if (signal.aborted) throw closed();
    let agent = newHttpBatchRpcSession<Agent>(new Request(this.url, { signal })) as unknown as AgentStub;
    for (const credentials of this.credentials) {
      // Not awaited: the calls are pipelined into one request.
      agent = agent.authenticate(credentials) as unknown as AgentStub;
    }
    try {
      return await make(agent);
    } catch (error) {
      throw signal.aborted ? closed(error) : error;
    }
  }

  retry<R>(make: (agent: AgentStub) => PromiseLike<R>): Promise<R> {
    return this.call(make);
  }

  async *stream<E>(): AsyncGenerator<E, void, void> {
    throw new A2AError("a stream needs a WebSocket", -32004, "UNSUPPORTED_OPERATION", []);
  }

  authenticate(credentials: unknown): Channel {
    return new BatchChannel(this.url, [...this.credentials, credentials], this.#signal());
  }

  close(): void {
    this.#closed.abort();
  }

  #signal(): AbortSignal {
    const own = this.#closed.signal;
    return this.parent === undefined ? own : AbortSignal.any([own, this.parent]);
  }
}

function closed(cause?: unknown): NotConnectedError {
  return new NotConnectedError("the client was disposed", cause);
}
