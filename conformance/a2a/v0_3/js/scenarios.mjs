// What must hold for a client of 0.3. Each export is a scenario; `sendTask` is `send-task`. Where a check is for
// JSON-RPC alone, the client itself drops what is checked on its way from protobuf.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

export async function card(client, binding) {
  const { agentCard } = client;
  assert.equal(agentCard.protocolVersion, "0.3.0");
  assert.ok(agentCard.url && agentCard.preferredTransport, "the card has no address for 0.3");
  assert.ok(agentCard.additionalInterfaces.some(({ transport }) => transport === binding));
  assert.equal(agentCard.capabilities.streaming, true);
}

export async function extendedCard(client) {
  const extended = await client.getAgentCard();
  assert.ok(extended.skills.some(({ id }) => id === "script"), "the extended card has no more skills");
  assert.equal(extended.protocolVersion, "0.3.0");
}

export async function sendMessageAnswer(client) {
  const message = await client.sendMessage(params({ text: "echo hello" }));
  assert.deepEqual([message.kind, message.role, textOf(message.parts)], ["message", "agent", "echo hello"]);
  assert.ok(message.messageId && message.contextId, "the answer has no ids");
}

export async function sendTask(client) {
  const sent = params({ text: "task hello" });
  const task = await sendForTask(client, sent);
  assert.equal(task.status.state, "completed");
  assert.deepEqual(task.artifacts.map(({ parts }) => textOf(parts)), ["task hello"]);
  assert.equal(task.history[0].messageId, sent.message.messageId);
  assert.deepEqual([task.history[0].kind, task.history[0].role], ["message", "user"]);
  assert.ok(task.status.timestamp, "the status has no timestamp");
}

export async function sendStatusMessage(client) {
  const task = await sendForTask(client, params({ prefix: "tck-complete-task" }));
  assert.equal(textOf(task.status.message.parts), "Hello from TCK");
}

export async function sendRejected(client) {
  assert.equal((await sendForTask(client, params({ prefix: "tck-reject-task" }))).status.state, "rejected");
}

export async function sendFailed(client) {
  assert.equal((await sendForTask(client, params({ prefix: "tck-task-failure" }))).status.state, "failed");
}

export async function sendWithoutWaiting(client) {
  const { id } = await startHeld(client);
  assert.equal((await client.getTask({ id })).status.state, "working");
  await client.cancelTask({ id });
}

export async function sendWithUsedIdIsNew(client) {
  const sent = params({ text: "task once" });
  const [first, second] = [await sendForTask(client, sent), await sendForTask(client, sent)];
  assert.notEqual(second.id, first.id, "the old task is the answer to a new message");
}

export async function inputRequired(client) {
  const asked = await sendForTask(client, params({ text: "first", prefix: "tck-input-required" }));
  assert.equal(asked.status.state, "input-required");
  const answered = await sendForTask(client, params({ text: "second", prefix: "tck-complete-task", taskId: asked.id }));
  assert.deepEqual([answered.id, answered.contextId], [asked.id, asked.contextId]);
  assert.equal(answered.status.state, "completed");
  const one = await client.getTask({ id: asked.id, historyLength: 1 });
  assert.equal(one.history.length, 1);
}

export async function followUpToFinished(client) {
  const { id } = await sendForTask(client, params({ text: "task" }));
  // Over gRPC the client has no error of its own for it.
  await fails(client.sendMessage(params({ taskId: id })), "UnsupportedOperationError", "unsupported operation");
}

export async function followUpToUnknown(client) {
  await fails(client.sendMessage(params({ taskId: randomUUID() })), "TaskNotFoundError");
}

export async function partsComeBack(client, binding) {
  const parts = [
    { kind: "text", text: "task", metadata: { a: 1 } },
    { kind: "file", file: { bytes: "AAEC", name: "a.bin", mimeType: "application/octet-stream" } },
    { kind: "file", file: { uri: "https://example.com/a", mimeType: "image/png" } },
    { kind: "data", data: { deep: { list: [1, "two", true] } } },
  ];
  const { history: [{ parts: kept }] } = await sendForTask(client, params({ parts }));
  assert.deepEqual(kept.map(whole(binding)), parts.map(whole(binding)));
}

export async function artifacts(client, binding) {
  const partOf = async prefix => {
    const task = await sendForTask(client, params({ prefix }));
    return task.artifacts[0].parts[0];
  };
  assert.equal((await partOf("tck-artifact-text")).text, "Generated text content");
  const { file } = await partOf("tck-artifact-file");
  assert.ok(file.bytes, "the file has no bytes");
  assert.equal(file.mimeType, "text/plain");
  if (binding === "JSONRPC") assert.equal(file.name, "output.txt");
  assert.equal((await partOf("tck-artifact-file-url")).file.uri, "https://example.com/output.txt");
  assert.deepEqual((await partOf("tck-artifact-data")).data, { key: "value", count: 42 });
}

export async function streamMessageAnswer(client) {
  const events = await collect(client.sendMessageStream(params({ text: "echo hello" })));
  assert.deepEqual(events.map(({ kind }) => kind), ["message"]);
}

export async function streamInOrder(client) {
  const events = await collect(client.sendMessageStream(params({ prefix: "tck-stream-ordering-001" })));
  assert.deepEqual(events.map(told), ["task", "working", "artifact: Ordered output", "completed"]);
  assert.deepEqual(events.filter(({ kind }) => kind === "status-update").map(event => event.final), [false, true]);
  assert.equal(new Set(events.map(event => event.taskId ?? event.id)).size, 1);
}

