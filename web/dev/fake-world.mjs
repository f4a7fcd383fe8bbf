// A whole server for development alone, made up: for the look of files, terminals, tasks, agents, wire and settings.
//
//     node dev/fake-world.mjs 4500 dist          # then open http://127.0.0.1:4500/
//
// Nothing is kept. Its texts have what callers could put there to mislead a reader: markup, escapes, hidden characters.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize, resolve } from "node:path";
import { newWebSocketRpcSession, RpcTarget } from "capnweb";
import { WebSocket, WebSocketServer } from "ws";

globalThis.WebSocket ??= WebSocket;

const port = Number(process.argv[2] ?? 4500);
const dist = resolve(process.argv[3] ?? join(import.meta.dirname, "..", "dist"));
const role = process.env.ROLE ?? "admin";
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };
const BAD = "<img src=x onerror=alert(1)>";
const BIDI = "\u202egpj.exe";
const now = Date.parse("2026-11-18T14:32:00Z");
const ago = (minutes) => new Date(now - minutes * 60_000).toISOString();
const hash = (text) => createHash("sha256").update(text).digest("hex").slice(0, 16);

const files = new Map(Object.entries({
  "src/json.rs": `//! The table as JSON: one object a tide, one line each.\n\nuse anyhow::Result;\nuse serde_json::{json, Value};\n\nuse crate::table::{Row, Table};\n\n/// All of a table, newest tide last.\npub fn table(table: &Table) -> Result<String> {\n    let lines = table.rows().map(|row| row_to_json(row).to_string());\n    Ok(lines.collect::<Vec<_>>().join("\\n"))\n}\n\n/// One tide. Heights are centimetres, as in the printed table.\nfn row_to_json(row: &Row) -> Value {\n    json!({ "at": row.at.to_rfc3339(), "height_cm": row.height.round() })\n}\n`,
  "src/main.rs": "fn main() {\n    println!(\"hello\");\n}\n", "src/station.rs": "pub struct Station;\n", "src/table.rs": "pub struct Table;\n", "tests/cli.rs": "#[test]\nfn works() {}\n",
  "docs/usage.md": "# Usage\n\nRun `tides`.\n", "notes/today.md": "- buy rope\n", "Cargo.toml": "[package]\nname = \"tides\"\n", "CHANGELOG.md": "# Changes\n\n## 0.4\n", "README.md": "# tides\n",
  [`notes/${BAD}.md`]: `hidden \u202e here\u200b and ${BAD}\n`, [`notes/photo${BIDI}`]: "x",
}));
const DIFF = `--- a/src/json.rs\n+++ b/src/json.rs\n@@ -11,6 +11,7 @@ pub fn table(table: &Table) -> Result<String> {\n     Ok(lines.collect::<Vec<_>>().join("\\n"))\n }\n \n+/// One tide. Heights are centimetres, as in the printed table.\n fn row_to_json(row: &Row) -> Value {\n-    json!({ "at": row.at, "height": row.height })\n+    json!({ "at": row.at.to_rfc3339(), "height_cm": row.height.round() })\n }\n`;
let changes = [
  { id: "c-7", at: ago(34), by: "user:ada", skill: "file-edit", path: "/project/src/json.rs", operation: "modified", diff: DIFF },
  { id: "c-6", at: ago(50), by: "user:ada", skill: "file-write", path: `/project/notes/${BAD}.md`, operation: "created", diff: `--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+hidden \u202e \u001b[31mred\u001b[0m ${BAD}\n` },
  { id: "c-5", at: ago(3_000), by: "user:ada", skill: "file-move", path: "/project/docs/usage.md", operation: "moved", from: "/project/usage.md" },
];
const fileFollowers = new Set();
const tellFiles = (path, operation) => { for (const on of fileFollowers) Promise.resolve(on([{ path: `/project/${path}`, operation }])).catch(() => fileFollowers.delete(on)); };
function tree() {
  const root = { path: "/project", type: "directory", children: [] };
  for (const [path, text] of files) {
    let at = root;
    const parts = path.split("/");
    parts.forEach((name, place) => {
      const whole = `/project/${parts.slice(0, place + 1).join("/")}`;
      const last = place === parts.length - 1;
      let next = at.children.find((it) => it.path === whole);
      if (!next) at.children.push((next = last ? { name, path: whole, type: "file", size: text.length } : { name, path: whole, type: "directory", children: [] }));
      at = next;
    });
  }
  return root;
}
const refuse = (code, text) => { throw new Error(`${code}: ${text}`); };

