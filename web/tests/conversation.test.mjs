import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { Conversation, compareCursors } = await load("state/conversation.ts");
const { Outbox } = await load("api/outbox.ts");
const { refusal } = await load("api/refusal.ts");
const { Heights } = await load("ui/heights.ts");

let number = 0;
const message = (type, payload, more = {}) => ({
  id: more.id ?? `id-${++number}`, type, timestamp: "2026-11-18T11:00:00.000Z", source: "agent", payload,
  metadata: { session_id: "s", agent_state: more.state ?? "thinking", priority: "normal", task_id: more.task ?? "t1", cursor: more.cursor },
});
const session = () => [
  message("user_command", { command: "write it", attachments: [] }, { cursor: "3.0", id: "u1" }),
  message("agent_action", { action_type: "reasoning", content: "I will call file-write notes.md.", reasoning_steps: ["Call file-write notes.md"] }, { cursor: "5.0" }),
  message("agent_action", { action_type: "tool_call", content: "", tool_calls: [{ tool: "file-write", parameters: { path: "notes.md", content: "hello" }, requires_approval: true }] }, { cursor: "5.1" }),
  message("approval_request", { action: "file-write", details: { path: "notes.md", content: "hello", preview: "x", expires: "2026-11-25T11:00:00Z", operation: "create" } }, { cursor: "6.0", id: "q1", state: "awaiting_approval" }),
  message("system_event", { event: "approval_decided", data: { request_id: "q1", decision: "approve", by: "user:ada" } }, { cursor: "7.0" }),
  message("tool_result", { tool: "file-write", output: "created", success: true, data: { size: 5 } }, { cursor: "8.0" }),
  message("system_event", { event: "file_modified", data: { path: "/project/notes.md", operation: "created" } }, { cursor: "8.1" }),
  message("agent_action", { action_type: "response", content: "Done." }, { cursor: "10.0", state: "idle" }),
  message("system_event", { event: "task_completed", data: {} }, { cursor: "10.1", state: "idle" }),
];

test("a request becomes what was said, the question, the call and the answer", () => {
  const it = new Conversation(undefined);
  it.apply(session());
  assert.deepEqual(it.parts.map((part) => part.kind), ["user", "question", "steps", "answer"]);
  assert.equal(it.parts[1].decision.decision, "approve");
  assert.equal(it.parts[1].asked.input.content, "hello");
  assert.equal(it.parts[2].steps[0].state, "done");
  assert.equal(it.parts[3].end, "completed");
  assert.deepEqual([...it.files.keys()], ["notes.md"]);
  assert.equal(it.state, "idle");
});

test("what comes again after a reconnect is there once", () => {
  const all = session();
  for (let cut = 0; cut <= all.length; cut++) {
    for (let back = 0; back <= cut; back++) {
      const it = new Conversation(undefined);
      it.apply(all.slice(0, cut));
      it.apply(all.slice(cut - back));
      assert.deepEqual(it.parts.map((part) => part.kind), ["user", "question", "steps", "answer"], `cut ${cut}, back ${back}`);
    }
  }
});

test("a question that waits is shown also when its cursor was seen", () => {
  const it = new Conversation(undefined);
  it.cursor = "9.0";
  it.apply([session()[3]]);
  assert.equal(it.parts.length, 1);
  it.apply([session()[3]]);
  assert.equal(it.parts.length, 1);
});

test("pieces of a thought grow outside of the parts, and go when the whole comes", () => {
  const it = new Conversation(undefined);
  it.apply([message("user_command", { command: "x" }, { cursor: "1.0" })]);
  it.apply([message("agent_action", { action_type: "reasoning", content: "I look", reasoning_steps: ["I look"], partial: true }, { cursor: "1.0", id: "p" })]);
  assert.deepEqual([it.live.thought, it.live.text], ["I look", ""]);
  it.apply([message("agent_action", { action_type: "reasoning", content: "The ans", reasoning_steps: ["I look"], partial: true }, { cursor: "1.0", id: "p" })]);
  assert.deepEqual([it.live.thought, it.live.text], ["I look", "The ans"]);
  it.apply([message("agent_action", { action_type: "response", content: "The answer" }, { cursor: "2.0", id: "p" })]);
  assert.equal(it.live, null);
  assert.equal(it.parts.at(-1).text, "The answer");
});

