// `POST /ag-ui` with the unmodified npm client. AG_UI_URL is the address of the route, AG_UI_TOKEN a token; the first argument is
// the group of checks: `rules` for a server without a model, `model` for one with the script of the test.
import assert from "node:assert/strict";
import { HttpAgent } from "@ag-ui/client";
import { EventType } from "@ag-ui/core";

const url = process.env.AG_UI_URL;
const token = process.env.AG_UI_TOKEN;
assert.ok(url && token, "AG_UI_URL and AG_UI_TOKEN are needed");
const headers = { authorization: `Bearer ${token}` };

/** A client of a thread; all its events are kept. */
function client(threadId) {
  const agent = new HttpAgent({ url, headers, threadId });
  const events = [];
  const subscriber = { onEvent: ({ event }) => void events.push(event) };
  const run = async (parameters = {}) => {
    events.length = 0;
    await agent.runAgent(parameters, subscriber);
    return events.slice();
  };
  const say = (content, parameters) => {
    agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
    return run(parameters);
  };
  return { agent, run, say };
}

const kinds = (events) => events.map((it) => it.type);
const finish = (events) => events.at(-1);
const text = (events) =>
  events.filter((it) => it.type === EventType.TEXT_MESSAGE_CONTENT).map((it) => it.delta).join("");

