import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { load } from "./load.mjs";

const { shortPath, treeRows } = await load("views/files/paths.ts");
const { addedLines, diffCounts, diffLines } = await load("views/files/lines.ts");
const { bytesOf, edited, endedWords, isAnswer, withoutTurns } = await load("views/terminal/bytes.ts");
const { after, joined, safeName, titleOf } = await load("views/tasks/model.ts");
const { asCurl, past } = await load("views/wire/frames.ts");
const { askedOf, picture } = await load("views/agents/asked.ts");

test("paths are shown below the project", () => {
  assert.equal(shortPath("/project/src/a.rs"), "src/a.rs");
  assert.equal(shortPath("/project/project/a"), "project/a");
  assert.equal(shortPath("project/a"), "project/a");
  assert.equal(shortPath("/project"), "");
  assert.equal(shortPath("projects/a"), "projects/a");
});

test("the tree has folders first, and what is folded is not in it", () => {
  const nodes = [
    { name: "b.txt", path: "/project/b.txt", type: "file" },
    { name: "a", path: "/project/a", type: "directory", children: [{ name: "c.txt", path: "/project/a/c.txt", type: "file" }] },
  ];
  assert.deepEqual(treeRows(nodes, new Set()).map((it) => it.path), ["a", "b.txt"]);
  assert.deepEqual(treeRows(nodes, new Set(["a"])).map((it) => [it.path, it.depth]), [["a", 0], ["a/c.txt", 1], ["b.txt", 0]]);
});

test("a unified diff becomes lines with their numbers", () => {
  const diff = "--- a/x\n+++ b/x\n@@ -3,2 +3,3 @@ fn main\n same\n-old\n+new\n+-- not a head\n\\ No newline at end of file\n";
  assert.deepEqual(diffLines(diff).map((it) => [it.kind, it.was, it.now, it.text]), [
    ["hunk", undefined, undefined, "fn main"], ["same", 3, 3, "same"], ["was", 4, undefined, "old"], ["now", undefined, 4, "new"],
    ["now", undefined, 5, "-- not a head"], ["note", undefined, undefined, "No newline at end of file"],
  ]);
  assert.deepEqual(diffCounts(diff), { added: 2, removed: 1 });
  assert.deepEqual(addedLines(diff)[0], { number: 4, text: "new" });
});

test("what turns the direction of writing is made visible, also when it is cut in two", () => {
  const text = new TextEncoder().encode("a\u202eb\u2067c€");
  const whole = withoutTurns(new Uint8Array(), text);
  assert.equal(new TextDecoder().decode(whole.bytes), "a\ufffdb\ufffdc€");
  let out = "";
  let rest = new Uint8Array();
  const decoder = new TextDecoder();
  for (const byte of text) {
    const part = withoutTurns(rest, new Uint8Array([byte]));
    rest = part.rest;
    out += decoder.decode(part.bytes, { stream: true });
  }
  assert.equal(out, "a\ufffdb\ufffdc€");
  assert.deepEqual([...bytesOf(btoa("\u00ff\u0000"))], [255, 0]);
});

test("what a terminal answers by itself is told from keys", () => {
  for (const answer of ["\u001b[12;40R", "\u001b[?1;2c", "\u001b[0n", "\u001bP1$r0m\u001b\\", "\u001b]10;rgb:0/0/0\u0007"]) assert.ok(isAnswer(answer), answer);
  for (const key of ["a", "\r", "\u001b[A", "\u001b[3~", "\u001bOP", "\u001b", "\u001b[200~R\u001b[201~", "\u0003"]) assert.ok(!isAnswer(key), key);
  assert.equal(endedWords("exited(3)"), "the shell ended with code 3");
});

test("a typed line is what it was when Enter was pressed", () => {
  assert.equal(edited("lss\u007f -la"), "ls -la");
  assert.equal(edited("wrong\u0015right"), "right");
  assert.equal(edited("a\u001b[Db"), "ab");
});