const message = (role, text) => ({ messageId: hash(text), role, parts: [{ text }] });
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAgCAIAAAAt/+nTAAAAMklEQVR4nO3OQQ0AIAwAMcC/581FH02qYEvHzNwk7X8QCAQCgUAgEAgEAoFAIBAIBIIPHRACQR5UoEIAAAAASUVORK5CYII=";
const tasks = [
  { id: "01a1ee76-81bb", contextId: "sess_1", status: { state: "TASK_STATE_INPUT_REQUIRED", timestamp: ago(1), message: message("ROLE_AGENT", "May I change CHANGELOG.md?") }, history: [message("ROLE_USER", "Write release notes for 0.4, and mention the flag --json")] },
  { id: "01a1ee76-81bc", contextId: "sess_1", status: { state: "TASK_STATE_WORKING", timestamp: ago(2) }, history: [message("ROLE_USER", "run the tests")], artifacts: [{ artifactId: "terminal", name: "terminal", parts: [{ text: "running 14 tests\n\u001b[32mtest ok\u001b[0m\n" }] }] },
  { id: "01a1ee76-81bd", contextId: "sess_2", status: { state: "TASK_STATE_COMPLETED", timestamp: ago(70), message: message("ROLE_AGENT", "Done. Two stations have closed.") }, history: [message("ROLE_USER", "List of stations")], artifacts: [{ artifactId: "a-1", name: "stations.md", description: "The stations of 2026", parts: [{ text: "# Stations\n\n- Riga\n- Liepāja\n", mediaType: "text/markdown", filename: "stations.md" }] }, { artifactId: "a-2", name: "chart.png", parts: [{ raw: PNG, mediaType: "image/png", filename: "chart.png" }] }, { artifactId: "a-3", name: "figures", parts: [{ data: { stations: 14, closed: ["Liepāja", "Roja"] } }] }] },
  { id: "01a1ee76-81be", contextId: "sess_3", status: { state: "TASK_STATE_FAILED", timestamp: ago(231), message: message("ROLE_AGENT", "The tool server “weather” did not answer within 30 s.") }, history: [message("ROLE_USER", `Weather for Riga ${BAD} ${BIDI}`)] },
  { id: "01a1ee76-81bf", contextId: "sess_4", status: { state: "TASK_STATE_CANCELED", timestamp: ago(4_000) }, history: [message("ROLE_USER", "Sort all photos")] },
  ...Array.from({ length: 120 }, (_, at) => ({ id: `old-${at}`, contextId: "sess_9", status: { state: "TASK_STATE_COMPLETED", timestamp: ago(5_000 + at * 30) }, history: [message("ROLE_USER", `Older request number ${at + 1}`)] })),
];
const agents = [
  { id: "default", name: "Monas", description: "An agent that remembers, uses skills, asks before it acts and says why.", path: "/agents/default", paused: false },
  { id: "scout", name: "scout", description: "Searches the web and reads pages.", path: "/agents/scout", paused: false },
  { id: "scribe", name: `scribe ${BAD}`, description: `Writes things down. ${BIDI}`, path: "/agents/scribe", paused: true },
];
const heard = [[4127, "default", "user:ada", "Write release notes for 0.4"], [311, "scout", "agent:default", "Is the list of stations of 2026 complete?"], [88, "scribe", "agent:default", "Write down: two stations have closed"], [4101, "default", "user:ben", `What is due today? ${BAD}`], [4093, "default", "agent:scout", "Which year is meant?"]]
  .map(([event, agent, caller, text], at) => ({ agent, record: { event, at: ago(at * 3 + 1), kind: "heard", turn: `t-${event}`, text: `${caller} asked: ${text}`, data: { caller, from: caller, text, turn: `t-${event}` } } }));
