// Hosts the interop target with npm capnweb: WebSocket and HTTP batch on /rpc.
//   node server.mjs [port] [--until-eof]     (port nothing or 0: a free port of 127.0.0.1)
// Prints one JSON line when ready: {"url": "ws://127.0.0.1:PORT/rpc", "pid": N}
// With --until-eof it ends when its standard input does, so that it never outlives who started it.
// A WebSocket opened at /rpc?session=NAME is a session; GET /stats?session=NAME shows its tables.
import http from "node:http";
import { RpcSession, WebSocketTransport, nodeHttpBatchRpcResponse } from "capnweb";
import { WebSocketServer } from "ws";
import { InteropTarget, World } from "./target.mjs";

const world = new World();
const sessions = new Map();
const parse = request => {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  return { path: pathname, name: searchParams.get("session") };
};

const server = http.createServer((request, response) => {
  const { path, name } = parse(request);
  if (path === "/stats") return response.end(JSON.stringify(sessions.get(name)?.getStats() ?? null));
  if (path !== "/rpc") return response.writeHead(404).end();
  // The helper rejects on a malformed line, and an unhandled rejection would end the process.
  nodeHttpBatchRpcResponse(request, response, new InteropTarget(world)).catch(error => {
    if (!response.headersSent) response.writeHead(400);
    response.end(String(error?.message ?? error));
  });
});

const sockets = new WebSocketServer({ server, path: "/rpc", perMessageDeflate: false, maxPayload: 256 << 20 });
sockets.on("connection", (socket, request) => {
  const session = new RpcSession(new WebSocketTransport(socket), new InteropTarget(world));
  const { name } = parse(request);
  if (name === null) return;
  sessions.set(name, session);
  socket.once("close", () => sessions.delete(name));
});

// A peer can provoke rejections that capnweb leaves unhandled; report them and live on.
process.on("unhandledRejection", error => console.error("unhandled rejection:", error));

const options = process.argv.slice(2);
if (options.includes("--until-eof")) process.stdin.once("end", () => process.exit()).resume();

const port = Number(options.find(option => !option.startsWith("--")) ?? 0);
server.listen(port, "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `ws://127.0.0.1:${server.address().port}/rpc`, pid: process.pid }));
});
