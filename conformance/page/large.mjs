// A conversation and a journal that are too long to be made by asking a real agent in a test: the files of the page, and a
// door with just what the two views read. Everything else about the page is tested against the real program.
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";

const web = join(import.meta.dirname, "../../web");
const required = createRequire(join(web, "package.json"));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-fixed'; img-src 'self' data: blob:; connect-src 'self'; require-trusted-types-for 'script'; trusted-types monas dompurify";
const SESSION = "11111111-2222-4333-8444-555555555555";
const START = Date.parse("2026-11-18T08:00:00Z");
const WORDS = "The tide turns twice a day, and the gauge at the mole writes down how high it was; what is missing is asked for again.";

const envelope = (number, type, payload, more = {}) => ({
  id: more.id ?? `m-${number}-${type}`, type, timestamp: new Date(START + number * 1000).toISOString(), source: type === "user_command" ? "user" : "agent", payload,
  metadata: { session_id: SESSION, agent_state: more.state ?? "idle", priority: "normal", task_id: `t-${number >> 1}`, cursor: more.cursor ?? `${number + 1}.0` },
});

/** Message number so and so: the even ones are asked, the odd ones answered, each tenth with a block of code. */
function message(number) {
  if (number % 2 === 0) return [envelope(number, "user_command", { command: `Question ${number}: how high was it?`, attachments: [] })];
  const code = number % 10 === 1 ? "\n\n```rust\nfn height(at: Time) -> Option<Centimetre> { GAUGE.read(at) }\n```" : "";
  return [
    envelope(number, "agent_action", { action_type: "response", content: `**Answer ${number}.** ${WORDS}${code}` }),
    envelope(number, "system_event", { event: "task_completed", data: {} }, { cursor: `${number + 1}.1` }),
  ];
}

const KINDS = ["heard", "recalled", "thought", "called", "gave", "said", "remembered"];
const event = (number) => ({
  event: number, at: new Date(START + number * 100).toISOString(), kind: KINDS[number % KINDS.length], turn: `t-${Math.floor(number / KINDS.length)}`,
  text: `event ${number}: ${WORDS.slice(0, 60)}`, data: number % KINDS.length === 0 ? { text: `Question ${number}` } : {},
});

/** Starts it. `stream` has an answer written with so many tokens a second, until the function that it returns is called. */
export async function startLarge({ messages = 10_000, events = 50_000 } = {}) {
  const { newWebSocketRpcSession, RpcTarget } = await import(required.resolve("capnweb"));
  const { WebSocketServer } = required("ws");
  const followers = new Set();

  class Subscription extends RpcTarget {
    #end;
    constructor(end = () => {}) { super(); this.#end = end; }
    ended() { return new Promise(() => {}); }
    send() {}
    [Symbol.dispose]() { this.#end(); }
  }
  class Workspace extends RpcTarget {
    signedIn() { return { caller: "user:ada", role: "admin", permissions: ["admin", "operate", "approve"] }; }
    getAgents() { return { agents: [{ id: "default", name: "Monas", description: "", paused: false }] }; }
    getStatus() { return { build: "", version: "0", started: new Date(START).toISOString(), models: [], agents: [] }; }
    getAgentStatus() { return { id: "default", state: "idle", queue_length: 0, paused: false, working: 0, approvals: [], questions: [], grants: [], queue: [], plans: [], law: [], timers: {}, event: events }; }
    getSessions() { return { sessions: [{ session_id: SESSION, agent: "default", title: "A long conversation", archived: false, created: new Date(START).toISOString(), updated: new Date(START).toISOString() }] }; }
    getJournalByEvent({ event: number }) { return { agent: "default", ...event(Number(number)), why: [], changes: [] }; }
    getJournal({ before = events + 1, after, limit = 100 }) {
      if (after !== undefined) return { agent: "default", events: [], last: events };
      const first = Math.max(1, Number(before) - Number(limit));
      const found = Array.from({ length: Number(before) - first }, (_, at) => event(Number(before) - 1 - at));
      return { agent: "default", events: found, ...(first > 1 ? { next: first } : {}), last: events };
    }
    followJournal() { return new Subscription(); }
    followFiles() { return new Subscription(); }
    followQuestions(_, on) { const tell = on.dup(); void tell({ waiting: [] }); return new Subscription(); }
    followChat(_, given) {
      const on = given.dup();
      const tell = async () => {
        let batch = [];
        for (let number = 0; number < messages; number++) {
          batch.push(...message(number));
          if (batch.length >= 256) { await on(batch); batch = []; }
        }
        await on([...batch, envelope(messages, "system_event", { event: "session_restored", data: {} })]);
        followers.add(on);
      };
      tell().catch(() => {});
      return new Subscription(() => followers.delete(on));
    }
  }
  class Door extends RpcTarget {
    hello() { return { build: "", version: "0", open: true, base: "" }; }
    authenticate() { return new Workspace(); }
  }

  const dist = join(web, "dist");
  const http = createServer((from, to) => {
    const path = normalize(new URL(from.url, "http://x").pathname);
    const file = join(dist, path === "/" ? "index.html" : path);
    if (!file.startsWith(dist) || !existsSync(file)) { to.writeHead(404).end(); return; }
    to.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream", "content-security-policy": POLICY, "cache-control": "no-store" });
    if (path === "/") to.end(readFileSync(file, "utf8").replace('name="style-nonce" content=""', 'name="style-nonce" content="fixed"'));
    else createReadStream(file).pipe(to);
  });
  const sockets = new WebSocketServer({ server: http });
  sockets.on("connection", (socket) => { newWebSocketRpcSession(socket, new Door()); });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${http.address().port}/`;
  return {
    url,
    chat: `${url}#/chat/${SESSION}`,
    journal: `${url}#/journal`,
    stream(rate = 200) {
      let [text, sent, answered] = ["", 0, true];
      const began = performance.now();
      const words = WORDS.split(" ");
      const timer = setInterval(() => {
        const due = Math.floor(((performance.now() - began) / 1000) * rate);
        if (!answered || due <= sent) return;
        for (; sent < due; sent++) text += `${words[sent % words.length]}${sent % 40 === 39 ? "\n\n" : " "}`;
        answered = false;
        const piece = envelope(messages + 1, "agent_action", { action_type: "reasoning", partial: true, content: text, reasoning_steps: [] }, { id: "growing", state: "thinking" });
        Promise.all([...followers].map((on) => on([piece]))).then(() => { answered = true; }, () => { answered = true; });
      }, 20);
      return { end: () => clearInterval(timer), sent: () => sent };
    },
    stop: () => new Promise((resolve) => { sockets.close(); for (const socket of sockets.clients) socket.terminate(); http.close(resolve); http.closeAllConnections(); }),
  };
}
