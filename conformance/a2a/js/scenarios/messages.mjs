// Sending and waiting: message answers, tasks, follow-ups, contexts.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Role } from "@a2a-js/sdk";
import { checkFails, checkState, request, textOf } from "../probe.mjs";

export async function sendMessageAnswer(probe) {
  const { message } = await probe.send(request({ text: "echo hello" }));
  assert.ok(message, "the answer is a task, not a message");
  assert.equal(message.role, Role.ROLE_AGENT);
  assert.equal(textOf(message.parts), "echo hello");
  assert.ok(message.messageId, "the answer has no message id");
  assert.ok(message.contextId, "the answer names no context");
}

export async function sendTask(probe) {
  const sent = request({ text: "task hello" });
  const task = await probe.sendForTask(sent);
  checkState(task, "COMPLETED");
  assert.deepEqual(task.artifacts.map(artifact => textOf(artifact.parts)), ["task hello"]);
  const [first] = task.history;
  assert.equal(first.messageId, sent.message.messageId);
  assert.deepEqual([first.taskId, first.contextId], [task.id, task.contextId], "the ids filled in");
  assert.ok(task.status.timestamp, "the status has no timestamp");
}

export async function sendStatusMessage(probe) {
  const task = await probe.sendForTask(request({ prefix: "tck-complete-task" }));
  checkState(task, "COMPLETED");
  assert.equal(textOf(task.status.message.parts), "Hello from TCK");
}

export async function sendRejected(probe) {
  checkState(await probe.sendForTask(request({ prefix: "tck-reject-task" })), "REJECTED");
}

export async function sendFailed(probe) {
  checkState(await probe.sendForTask(request({ prefix: "tck-task-failure" })), "FAILED");
}

export async function sendReturnImmediately(probe) {
  const task = await probe.startHeld();
  assert.ok(task.id, "the task has no id");
  checkState(await probe.get(task.id), "WORKING");
}

export async function sendHistoryLength(probe) {
  const task = await probe.sendForTask(request({ text: "task", configuration: { historyLength: 0 } }));
  assert.equal(task.history.length, 0, "messages in the history of length 0");
}

export async function sendAgainIsOneTask(probe) {
  const [sent, key] = [request({ text: "task once" }), { "Idempotency-Key": randomUUID() }];
  const first = await probe.sendForTask(sent, key);
  const second = await probe.sendForTask(sent, key);
  assert.equal(second.id, first.id, "the task of a message that was sent twice");
}

export async function sendWithUsedIdIsNew(probe) {
  const sent = request({ text: "task once" });
  const [first, second] = [await probe.sendForTask(sent), await probe.sendForTask(sent)];
  assert.notEqual(second.id, first.id, "the old task is the answer to a new message");
}

export async function sendAgainWithOtherText(probe) {
  const [sent, key] = [request({ text: "task once" }), { "Idempotency-Key": randomUUID() }];
  await probe.send(sent, probe.client, key);
  sent.message.parts[0].content.value = "task twice";
  await checkFails(probe.send(sent, probe.client, key), "RequestMalformedError");
}

export async function contextIsKept(probe) {
  const contextId = `context-${randomUUID()}`;
  assert.equal((await probe.sendForTask(request({ text: "task", contextId }))).contextId, contextId);
  assert.equal((await probe.send(request({ text: "echo", contextId }))).message.contextId, contextId);
}

export async function inputRequired(probe) {
  const asked = await probe.sendForTask(request({ text: "first", prefix: "tck-input-required" }));
  checkState(asked, "INPUT_REQUIRED");
  const followUp = request({ text: "second", prefix: "tck-complete-task", taskId: asked.id });
  const answered = await probe.sendForTask(followUp);
  assert.equal(answered.id, asked.id, "the task that the follow-up went to");
  assert.equal(answered.contextId, asked.contextId, "the context inferred from the task");
  checkState(answered, "COMPLETED");
  const said = answered.history.filter(({ role }) => role === Role.ROLE_USER).map(({ parts }) => textOf(parts));
  assert.deepEqual(said, ["first", "second"]);
}

export async function historyLength(probe) {
  const { id } = await probe.sendForTask(request({ text: "first", prefix: "tck-input-required" }));
  await probe.send(request({ text: "second", prefix: "tck-complete-task", taskId: id }));
  const messagesOf = async length =>
    (await probe.get(id, { historyLength: length })).history.map(({ messageId }) => messageId);
  const whole = await messagesOf(undefined);
  assert.ok(whole.length >= 2, `the whole history has ${whole.length} messages`);
  assert.deepEqual(await messagesOf(0), []);
  assert.deepEqual(await messagesOf(1), whole.slice(-1));
  assert.deepEqual(await messagesOf(100), whole);
}

export async function followUpToFinished(probe) {
  const { id, contextId } = await probe.sendForTask(request({ text: "task" }));
  await checkFails(probe.send(request({ taskId: id, contextId })), "UnsupportedOperationError");
}

export async function followUpToUnknown(probe) {
  await checkFails(probe.send(request({ taskId: randomUUID() })), "TaskNotFoundError");
}

export async function followUpInOtherContext(probe) {
  const { id } = await probe.sendForTask(request({ prefix: "tck-input-required" }));
  const elsewhere = request({ taskId: id, contextId: `other-${randomUUID()}` });
  await checkFails(probe.send(elsewhere), "RequestMalformedError");
}