test("what a model says beside its calls is said, and how it came to it is a thought", () => {
  const it = new Conversation(undefined);
  it.apply([message("agent_action", { action_type: "reasoning", content: "I would add a group.", reasoning_steps: ["It is in neither.", "Call file-write x"] }, { cursor: "1.0" })]);
  assert.deepEqual(it.parts.map((part) => part.kind), ["steps", "answer"]);
  assert.equal(it.parts[0].steps[0].text, "It is in neither.");
  it.apply([message("agent_action", { action_type: "reasoning", content: "Only thought.", reasoning_steps: ["Only thought."] }, { cursor: "2.0" })]);
  assert.deepEqual(it.parts.map((part) => part.kind), ["steps", "answer", "steps"]);
});

test("output of a command that is the answer is shown as output", () => {
  const it = new Conversation(undefined);
  it.apply([
    message("tool_result", { tool: "terminal-run", output: "a  b\n", success: true, data: {} }, { cursor: "1.0" }),
    message("agent_action", { action_type: "response", content: "a  b" }, { cursor: "2.0" }),
  ]);
  assert.equal(it.parts.at(-1).output, true);
});

test("errors are given back with the message that they answer", () => {
  const it = new Conversation(undefined);
  const { errors } = it.apply([message("system_event", { event: "error", data: { code: "invalid", in_reply_to: "u9", message: "no" } }, { cursor: "0.0" })]);
  assert.equal(errors[0].in_reply_to, "u9");
  assert.equal(it.parts.length, 0);
});

test("cursors are compared as numbers", () => {
  assert.ok(compareCursors("9.1", "10.0") < 0);
  assert.ok(compareCursors("10.2", "10.10") < 0);
  assert.equal(compareCursors("3.0", "3.0"), 0);
});

test("the outbox keeps what was typed over a reload, in order, until the server has it", () => {
  const kept = new Map();
  const storage = { getItem: (name) => kept.get(name) ?? null, setItem: (name, value) => kept.set(name, value) };
  const first = new Outbox(storage);
  for (const id of ["a", "b"]) first.add({ id, session: "s", agent: undefined, text: id, attachments: [], at: "" });
  const second = new Outbox(storage);
  assert.deepEqual(second.of("s").map((it) => it.id), ["a", "b"]);
  assert.equal(second.done("a"), true);
  assert.equal(second.done("a"), false);
  assert.equal(second.refuse("b", "no"), true);
  assert.deepEqual(new Outbox(storage).of("s").map((it) => [it.id, it.problem]), [["b", "no"]]);
  kept.set("monas.outbox", "{broken");
  assert.deepEqual(new Outbox(storage).of("s"), []);
});

test("a refusal is read from properties and from the message", () => {
  assert.equal(refusal(Object.assign(new Error("no"), { code: "denied", status: 403 })).denied, true);
  const coded = refusal(new Error("not_found: there is none"));
  assert.deepEqual([coded.code, coded.message], ["not_found", "there is none"]);
  assert.equal(refusal("x").code, "failed");
});

test("heights are summed and found like a plain list would", () => {
  const heights = new Heights();
  const plain = [];
  let seed = 3;
  const random = (most) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % most;
  for (let round = 0; round < 200; round++) {
    const length = Math.max(0, plain.length + random(9) - 3);
    while (plain.length < length) plain.push(10 + random(90));
    plain.length = length;
    heights.resize(length, (at) => plain[at]);
    if (length > 0) {
      const at = random(length);
      plain[at] = 5 + random(200);
      heights.set(at, plain[at]);
    }
    const sum = (to) => plain.slice(0, to).reduce((a, b) => a + b, 0);
    assert.equal(heights.total(), sum(length));
    for (let probe = 0; probe < 5 && length > 0; probe++) {
      const top = random(sum(length) + 1);
      const at = heights.at(top);
      assert.ok(sum(at) <= top && (at === length - 1 || sum(at + 1) > top), `${top} in ${plain}`);
    }
  }
});
