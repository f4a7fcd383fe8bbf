// The door of the workspace with the unmodified npm package: signing in, errors with their fields, a chat with an approval,
// callbacks and their end. DOOR_URL is the address of the door, DOOR_TOKEN a token of an operator.
import assert from "node:assert/strict";
import { newWebSocketRpcSession } from "capnweb";
import WebSocket from "ws";

// Before version 22 node has no WebSocket of its own, and the package looks for one.
globalThis.WebSocket ??= WebSocket;

const url = process.env.DOOR_URL;
const token = process.env.DOOR_TOKEN;
assert.ok(url && token, "DOOR_URL and DOOR_TOKEN are needed");

const socket = new WebSocket(url);
const door = newWebSocketRpcSession(socket);

/** What a callback is told, one after the other. */
function inbox() {
  const items = [];
  const waiting = [];
  const on = (batch) => {
    for (const item of Array.isArray(batch) ? batch : [batch]) items.push(item);
    while (waiting.length > 0) waiting.shift()();
  };
  const until = async (fits) => {
    for (;;) {
      const at = items.findIndex(fits);
      if (at >= 0) return items.splice(0, at + 1)[at];
      await new Promise((resolve) => waiting.push(resolve));
    }
  };
  return { on, until, items };
}

const kind = (it) => it.payload?.action_type ?? it.payload?.event ?? it.type;

const hello = await door.hello();
assert.equal(hello.open, false);
assert.match(hello.build, /^[0-9a-f]{16}$/);

await assert.rejects(
  (async () => await door.authenticate({ token: "wrong" }))(),
  (error) => error.code === "invalid_token" && error.status === 401,
);

const workspace = await door.authenticate({ token });
const me = await workspace.signedIn();
assert.equal(me.caller, "ada");
assert.ok(me.permissions.includes("operate"));

// A refusal has the fields that REST has.
await assert.rejects(
  (async () => await workspace.getFilesTree({ depth: 99 }))(),
  (error) => error.code === "invalid" && error.field === "depth" && error.status === 422,
);

const questions = inbox();
const asking = await workspace.followQuestions({}, questions.on);
await questions.until((it) => it.waiting.length === 0);

const chat = inbox();
const window = await workspace.followChat({ session_id: "from-node" }, chat.on);
await chat.until((it) => kind(it) === "session_restored");
await window.send({
  id: crypto.randomUUID(),
  type: "user_command",
  source: "user",
  payload: { command: "create notes.md with hello world" },
  metadata: { session_id: "from-node" },
});
const asked = await chat.until((it) => kind(it) === "approval_request");
const change = await questions.until((it) => it.waiting.length === 1);
assert.equal(change.waiting[0].id, asked.id);
assert.match(change.waiting[0].preview, /\+hello world/);
await workspace.postApprovalsById({ id: asked.id, decision: "approve" });
const answered = await questions.until((it) => it.answered);
assert.equal(answered.answered.decision, "approve");
assert.equal(answered.answered.by, "ada");
await chat.until((it) => kind(it) === "task_completed");

const { sessions } = await workspace.getSessions({});
assert.deepEqual(sessions.map((it) => it.session_id), ["from-node"]);

// The journal from the beginning; after it is disposed nothing more is told.
const journal = inbox();
const following = await workspace.followJournal({ after: 0 }, journal.on);
const last = (await workspace.getJournal({ limit: 1 })).last;
await journal.until((it) => it.event === last);
following[Symbol.dispose]();
const before = journal.items.length;
await window.send({
  id: crypto.randomUUID(),
  type: "user_command",
  payload: { command: "hello" },
  metadata: { session_id: "from-node" },
});
await chat.until((it) => kind(it) === "task_completed");
assert.equal(journal.items.length, before);
const rest = inbox();
const again = await workspace.followJournal({ after: last }, rest.on);
const next = await rest.until(() => true);
assert.equal(next.event, last + 1);
again[Symbol.dispose]();

asking[Symbol.dispose]();
window[Symbol.dispose]();
socket.close();
console.log("all passed");