/** A request without the client. */
const post = (body, more = {}) =>
  fetch(url, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json", ...more },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

async function rules() {
  // A plain answer.
  const plain = client("plain");
  let events = await plain.say("hello", { context: [{ description: "page", value: "settings" }] });
  assert.equal(events[0].type, EventType.RUN_STARTED);
  assert.equal(events[0].threadId, "plain");
  assert.equal(events[0].protocolVersion, "1.0");
  assert.deepEqual(finish(events).outcome, { type: "success" });
  assert.notEqual(text(events), "");
  assert.equal(plain.agent.messages.at(-1).role, "assistant");
  assert.equal(plain.agent.messages.at(-1).content, text(events));
  assert.equal(plain.agent.state.monas.session_id, "plain");

  // A call of a skill.
  const listing = client("listing");
  events = await listing.say("list my files");
  const start = events.find((it) => it.type === EventType.TOOL_CALL_START);
  assert.equal(start.toolCallName, "file-list");
  const args = events.find((it) => it.type === EventType.TOOL_CALL_ARGS);
  assert.equal(typeof JSON.parse(args.delta), "object");
  const result = events.find((it) => it.type === EventType.TOOL_CALL_RESULT);
  assert.equal(result.toolCallId, start.toolCallId);
  assert.ok(events.indexOf(result) > events.indexOf(start));
  assert.deepEqual(finish(events).outcome, { type: "success" });
  const roles = listing.agent.messages.map((it) => it.role);
  assert.ok(roles.includes("tool") && roles.at(-1) === "assistant", roles.join());

  // A call that waits for a person: the run ends with an interrupt, and the answer resumes it.
  const writing = client("writing");
  writing.agent.state = { theme: "dark" };
  events = await writing.say("create notes.md with hello world");
  assert.equal(finish(events).outcome.type, "interrupt");
  const [interrupt] = finish(events).outcome.interrupts;
  assert.equal(interrupt.reason, "tool_call");
  assert.match(interrupt.metadata.details.preview, /\+hello world/);
  const call = events.find((it) => it.type === EventType.TOOL_CALL_START);
  assert.equal(interrupt.toolCallId, call.toolCallId);
  assert.equal(writing.agent.state.theme, "dark");
  assert.equal(writing.agent.state.monas.agent_state, "awaiting_approval");
  assert.equal(writing.agent.pendingInterrupts.length, 1);
  events = await writing.run({
    resume: [{ interruptId: interrupt.id, status: "resolved", payload: { approved: true } }],
  });
  assert.deepEqual(finish(events).outcome, { type: "success" });
  const written = events.find((it) => it.type === EventType.TOOL_CALL_RESULT);
  assert.equal(written.toolCallId, call.toolCallId);
  const change = events.find((it) => it.type === EventType.CUSTOM && it.name === "file_modified");
  assert.equal(change.value.path, "/project/notes.md");
  assert.notEqual(text(events), "");

  // One that is refused.
  events = await writing.say("create other.md with hello");
  const [second] = finish(events).outcome.interrupts;
  events = await writing.run({ resume: [{ interruptId: second.id, status: "cancelled" }] });
  assert.deepEqual(finish(events).outcome, { type: "cancelled" });

  // One whose arguments are changed.
  events = await writing.say("create third.md with hello");
  const [third] = finish(events).outcome.interrupts;
  const editedArgs = { path: "third.md", content: "changed by a person\n" };
  events = await writing.run({
    resume: [{ interruptId: third.id, status: "resolved", payload: { approved: true, editedArgs } }],
  });
  assert.deepEqual(finish(events).outcome, { type: "success" });

  // The same run again is done once, and told again from its beginning.
  const again = {
    threadId: "again",
    runId: "r1",
    messages: [{ id: "m1", role: "user", content: "remember that Ada likes tea" }],
  };
  const read = async (answer) => {
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("content-type"), "text/event-stream");
    const lines = (await answer.text()).split("\n").filter((it) => it.startsWith("data: "));
    return lines.map((it) => JSON.parse(it.slice(6)));
  };
  const first = await read(await post(again));
  const repeated = await read(await post(again));
  const said = (events) => events.find((it) => it.type === "TEXT_MESSAGE_START").messageId;
  assert.deepEqual(kinds(repeated), kinds(first));
  assert.equal(said(repeated), said(first));

  // Faults, in the shape of all errors below /api.
  const good = { threadId: "t", runId: "r", messages: [{ id: "m", role: "user", content: "hello" }] };
  for (const [body, field] of [
    [{ ...good, threadId: undefined }, "threadId"],
    [{ ...good, messages: 7 }, "messages"],
    [{ ...good, messages: [] }, "messages"],
    [{ ...good, resume: [{ interruptId: "x", status: "maybe" }] }, "resume[0].status"],
  ]) {
    const answer = await post(body);
    const error = await answer.json();
    assert.equal(answer.status, 400, JSON.stringify(error));
    assert.deepEqual([error.code, error.field], ["invalid", field]);
    assert.ok(error.error.includes(field.split(/[.[]/)[0]), error.error);
  }
  assert.equal((await post("{")).status, 400);
  assert.equal((await post(good, { accept: "application/json" })).status, 406);
  assert.equal((await post(good, { authorization: "Bearer wrong" })).status, 401);
  const unknown = { ...good, resume: [{ interruptId: crypto.randomUUID(), status: "cancelled" }] };
  assert.equal((await post(unknown)).status, 404);
  await assert.rejects(client("two words").say("hello"));
}

async function model() {
  // Reasoning, words, a call that is approved, the answer.
  const thread = client("model");
  let events = await thread.say("Please make a plan");
  const reasoning = events.filter((it) => it.type === EventType.REASONING_MESSAGE_CONTENT);
  assert.equal(reasoning.map((it) => it.delta).join(""), "The file does not exist.\nI create it.");
  assert.equal(text(events), "I will write it down.");
  const call = events.find((it) => it.type === EventType.TOOL_CALL_START);
  assert.equal(call.toolCallName, "file-write");
  const [interrupt] = finish(events).outcome.interrupts;
  assert.equal(interrupt.toolCallId, call.toolCallId);
  events = await thread.run({
    resume: [{ interruptId: interrupt.id, status: "resolved", payload: { decision: "approve" } }],
  });
  assert.equal(text(events), "I wrote the plan into plan.md.");
  assert.deepEqual(finish(events).outcome, { type: "success" });
  const order = thread.agent.messages.map((it) => it.role).filter((it) => it !== "reasoning");
  assert.deepEqual(order, ["user", "assistant", "tool", "assistant"]);

  // A model that fails ends the run with an error.
  const failing = client("failing");
  let problem;
  const subscriber = { onRunErrorEvent: ({ event }) => void (problem = event) };
  failing.agent.addMessage({ id: crypto.randomUUID(), role: "user", content: "write a poem about the sea" });
  await failing.agent.runAgent({}, subscriber).catch(() => {});
  assert.equal(problem?.code, "task_failed");
  assert.notEqual(problem.message, "");
}

await { rules, model }[process.argv[2]]();
console.log("all passed");
