// How calls get to the agent: through whatever session there is, or each in an HTTP request of its own.

import { newHttpBatchRpcSession } from "capnweb";
import type { Reconnecting } from "../reconnecting.js";
import { A2AError } from "./errors.js";
import type { Agent } from "./types.js";

/** The agent in a session, seen as what its methods give. As a stub it could do more, which is of no use here. */
export type AgentStub = Omit<Agent, "authenticate"> & { authenticate(credentials: unknown): PromiseLike<AgentStub> };

export interface Channel {
  /** Makes a call once. */
  call<R>(make: (agent: AgentStub) => PromiseLike<R>): Promise<R>;
  /** Makes a call that may be made again when nobody knows what became of it. */
  retry<R>(make: (agent: AgentStub) => PromiseLike<R>): Promise<R>;
  /** Reads a stream up to its end or that of the connection. */
  stream<E>(open: (agent: AgentStub) => PromiseLike<ReadableStream<E>>): AsyncGenerator<E, void, void>;
  /** The same for whoever these credentials belong to. */
  authenticate(credentials: unknown): Channel;
  close(): void;
}

/** Over a WebSocket that is opened again whenever it is lost. */
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

/** Each call is a request; there are no streams. */
export class BatchChannel implements Channel {
  constructor(
    readonly url: string,
    readonly credentials: readonly unknown[] = [],
  ) {}

  async call<R>(make: (agent: AgentStub) => PromiseLike<R>): Promise<R> {
    let agent = newHttpBatchRpcSession<Agent>(this.url) as unknown as AgentStub;
    for (const credentials of this.credentials) {
      // Used before it is there: all is one request.
      agent = agent.authenticate(credentials) as unknown as AgentStub;
    }
    return await make(agent);
  }

  retry<R>(make: (agent: AgentStub) => PromiseLike<R>): Promise<R> {
    return this.call(make);
  }

  async *stream<E>(): AsyncGenerator<E, void, void> {
    throw new A2AError("a stream needs a WebSocket", -32004, "UNSUPPORTED_OPERATION", []);
  }

  authenticate(credentials: unknown): Channel {
    return new BatchChannel(this.url, [...this.credentials, credentials]);
  }

  close(): void {}
}
