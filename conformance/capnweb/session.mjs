// Sessions with visible tables and frames, raw sockets, and helpers to wait for things.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { RpcSession, WebSocketTransport } from "capnweb";
import { WebSocket } from "ws";

/** How long anything may take, in milliseconds: long, for only a failure waits for it, and machines are busy. */
export const PATIENCE = 20_000;
/** How long a test may take. */
export const TEST_LIMIT = 3 * PATIENCE;

/** What the tables of a session hold at rest: the main object of each side. */
export const AT_REST = { imports: 1, exports: 1 };

/** True if the flag of README.md is switched on, by itself or with all others. */
export const flag = name => (process.env[name] ?? process.env.CAPNWEB_STRICT) === "1";

/** For the options of a test: the reason to skip it, or false. */
export const skipUnless = name => name !== undefined && !flag(name) && `needs ${name}=1`;

export const httpUrl = url => url.replace(/^ws/, "http");
export const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

/** What `promise` gives, or `late()` when that takes longer than `ms`. Leaves no timer behind to keep the process alive. */
async function atMost(ms, promise, late = () => {}) {
  let timer;
  const end = new Promise(resolve => { timer = setTimeout(resolve, ms); });
  try {
    return await Promise.race([promise, end.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}

/** What `promise` gives; fails with `message` when that takes too long. */
export const within = (promise, message) => atMost(PATIENCE, promise, () => assert.fail(message));

/** Asks `read` again and again until its answer equals `expected`; fails with the last answer after `ms`. */
export async function eventually(read, expected, ms = PATIENCE) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await read();
    try {
      return assert.deepEqual(value, expected);
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await sleep(10);
  }
}

/** Resolves with the value `read` gave when it has not changed for `ms`. */
export async function steady(read, ms = 300) {
  let value = await read(), since = Date.now();
  while (Date.now() - since < ms) {
    await sleep(20);
    const now = await read();
    if (now !== value) [value, since] = [now, Date.now()];
  }
  return value;
}

const sockets = new Set();

function newSocket(url) {
  const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 256 << 20 });
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
  return socket;
}

const opened = socket =>
  new Promise((resolve, reject) => { socket.once("open", resolve); socket.once("error", reject); });

export async function openSocket(url) {
  const socket = newSocket(url);
  await opened(socket);
  return socket;
}

// capnweb's own WebSocket transport, noting each frame as it passes.
class NotingTransport {
  #inner;
  #frames;
  constructor(socket, frames) { this.#inner = new WebSocketTransport(socket); this.#frames = frames; }
  send(frame) { this.#frames.push({ dir: ">", frame }); this.#inner.send(frame); }
  async receive() {
    const frame = await this.#inner.receive();
    this.#frames.push({ dir: "<", frame });
    return frame;
  }
  abort(reason) { this.#inner.abort(reason); }
}

/** A session over its own WebSocket: `{api, session, socket, frames, close}`. */
export async function openSession(url, localMain) {
  const socket = newSocket(url);
  const frames = [];
  // It listens before the socket is open: the first frames may come with the handshake's answer.
  const session = new RpcSession(new NotingTransport(socket, frames), localMain);
  await opened(socket);
  return { api: session.getRemoteMain(), session, socket, frames, close: () => closeSocket(socket) };
}

export async function closeSocket(socket) {
  if (socket.readyState === WebSocket.CLOSED) return;
  const closed = new Promise(resolve => socket.once("close", resolve));
  socket.close(1000);
  await atMost(1000, closed);
  socket.terminate();
}

/** Closes what a failed test left open, which would keep the process alive. */
export const closeAll = () => Promise.all([...sockets].map(closeSocket));

/** A WebSocket without capnweb. Frames are sent as given (text) or as JSON (anything else). */
export class RawPeer {
  received = [];
  #waiting = [];
  constructor(socket) {
    this.socket = socket;
    this.closed = new Promise(resolve =>
      socket.once("close", (code, reason) => resolve({ code, reason: reason.toString() })));
    socket.on("message", data => {
      this.received.push(JSON.parse(data.toString()));
      this.#waiting.splice(0).forEach(wake => wake());
    });
  }
  static async open(url) { return new RawPeer(await openSocket(url)); }
  send(...messages) {
    for (const m of messages) this.socket.send(typeof m === "string" ? m : JSON.stringify(m));
  }
  /** The message at position `index` of all received, waiting for it if need be. */
  async message(index, ms = PATIENCE) {
    const end = Date.now() + ms;
    while (this.received.length <= index) {
      const left = end - Date.now();
      assert.ok(left > 0, `no message ${index}; received ${JSON.stringify(this.received)}`);
      await atMost(left, new Promise(wake => this.#waiting.push(wake)));
    }
    return this.received[index];
  }
  /** The answer (resolve or reject) to export `id`. */
  async answer(id) {
    for (let i = 0; ; i++) {
      const message = await this.message(i);
      if ((message[0] === "resolve" || message[0] === "reject") && message[1] === id) return message;
    }
  }
  /** Calls the main object, the push being number `id`, and resolves with the answer. */
  call(id, path, args) {
    this.send(["push", ["pipeline", 0, path, args]], ["pull", id]);
    return this.answer(id);
  }
  close() { return closeSocket(this.socket); }
}

/** Starts a script of this folder that prints one JSON line when ready; `stop` ends it. */
export async function start(script, ...args) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = new Promise(resolve => child.once("exit", resolve));
  const lines = createInterface({ input: child.stdout });
  const ready = new Promise(resolve => lines.once("line", line => resolve(JSON.parse(line))));
  const result = await Promise.race([ready, exited.then(code => { throw new Error(`${script} ended with ${code}`); })]);
  return { ...result, stop: () => { child.kill(); return exited; } };
}
