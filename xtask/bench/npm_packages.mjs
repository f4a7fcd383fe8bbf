// The reference packages, from the folder that NODE_MODULES names (these scripts have none beside them).
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.env.NODE_MODULES, "..", "package.json"));
export const { RpcTarget, newWebSocketRpcSession, nodeHttpBatchRpcResponse } = require("capnweb");
export const { WebSocketServer, WebSocket } = require("ws");

// The value of `--name VALUE` on the command line.
export function option(name, otherwise) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
}
