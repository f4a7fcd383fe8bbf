// The interop target of the contract (README.md), hosted with npm capnweb.
import { RpcStub, RpcTarget } from "capnweb";
import { Counter, check, double, hashOf, make, pattern } from "./samples.mjs";

/** What all sessions of one server share. */
export class World {
  kept = new Map();
  tracked = 0;
}

class Tracked extends RpcTarget {
  #world;
  #handedOut = 1;
  constructor(world) { super(); this.#world = world; world.tracked++; }
  ping() { return "pong"; }
  // capnweb runs the disposer once for each time the object was handed out.
  self() { this.#handedOut++; return this; }
  [Symbol.dispose]() { if (--this.#handedOut === 0) this.#world.tracked--; }
}

export class InteropTarget extends RpcTarget {
  #world;
  #log = [];
  #sink = { chunks: [], state: "none", reason: null };
  #stream = { produced: 0, state: "none" };
  constructor(world = new World()) { super(); this.#world = world; }

  // Plain calls.
  square(n) { return n * n; }
  echo(x) { return takeOver(x); }
  greet(name) { return `Hello, ${name}!`; }
  bytes(u8) { return u8; }
  list(n) { return Array.from({ length: n }, (_, i) => i); }
  generateFibonacci(n) {
    const out = [];
    for (let a = 0, b = 1; out.length < n; [a, b] = [b, a + b]) out.push(a);
    return out;
  }
  returnNull() { return null; }
  returnUndefined() { return undefined; }
  returnNumber(n) { return n; }
  async delay(ms, value) { await sleep(ms); return value; }
  hang() { return new Promise(() => {}); }
  append(x) { return this.#log.push(x); }
  log() { return [...this.#log]; }

  // Objects and functions.
  makeCounter(start) { return new Counter(start); }
  incrementCounter(counter, by = 1) { return counter.increment(by); }
  async callMe(cb, n) {
    const results = await Promise.all(Array.from({ length: n }, (_, i) => cb(i)));
    return results.reduce((a, b) => a + b, 0);
  }
  callSquare(self, n) { return { result: self.square(n) }; }
  async callFunction(fn, n) { return { result: await fn(n) }; }
  get info() {
    return { name: "interop", version: 1, counter: new Counter(100), double,
      nested: { list: [1, 2, 3], counters: [new Counter(1), new Counter(2)] } };
  }

  // Three parties and lifetimes.
  keep(name, stub) {
    const taken = stub.dup();
    this.dropKept(name);
    this.#world.kept.set(name, taken);
  }
  kept(name) { return { stub: this.#world.kept.get(name)?.dup() ?? null }; }
  dropKept(name) {
    this.#world.kept.get(name)?.[Symbol.dispose]();
    return this.#world.kept.delete(name);
  }
  makeTracked() { return new Tracked(this.#world); }
  liveTracked() { return this.#world.tracked; }

  // Samples and errors.
  make(kind) { return make(kind); }
  check(kind, value) { return check(kind, value); }
  throwSample(kind) { throw make(kind); }
  fail(msg) { throw new RangeError(msg); }
  throwError() { throw new RangeError("test error"); }

  // Blobs and fetch types.
  async echoBlob(blob) { return new Blob([await blob.arrayBuffer()], { type: blob.type }); }
  serve(request) {
    const headers = { "x-method": request.method, "x-path": new URL(request.url).pathname };
    return new Response(request.body && takeOver(request.body), { headers });
  }

  // Streams.
  countTo(n, wrap = false) {
    let i = 0;
    return this.#source(() => {
      if (i >= n) return undefined;
      i++;
      return { size: 1, chunk: wrap ? { value: i, counter: new Counter(i) } : i };
    });
  }
  byteStream(size, chunk = 65536) {
    let at = 0;
    return this.#source(() => {
      if (at >= size) return undefined;
      const bytes = pattern(Math.min(chunk, size - at), at);
      at += bytes.length;
      return { size: bytes.length, chunk: bytes };
    });
  }
  failingStream(n) {
    let i = 0;
    return this.#source(() => {
      if (i >= n) throw new RangeError("stream failed");
      return { size: 1, chunk: ++i };
    });
  }
  streamState() { return { ...this.#stream }; }
  async sum(readable) {
    const reader = readable.getReader();
    let sum = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return sum;
      if (value instanceof RpcStub) {
        try { sum += await value(); } finally { value[Symbol.dispose](); }
      } else if (value < 0) {
        await reader.cancel(new Error("negative"));
        return sum;
      } else {
        sum += value;
      }
    }
  }
  async hashBytes(readable, delay = 0) {
    const reader = readable.getReader();
    if (delay > 0) await sleep(delay);
    const total = { bytes: 0, chunks: 0, hash: 0 };
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return total;
      total.bytes += value.length;
      total.chunks++;
      total.hash = hashOf(value, total.hash);
    }
  }
  openSink(failAfter = Infinity) {
    const sink = this.#sink = { chunks: [], state: "open", reason: null };
    return new WritableStream({
      write(chunk) {
        if (sink.chunks.length >= failAfter) {
          Object.assign(sink, { state: "failed", reason: "sink full" });
          throw new RangeError("sink full");
        }
        sink.chunks.push(chunk);
      },
      close() { sink.state = "closed"; },
      abort(reason) { Object.assign(sink, { state: "aborted", reason: reason?.message ?? null }); },
    });
  }
  sinkContents() { return { ...this.#sink, chunks: [...this.#sink.chunks] }; }
  async writeTo(writable, n) {
    const writer = writable.getWriter();
    for (let i = 1; i <= n; i++) await writer.write(i);
    await writer.close();
    return n;
  }

  /** A stream that makes a chunk only when asked for one; `next` gives undefined at the end. */
  #source(next) {
    const state = this.#stream = { produced: 0, state: "open" };
    return new ReadableStream({
      pull(controller) {
        try {
          const made = next();
          if (!made) { state.state = "closed"; return controller.close(); }
          state.produced += made.size;
          controller.enqueue(made.chunk);
        } catch (error) {
          state.state = "failed";
          controller.error(error);
        }
      },
      cancel() { state.state = "cancelled"; },
    }, { highWaterMark: 0 });
  }
}

const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

// capnweb disposes what came in parameters when the call returns, so what goes back must be taken over first.
function takeOver(x) {
  if (x instanceof RpcStub) return x.dup();
  // A reader's lock keeps capnweb from cancelling the stream.
  if (x instanceof ReadableStream) return x.pipeThrough(new TransformStream());
  if (x instanceof Blob) return new Blob([x], { type: x.type });
  if (x instanceof Request) return new Request(x, x.body ? { body: takeOver(x.body), duplex: "half" } : undefined);
  if (x instanceof Response) return new Response(x.body && takeOver(x.body), x);
  if (Array.isArray(x)) return x.map(takeOver);
  if (x !== null && typeof x === "object" && Object.getPrototypeOf(x) === Object.prototype) {
    return Object.fromEntries(Object.entries(x).map(([key, value]) => [key, takeOver(value)]));
  }
  return x;
}
