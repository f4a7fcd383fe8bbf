// The agent as an object, called by the unmodified package: node a2a.test.mjs URL

import assert from "node:assert/strict";
import { newHttpBatchRpcSession, newWebSocketRpcSession, RpcTarget } from "capnweb";

const url = process.argv[2];
const say = (text) => ({ messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] });
let passed = 0;
const test = async (name, run) => {
  await run();
  passed += 1;
  console.log(`ok ${name}`);
};

class Listener extends RpcTarget {
  events = [];
  #over = Promise.withResolvers();
  over = () => this.#over.promise;
  onStatusUpdate(event) {
    this.events.push(event.status.state);
    if (event.final) this.#over.resolve();
  }
  onArtifactUpdate(event) {
    this.events.push(event.artifact.parts[0].text);
  }
}

const agent = newWebSocketRpcSession(url.replace("http", "ws"));

await test("a message is answered", async () => {
  const { message } = await agent.sendMessage(say("echo hello"));
  assert.equal(message.role, "ROLE_AGENT");
});

await test("a result is used before it is there", async () => {
  const sent = agent.sendMessage(say("task hello"));
  const found = await agent.getTask(sent.task.id);
  assert.equal(found.status.state, "TASK_STATE_COMPLETED");
  assert.equal(found.id, (await sent).task.id);
});

await test("to authenticate where no scheme is configured is refused", async () => {
  await assert.rejects(
    async () => await agent.authenticate({ type: "bearer", token: "anything" }),
    (error) => error.code === -32004 && error.message.includes("no scheme is configured"),
  );
});

await test("errors have code, reason and details", async () => {
  await assert.rejects(
    async () => await agent.getTask("nothing"),
    (error) => {
      assert.equal(error.code, -32001);
      assert.equal(error.reason, "TASK_NOT_FOUND");
      assert.equal(error.details[0].domain, "a2a-protocol.org");
      return true;
    },
  );
});

await test("bytes are bytes", async () => {
  const file = { raw: new Uint8Array([1, 2, 3]), filename: "a.bin", mediaType: "text/plain" };
  const message = { ...say("task hello") };
  message.parts = [...message.parts, file];
  const { task } = await agent.sendMessage(message);
  assert.equal(task.history[0].parts[1].raw, "AQID");
});

await test("a callback that is given twice hears everything once", async () => {
  const listener = new Listener();
  const task = await agent.sendMessageStreaming(say("burst 3 20ms"), undefined, listener);
  await task.subscribe(listener);
  await listener.over();
  assert.deepEqual(listener.events, [
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "c0 ",
    "c1 ",
    "c2 ",
    "TASK_STATE_COMPLETED",
  ]);
  assert.equal((await task.getTask()).status.state, "TASK_STATE_COMPLETED");
});

await test("one who unsubscribes hears no more", async () => {
  const listener = new Listener();
  const task = await agent.sendMessageStreaming(say("burst 50 20ms"), undefined, listener);
  await task.unsubscribe(listener);
  const heard = listener.events.length;
  await task.cancelTask();
  assert.equal((await task.getTask()).status.state, "TASK_STATE_CANCELED");
  assert.ok(listener.events.length <= heard + 1);
});

const until = async (holds) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};

await test("callbacks are independent, and each ends with its subscription", async () => {
  const [one, other] = [new Listener(), new Listener()];
  const task = await agent.sendMessageStreaming(say("burst 20 20ms"));
  const first = await task.subscribe(one);
  const second = await task.subscribe(other);
  await until(() => one.events.includes("c2 ") && other.events.includes("c2 "));
  first[Symbol.dispose]();
  await other.over();
  assert.equal(other.events.at(-1), "TASK_STATE_COMPLETED");
  assert.ok(other.events.includes("c19 "));
  assert.ok(!one.events.includes("c19 "), `${one.events}`);
  second[Symbol.dispose]();
});

