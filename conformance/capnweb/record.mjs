// Records golden/NAME.jsonl: what npm says to npm, one frame a line, {"dir": ">" or "<", "frame": text}.
// ">" is client to server. `--check` compares with the files instead of writing them.
//
// Frames travel in memory, in turns: all that one side has said is delivered once it has fallen silent, then the
// other side's. That makes the order of frames the same in every run; the frames are those of a WebSocket.
import assert from "node:assert/strict";
import fs from "node:fs";
import { RpcSession } from "capnweb";
import { InteropTarget } from "./target.mjs";
import { Counter, make } from "./samples.mjs";
import { AT_REST, eventually } from "./session.mjs";

const dispose = value => value[Symbol.dispose]();
const numbers = n => new ReadableStream({
  start(controller) { for (let i = 1; i <= n; i++) controller.enqueue(i); controller.close(); },
});

const recordings = {
  async call(api) {
    await api.square(7);
    await api.greet("Ada");
    await api.returnNull();
    await api.returnUndefined();
    await api.list(3);
  },
  async error(api) {
    await assert.rejects(async () => { await api.fail("out of range"); });
    await assert.rejects(async () => { await api.nosuch(); });
    await assert.rejects(async () => { await api.throwSample("integer"); });
  },
  async "error-props"(api) {
    for (const kind of ["errorProps", "errorCause", "errorAggregate"]) {
      await assert.rejects(async () => { await api.throwSample(kind); });
      await api.check(kind, make(kind));
    }
  },
  async "pipelined-chain"(api) {
    const counter = api.makeCounter(3);
    await Promise.all([counter.increment(4), counter.increment()]);
    dispose(counter);
  },
  async "promise-argument"(api) {
    const [inner, counter] = [api.square(3), api.makeCounter(1)];
    await Promise.all([api.square(inner), api.echo({ a: [inner] }), api.incrementCounter(counter, 5)]);
    dispose(inner);
    dispose(counter);
  },
  async callback(api) {
    await api.callMe(i => 10 * i, 3);
    await api.incrementCounter(new Counter(5), 2);
    await assert.rejects(async () => { await api.callMe(() => { throw new TypeError("not today"); }, 1); });
  },
  async "property-get"(api) {
    await api.info.name;
    await api.info.nested.list;
    await api.info.counter.increment(2);
    await api.nosuch;
  },
  async "method-as-value"(api) {
    const square = await api.square;
    await square(5);
    await api.callMe(square, 2);
    dispose(square);
    dispose(await api.callFunction(api.square, 3));
  },
  async "object-result"(api) {
    const info = await api.info;
    await info.counter.increment();
    await info.double(4);
    dispose(info);
    dispose(await api.echo({ mine: new Counter(1), list: [n => n] }));
  },
  async "map-array"(api) {
    const list = api.list(3);
    dispose(await list.map(x => api.square(x)));
    dispose(list);
    const nothing = api.returnNull();
    await nothing.map(x => api.square(x));
    dispose(nothing);
  },
  async "map-nested"(api) {
    const list = api.list(3);
    dispose(await list.map(i => api.list(i).map(j => ({ i, square: api.square(j) }))));
    dispose(list);
  },
  async "readable-result"(api) {
    for await (const chunk of await api.countTo(3)) assert.ok(chunk > 0);
    for await (const chunk of await api.countTo(1, true)) { await chunk.counter.increment(); dispose(chunk); }
  },
  async "readable-argument"(api) {
    assert.equal(await api.sum(numbers(3)), 6);
  },
  async writable(api) {
    const writer = (await api.openSink()).getWriter();
    await writer.write("one");
    await writer.write({ two: 2 });
    await writer.close();
    await api.sinkContents();
    await api.writeTo(new WritableStream(), 2);
  },
  async blob(api) {
    await api.echoBlob(new Blob(["0123456789"], { type: "text/plain" }));
  },
  async "typed-values"(api) {
    for (const kind of ["undefined", "inf", "-inf", "nan", "bigint", "date", "dateInvalid", "bytes", "arrayBuffer",
      "dataView", "int16Array", "bigUint64Array", "float64Array", "array", "object", "sparse", "string", "url", "headers"]) {
      await api.echo(make(kind));
    }
  },
  async "fetch-types"(api) {
    const request = await api.make("requestPlain");
    await api.check("requestPlain", request);
    const response = await api.serve(new Request("https://example.com/up?q=1", { method: "POST", body: "hello" }));
    assert.equal(await response.text(), "hello");
  },
  async release(api) {
    const tracked = await api.makeTracked();
    const again = await tracked.self();
    dispose(tracked);
    await again.ping();
    dispose(again);
    dispose(api.makeTracked());
    await api.liveTracked();
  },
  async kept(api) {
    await api.keep("k", n => n + 1);
    const kept = api.kept("k");
    await kept.stub(1);
    dispose(kept);
    dispose(await api.kept("k"));
    await api.dropKept("k");
  },
};

/** Two string transports that deliver in turns; `frames` gets what passed, in order. */
function turnTaking(frames) {
  const ends = { ">": newEnd(), "<": newEnd() };
  let lastSend = 0, stopped = false;
  function newEnd() { return { inbox: [], outbox: [], wake: undefined }; }
  const transport = (outgoing, incoming) => ({
    send(frame) { ends[outgoing].outbox.push(frame); lastSend = performance.now(); },
    async receive() {
      const end = ends[incoming];
      while (end.inbox.length === 0) await new Promise(resolve => { end.wake = resolve; });
      return end.inbox.shift();
    },
  });
  async function silence() {
    do { await new Promise(resolve => setTimeout(resolve, 5)); } while (performance.now() - lastSend < 20);
  }
  async function run() {
    while (!stopped) {
      for (const dir of [">", "<"]) {
        await silence();
        const end = ends[dir];
        for (const frame of end.outbox.splice(0)) { frames.push({ dir, frame }); end.inbox.push(frame); }
        end.wake?.();
      }
    }
  }
  const done = run();
  return { client: transport(">", "<"), server: transport("<", ">"), stop: () => { stopped = true; return done; } };
}

async function record(scenario) {
  const frames = [];
  const wire = turnTaking(frames);
  const server = new RpcSession(wire.server, new InteropTarget());
  const client = new RpcSession(wire.client);
  await scenario(client.getRemoteMain());
  await eventually(() => [client.getStats(), server.getStats()], [AT_REST, AT_REST]);
  await wire.stop();
  return frames.map(frame => JSON.stringify(frame) + "\n").join("");
}

const folder = new URL("./golden/", import.meta.url);
const checking = process.argv.includes("--check");
fs.mkdirSync(folder, { recursive: true });
const texts = await Promise.all(Object.values(recordings).map(record));
let different = 0;
Object.keys(recordings).forEach((name, i) => {
  const file = new URL(`${name}.jsonl`, folder);
  if (!checking) return fs.writeFileSync(file, texts[i]);
  if (fs.readFileSync(file, "utf8") === texts[i]) return;
  different++;
  console.error(`${name}.jsonl differs from what npm says now`);
});
console.log(`${checking ? "compared" : "recorded"} ${texts.length} transcripts${checking ? `, ${different} differ` : ""}`);
process.exit(different ? 1 : 0);
