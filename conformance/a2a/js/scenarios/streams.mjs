// Streams: their order, their chunks, several on one task, and going on after a cut.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { checkFails, checkState, collect, next, request, textOf, told } from "../probe.mjs";

/** A task that works for a while and then completes by itself. */
const PAUSING = "test-resubscribe-message-id";

export async function streamMessageAnswer(probe) {
  const events = await collect(probe.stream(request({ text: "echo hello" })));
  assert.deepEqual(events.map(told), ["message"]);
  assert.equal(textOf(events[0].value.parts), "echo hello");
}

export async function streamInOrder(probe) {
  const events = await collect(probe.stream(request({ prefix: "tck-stream-ordering-001" })));
  assert.deepEqual(events.map(told), ["task", "working", "artifact: Ordered output", "completed"]);
  const [{ value: task }, ...updates] = events;
  for (const { value } of updates) {
    assert.deepEqual([value.taskId, value.contextId], [task.id, task.contextId], "the ids in an update");
  }
}

export async function streamChunks(probe) {
  const events = await collect(probe.stream(request({ prefix: "tck-stream-artifact-chunked" })));
  const chunks = events.filter(({ $case }) => $case === "artifactUpdate").map(({ value }) => value);
  assert.deepEqual(
    chunks.map(({ artifact, append, lastChunk }) => [textOf(artifact.parts), append, lastChunk]),
    [["chunk-1 ", false, false], ["chunk-2", true, true]],
  );
  assert.equal(new Set(chunks.map(({ artifact }) => artifact.artifactId)).size, 1, "artifact ids");
  const kept = await probe.get(events[0].value.id);
  assert.deepEqual(kept.artifacts.map(({ parts }) => textOf(parts)), ["chunk-1 chunk-2"]);
}

export async function streamManyChunks(probe) {
  // Deltas may be joined on their way, so what counts is what they say together.
  const events = await collect(probe.stream(request({ text: "burst 200" })));
  assert.equal(told(events.at(-1)), "completed");
  const said = events.map(({ value }) => textOf(value.artifact?.parts ?? [])).join("");
  assert.equal(said, Array.from({ length: 200 }, (_, i) => `c${i} `).join(""));
  const kept = await probe.get(events[0].value.id);
  assert.equal(kept.artifacts.map(({ parts }) => textOf(parts)).join(""), said);
}

export async function streamFile(probe) {
  const events = await collect(probe.stream(request({ prefix: "tck-stream-artifact-file" })));
  const parts = events.flatMap(({ value }) => value.artifact?.parts ?? []);
  assert.deepEqual(parts.map(part => [part.filename, part.mediaType]), [["output.txt", "text/plain"]]);
}

export async function streamToInputRequired(probe) {
  const asked = await collect(probe.stream(request({ prefix: "tck-input-required" })));
  assert.equal(told(asked.at(-1)), "input_required");
  const { id, contextId } = asked[0].value;
  const answered = await collect(probe.stream(request({ prefix: "tck-complete-task", taskId: id, contextId })));
  assert.equal(told(answered.at(-1)), "completed");
}

export async function subscribeSeesTheRest(probe) {
  const [first, task] = await working(probe);
  const second = probe.subscribe(task.id);
  const snapshot = await next(second);
  assert.equal(told(snapshot), "task", "the first event of a subscription");
  assert.equal(snapshot.value.id, task.id);
  checkState(snapshot.value, "WORKING");
  const rest = await Promise.all([collect(first), collect(second)]);
  assert.deepEqual(rest.map(events => events.map(told)), [["completed"], ["completed"]]);
}

export async function closingAStreamLeavesOtherStreamsAlone(probe) {
  const [first, task] = await working(probe);
  const second = probe.subscribe(task.id);
  await next(second);
  await first.return();
  assert.equal(told((await collect(second)).at(-1)), "completed");
  checkState(await probe.get(task.id), "COMPLETED");
}

export async function subscribeSeesACancel(probe) {
  const task = await probe.startHeld();
  const streams = [1, 2, 3].map(() => probe.subscribe(task.id));
  for (const stream of streams) assert.equal(told(await next(stream)), "task");
  await probe.cancel(task.id);
  const [rest, ...others] = await Promise.all(streams.map(collect));
  assert.equal(told(rest.at(-1)), "canceled");
  for (const other of others) assert.deepEqual(other, rest, "the streams differ");
}

export async function subscribeToFinished(probe) {
  const task = await probe.sendForTask(request({ text: "task" }));
  await checkFails(collect(probe.subscribe(task.id)), "UnsupportedOperationError");
}

export async function subscribeToUnknown(probe) {
  await checkFails(collect(probe.subscribe(randomUUID())), "TaskNotFoundError");
}

export async function resumeWithACursor(probe) {
  // A task's events are numbered from 1, so the number of events seen is the cursor.
  const whole = await collect(probe.stream(request({ text: "burst 5" })));
  for (let seen = 1; seen < whole.length; seen++) {
    const rest = await collect(probe.subscribe(whole[0].value.id, { "Last-Event-ID": String(seen) }));
    assert.deepEqual(rest, whole.slice(seen), `what follows event ${seen}`);
  }
}

/** A stream whose task has begun to work, and that task. */
async function working(probe) {
  const stream = probe.stream(request({ prefix: PAUSING }));
  const { value: task } = await next(stream);
  while (told(await next(stream)) !== "working") continue;
  return [stream, task];
}