await test("the first to subscribe takes the place of the argument, the next is one more", async () => {
  const [argument, heir, newcomer] = [new Listener(), new Listener(), new Listener()];
  const task = await agent.sendMessageStreaming(say("burst 20 20ms"), undefined, argument);
  await until(() => argument.events.includes("c1 "));
  const first = await task.subscribe(heir);
  const second = await task.subscribe(newcomer);
  await Promise.all([heir.over(), newcomer.over()]);
  const pieces = [...argument.events, ...heir.events].filter((event) => event.startsWith("c"));
  assert.deepEqual(pieces, Array.from({ length: 20 }, (_, at) => `c${at} `));
  assert.ok(!argument.events.includes("c19 "));
  assert.ok(newcomer.events.includes("c19 "));
  for (const subscription of [first, second]) subscription[Symbol.dispose]();
});

await test("unsubscribe refuses to guess which of two callbacks is meant", async () => {
  const [one, other] = [new Listener(), new Listener()];
  const task = await agent.sendMessageStreaming(say("burst 20 20ms"));
  const subscriptions = [await task.subscribe(one), await task.subscribe(other)];
  await assert.rejects(
    async () => await task.unsubscribe(one),
    (error) => error.code === -32602 && error.message.includes("dispose the subscription"),
  );
  await subscriptions[0].unsubscribe();
  await other.over();
  assert.ok(!one.events.includes("c19 "));
  assert.ok(other.events.includes("c19 "));
});

await test("a batch refuses what cannot be called back, before it is done", async () => {
  const refused = (error) => error.code === -32004 && error.message.includes("WebSocket");
  const before = (await agent.listTasks()).totalSize;
  const batch = newHttpBatchRpcSession(url);
  const called = batch.sendMessageStreaming(say("task hello"), undefined, new Listener());
  const streamed = batch.sendStreamingMessage(say("task hello"));
  const results = await Promise.allSettled([called, streamed]);
  for (const { status, reason } of results) assert.ok(status === "rejected" && refused(reason), `${reason}`);
  assert.equal((await agent.listTasks()).totalSize, before);
  // Without a callback a task object is of use within the batch.
  const again = newHttpBatchRpcSession(url);
  const found = await again.sendMessageStreaming(say("task hello")).getTask();
  assert.ok(found.id);
});

await test("a task can be followed with its id alone", async () => {
  const { task } = await agent.sendMessage(say("burst 3 50ms"), { returnImmediately: true });
  const listener = new Listener();
  await agent.subscribeToPushNotifications(task.id, listener);
  await listener.over();
  assert.equal(listener.events.at(-1), "TASK_STATE_COMPLETED");
});

await test("a stream is a stream", async () => {
  const events = [];
  for await (const event of await agent.sendStreamingMessage(say("burst 2"))) {
    events.push(Object.keys(event)[0]);
  }
  assert.deepEqual(events, [
    "task",
    "statusUpdate",
    "artifactUpdate",
    "artifactUpdate",
    "statusUpdate",
  ]);
});

await test("one request sends and gets", async () => {
  const batch = newHttpBatchRpcSession(url);
  const sent = batch.sendMessage(say("task hello"));
  const [first, found] = await Promise.all([sent, batch.getTask(sent.task.id)]);
  assert.equal(found.id, first.task.id);
});

await test("a session that writes 0.3 is answered in it", async () => {
  const agent = newWebSocketRpcSession(url.replace("http", "ws"));
  const file = { kind: "file", file: { name: "a.txt", mimeType: "text/plain", bytes: new Uint8Array([1, 2, 3]) } };
  const parts = [{ kind: "text", text: "burst 2 20ms" }, file];
  const message = { messageId: crypto.randomUUID(), role: "user", parts };
  const listener = new Listener();
  const task = await agent.sendMessageStreaming(message, undefined, listener);
  await task.subscribe(listener);
  await listener.over();
  assert.deepEqual(listener.events, ["submitted", "working", "c0 ", "c1 ", "completed"]);
  const { id, kind, history } = await task.getTask();
  assert.equal(kind, "task");
  assert.equal(history[0].parts[1].file.bytes, "AQID");
  assert.equal((await agent.getTask(id, 0)).status.state, "completed");
  const { tasks } = await agent.listTasks({ status: "completed" });
  assert.ok(tasks.some((task) => task.id === id && task.kind === "task"));
});

console.log(`${passed} passed`);
process.exit(0);
