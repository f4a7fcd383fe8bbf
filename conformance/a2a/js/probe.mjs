// What every scenario needs: a client for one binding, requests, and checks that say what differed.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import * as sdk from "@a2a-js/sdk";
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";

const TRANSPORTS = {
  "JSONRPC": () => new JsonRpcTransportFactory(),
  "HTTP+JSON": () => new RestTransportFactory(),
  "GRPC": () => new GrpcTransportFactory(),
};
export const BINDINGS = Object.keys(TRANSPORTS);

/** The official client for one binding. */
export class Probe {
  static async reach(base, binding, held) {
    const probe = new Probe();
    probe.binding = binding;
    // The prefix of message ids that make a task work until it is cancelled.
    probe.held = held;
    probe.card = await new DefaultAgentCardResolver().resolve(base);
    probe.client = await probe.clientFor(probe.card);
    return probe;
  }

  /** A client that knows this binding only, so that it must choose that interface of the card. */
  clientFor(card, ...interceptors) {
    const transports = [TRANSPORTS[this.binding]()];
    return new ClientFactory({ transports, clientConfig: { interceptors } }).createFromAgentCard(card);
  }

  close() {
    this.client.transport.close?.();
  }

  /** What SendMessage gives: `{ task }` or `{ message }`. */
  async send(request, client = this.client, serviceParameters = {}) {
    const answer = await client.sendMessage(request, { serviceParameters });
    return "messageId" in answer ? { message: answer } : { task: answer };
  }

  async sendForTask(request, serviceParameters = {}) {
    const { task } = await this.send(request, this.client, serviceParameters);
    assert.ok(task, "the answer is a message, not a task");
    return task;
  }

  stream(request, client = this.client) {
    return client.sendMessageStream(request);
  }

  subscribe(id, serviceParameters = {}) {
    return this.client.resubscribeTask(sdk.SubscribeToTaskRequest.fromJSON({ id }), { serviceParameters });
  }

  get(id, fields = {}) {
    return this.client.getTask(sdk.GetTaskRequest.fromJSON({ id, ...fields }));
  }

  cancel(id) {
    return this.client.cancelTask(sdk.CancelTaskRequest.fromJSON({ id }));
  }

  /** A task that is at work and stays so. */
  startHeld() {
    return this.sendForTask(request({ prefix: this.held, configuration: { returnImmediately: true } }));
  }
}

/** Marks a scenario that the client cannot express over the other bindings. */
export function onlyOver(bindings, scenario) {
  scenario.bindings = bindings;
  return scenario;
}

/** A request with one user message whose id begins with `prefix` and is new; `message` adds fields to it. */
export function request({ text = "go", prefix = "probe", parts, configuration, ...message } = {}) {
  return sdk.SendMessageRequest.fromJSON({
    message: { role: "ROLE_USER", messageId: `${prefix}-${randomUUID()}`, parts: parts ?? [{ text }], ...message },
    configuration,
  });
}

/** The call must fail with the SDK's own error of this name. */
export async function checkFails(call, name) {
  let answer;
  try {
    answer = await call;
  } catch (error) {
    assert.equal(error.name, name, `the error thrown (${error.message})`);
    return;
  }
  assert.fail(`expected ${name}, got an answer: ${JSON.stringify(answer)}`);
}

export const checkState = (task, state) =>
  assert.equal(sdk.taskStateToJSON(task.status.state), `TASK_STATE_${state}`, `the state is not ${state}`);

export async function collect(stream) {
  const events = [];
  for await (const event of stream) events.push(event.payload);
  return events;
}

/** The next event of a stream that must not have ended. */
export async function next(stream) {
  const { value, done } = await stream.next();
  assert.ok(!done, "the stream ended early");
  return value.payload;
}

/** An event in a word or two, such as `working` or `artifact: chunk-1`. */
export function told({ $case, value }) {
  if ($case === "statusUpdate") return sdk.taskStateToJSON(value.status.state).replace("TASK_STATE_", "").toLowerCase();
  if ($case === "artifactUpdate") return `artifact: ${textOf(value.artifact.parts)}`;
  return $case;
}

export const textOf = parts =>
  parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join("");
