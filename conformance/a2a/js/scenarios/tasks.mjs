// Tasks: reading and cancelling them.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { checkFails, checkState, request } from "../probe.mjs";

export async function getUnknown(probe) {
  await checkFails(probe.get(randomUUID()), "TaskNotFoundError");
}

export async function cancelWorking(probe) {
  const task = await probe.startHeld();
  const cancelled = await probe.cancel(task.id);
  assert.equal(cancelled.id, task.id);
  checkState(cancelled, "CANCELED");
  checkState(await probe.get(task.id), "CANCELED");
}

export async function cancelInputRequired(probe) {
  const task = await probe.sendForTask(request({ prefix: "tck-input-required" }));
  checkState(await probe.cancel(task.id), "CANCELED");
}

export async function cancelFinished(probe) {
  const task = await probe.sendForTask(request({ text: "task" }));
  await checkFails(probe.cancel(task.id), "TaskNotCancelableError");
  checkState(await probe.get(task.id), "COMPLETED");
}

export async function cancelUnknown(probe) {
  await checkFails(probe.cancel(randomUUID()), "TaskNotFoundError");
}