const OPERATIONS = [["a2a/jsonrpc", "SendMessage", "1.0"], ["mcp/http", "tools/call file-search", "2025-11-25"], ["a2a/grpc", "SendStreamingMessage", "1.0"], ["chat", "user_command", ""], ["a2a/rest", "ListTasks", "1.0"], ["acp", "POST /acp/runs", "0.2"], ["a2a/websocket", "SubscribeToTask", "0.3"], ["api", "GET /api/files/tree", ""], ["api", `POST /api/${BAD}`, ""], ["workspace", "getTasks", ""]];
const call = (at) => {
  const [wire, operation, version] = OPERATIONS[at % OPERATIONS.length];
  return { at: new Date(now - at * 3_217).toISOString(), wire, version, operation, caller: ["user:ada", "user:robot", "agent:scout", "anonymous"][at % 4], outcome: at % 9 === 4 ? "denied" : "ok", micros: 300 + ((at * 7919) % 20_000), request: hash(`r${at}`) };
};
let users = [{ name: "ada", role: "admin", keys: 1, created: ago(9_000) }, { name: "ben", role: "user", keys: 0, created: ago(3_000) }, { name: `eve${BIDI}`, role: "viewer", keys: 2, created: ago(600) }];
let keys = [{ id: "key-0123", user: "ada", name: "report", scopes: ["read-only"], created: ago(900), expires: new Date(now + 20 * 86_400_000).toISOString(), last_used: ago(12) }];
let secrets = [{ name: "openai", created: ago(9_000), changed: ago(700) }];
let links = [{ id: "cap-1", kind: "token", by: "ada", read_only: true, task: "01a1ee76-81bb", permissions: [], note: "Release notes, for scribe", created: ago(3), expires: new Date(Date.now() + 9 * 60_000).toISOString(), last_used: ago(1) }, { id: "cap-2", kind: "token", by: "ada", read_only: true, permissions: [], note: `for bob ${BAD}`, created: ago(999), expires: new Date(Date.now() + 2 * 86_400_000).toISOString() }];
let grants = [{ id: "g-1", skill: "terminal-run", by: "ada", agreed: "ada", field: "command", prefix: "cargo test", until: 0 }, { id: "g-2", skill: "file-write", by: "ada", agreed: "ada", field: "path", prefix: "notes/", until: Date.now() + 3_600_000 }, { id: "g-3", skill: "web-read", by: "ada", agreed: "ada", conversation: "sess_2", until: 0 }];
let model = { provider: "ollama", name: "gemma3", url: null, has_key: false, from: "found" };

