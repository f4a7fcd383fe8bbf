// Hosts the interop target with npm capnweb: WebSocket and HTTP batch on /rpc.
//   node server.mjs [port]     (nothing or 0: a free port of 127.0.0.1)
// Prints one JSON line when ready: {"url": "ws://127.0.0.1:PORT/rpc", "pid": N}
import http from "node:http";
import { newWebSocketRpcSession, nodeHttpBatchRpcResponse } from "capnweb";
import { WebSocketServer } from "ws";
import { InteropTarget, World } from "./target.mjs";

const world = new World();
const pathOf = request => new URL(request.url, "http://localhost").pathname;

const server = http.createServer((request, response) => {
  if (pathOf(request) !== "/rpc") return response.writeHead(404).end();
  // The helper rejects on a malformed line, and an unhandled rejection would end the process.
  nodeHttpBatchRpcResponse(request, response, new InteropTarget(world)).catch(error => {
    if (!response.headersSent) response.writeHead(400);
    response.end(String(error?.message ?? error));
  });
});

const sockets = new WebSocketServer({ server, path: "/rpc", perMessageDeflate: false, maxPayload: 256 << 20 });
sockets.on("connection", socket => { newWebSocketRpcSession(socket, new InteropTarget(world)); });

// A peer can provoke rejections that capnweb leaves unhandled; report them and live on.
process.on("unhandledRejection", error => console.error("unhandled rejection:", error));

server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `ws://127.0.0.1:${server.address().port}/rpc`, pid: process.pid }));
});
