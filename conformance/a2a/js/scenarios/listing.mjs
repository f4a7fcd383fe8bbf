// ListTasks: every filter, pages, order, and what is left out.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { ListTasksRequest } from "@a2a-js/sdk";
import { checkFails, request } from "../probe.mjs";

export async function listByContext(probe) {
  const [contextId, tasks] = await someTasks(probe, 3);
  const listed = await list(probe, { contextId });
  checkNewestFirst(listed.tasks, tasks);
  assert.deepEqual([listed.totalSize, listed.nextPageToken], [3, ""]);
  const nothing = await list(probe, { contextId: `nobody-${randomUUID()}` });
  assert.deepEqual([nothing.tasks.length, nothing.totalSize], [0, 0], "tasks of an unknown context");
}

export async function listByState(probe) {
  const [contextId, [finished]] = await someTasks(probe, 1);
  const asked = await probe.sendForTask(request({ prefix: "tck-input-required", contextId }));
  const inState = async status => ids(await list(probe, { contextId, status }));
  assert.deepEqual(await inState("TASK_STATE_COMPLETED"), [finished]);
  assert.deepEqual(await inState("TASK_STATE_INPUT_REQUIRED"), [asked.id]);
  assert.deepEqual(await inState("TASK_STATE_FAILED"), []);
}

export async function listByTime(probe) {
  const [contextId, tasks] = await someTasks(probe, 3);
  const { timestamp } = (await probe.get(tasks[1])).status;
  const listed = await list(probe, { contextId, statusTimestampAfter: timestamp });
  for (const task of tasks.slice(1)) assert.ok(ids(listed).includes(task), "a task is missing that is as new as the second");
  assert.ok(listed.tasks.every(task => timeOf(task) >= Date.parse(timestamp)), "a task is too old");
}

export async function listPages(probe) {
  const [contextId, tasks] = await someTasks(probe, 5);
  const pages = [];
  let pageToken = "";
  do {
    const page = await list(probe, { contextId, pageSize: 2, pageToken });
    assert.equal(page.totalSize, 5);
    pages.push(page.tasks);
    pageToken = page.nextPageToken;
  } while (pageToken && pages.length < 6);
  assert.deepEqual(pages.map(page => page.length), [2, 2, 1]);
  checkNewestFirst(pages.flat(), tasks);
}

export async function listArtifacts(probe) {
  const [contextId] = await someTasks(probe, 1);
  const count = async fields => (await list(probe, { contextId, ...fields })).tasks[0].artifacts.length;
  assert.equal(await count({}), 0, "artifacts when none are asked for");
  assert.equal(await count({ includeArtifacts: true }), 1, "artifacts when they are asked for");
}

export async function listHistoryLength(probe) {
  const [contextId] = await someTasks(probe, 1);
  for (const historyLength of [0, 1]) {
    const listed = await list(probe, { contextId, historyLength });
    assert.equal(listed.tasks[0].history.length, historyLength);
  }
}

export async function listBadPageSize(probe) {
  for (const pageSize of [0, -1, 101]) await checkFails(list(probe, { pageSize }), "RequestMalformedError");
}

export async function listBadPageToken(probe) {
  await checkFails(list(probe, { pageToken: "no such page" }), "RequestMalformedError");
}

/** A context of their own, and the ids of finished tasks in it, oldest first. */
async function someTasks(probe, count) {
  const contextId = `list-${randomUUID()}`;
  const tasks = [];
  for (let i = 0; i < count; i++) {
    tasks.push((await probe.sendForTask(request({ text: `task ${i}`, contextId }))).id);
  }
  return [contextId, tasks];
}

/** These very tasks; those of one instant may stand in any order. */
function checkNewestFirst(listed, tasks) {
  assert.deepEqual(listed.map(({ id }) => id).toSorted(), tasks.toSorted());
  const times = listed.map(timeOf);
  assert.deepEqual(times, times.toSorted((one, other) => other - one), "the order of their times");
}

const list = (probe, fields) => probe.client.listTasks(ListTasksRequest.fromJSON(fields));
const timeOf = task => Date.parse(task.status.timestamp);
const ids = ({ tasks }) => tasks.map(({ id }) => id);
