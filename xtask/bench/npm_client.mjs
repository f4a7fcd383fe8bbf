// The reference client: one call at a time, and the median time from call to answer.
//   NODE_MODULES=DIR node npm_client.mjs URL --seconds N
import { WebSocket, newWebSocketRpcSession, option } from "./npm_packages.mjs";

const WARM_UP_CALLS = 5000;

const socket = new WebSocket(process.argv[2], { perMessageDeflate: false });
await new Promise((open, failed) => {
  socket.once("open", open);
  socket.once("error", failed);
});
const api = newWebSocketRpcSession(socket);
for (let i = 0; i < WARM_UP_CALLS; i++) await api.square(i);

const samples = [];
const end = performance.now() + 1000 * Number(option("seconds", 3));
while (performance.now() < end) {
  const start = process.hrtime.bigint();
  if ((await api.square(7)) !== 49) throw new Error("a wrong square");
  samples.push(Number(process.hrtime.bigint() - start));
}
samples.sort((a, b) => a - b);
const p50 = samples[samples.length >> 1] / 1000;
console.log(JSON.stringify({ calls: samples.length, p50_us: p50 }));
process.exit(0);
