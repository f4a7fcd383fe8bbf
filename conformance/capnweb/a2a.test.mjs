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

await test("an authorised agent is used before it is there", async () => {
  const { task } = await agent.authenticate({}).sendMessage(say("task hello"));
  assert.ok(task.id);
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
