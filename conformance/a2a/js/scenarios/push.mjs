// Push: the four operations, and a real webhook that is told what happens.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import * as sdk from "@a2a-js/sdk";
import { checkFails, request } from "../probe.mjs";
import { Webhook, stateOf } from "../webhook.mjs";

export async function pushConfigs(probe) {
  const { client } = probe;
  const { id: taskId } = await probe.startHeld();
  const listed = async () => {
    const request = sdk.ListTaskPushNotificationConfigsRequest.fromJSON({ taskId });
    return (await client.listTaskPushNotificationConfig(request)).configs.map(({ id }) => id);
  };

  const first = await client.createTaskPushNotificationConfig(config({ taskId, id: "first" }));
  assert.deepEqual([first.id, first.taskId, first.token], ["first", taskId, "a token"]);
  const second = await client.createTaskPushNotificationConfig(config({ taskId }));
  assert.ok(!["", "first"].includes(second.id), `the id made for a config: ${second.id}`);

  const named = { taskId, id: "first" };
  const got = await client.getTaskPushNotificationConfig(sdk.GetTaskPushNotificationConfigRequest.fromJSON(named));
  assert.deepEqual(got, first);
  assert.equal(got.authentication.scheme, "Bearer");
  assert.deepEqual((await listed()).toSorted(), ["first", second.id].toSorted());

  const gone = sdk.DeleteTaskPushNotificationConfigRequest.fromJSON(named);
  await client.deleteTaskPushNotificationConfig(gone);
  await client.deleteTaskPushNotificationConfig(gone);
  assert.deepEqual(await listed(), [second.id]);
  await probe.cancel(taskId);
}

export async function pushConfigUnknown(probe) {
  const task = await probe.sendForTask(request({ text: "task" }));
  for (const taskId of [task.id, randomUUID()]) {
    const wanted = sdk.GetTaskPushNotificationConfigRequest.fromJSON({ taskId, id: "nobody" });
    await checkFails(probe.client.getTaskPushNotificationConfig(wanted), "TaskNotFoundError");
  }
}

export async function pushConfigForUnknownTask(probe) {
  const orphan = config({ taskId: randomUUID() });
  await checkFails(probe.client.createTaskPushNotificationConfig(orphan), "TaskNotFoundError");
}

export async function pushFromTheStart(probe) {
  const webhook = await Webhook.listen();
  try {
    const configuration = { taskPushNotificationConfig: config({ url: webhook.url }) };
    const task = await probe.sendForTask(request({ prefix: "tck-stream-ordering-001", configuration }));
    const posted = await webhook.until("completed");
    checkPosted(posted, task.id);
    const updates = posted.filter(({ body }) => !body.task).map(stateOf);
    assert.deepEqual(updates, ["working", "artifact", "completed"]);
  } finally {
    webhook.close();
  }
}

export async function pushLater(probe) {
  const webhook = await Webhook.listen();
  try {
    const { id: taskId } = await probe.startHeld();
    await probe.client.createTaskPushNotificationConfig(config({ taskId, url: webhook.url }));
    await probe.cancel(taskId);
    checkPosted(await webhook.until("canceled"), taskId);
  } finally {
    webhook.close();
  }
}

function checkPosted(posted, taskId) {
  for (const { headers, body } of posted) {
    const [told] = Object.values(body);
    assert.equal(told.taskId ?? told.id, taskId, "the task of a notification");
    assert.equal(headers["x-a2a-notification-token"], "a token");
    assert.equal(headers.authorization, "Bearer secret");
    assert.equal(headers["content-type"], "application/a2a+json");
  }
}

const config = fields =>
  sdk.TaskPushNotificationConfig.fromJSON({
    url: "http://127.0.0.1:9/nobody",
    token: "a token",
    authentication: { scheme: "Bearer", credentials: "secret" },
    ...fields,
  });
