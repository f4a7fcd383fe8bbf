// The reference server: npm capnweb and ws, WebSocket and HTTP batch on one path.
//   NODE_MODULES=DIR node npm_server.mjs --port N     (0: any free port; loopback only)
// Prints one JSON line with its address and process id when it is ready.
import { createServer } from "node:http";
import {
  RpcTarget,
  WebSocketServer,
  newWebSocketRpcSession,
  nodeHttpBatchRpcResponse,
  option,
} from "./npm_packages.mjs";

// The members that the scenarios of `cargo xtask bench capnweb` call.
class BenchTarget extends RpcTarget {
  square(n) {
    return n * n;
  }

  bytes(array) {
    return array;
  }

  list(n) {
    return Array.from({ length: n }, (_, i) => i);
  }

  // All calls are started before the first is awaited.
  async callMe(callback, n) {
    const calls = Array.from({ length: n }, (_, i) => callback(i));
    let sum = 0;
    for (const value of await Promise.all(calls)) sum += value;
    return sum;
  }
}

const server = createServer((request, response) => {
  nodeHttpBatchRpcResponse(request, response, new BenchTarget());
});
const sockets = new WebSocketServer({ server, perMessageDeflate: false, maxPayload: 256 << 20 });
sockets.on("connection", (socket) => newWebSocketRpcSession(socket, new BenchTarget()));
server.listen(Number(option("port", 0)), "127.0.0.1", () => {
  const url = `ws://127.0.0.1:${server.address().port}/rpc`;
  console.log(JSON.stringify({ url, pid: process.pid }));
});
