// A door for the development of the views of the mind alone: memory and law from the REST API of a running server, a made-up
// journal of many events that grows, and proposals with figures. The acceptance tests use the server's own door.
//
//     node dev/fake-mind.mjs http://127.0.0.1:8080 4410 DIST     # then open http://127.0.0.1:4410/
//     LIVE=1 adds an event each 400 ms, ROLE=viewer may not operate, EVENTS=50000 is the length of the journal
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { newWebSocketRpcSession, RpcTarget } from "capnweb";
import { WebSocket, WebSocketServer } from "ws";

globalThis.WebSocket ??= WebSocket;

const [server = "http://127.0.0.1:8080", port = "4410", dist = join(import.meta.dirname, "..", "dist")] = process.argv.slice(2);
const { ROLE = "operator", EVENTS = "420", LIVE } = process.env;
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };

// ---- a life that was made up ----
const REQUESTS = ["The release notes for 0.4 miss the new `--json` flag. Add it.", "Which stations are missing?", "remember that I like short answers", "Run the tests, please.", "<img src=x onerror=alert(1)> \u202egnp.exe \u001b[31mred\u001b[0m and **bold**"];
const journal = [];
const began = Date.parse("2026-11-17T05:02:00Z");
let at = began;
function add(kind, text, turn, data = {}, changes = []) {
  at += 400 + ((journal.length * 7919) % 9000) + (journal.length % 97 === 0 ? 2_400_000 : 0);
  journal.push({ event: journal.length + 1, at: new Date(at).toISOString(), kind, ...(turn ? { turn } : {}), text, data, changes });
}
add("born", "Monas began", undefined, { identity: { name: "Monas" } }, [{ change: "born", identity: { name: "Monas" } }, { change: "law", hash: "2e25b17d9d2218e6", by: "birth", why: "it was born with it" }]);
add("enabled", "it has 21 skills", undefined, { abilities: Array(21).fill({}) }, [{ change: "able", abilities: Array(21).fill({}) }]);
function life() {
  const number = Math.floor(journal.length / 8);
  const turn = `t-${(number * 2654435761 % 65536).toString(16)}`;
  const text = REQUESTS[number % REQUESTS.length];
  add("heard", `ada asked: ${text}`, turn, { turn, text }, [{ change: "opened", turn: { heard: { text } } }]);
  add("recalled", "remembered 4 records, first: Ada wants changelog entries in the imperative", turn, {}, [{ change: "found", turn, found: [1, 2, 3, 4] }]);
  add("thought", "decided to call file-search and 2 more", turn, { text: "", calls: [{ skill: "file-search" }] }, [{ change: "round", turn, tokens: 1912 }]);
  add("done", "a call gave: 6 lines of CHANGELOG.md", turn, { output: "6 lines" }, [{ change: "outcome", turn, call: 0, outcome: { gave: "6 lines" } }]);
  if (number % 3 === 0) add("failed", "it could not be done: the file is not there", turn, { code: "not-found" }, [{ change: "outcome", turn, call: 1, outcome: { failed: ["not-found", "no such file"] } }]);
  add("wanted", "asked whether it may call file-write for ada", turn, { skill: "file-write", input: { path: "CHANGELOG.md" } }, [{ change: "asked", approval: { skill: "file-write" } }]);
  add("decided", number % 4 === 0 ? "ada rejected it: not before the tests pass" : "ada approved it", turn, { approval: number }, [{ change: "decided", approval: number, standing: "approved", by: "ada" }]);
  add("remembered", "put 1 records into memory", turn, {}, [{ change: "ended", turn, answer: { text: "Done." } }]);
  if (number % 5 === 0) add("proposed", "own proposed to change memory.rules[0].condition.min_confidence: two claims were wrong", undefined, {}, [{ change: "law-proposed", proposed: { proposal: 12 } }]);
  if (number % 6 === 0) add("ticked", "time has passed", undefined, {}, []);
}
while (journal.length < Number(EVENTS)) life();
const followers = new Set();
if (LIVE) setInterval(() => { const from = journal.length; life(); for (const on of followers) Promise.resolve(on(journal.slice(from))).catch(() => followers.delete(on)); }, 400);
const shown = ({ changes, ...it }) => it;