export async function streamChunks(client, binding) {
  const events = await collect(client.sendMessageStream(params({ prefix: "tck-stream-artifact-chunked" })));
  const chunks = events.filter(({ kind }) => kind === "artifact-update");
  assert.deepEqual(chunks.map(told), ["artifact: chunk-1 ", "artifact: chunk-2"]);
  assert.equal(chunks[1].lastChunk, true);
  if (binding === "JSONRPC") assert.deepEqual(chunks.map(({ append }) => append ?? false), [false, true]);
}

export async function streamToInputRequired(client) {
  const events = await collect(client.sendMessageStream(params({ prefix: "tck-input-required" })));
  assert.equal(told(events.at(-1)), "input-required");
  assert.equal(events.at(-1).final, true);
}

export async function resubscribeSeesTheRest(client) {
  const { id } = await startHeld(client);
  const stream = client.resubscribeTask({ id });
  const { value: first } = await stream.next();
  assert.deepEqual([first.kind, first.id], ["task", id]);
  await client.cancelTask({ id });
  assert.deepEqual((await collect(stream)).map(told), ["canceled"]);
}

export async function resubscribeToFinished(client) {
  const { id } = await sendForTask(client, params({ text: "task" }));
  const events = await collect(client.resubscribeTask({ id }));
  assert.deepEqual(events.map(({ kind, status }) => [kind, status.state]), [["task", "completed"]]);
}

export async function resubscribeToUnknown(client) {
  // In a stream of JSON-RPC the client has no error of its own for it.
  await fails(collect(client.resubscribeTask({ id: randomUUID() })), "TaskNotFoundError", "Code: -32001");
}

export async function getUnknown(client) {
  await fails(client.getTask({ id: randomUUID() }), "TaskNotFoundError");
}

export async function cancelWorking(client) {
  const { id } = await startHeld(client);
  assert.equal((await client.cancelTask({ id })).status.state, "canceled");
  assert.equal((await client.getTask({ id })).status.state, "canceled");
}

export async function cancelFinished(client) {
  const { id } = await sendForTask(client, params({ text: "task" }));
  await fails(client.cancelTask({ id }), "TaskNotCancelableError");
}

export async function cancelUnknown(client) {
  await fails(client.cancelTask({ id: randomUUID() }), "TaskNotFoundError");
}

export async function pushConfigs(client) {
  const { id } = await startHeld(client);
  const ids = async () =>
    (await client.listTaskPushNotificationConfig({ id })).map(it => it.pushNotificationConfig.id).toSorted();

  const first = await client.setTaskPushNotificationConfig(webhook(id, { id: "first" }));
  assert.deepEqual([first.taskId, first.pushNotificationConfig.id], [id, "first"]);
  const got = await client.getTaskPushNotificationConfig({ id, pushNotificationConfigId: "first" });
  assert.equal(got.pushNotificationConfig.token, "a token");
  assert.deepEqual(got.pushNotificationConfig.authentication, { schemes: ["Bearer"], credentials: "secret" });
  await client.setTaskPushNotificationConfig(webhook(id, { id: "second" }));
  assert.deepEqual(await ids(), ["first", "second"]);

  const gone = { id, pushNotificationConfigId: "first" };
  await client.deleteTaskPushNotificationConfig(gone);
  await client.deleteTaskPushNotificationConfig(gone);
  assert.deepEqual(await ids(), ["second"]);
  await client.cancelTask({ id });
}

export async function pushConfigUnknown(client) {
  const { id } = await sendForTask(client, params({ text: "task" }));
  await fails(client.getTaskPushNotificationConfig({ id, pushNotificationConfigId: "nobody" }), "TaskNotFoundError");
  await fails(client.setTaskPushNotificationConfig(webhook(randomUUID(), { id: "x" })), "TaskNotFoundError");
}

/** What 0.3 calls the parameters of a message, with an id that is new and begins with `prefix`. */
function params({ text = "go", prefix = "probe", parts, configuration, ...message } = {}) {
  return {
    message: {
      kind: "message",
      role: "user",
      messageId: `${prefix}-${randomUUID()}`,
      parts: parts ?? [{ kind: "text", text }],
      ...message,
    },
    configuration,
  };
}

function webhook(taskId, config) {
  const authentication = { schemes: ["Bearer"], credentials: "secret" };
  return {
    taskId,
    pushNotificationConfig: { url: "http://127.0.0.1:9/nobody", token: "a token", authentication, ...config },
  };
}

async function sendForTask(client, sent) {
  const task = await client.sendMessage(sent);
  assert.equal(task.kind, "task", "the answer is no task");
  return task;
}

/** A task that is at work and stays so. */
const startHeld = client => sendForTask(client, params({ prefix: "tck-cancel", configuration: { blocking: false } }));

async function collect(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** An event in a word or two, such as `working` or `artifact: chunk-1`. */
function told(event) {
  if (event.kind === "status-update") return event.status.state;
  if (event.kind === "artifact-update") return `artifact: ${textOf(event.artifact.parts)}`;
  return event.kind;
}

const textOf = parts => parts.map(({ text }) => text ?? "").join("");

/** What the client keeps of a part. Where it reads protobuf, it drops metadata and the names of files. */
function whole(binding) {
  const drops = binding === "JSONRPC" ? [] : ["metadata", "name"];
  return part => JSON.parse(JSON.stringify(part, (name, value) => (drops.includes(name) ? undefined : value)));
}

/** The call must fail with the SDK's own error of one of these names, or with one of them in what it says. */
async function fails(call, ...names) {
  let answer;
  try {
    answer = await call;
  } catch (error) {
    const said = `${error.name}: ${error.message} ${error.cause?.details ?? ""}`;
    assert.ok(names.some(name => said.includes(name)), `the error thrown: ${said}`);
    return;
  }
  assert.fail(`expected ${names[0]}, got an answer: ${JSON.stringify(answer)}`);
}
