// Every kind of part, there and back.
import assert from "node:assert/strict";
import { Part } from "@a2a-js/sdk";
import { checkState, request, textOf } from "../probe.mjs";

export async function textArtifact(probe) {
  const { content } = await onlyPart(probe, "tck-artifact-text");
  assert.deepEqual(content, { $case: "text", value: "Generated text content" });
}

export async function fileBytesArtifact(probe) {
  const part = await onlyPart(probe, "tck-artifact-file");
  assert.equal(part.content.$case, "raw");
  assert.deepEqual([part.filename, part.mediaType], ["output.txt", "text/plain"]);
  assert.ok(part.content.value.length > 0, "there are no bytes");
}

export async function fileUrlArtifact(probe) {
  const part = await onlyPart(probe, "tck-artifact-file-url");
  assert.deepEqual(part.content, { $case: "url", value: "https://example.com/output.txt" });
  assert.deepEqual([part.filename, part.mediaType], ["output.txt", "text/plain"]);
}

export async function dataArtifact(probe) {
  const { content } = await onlyPart(probe, "tck-artifact-data");
  assert.deepEqual(content, { $case: "data", value: { key: "value", count: 42 } });
}

export async function partsComeBack(probe) {
  const sent = [
    { text: "Grüße, 世界 \u{1f30d}", metadata: { nested: { list: [1, "two", null, true, 0.5] } } },
    { raw: Buffer.from([...Array(256).keys()]).toString("base64"), filename: "bytes.txt", mediaType: "text/plain" },
    { url: "https://example.com/a?b=c#d", filename: "page.txt", mediaType: "text/plain" },
    { data: { a: [1, -2.5, null, { b: [] }], c: {} }, mediaType: "application/json" },
    { data: [[], "x", false] },
    { data: "a bare string" },
  ];
  const task = await probe.sendForTask(request({ prefix: "tck-complete-task", parts: sent }));
  checkState(task, "COMPLETED");
  const kept = await probe.get(task.id);
  assert.deepEqual(kept.history[0].parts.map(Part.toJSON), sent);
}

export async function largeMessage(probe) {
  const text = `task ${"x".repeat(1_000_000)}`;
  const task = await probe.sendForTask(request({ text }));
  assert.ok(textOf(task.artifacts[0].parts) === text, "a megabyte did not come back as it was");
}

async function onlyPart(probe, prefix) {
  const task = await probe.sendForTask(request({ prefix }));
  checkState(task, "COMPLETED");
  assert.deepEqual(task.artifacts.map(({ parts }) => parts.length), [1], "the parts of the artifacts");
  return task.artifacts[0].parts[0];
}
