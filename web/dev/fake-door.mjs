// A door for development alone: the page over Cap'n Web, answered by the REST API and the chat socket of a running server.
//
//     node dev/fake-door.mjs http://127.0.0.1:8080 4400      # then open http://127.0.0.1:4400/
//
// It serves `dist` with the content security policy that the server uses. The acceptance tests use the server's own door.
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { newWebSocketRpcSession, RpcTarget } from "capnweb";
import { WebSocket, WebSocketServer } from "ws";

globalThis.WebSocket ??= WebSocket;
const server = process.argv[2] ?? "http://127.0.0.1:8080";
const port = Number(process.argv[3] ?? 4400);
const token = process.argv[4];
const dist = join(import.meta.dirname, "..", "dist");
const headers = token ? { authorization: `Bearer ${token}` } : {};
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };

class Subscription extends RpcTarget {
  #end;
  constructor(end) { super(); this.#end = end; }
  ended() { return new Promise(() => {}); }
  [Symbol.dispose]() { this.#end(); }
}
class ChatWindow extends Subscription {
  #socket;
  constructor(socket) { super(() => socket.close()); this.#socket = socket; }
  send(envelope) { this.#socket.send(JSON.stringify(envelope)); }
}

async function rest(verb, path, fields) {
  const given = { ...fields };
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => { const it = given[name]; delete given[name]; return encodeURIComponent(it); });
  const url = new URL(filled, server);
  const options = { method: verb, headers: { ...headers } };
  if (verb === "GET" || verb === "DELETE") for (const [name, value] of Object.entries(given)) url.searchParams.set(name, String(value));
  else {
    if (given.agent) url.searchParams.set("agent", given.agent);
    options.body = JSON.stringify(given);
    options.headers["content-type"] = "application/json";
  }
  const reply = await fetch(url, options);
  const text = await reply.text();
  let value = text;
  try { value = JSON.parse(text); } catch { /* not JSON: the text itself */ }
  if (!reply.ok) throw new Error(`${value.code ?? "failed"}: ${value.error ?? value.message ?? text}`);
  return value;
}

class Workspace extends RpcTarget {
  signedIn() { return { caller: "user:ada", role: "admin", permissions: ["admin", "operate", "approve", "read_files", "write_files", "execute_commands", "remember"] }; }
  terminals() { return []; }
  async followChat({ session_id, agent, cursor }, on) {
    on = on.dup();
    const socket = new WebSocket(new URL(`/ws/chat${agent ? `?agent=${agent}` : ""}`, server.replace("http", "ws")), { headers });
    await new Promise((resolve, reject) => { socket.once("open", resolve); socket.once("error", reject); });
    socket.on("message", (data) => { Promise.resolve(on([JSON.parse(data)])).catch(() => socket.close()); });
    if (session_id) socket.send(JSON.stringify({ type: "restore_session", payload: { session_id, ...(cursor ? { cursor } : {}) } }));
    return new ChatWindow(socket);
  }
  async followQuestions(_, on) {
    on = on.dup();
    let known = null;
    const look = async () => {
      try {
        const { approvals, questions, agent } = await rest("GET", "/api/approvals", {});
        const waiting = [...approvals.map((it) => ({ ...it, kind: "approval" })), ...questions.map((it) => ({ ...it, kind: "question" }))].map((it) => ({ ...it, agent }));
        const now = JSON.stringify(waiting);
        if (now !== known) { known = now; await on({ waiting }); }
      } catch { /* the next look may do */ }
    };
    await look();
    const timer = setInterval(look, 300);
    return new Subscription(() => clearInterval(timer));
  }
}
for (const name of ["followJournal", "followFiles", "followWire", "followTask"]) Workspace.prototype[name] = () => new Subscription(() => {});

// A method for each route of the server's own list.
const described = await (await fetch(new URL("/openapi.json", server))).json();
for (const [path, verbs] of Object.entries(described.paths)) {
  for (const verb of Object.keys(verbs)) {
    const words = path.replace(/^\/api\//, "/").split("/").filter(Boolean).map((it) => (it.startsWith("{") ? `by-${it.slice(1, -1)}` : it));
    const name = [verb, ...words].join("-").replace(/[-_.](\w)/g, (_, letter) => letter.toUpperCase());
    Workspace.prototype[name] = (fields = {}) => rest(verb.toUpperCase(), path, fields);
  }
}

class Door extends RpcTarget {
  hello() { return { build: "fake", version: "0", open: !process.env.CLOSED, base: "" }; }
  authenticate(credentials) {
    if (process.env.CLOSED && credentials.token !== process.env.CLOSED) throw new Error("unauthorized: unknown credentials");
    return new Workspace();
  }
}

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-fixed'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types monas dompurify";
const http = createServer((request, response) => {
  const path = normalize(new URL(request.url, "http://x").pathname);
  const file = join(dist, path === "/" ? "index.html" : path);
  if (!file.startsWith(dist) || !existsSync(file)) { response.writeHead(404).end(); return; }
  response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream", "content-security-policy": POLICY, "cache-control": "no-store" });
  if (path === "/") response.end(readFileSync(file, "utf8").replace('name="style-nonce" content=""', 'name="style-nonce" content="fixed"'));
  else createReadStream(file).pipe(response);
});
const sockets = new WebSocketServer({ server: http, path: "/workspace/capnweb" });
sockets.on("connection", (socket) => newWebSocketRpcSession(socket, new Door()));
http.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/`));