class Subscription extends RpcTarget {
  #end;
  constructor(end = () => {}) { super(); this.#end = end; }
  ended() { return new Promise(() => {}); }
  [Symbol.dispose]() { this.#end(); }
}

// Terminals with a real shell behind a real pseudo-terminal.
const terminals = new Map();
class Shell {
  constructor(by) {
    Object.assign(this, { id: `term-${terminals.size + 1}`, by, holder: by, opened: new Date().toISOString(), output: Buffer.alloc(0), typed: [], followers: new Set(), ended: false });
    this.child = spawn("script", ["-qfec", "PS1='$ ' /bin/sh -i", "/dev/null"], { cwd: "/tmp", env: { PATH: process.env.PATH, TERM: "xterm-256color", LANG: "C.UTF-8" } });
    this.child.stdout.on("data", (data) => this.add(data));
    this.child.on("exit", (code) => { this.ended = true; this.tell({ bytes: "", cursor: this.output.length, ended: `it ended with ${code}` }); });
    terminals.set(this.id, this);
  }
  add(data) { this.output = Buffer.concat([this.output, data]); this.tell({ bytes: data.toString("base64"), cursor: this.output.length, ...this.unsaid() }); }
  unsaid() { const typed = this.typed.splice(0); return typed.length ? { typed } : {}; }
  tell(piece) { for (const on of this.followers) Promise.resolve(on([piece])).catch(() => this.followers.delete(on)); }
  write(by, text) { if (this.holder && this.holder !== by) refuse("held", `${this.holder} holds the terminal`); this.typed.push({ by, text, at: this.output.length }); this.child.stdin.write(text); }
  hold(by) { const before = this.holder; this.holder = by; this.tell({ bytes: "", cursor: this.output.length, holder: by }); return { before }; }
  state() { return { id: this.id, agent: "default", holder: this.holder, opened: this.opened, by: this.by, sandbox: "bubblewrap", ended: this.ended }; }
}
class Terminal extends Subscription {
  #shell; #by;
  constructor(shell, by, end) { super(end); this.#shell = shell; this.#by = by; }
  id() { return this.#shell.id; }
  write(text) { this.#shell.write(this.#by, text); }
  resize() {}
  take() { return this.#shell.hold(this.#by); }
  release() { this.#shell.hold(null); }
  close() { this.#shell.child.kill(); terminals.delete(this.#shell.id); }
}

const ME = "user:ada";
const PERMISSIONS = { viewer: ["read_files"], user: ["read_files", "write_files", "execute_commands", "browse", "remember", "approve"] };
PERMISSIONS.operator = [...PERMISSIONS.user, "operate"];
PERMISSIONS.admin = [...PERMISSIONS.operator, "admin"];
const needs = (permission) => { if (!PERMISSIONS[role].includes(permission)) refuse("denied", `ada lacks the permission ${permission}`); };

class Workspace extends RpcTarget {
  signedIn() { return { caller: ME, role, permissions: PERMISSIONS[role] }; }
  getStatus() { return { build: "fake", version: "0.4.0", started: ago(900), models: [{ agent: "default", model: model.name }], agents, ollama: { url: "http://127.0.0.1:11434", models: ["gemma3", "qwen3:4b"] }, tool_servers: [{ name: "docs", command: "npx docs-mcp", up: true, tools: ["search", "read"] }, { name: "weather", url: "http://127.0.0.1:9010/mcp", up: false, tools: [], fault: "did not answer for 3 min" }] }; }
  getAgents() { return { agents }; }
  getAgentStatus({ agent = "default" } = {}) { const it = agents.find((one) => one.id === agent); return { id: agent, state: agent === "default" ? "awaiting_approval" : agent === "scout" ? "thinking" : "idle", current_task: agent === "default" ? "01a1ee76-81bb" : null, queue_length: 1, paused: it?.paused ?? false, fault: null, working: 1, approvals: agent === "default" ? [{}] : [], questions: [], grants: [], queue: [], plans: [], law: [], timers: {}, event: 4137 }; }
  postAgentPause({ agent = "default" }) { agents.find((it) => it.id === agent).paused = true; return { success: true, previous_state: "idle", state: "idle", paused: true }; }
  postAgentResume({ agent = "default" }) { agents.find((it) => it.id === agent).paused = false; return { success: true, current_state: "idle" }; }
  getSessions() { return { sessions: [] }; }
  followQuestions(_, on) { on({ waiting: [{ id: "q-1", agent: "default", kind: "approval", by: ME, task: "01a1ee76-81bb", conversation: "sess_1", at: now, skill: "file-write", input: { path: "CHANGELOG.md", content: "x" } }] }); return new Subscription(); }
  followChat() { return new Subscription(); }
  getFilesTree() { needs("read_files"); return tree(); }
  getFilesContent({ path }) { const short = path.replace(/^\/project\//, ""); const text = files.get(short); if (text === undefined) refuse("not_found", `${path} does not exist`); return { path: `/project/${short}`, content: text, language: "text", size: text.length, modified: ago(5), hash: hash(text) }; }
  putFilesContent({ path, content, seen }) { needs("write_files"); const short = path.replace(/^\/project\//, ""); const old = files.get(short); if (seen && seen !== (old === undefined ? "absent" : hash(old))) refuse("changed", `${path} has changed since it was read`); files.set(short, content); setTimeout(() => tellFiles(short, "modified"), 20); return { success: true, status: "written", hash: hash(content) }; }
  getFilesSearch({ query }) { const results = []; for (const [path, text] of files) text.split("\n").forEach((line, at) => { if (line.toLowerCase().includes(query.toLowerCase())) results.push({ path: `/project/${path}`, line: at + 1, content: line, relevance: 1 }); }); return { results, incomplete: false }; }
  getFilesChanges() { return { changes }; }
  postFilesUndo({ change }) { const it = changes.find((one) => one.id === change) ?? refuse("changed_since", "the file has changed since"); changes = changes.filter((one) => one !== it); return { success: true, change: it.id, path: it.path, id: "c-8" }; }
  followFiles(_, on) { on = on.dup(); fileFollowers.add(on); return new Subscription(() => fileFollowers.delete(on)); }
  getTasks({ state, limit = 100, after } = {}) { const all = state ? tasks.filter((it) => it.status.state === state) : tasks; const from = Number(after ?? 0); return { tasks: all.slice(from, from + limit), next: from + limit < all.length ? String(from + limit) : "", total: all.length }; }
  getTasksById({ id }) { return tasks.find((it) => it.id === id) ?? refuse("not_found", `there is no task ${id}`); }
  postTasksByIdCancel({ id }) { const it = tasks.find((one) => one.id === id); it.status = { state: "TASK_STATE_CANCELED", timestamp: new Date().toISOString() }; return it; }
  followTask({ id }, on) { on = on.dup(); let at = 0; const timer = setInterval(() => { at += 1; Promise.resolve(on([{ artifactUpdate: { taskId: id, append: true, artifact: { artifactId: "terminal", name: "terminal", parts: [{ text: `test number_${at} ... ok\n` }] } } }])).catch(() => clearInterval(timer)); if (at > 30) clearInterval(timer); }, 400); return new Subscription(() => clearInterval(timer)); }
  getJournal({ agent = "default" }) { needs("operate"); return { agent, events: heard.filter((it) => it.agent === agent).map((it) => it.record), last: 4137 }; }
  getJournalByEvent({ event }) { return { agent: "default", event, at: ago(1), kind: "heard", text: "ada asked", data: {}, why: [{ says: "ada asked for it", event }], changes: [] }; }
  followJournal() { return new Subscription(); }
  getAudit() { needs("operate"); return { records: Array.from({ length: 120 }, (_, at) => call(at)).reverse() }; }
  followWire(_, on) { needs("operate"); on = on.dup(); let at = 0; const timer = setInterval(() => { at += 1; const it = call(at); Promise.resolve(on([{ ...it, at: new Date().toISOString(), number: at, milliseconds: it.micros / 1000, bytes: 64 + ((at * 37) % 4_000), request: `live-${at}` }])).catch(() => clearInterval(timer)); }, process.env.STILL ? 1e9 : 900); return new Subscription(() => clearInterval(timer)); }
  terminals() { return [...terminals.values()].map((it) => it.state()); }
  getTerminals() { return { terminals: this.terminals() }; }
  postTerminals() { needs("execute_commands"); return new Shell(ME).state(); }
  deleteTerminalsById({ id }) { terminals.get(id)?.child.kill(); terminals.delete(id); return { success: true, id }; }
  attachTerminal({ id, after = 0 }, on) { const shell = terminals.get(id) ?? refuse("not_found", "there is no such terminal"); on = on.dup(); const rest = shell.output.subarray(after); Promise.resolve(on([{ bytes: rest.toString("base64"), cursor: shell.output.length, holder: shell.holder }])).catch(() => {}); shell.followers.add(on); return new Terminal(shell, ME, () => shell.followers.delete(on)); }
  getModel() { return model; }
  async putModel({ provider, name, key }) { needs("admin"); await new Promise((go) => setTimeout(go, 600)); if (provider !== "ollama" && key !== "right") refuse("refused", "the provider answered 401: the key is wrong"); model = { provider, name, url: null, has_key: Boolean(key), from: "kept" }; return model; }
  getGrants() { return { agent: "default", grants }; }
  deleteGrantsById({ id }) { grants = grants.filter((it) => it.id !== id); return { id }; }
  getCapabilities() { return { capabilities: links }; }
  postCapabilities(wanted) { const it = { id: `cap-${links.length + 1}`, kind: "token", by: "ada", read_only: wanted.read_only ?? false, permissions: wanted.permissions ?? [], note: wanted.note ?? "", created: new Date().toISOString(), expires: new Date(Date.now() + 3_600_000).toISOString() }; links = [...links, it]; return { ...it, token: "monas-cap-0123456789abcdef" }; }
  deleteCapabilitiesById({ id }) { links = links.filter((it) => it.id !== id); return { id }; }
  getUsers() { needs("admin"); return { users }; }
  postUsers({ name, role: given = "user", key }) { if (users.some((it) => it.name === name)) refuse("exists", `there is a user ${name} already`); const user = { name, role: given, keys: key ? 1 : 0, created: new Date().toISOString() }; users = [...users, user]; return key ? { user, key: { id: "key-9", user: name, scopes: [], created: user.created, secret: "monas-key-feedbeef" } } : { user, link: { url: "http://127.0.0.1/#link=monas-link-cafe", user: name, expires: new Date(Date.now() + 86_400_000).toISOString() } }; }
  putUsersByName({ name, role: given }) { const it = users.find((one) => one.name === name); it.role = given; return it; }
  deleteUsersByName({ name }) { const it = users.find((one) => one.name === name); users = users.filter((one) => one !== it); return it; }
  postUsersByNameLink({ name }) { return { url: "http://127.0.0.1/#link=monas-link-beef", user: name, expires: new Date(Date.now() + 86_400_000).toISOString() }; }
  getKeys() { return { keys }; }
  postKeys(wanted) { const it = { id: `key-${keys.length}`, user: "ada", name: wanted.name, scopes: wanted.scopes ?? [], created: new Date().toISOString() }; keys = [...keys, it]; return { ...it, secret: "monas-key-0123456789abcdef" }; }
  deleteKeysById({ id }) { const it = keys.find((one) => one.id === id); keys = keys.filter((one) => one !== it); return it; }
  getSecrets() { needs("admin"); return { secrets }; }
  putSecretsByName({ name }) { const it = { name, created: new Date().toISOString(), changed: new Date().toISOString() }; secrets = [...secrets.filter((one) => one.name !== name), it]; return it; }
  deleteSecretsByName({ name }) { const it = secrets.find((one) => one.name === name); secrets = secrets.filter((one) => one !== it); return it; }
  getSession() { return { user: "ada", scheme: "monas", role, permissions: PERMISSIONS[role] }; }
  getMemoryExport() { return "{\"id\":\"r-1\"}\n"; }
  getAgentLaw() { return { agent: "default", version: 7, hash: "x", by: "ada", why: "", event: 1, text: "", law: {} }; }
  getAgentLaws() { return { agent: "default", versions: [] }; }
}

class Door extends RpcTarget {
  hello() { return { build: "fake", version: "0.4.0", open: true, base: "" }; }
  authenticate() { return new Workspace(); }
}
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-fixed'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types monas dompurify";
const http = createServer((request, response) => {
  const path = normalize(new URL(request.url, "http://x").pathname);
  if (path === "/change") { const at = new URL(request.url, "http://x").searchParams; files.set(at.get("path"), at.get("text")); tellFiles(at.get("path"), "modified"); response.end("ok"); return; }
  const file = join(dist, path === "/" ? "index.html" : path);
  if (!file.startsWith(dist) || !existsSync(file)) { response.writeHead(404).end(); return; }
  const body = readFileSync(file);
  response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream", "content-security-policy": POLICY, "cache-control": "no-store" });
  response.end(path === "/" ? body.toString().replace('name="style-nonce" content=""', 'name="style-nonce" content="fixed"') : body);
});
const sockets = new WebSocketServer({ server: http, path: "/workspace/capnweb" });
sockets.on("connection", (socket) => newWebSocketRpcSession(socket, new Door()));
http.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/`));