const TASK = { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" }, history: [{ messageId: "m", role: "ROLE_USER", parts: [{ text: "run\nthe tests" }] }] };
test("events change a task, and those of other tasks do not", () => {
  const artifact = (text, append) => ({ artifactUpdate: { taskId: "t", append, artifact: { artifactId: "a", parts: [{ text }] } } });
  let task = after(TASK, artifact("one ", false));
  task = after(task, artifact("two", true));
  assert.deepEqual(joined(task.artifacts[0].parts), [{ text: "one two" }]);
  task = after(task, { statusUpdate: { taskId: "t", status: { state: "TASK_STATE_COMPLETED" } } });
  assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  assert.equal(after(task, { statusUpdate: { taskId: "other", status: { state: "TASK_STATE_FAILED" } } }), task);
  assert.equal(titleOf(TASK), "run");
  assert.equal(titleOf({ ...TASK, history: [{ role: "ROLE_USER", parts: [{ data: { decision: "approve" } }] }] }), "Task t");
});

test("names of downloads have no folders and nothing hidden", () => {
  assert.equal(safeName("../../.ssh/authorized_keys", "x"), "ssh_authorized_keys");
  assert.equal(safeName("photo\u202egpj.exe", "x"), "photo_gpj.exe");
  assert.equal(safeName("...", "file.txt"), "file.txt");
});

test("a call becomes a command without credentials that a shell cannot misread", () => {
  const call = { number: 1, at: "", wire: "api", version: "", operation: "GET /api/files/tree", caller: "ada", outcome: "ok", milliseconds: 1, request: "r", bytes: 0 };
  assert.equal(asCurl(call, "http://127.0.0.1:1/base/"), `curl -X GET -H "Authorization: Bearer $TOKEN" 'http://127.0.0.1:1/base/api/files/tree'`);
  // A real shell reads it as one command with one address.
  const evil = asCurl({ ...call, operation: "POST /x';echo${IFS}ran;'" }, "http://127.0.0.1:1/");
  const shell = spawnSync("/bin/sh", ["-c", `curl() { printf '%s\\n' "$#"; }\n${evil}`], { encoding: "utf8", env: { TOKEN: "t" } });
  assert.equal(shell.stdout, "9\n", evil);
  assert.match(asCurl({ ...call, wire: "a2a/jsonrpc", operation: "SendMessage", version: "1.0" }, "http://h/"), /"method":"SendMessage"/);
  assert.equal(asCurl({ ...call, wire: "a2a/grpc", operation: "SendMessage" }, "http://h/"), null);
});

test("the audit trail is read as data, as an object and as lines", () => {
  const record = { at: "2026-11-18T11:41:46.303Z", caller: "ada", micros: 7491, operation: "X", outcome: "ok", request: "r", wire: "api", version: "" };
  for (const given of [{ records: [record] }, JSON.stringify({ records: [record] }), `${JSON.stringify(record)}\n${JSON.stringify(record)}\n`]) assert.equal(past(given)[0].milliseconds, 7.491);
  assert.deepEqual(past("no data"), []);
});

test("who asked whom is read from the journal and drawn the same each time", () => {
  const record = { event: 7, at: "2026-11-18T11:00:00Z", kind: "heard", text: "agent:default asked: hello", data: { from: "agent:default", text: "hello" } };
  const asked = askedOf(record, "scout");
  assert.deepEqual([asked.from, asked.fromAgent, asked.to, asked.text], ["default", true, "scout", "hello"]);
  assert.equal(askedOf({ ...record, kind: "thought" }, "scout"), null);
  const drawn = picture(["default", "scout"], [asked, { ...asked, from: "ada", fromAgent: false, to: "default" }], 800, 300);
  assert.deepEqual(drawn.nodes.map((it) => it.id), ["person:ada", "agent:default", "agent:scout"]);
  assert.deepEqual(drawn, picture(["default", "scout"], [asked, { ...asked, from: "ada", fromAgent: false, to: "default" }], 800, 300));
});