const PROPOSAL = {
  proposal: 12, standing: "awaiting-approval", says: "it waits for a person: only 4 episodes would have been better, and 5 are needed", by: "own",
  target: "memory.rules[0].condition.min_confidence", change: "+= 0.1", justification: "two claims that I held on to were wrong by the next day: that stations are fetched every hour, and that Roja has a tide gauge",
  evidence: [71, 112], major: false, lines: ["memory.rules.0.condition.min_confidence: 0.7 -> 0.8"],
  trial: { verdict: { "too-few": { have: 4, need: 5 } }, figures: { episodes: 50, better: 4, worse: 0, same: 44, unknown: 2, reasons: { "the model would have seen something else": 2 }, before: 0.85, after: 0.91 } },
  held_out: { verdict: { "not-better": { by: 0.01 } }, figures: { episodes: 20, better: 1, worse: 0, same: 19, unknown: 0, before: 0.88, after: 0.89 } }, events: [181, 182],
};
const EARLIER = [
  { proposal: 9, standing: "rolled-back", says: "adopted, and rolled back to what is now version 6: the mean score fell from 0.91 to 0.80", by: "own", target: "attention.recall", change: 2, justification: "answers were slow", major: false, lines: ["attention.recall: 6 -> 2"], trial: { verdict: { better: { objective: "score", by: 0.06, interval: [0.02, 0.1] } }, figures: { episodes: 160, better: 30, worse: 4, same: 120, unknown: 6, before: 0.82, after: 0.88 } }, version: 5, events: [140, 141] },
  { proposal: 10, standing: "failed", says: "the test speaks against it: the mean score is lower by 0.120", by: "agent:scout", target: "update[1].confidence", change: 0.9, justification: "tools are right <b>always</b>", major: false, lines: ["update.1.confidence: 0.5 -> 0.9"], trial: { verdict: { worse: { objective: "score", by: -0.12 } }, figures: { episodes: 24, better: 1, worse: 9, same: 14, unknown: 0, before: 0.9, after: 0.78 } }, events: [150] },
];
let open = PROPOSAL;

async function rest(verb, path, fields = {}) {
  const url = new URL(path, server);
  const options = { method: verb, headers: {} };
  if (verb === "GET") for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, String(value));
  else { options.body = JSON.stringify(fields); options.headers["content-type"] = "application/json"; }
  const reply = await fetch(url, options);
  const text = await reply.text();
  let value = text;
  try { value = JSON.parse(text); } catch { /* lines of an export */ }
  if (!reply.ok) throw Object.assign(new Error(value.error ?? text), { code: value.code ?? "failed", status: reply.status });
  return value;
}
const operate = () => { if (ROLE === "viewer") throw Object.assign(new Error("this needs the permission operate"), { code: "denied", status: 403 }); };

