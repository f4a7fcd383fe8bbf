// The simplest program that meets the relay's contract seen from outside: it passes frames on unread, so that
// the two peers share one session. It lets relay.test.mjs check itself; a real relay has two sessions.
//   node pipe-relay.mjs [port]     prints {"url": "http://127.0.0.1:PORT", "pid": N} when ready
import http from "node:http";
import { WebSocketServer } from "ws";

const pairs = new Map();
const OTHER = { a: "b", b: "a" };
const PATH = /^\/relay\/([A-Za-z0-9_-]+)\/(a|b|stats)$/;

const parse = request => PATH.exec(new URL(request.url, "http://localhost").pathname) ?? [];
const pairOf = token => {
  if (!pairs.has(token)) pairs.set(token, { a: null, b: null, waiting: { a: [], b: [] } });
  return pairs.get(token);
};

const server = http.createServer((request, response) => {
  const [, token, end] = parse(request);
  if (end !== "stats") return response.writeHead(404).end();
  const tables = socket => socket && { imports: 1, exports: 1 };
  const { a = null, b = null } = pairs.get(token) ?? {};
  response.writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify({ a: tables(a), b: tables(b) }));
});

const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 256 << 20 });
server.on("upgrade", (request, socket, head) => {
  const [, token, side] = parse(request);
  if (side !== "a" && side !== "b") return socket.destroy();
  sockets.handleUpgrade(request, socket, head, peer => join(pairOf(token), side, peer));
});

function join(pair, side, peer) {
  const other = OTHER[side];
  pair[side] = peer;
  pair.waiting[side].splice(0).forEach(frame => peer.send(frame));
  peer.on("message", data => {
    if (pair[other]) pair[other].send(data.toString());
    else pair.waiting[other].push(data.toString());
  });
  peer.on("close", () => {
    pair[side] = null;
    pair[other]?.close(3000, "the other side is gone");
  });
}

server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}`, pid: process.pid }));
});