class Subscription extends RpcTarget {
  #end;
  constructor(end) { super(); this.#end = end; }
  ended() { return new Promise(() => {}); }
  [Symbol.dispose]() { this.#end(); }
}
class Workspace extends RpcTarget {
  signedIn() { return { caller: "user:ada", role: ROLE, permissions: ROLE === "viewer" ? ["read_files"] : ["operate", "approve", "remember", "read_files"] }; }
  getAgents() { return { agents: [{ id: "default", name: "Monas", description: "", paused: false }] }; }
  getStatus() { return { build: "fake", version: "0", started: new Date().toISOString(), models: [], agents: [] }; }
  getSessions() { return { sessions: [] }; }
  getAgentStatus(fields) { return rest("GET", "/api/agent/status", fields); }
  getMemoryAudit(fields) { return rest("GET", "/api/memory/audit", fields); }
  getMemoryExport(fields) { return rest("GET", "/api/memory/export", fields); }
  getMemoryGraph(fields) { return rest("GET", "/api/memory/graph", fields); }
  postMemoryQuery(fields) { return rest("POST", "/api/memory/query", fields); }
  postMemoryForget(fields) { return rest("POST", "/api/memory/forget", fields); }
  postMemoryStore(fields) { return rest("POST", "/api/memory/store", fields); }
  getAgentWhy(fields) { operate(); return rest("GET", "/api/agent/why", fields); }
  getAgentLaw(fields) { operate(); return rest("GET", "/api/agent/law", fields); }
  getAgentLaws(fields) { operate(); return rest("GET", "/api/agent/laws", fields); }
  getAgentDiff(fields) { operate(); return rest("GET", "/api/agent/diff", fields); }
  async getAgentLawProposals(fields) { operate(); const real = await rest("GET", "/api/agent/law/proposals", fields); return { ...real, proposals: [...real.proposals.filter((it) => it.standing !== "awaiting-approval"), ...EARLIER, ...(open ? [open] : [])] }; }
  postAgentLawPropose(fields) { return rest("POST", "/api/agent/law/propose", fields); }
  postAgentLawReflect() { return { agent: "default", proposals: [] }; }
  postAgentLawRollback(fields) { return rest("POST", "/api/agent/law/rollback", fields); }
  postAgentLawTest() { return open; }
  async postAgentLawApprove() { const changed = await rest("PUT", "/api/agent/law", { path: PROPOSAL.target, value: 0.8, why: PROPOSAL.justification }); EARLIER.push({ ...PROPOSAL, standing: "adopted", says: `adopted as version ${changed.to}`, version: changed.to }); open = null; return EARLIER.at(-1); }
  postAgentLawReject({ why }) { EARLIER.push({ ...PROPOSAL, standing: "rejected", says: `rejected by ada: ${why}` }); open = null; return EARLIER.at(-1); }
  getJournal({ before = Infinity, limit = 100, kinds }) {
    operate();
    const wanted = kinds ? new Set(kinds.split(",")) : null;
    const found = journal.filter((it) => it.event < Number(before) && (!wanted || wanted.has(it.kind))).toReversed();
    const events = found.slice(0, limit).map(shown);
    return { agent: "default", events, ...(found.length > events.length ? { next: events.at(-1).event } : {}), last: journal.length };
  }
  getJournalByEvent({ event }) {
    operate();
    const it = journal[Number(event) - 1];
    if (!it) throw Object.assign(new Error(`the journal has no event ${event}`), { code: "not_found", status: 404 });
    const turn = journal.filter((one) => it.turn && one.turn === it.turn && one.event <= it.event);
    return { agent: "default", ...it, why: turn.map((one) => ({ says: one.text, event: one.event })) };
  }
  getJournalByEventState({ event }) {
    operate();
    const it = journal[Number(event) - 1];
    return { agent: "default", event: it.event, at: it.at, state: it.kind === "wanted" ? "awaiting_approval" : "idle", paused: false, working: 1, queue: [], approvals: it.kind === "wanted" ? [{ id: "a1", skill: "file-write", by: "user:ada" }] : [], questions: [], grants: [{ id: "g1", skill: "terminal", by: "user:ada", agreed: "user:ada", field: "command", prefix: "cargo test", until: 0 }], plans: [], goals: ["Keep Tides released."], law_version: 1, law_hash: "2e25b17d9d2218e6284a", law: "Memory\n  - a candidate becomes a belief" };
  }
  getJournalByEventPrompt({ event }) {
    operate();
    const it = journal[Number(event) - 1];
    if (it?.kind !== "thought") throw Object.assign(new Error("the event is no thought"), { code: "not_found", status: 404 });
    return { agent: "default", event: it.event, system: "You are Monas.\nAxioms: none.", messages: [{ role: "user", content: REQUESTS[4] }, { role: "assistant", content: "I look." }], tools: [{ name: "file-search", description: "Searches files." }] };
  }
  followJournal({ after = 0 }, on) {
    operate();
    on = on.dup();
    followers.add(on);
    if (journal.length > after) void on(journal.slice(after).map(shown));
    return new Subscription(() => followers.delete(on));
  }
  async followQuestions(_, on) { on = on.dup(); await on({ waiting: [] }); return new Subscription(() => {}); }
}
class Door extends RpcTarget {
  hello() { return { build: "fake", version: "0", open: true, base: "" }; }
  authenticate() { return new Workspace(); }
}
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-fixed'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types monas dompurify";
const http = createServer((request, response) => {
  const path = normalize(new URL(request.url, "http://x").pathname);
  const file = join(dist, path === "/" ? "index.html" : path);
  if (!file.startsWith(dist) || !existsSync(file)) return void response.writeHead(404).end();
  response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream", "content-security-policy": POLICY, "cache-control": "no-store" });
  if (path === "/") response.end(readFileSync(file, "utf8").replace('name="style-nonce" content=""', 'name="style-nonce" content="fixed"'));
  else createReadStream(file).pipe(response);
});
new WebSocketServer({ server: http, path: "/workspace/capnweb" }).on("connection", (socket) => newWebSocketRpcSession(socket, new Door()));
http.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/`));
