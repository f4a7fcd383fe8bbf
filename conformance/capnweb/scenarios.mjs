// What a caller does with the interop target. Each scenario is `run(api, tools)`:
// `api` is the stub of the target, `tools` holds
//   frames         the frames of the session so far, {dir, frame}
//   openSession()  another session with the same server, to be ended with its finish(); absent behind a relay
// A scenario must give back all it took: its runner asserts that the tables are at rest afterwards.
// Options: `flag` names the flag of README.md without which it is skipped,
//   `direct` keeps it from the relay (it needs several sessions, or looks at the server's own frames),
//   `target` too: the flag is about the host of the target, and behind the relay npm is that host,
//   `leaked` is how many imports npm as the caller is known never to release.
import assert from "node:assert/strict";
import { RpcPromise, RpcStub, RpcTarget } from "capnweb";
import { Counter, check, errorKinds, hashOf, liveKinds, make, pattern, plainKinds, same } from "./samples.mjs";
import { eventually, sleep, steady } from "./session.mjs";

export const scenarios = [];
const scenario = (name, run, options = {}) => scenarios.push({ name, run, ...options });

const MiB = 1 << 20;
const dispose = value => value[Symbol.dispose]();
const jsonOf = ({ frame }) => JSON.parse(frame);

function assertSame(actual, expected) {
  // The message is made on failure only: some samples are large.
  if (!same(actual, expected)) assert.fail(`received ${inspect(actual)}, expected ${inspect(expected)}`);
}
const inspect = v => v instanceof Error ? `${v.name}(${v.message}) ${JSON.stringify(Object.keys(v))}` : String(v);

/** The error `promise` rejects with. */
async function rejection(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return assert.fail("expected a rejection");
}

async function assertRejects(promise, type, message) {
  const error = await rejection(promise);
  assert.deepEqual([error?.name, error?.message], [type, message]);
}

async function readAll(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

/** Reads the rest of a byte stream, keeping only its size and hash. */
async function hashAll(reader, total = { bytes: 0, hash: 0 }) {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return total;
    total.bytes += value.length;
    total.hash = hashOf(value, total.hash);
  }
}

/** A lazy local stream; `seen` tells how far it was read and whether it was cancelled. */
function localSource(chunks, { seen = {}, error } = {}) {
  const next = chunks[Symbol.iterator]();
  Object.assign(seen, { produced: 0, cancelled: false });
  return new ReadableStream({
    pull(controller) {
      const { done, value } = next.next();
      if (!done) { seen.produced++; return controller.enqueue(value); }
      if (error) controller.error(error); else controller.close();
    },
    cancel() { seen.cancelled = true; },
  }, { highWaterMark: 0 });
}

/** A local sink that stores what is written; write number `failAfter + 1` fails. */
function localSink(failAfter = Infinity) {
  const seen = { chunks: [], state: "open" };
  const stream = new WritableStream({
    write(chunk) {
      if (seen.chunks.length >= failAfter) throw new RangeError("my sink is full");
      seen.chunks.push(chunk);
    },
    close() { seen.state = "closed"; },
    abort() { seen.state = "aborted"; },
  });
  return { seen, stream };
}

/** Asserts that what was sent since `from` left before anything came back. */
function assertOneRoundTrip(frames, from, pushes) {
  const part = frames.slice(from);
  const firstAnswer = part.findIndex(({ dir }) => dir === "<");
  const sent = part.flatMap((entry, i) => entry.dir === ">" && jsonOf(entry)[0] === "push" ? [i] : []);
  assert.equal(sent.length, pushes, "pushes sent");
  assert.ok(sent.every(i => i < firstAnswer), "a push waited for an answer");
  assert.equal(part.filter(entry => entry.dir === "<" && jsonOf(entry)[0] === "resolve").length, 1, "answers received");
}

// ---- values

for (const kind of plainKinds) {
  scenario(`value ${kind}: made, checked and echoed`, async api => {
    assertSame(await api.make(kind), make(kind));
    assert.equal(await api.check(kind, make(kind)), true);
    assertSame(await api.echo(make(kind)), make(kind));
    assertSame(await api.echo({ in: [make(kind)] }), { in: [make(kind)] });
  });
}

for (const kind of liveKinds) {
  scenario(`value ${kind}: made and checked`, async api => {
    const made = await api.make(kind);
    assert.equal(await check(kind, made), true);
    dispose(made);
    assert.equal(await api.check(kind, make(kind)), true);
  });
}

scenario("a wrong value is not taken for the sample", async api => {
  assert.equal(await api.check("integer", 43), false);
  assert.equal(await api.check("undefined", null), false);
  assert.equal(await api.check("object", { a: 1 }), false);
  assert.equal(await api.check("int16Array", Uint16Array.of(1)), false);
  await assertRejects(api.make("nonsense"), "RangeError", "unknown kind: nonsense");
});

scenario("a lone surrogate does not end the session", async api => {
  const back = await api.echo("\ud800x");
  assert.ok(back === "\ud800x" || back === "\ufffdx", JSON.stringify(back));
  assert.equal(await api.square(2), 4);
});

scenario("large strings and byte arrays arrive whole", async api => {
  const text = "0123456789abcdef".repeat(MiB / 16);
  assert.ok(await api.echo(text) === text);
  const bytes = pattern(2 * MiB);
  assertSame(await api.bytes(bytes), bytes);
});

// ---- plain calls

scenario("plain members answer", async api => {
  assert.equal(await api.square(7), 49);
  assert.equal(await api.greet("Ada"), "Hello, Ada!");
  assert.deepEqual([...await api.list(4)], [0, 1, 2, 3]);
  assert.deepEqual([...await api.generateFibonacci(10)], [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]);
  assert.equal(await api.returnNull(), null);
  assert.equal(await api.returnUndefined(), undefined);
  assert.equal(await api.returnNumber(-1.5), -1.5);
  assertSame(await api.bytes(Uint8Array.of(1, 2)), Uint8Array.of(1, 2));
});

scenario("a missing argument and an undefined one are the same", async api => {
  const counter = await api.makeCounter();
  assert.equal(await counter.increment(), 1);
  assert.equal(await counter.increment(undefined), 2);
  dispose(counter);
  const other = await api.makeCounter(undefined);
  assert.equal(await other.value, 0);
  dispose(other);
});

scenario("calls start in the order they were made", async api => {
  const lengths = await Promise.all(Array.from({ length: 60 }, (_, i) => api.append(i)));
  assert.deepEqual(lengths, Array.from({ length: 60 }, (_, i) => i + 1));
  assert.deepEqual([...await api.log()], Array.from({ length: 60 }, (_, i) => i));
});

scenario("calls pipelined on one promise start in order", async api => {
  const counter = api.makeCounter(0);
  const values = await Promise.all(Array.from({ length: 40 }, () => counter.increment()));
  assert.deepEqual(values, Array.from({ length: 40 }, (_, i) => i + 1));
  dispose(counter);
});

scenario("a slow call holds nothing up", async api => {
  const order = [];
  const slow = api.delay(250, "slow").then(v => order.push(v));
  const fast = api.delay(0, "fast").then(v => order.push(v));
  await api.square(1).then(() => order.push("square"));
  await Promise.all([slow, fast]);
  assert.equal(order.at(-1), "slow");
});

scenario("a call that never settles can be given up", async api => {
  const hanging = api.hang();
  const failed = rejection(hanging);
  await api.square(1);
  dispose(hanging);
  assert.match((await failed).message, /disposed/);
});

scenario("a thousand calls in flight are all answered", async api => {
  const values = await Promise.all(Array.from({ length: 1000 }, (_, i) => api.square(i)));
  assert.ok(values.every((v, i) => v === i * i));
});

// ---- pipelining

scenario("a chain of calls takes one round trip", async (api, { frames }) => {
  const from = frames.length;
  const counter = api.makeCounter(3);
  assert.equal(await counter.increment(4), 7);
  assertOneRoundTrip(frames, from, 2);
  dispose(counter);
});

scenario("a promise as an argument takes one round trip", async (api, { frames }) => {
  const from = frames.length;
  const inner = api.square(3);
  assert.equal(await api.square(inner), 81);
  assertOneRoundTrip(frames, from, 2);
  dispose(inner);
});

scenario("promises nested in arguments are resolved before delivery", async api => {
  const [two, three] = [api.square(2), api.square(3)];
  const back = await api.echo({ a: two, b: [three, { c: two }] });
  assertSame(back, { a: 4, b: [9, { c: 4 }] });
  dispose(two);
  dispose(three);
});

scenario("a promise of a capability as an argument is delivered as the capability", async api => {
  const counter = api.makeCounter(10);
  assert.equal(await api.incrementCounter(counter, 5), 15);
  assert.equal(await counter.value, 15);
  dispose(counter);
});

scenario("properties of a promise are reached in one round trip", async (api, { frames }) => {
  const from = frames.length;
  assert.equal(await api.info.counter.increment(5), 105);
  assertOneRoundTrip(frames, from, 1);
  assert.equal(await api.info.name, "interop");
  assert.equal(await api.info.double(4), 8);
  assert.deepEqual([...await api.info.nested.list], [1, 2, 3]);
});

scenario("array elements are reached by index", async api => {
  const nested = api.info.nested;
  assert.equal(await nested.list[1], 2);
  assert.equal(await nested.counters[1].increment(), 3);
}, { flag: "CAPNWEB_DIGIT_INDEX", target: true });

scenario("a failed call fails everything pipelined on it", async api => {
  const failed = api.fail("broken");
  await assertRejects(failed.a.b.c(), "RangeError", "broken");
  await assertRejects(failed.property, "RangeError", "broken");
  await assertRejects(api.square(failed), "RangeError", "broken");
  await assertRejects(failed, "RangeError", "broken");
});

scenario("a local promise as an argument delays only its own call", async api => {
  let settle;
  const late = new RpcPromise(new Promise(resolve => { settle = resolve; }));
  const result = api.square(late);
  const awaited = result.then(v => v);
  assert.equal(await api.square(2), 4);
  settle(6);
  assert.equal(await awaited, 36);
  dispose(late);
});

scenario("a local promise that fails fails the call", async api => {
  const failing = new RpcPromise(Promise.reject(new TypeError("local trouble")));
  await assertRejects(api.square(failing), "TypeError", "local trouble");
  dispose(failing);
});

scenario("a promise in a result arrives resolved", async api => {
  class Squarer extends RpcTarget { square(n) { return n * n; } }
  const result = await api.callSquare(new Squarer(), 9);
  assertSame(result, { result: 81 });
  dispose(result);
  class Failing extends RpcTarget { square() { throw new RangeError("no square"); } }
  await assertRejects(api.callSquare(new Failing(), 9), "RangeError", "no square");
});

scenario("the main object can be passed back", async api => {
  const result = await api.callSquare(api, 5);
  assertSame(result, { result: 25 });
  dispose(result);
});

// ---- members

scenario("a method read as a value is a function", async api => {
  const square = await api.square;
  assert.equal(await square(5), 25);
  assert.equal(await api.callMe(square, 4), 14);
  dispose(square);
});

// npm as the server calls such a method without its object.
scenario("a method read as a value keeps its object", async api => {
  const counter = await api.makeCounter(1);
  const increment = await counter.increment;
  dispose(counter);
  assert.equal(await increment(2), 3);
  dispose(increment);
}, { flag: "CAPNWEB_BOUND_METHODS", target: true });

scenario("a method named in an argument is passed as a function", async api => {
  const result = await api.callFunction(api.square, 9);
  assertSame(result, { result: 81 });
  dispose(result);
});

scenario("a property gives objects and functions at any depth", async api => {
  const info = await api.info;
  assert.deepEqual(Object.keys(info), ["name", "version", "counter", "double", "nested"]);
  assert.deepEqual([info.name, info.version], ["interop", 1]);
  assert.equal(await info.counter.increment(), 101);
  assert.equal(await info.counter.value, 101);
  assert.equal(await info.double(8), 16);
  assert.equal(await info.nested.counters[1].increment(), 3);
  assert.equal(await info.nested.counters[0].value, 1);
  dispose(info);
});

scenario("absent members read as undefined and cannot be called", async api => {
  assert.equal(await api.nosuch, undefined);
  await assertRejects(api.nosuch(), "TypeError", "'nosuch' is not a function.");
  assert.equal((await rejection(api.nosuch.deeper)).name, "TypeError");
  assert.equal((await rejection(api.info.name())).name, "TypeError");
  assert.equal(await api.info.name.length, undefined);
});

// ---- callbacks

scenario("callbacks are called in order and their results used", async api => {
  const seen = [];
  assert.equal(await api.callMe(i => { seen.push(i); return 2 * i; }, 10), 90);
  assert.deepEqual(seen, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

scenario("an error of a callback reaches the caller", async api => {
  await assertRejects(api.callMe(() => { throw new URIError("from below"); }, 2), "URIError", "from below");
  const thrown = make("errorProps");
  assertSame(await rejection(api.callFunction(() => { throw thrown; }, 0)), make("errorProps"));
});

scenario("a callback may call back", async api => {
  const result = await api.callFunction(async n => (await api.square(n)) + 1, 6);
  assertSame(result, { result: 37 });
  dispose(result);
});

scenario("a callback may answer with a promise of the other side", async api => {
  const result = await api.callFunction(n => api.square(n), 7);
  assertSame(result, { result: 49 });
  dispose(result);
});

scenario("a capability that a callback returns comes home", async api => {
  const result = await api.callFunction(() => new Counter(3), 0);
  assert.equal(await result.result.increment(2), 5);
  dispose(result);
});

scenario("objects of the caller are called", async api => {
  const counter = new Counter(1);
  assert.equal(await api.incrementCounter(counter, 4), 5);
  assert.equal(await api.incrementCounter(counter), 6);
  assert.equal(counter.value, 6);
});

scenario("an object passed in an argument is released after the call", async api => {
  let disposed = 0;
  class Watched extends RpcTarget {
    increment(by) { return by; }
    [Symbol.dispose]() { disposed++; }
  }
  assert.equal(await api.incrementCounter(new Watched(), 3), 3);
  await eventually(() => disposed, 1);
});

// ---- three parties

scenario("a kept function is called later, and released when dropped", async api => {
  let disposed = 0;
  const fn = Object.assign(n => n + 1, { [Symbol.dispose]() { disposed++; } });
  await api.keep("later", fn);
  const kept = api.kept("later");
  assert.equal(await kept.stub(4), 5);
  dispose(kept);
  assert.equal(disposed, 0);
  assert.equal(await api.dropKept("later"), true);
  assert.equal(await api.dropKept("later"), false);
  await eventually(() => disposed, 1);
  assertSame(await api.kept("later"), { stub: null });
});

scenario("a kept capability comes home", async api => {
  await api.keep("home", new Counter(20));
  const { stub, ...result } = await api.kept("home");
  assert.deepEqual(result, {});
  assert.equal(await stub.increment(), 21);
  dispose(stub);
  await api.dropKept("home");
});

scenario("keeping under the same name releases the first", async api => {
  let disposed = 0;
  const fn = Object.assign(() => 1, { [Symbol.dispose]() { disposed++; } });
  await api.keep("twice", fn);
  await api.keep("twice", () => 2);
  await eventually(() => disposed, 1);
  const kept = api.kept("twice");
  assert.equal(await kept.stub(), 2);
  dispose(kept);
  await api.dropKept("twice");
});

scenario("capabilities nested in echoed data come home", async api => {
  const counter = new Counter(7);
  const back = await api.echo({ counter, list: [n => n + 1] });
  assert.equal(await back.counter.increment(), 8);
  assert.equal(await back.list[0](1), 2);
  dispose(back);
  assert.equal(counter.value, 8);
});

// npm as the client cannot take its own object at the root of a result, so the server has to forward it.
scenario("a capability echoed at the root can be called", async api => {
  const back = await api.echo(n => n + 1);
  assert.equal(await back(1), 2);
  dispose(back);
}, { flag: "CAPNWEB_ECHO_ROOT" });

// npm as the server cannot duplicate its own object once that has come home.
scenario("an object of the server that came home is kept and echoed", async api => {
  const counter = await api.makeCounter(1);
  const back = await api.echo({ counter });
  assert.equal(await back.counter.increment(), 2);
  dispose(back);
  await api.keep("own", counter);
  assert.equal(await counter.increment(), 3);
  dispose(counter);
  const kept = await api.kept("own");
  assert.equal(await kept.stub.increment(), 4);
  dispose(kept);
  await api.dropKept("own");
}, { flag: "CAPNWEB_ECHO_HOME", target: true });

scenario("two sessions meet in the server", async (api, { openSession }) => {
  const other = await openSession();
  const counter = new Counter(1);
  await api.keep("meeting", counter);
  const kept = await other.api.kept("meeting");
  assert.equal(await kept.stub.increment(5), 6);
  assert.equal(await kept.stub.value, 6);
  assert.equal(await other.api.incrementCounter(kept.stub, 1), 7);
  dispose(kept);
  await api.dropKept("meeting");
  await other.finish();
  assert.equal(counter.value, 7);
}, { direct: true });

scenario("data, errors and capabilities pass between two sessions", async (api, { openSession }) => {
  const other = await openSession();
  await api.keep("passage", async (kind, value) => {
    if (kind === "throw") throw make("errorProps");
    if (kind === "counter") return { counter: new Counter(40) };
    return value;
  });
  const kept = await other.api.kept("passage");
  assertSame(await kept.stub("echo", make("object")), make("object"));
  assertSame(await kept.stub("echo", make("float64Array")), make("float64Array"));
  assertSame(await rejection(kept.stub("throw")), make("errorProps"));
  const made = await kept.stub("counter");
  assert.equal(await made.counter.increment(2), 42);
  dispose(made);
  dispose(kept);
  await api.dropKept("passage");
  await other.finish();
}, { direct: true });

// The argument capability goes from the other session through the server to this one. npm as the middle
// party never releases capabilities that it passes on in arguments.
scenario("a capability in an argument passes between two sessions without a leak", async (api, { openSession }) => {
  const other = await openSession();
  await api.keep("argument", async fn => (await fn(20)) + 1);
  const kept = await other.api.kept("argument");
  assert.equal(await kept.stub(n => 2 * n), 41);
  dispose(kept);
  await api.dropKept("argument");
  await other.finish();
}, { direct: true, flag: "CAPNWEB_FORWARD_ARGUMENTS" });

scenario("a capability of one session is passed into another by the caller", async (api, { openSession }) => {
  const other = await openSession();
  const counter = await other.api.makeCounter(5);
  assert.equal(await api.incrementCounter(counter, 2), 7);
  assert.equal(await counter.value, 7);
  dispose(counter);
  await other.finish();
}, { direct: true });

scenario("a kept capability fails once its session has ended", async (api, { openSession }) => {
  const other = await openSession();
  await other.api.keep("gone", new Counter(1));
  other.socket.terminate();
  const kept = await api.kept("gone");
  const failing = await rejection(kept.stub.increment());
  assert.ok(failing instanceof Error);
  dispose(kept);
  assert.equal(await api.dropKept("gone"), true);
}, { direct: true });

// ---- map

scenario("map over an array", async (api, { frames }) => {
  const from = frames.length;
  const list = api.list(6);
  const squares = await list.map(x => api.square(x));
  assert.deepEqual([...squares], [0, 1, 4, 9, 16, 25]);
  const sent = frames.slice(from).filter(({ dir }) => dir === ">").map(jsonOf);
  assert.equal(sent.filter(m => m[0] === "push").length, 2);
  dispose(squares);
  dispose(list);
});

scenario("map over an array is answered in one frame", async (api, { frames }) => {
  const list = api.list(10);
  const mapped = list.map(x => api.square(x));
  const from = frames.length;
  const squares = await mapped;
  const answers = frames.slice(from).filter(({ dir }) => dir === "<").map(jsonOf);
  assert.equal(answers.length, 1);
  assert.deepEqual(answers[0].slice(2), [[[0, 1, 4, 9, 16, 25, 36, 49, 64, 81]]]);
  dispose(squares);
  dispose(list);
}, { flag: "CAPNWEB_ONE_FRAME_MAP", direct: true });

scenario("map passes null and undefined through", async api => {
  const [nothing, absent] = [api.returnNull(), api.returnUndefined()];
  assert.equal(await nothing.map(x => api.square(x)), null);
  assert.equal(await absent.map(x => api.square(x)), undefined);
  dispose(nothing);
  dispose(absent);
});

scenario("map over a single value", async api => {
  const six = api.returnNumber(6);
  assert.equal(await six.map(x => api.square(x)), 36);
  dispose(six);
});

scenario("map over an empty array", async api => {
  const none = api.list(0);
  assert.deepEqual([...await none.map(x => api.square(x))], []);
  dispose(none);
});

scenario("map inside map", async api => {
  const list = api.list(4);
  const rows = await list.map(i => api.list(i).map(j => api.square(j)));
  assertSame(rows.map(row => [...row]), [[], [0], [0, 1], [0, 1, 4]]);
  dispose(rows);
  dispose(list);
});

// npm as the caller duplicates what a map captures and forgets to dispose an import among it: one is leaked.
scenario("the inner map may use what the outer one has", async api => {
  const list = api.list(3);
  const counter = await api.makeCounter(0);
  const rows = await list.map(i => api.list(2).map(j => ({ i, j, count: counter.increment(1) })));
  assertSame(rows.flat().map(({ i, j }) => [i, j]), [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]);
  assert.deepEqual(rows.flat().map(({ count }) => count).sort(), [1, 2, 3, 4, 5, 6]);
  dispose(rows);
  dispose(counter);
  dispose(list);
}, { leaked: 1 });

scenario("map with an object of the server as a capture", async api => {
  const list = api.list(4);
  const counter = api.makeCounter(10);
  assert.deepEqual([...await list.map(i => counter.increment(i))], [10, 11, 13, 16]);
  assert.equal(await counter.value, 16);
  dispose(counter);
  dispose(list);
}, { leaked: 1 });

scenario("map with a function of the caller as a capture", async api => {
  const seen = [];
  const fn = new RpcStub(n => { seen.push(n); return 10 * n; });
  const list = api.list(3);
  const out = await list.map(i => fn(i));
  assert.deepEqual([...out], [0, 10, 20]);
  assert.deepEqual(seen, [0, 1, 2]);
  dispose(out);
  dispose(list);
  dispose(fn);
});

scenario("map to objects with literals in them", async api => {
  const list = api.list(2);
  const out = await list.map(i => ({ i, square: api.square(i), fixed: [1, "x", null], when: new Date(5) }));
  assertSame([...out], [0, 1].map(i => ({ i, square: i * i, fixed: [1, "x", null], when: new Date(5) })));
  dispose(out);
  dispose(list);
});

scenario("map to capabilities", async api => {
  const list = api.list(3);
  const counters = await list.map(i => api.makeCounter(i));
  assert.deepEqual(await Promise.all(counters.map(c => c.increment(10))), [10, 11, 12]);
  dispose(counters);
  dispose(list);
});

scenario("map over a property, using members of the element", async api => {
  const counters = api.info.nested.counters;
  const values = await counters.map(c => ({ before: c.value, after: c.increment(5) }));
  assert.deepEqual(values.map(v => v.after), [6, 7]);
  dispose(values);
});

scenario("map fails when one element fails", async api => {
  const list = api.list(3);
  await assertRejects(list.map(() => api.fail("one bad element")), "RangeError", "one bad element");
  dispose(list);
});

scenario("a thousand elements are mapped", async api => {
  const list = api.list(1000);
  const squares = await list.map(x => api.square(x));
  assert.equal(squares.length, 1000);
  assert.ok(squares.every((v, i) => v === i * i));
  dispose(squares);
  dispose(list);
});

// ---- streams from the target

scenario("a stream of numbers is read to its end", async api => {
  assert.deepEqual(await readAll(await api.countTo(10)), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assertSame(await api.streamState(), { produced: 10, state: "closed" });
});

scenario("an empty stream ends at once", async api => {
  assert.deepEqual(await readAll(await api.countTo(0)), []);
  assertSame(await api.streamState(), { produced: 0, state: "closed" });
});

scenario("chunks may hold capabilities", async api => {
  const sums = [];
  for await (const chunk of await api.countTo(3, true)) {
    sums.push(await chunk.counter.increment(chunk.value));
    dispose(chunk);
  }
  assert.deepEqual(sums, [2, 4, 6]);
});

scenario("a stream that fails ends with its error", async api => {
  const seen = [];
  const error = await rejection((async () => {
    for await (const chunk of await api.failingStream(2)) seen.push(chunk);
  })());
  assert.deepEqual([error.name, error.message], ["RangeError", "stream failed"]);
  // The error may overtake unread chunks.
  assert.deepEqual(seen, [1, 2].slice(0, seen.length));
  await eventually(() => api.streamState(), { produced: 2, state: "failed" });
});

scenario("cancelling a stream stops its source", async api => {
  const stream = await api.countTo(10_000_000);
  const reader = stream.getReader();
  assert.equal((await reader.read()).value, 1);
  await reader.cancel(new Error("enough"));
  await eventually(async () => (await api.streamState()).state, "cancelled");
});

scenario("a stream disposed unread is cancelled", async api => {
  const stream = await api.countTo(10_000_000);
  dispose(stream);
  await eventually(async () => (await api.streamState()).state, "cancelled");
});

scenario("four megabytes are streamed whole", async api => {
  const total = await hashAll((await api.byteStream(4 * MiB)).getReader());
  assert.deepEqual(total, { bytes: 4 * MiB, hash: hashOf(pattern(4 * MiB)) });
});

scenario("an unread stream stops within the window", async api => {
  const stream = await api.byteStream(24 * MiB);
  const reader = stream.getReader();
  const { value } = await reader.read();
  const produced = await steady(async () => (await api.streamState()).produced);
  assert.ok(produced < 6 * MiB, `${produced} bytes were made for a reader that took one chunk`);
  const total = await hashAll(reader, { bytes: value.length, hash: hashOf(value) });
  assert.deepEqual(total, { bytes: 24 * MiB, hash: hashOf(pattern(24 * MiB)) });
});

scenario("several streams flow at once", async api => {
  const streams = await Promise.all([5, 50, 500].map(n => api.countTo(n)));
  const all = await Promise.all(streams.map(readAll));
  assert.deepEqual(all.map(chunks => chunks.length), [5, 50, 500]);
});

// ---- streams to the target

scenario("a stream argument is read by the callee", async api => {
  assert.equal(await api.sum(localSource([1, 2, 3, 4])), 10);
  assert.equal(await api.sum(localSource([])), 0);
});

scenario("capabilities in the chunks of a stream argument are called", async api => {
  assert.equal(await api.sum(localSource([1, () => 20, () => 300])), 321);
});

scenario("a stream argument the callee cancels stops its source", async api => {
  const seen = {};
  function* numbers() { yield 5; yield 6; for (;;) yield -1; }
  assert.equal(await api.sum(localSource(numbers(), { seen })), 11);
  await eventually(() => seen.cancelled, true);
});

scenario("the error of a stream argument reaches the callee", async api => {
  const source = localSource([1, 2], { error: new URIError("source broke") });
  await assertRejects(api.sum(source), "URIError", "source broke");
});

scenario("an unread stream argument is cancelled", async api => {
  const seen = {};
  function* numbers() { for (let i = 0; ; i++) yield i; }
  await api.returnNull(localSource(numbers(), { seen }));
  await eventually(() => seen.cancelled, true);
});

scenario("four megabytes are sent whole", async api => {
  function* chunks() { for (let at = 0; at < 4 * MiB; at += 65536) yield pattern(65536, at); }
  assertSame(await api.hashBytes(localSource(chunks())),
    { bytes: 4 * MiB, chunks: 64, hash: hashOf(pattern(4 * MiB)) });
});

scenario("a slow reader holds the sender back", async api => {
  const seen = {};
  function* chunks() { for (let at = 0; at < 16 * MiB; at += 65536) yield pattern(65536, at); }
  const result = api.hashBytes(localSource(chunks(), { seen }), 700).then(v => v);
  await sleep(500);
  const early = seen.produced * 65536;
  assert.ok(early > 0 && early < 6 * MiB, `${early} bytes were sent to a reader that had not begun`);
  assertSame(await result, { bytes: 16 * MiB, chunks: 256, hash: hashOf(pattern(16 * MiB)) });
});

scenario("an echoed stream comes back", async api => {
  assert.deepEqual(await readAll(await api.echo(localSource([1, "two", { three: 3n }]))), [1, "two", { three: 3n }]);
});

scenario("a received stream is sent on", async api => {
  assert.equal(await api.sum(await api.countTo(100)), 5050);
});

// ---- writable streams

scenario("a sink stores what is written", async api => {
  const sink = await api.openSink();
  const writer = sink.getWriter();
  const chunks = [1, "two", new Date(3), { four: [4] }, Uint8Array.of(5)];
  for (const chunk of chunks) await writer.write(chunk);
  await writer.close();
  assertSame(await api.sinkContents(), { chunks, state: "closed", reason: null });
});

scenario("a thousand writes arrive in order", async api => {
  const writer = (await api.openSink()).getWriter();
  for (let i = 0; i < 1000; i++) writer.write(i);
  await writer.close();
  const { chunks } = await api.sinkContents();
  assert.deepEqual(chunks, Array.from({ length: 1000 }, (_, i) => i));
});

scenario("aborting a sink tells it the reason", async api => {
  const writer = (await api.openSink()).getWriter();
  await writer.write(1);
  await writer.abort(new Error("changed my mind"));
  await eventually(() => api.sinkContents(), { chunks: [1], state: "aborted", reason: "changed my mind" });
});

scenario("a sink released without close is aborted", async api => {
  const sink = await api.openSink();
  dispose(sink);
  await eventually(async () => (await api.sinkContents()).state, "aborted");
});

scenario("a failing sink fails the writer", async api => {
  const writer = (await api.openSink(2)).getWriter();
  writer.closed.catch(() => {});
  const error = await rejection((async () => {
    for (let i = 0; i < 50; i++) { await writer.write(i); await sleep(5); }
    await writer.close();
  })());
  assert.deepEqual([error.name, error.message], ["RangeError", "sink full"]);
  assertSame(await api.sinkContents(), { chunks: [0, 1], state: "failed", reason: "sink full" });
});

scenario("the callee writes to a sink of the caller", async api => {
  const { seen, stream } = localSink();
  assert.equal(await api.writeTo(stream, 5), 5);
  await eventually(() => seen, { chunks: [1, 2, 3, 4, 5], state: "closed" });
});

scenario("a failing sink of the caller fails the callee", async api => {
  const { seen, stream } = localSink(3);
  await assertRejects(api.writeTo(stream, 5), "RangeError", "my sink is full");
  assert.deepEqual(seen.chunks, [1, 2, 3]);
});

scenario("a sink of the caller that is dropped unclosed is aborted", async api => {
  const { seen, stream } = localSink();
  await api.returnNull(stream);
  await eventually(() => seen.state, "aborted");
});

// ---- blobs and fetch types

for (const size of [0, 1, 10, 70_000, MiB]) {
  scenario(`a Blob of ${size} bytes goes there and back`, async api => {
    const back = await api.echoBlob(new Blob([pattern(size)], { type: "text/x-blob" }));
    assert.deepEqual([back.constructor.name, back.type, back.size], ["Blob", "text/x-blob", size]);
    assertSame(new Uint8Array(await back.arrayBuffer()), pattern(size));
    dispose(back);
  });
}

scenario("several Blobs in one message keep their places", async api => {
  const back = await api.echo({ a: new Blob(["one"]), b: [new Blob(["two"]), "three"] });
  assert.deepEqual([await back.a.text(), await back.b[0].text(), back.b[1]], ["one", "two", "three"]);
  dispose(back);
});

scenario("a request is served", async api => {
  const get = await api.serve(new Request("https://example.com/some/path?q=1"));
  assert.deepEqual([get.status, get.headers.get("x-method"), get.headers.get("x-path")], [200, "GET", "/some/path"]);
  assert.equal(await get.text(), "");
  dispose(get);
  const post = await api.serve(new Request("https://example.com/", { method: "POST", body: "some text" }));
  assert.deepEqual([post.headers.get("x-method"), await post.text()], ["POST", "some text"]);
  dispose(post);
});

scenario("a megabyte of request body is streamed into the response", async api => {
  function* chunks() { for (let at = 0; at < MiB; at += 16384) yield pattern(16384, at); }
  const body = localSource(chunks());
  const response = await api.serve(new Request("https://example.com/up", { method: "PUT", body, duplex: "half" }));
  assertSame(new Uint8Array(await response.arrayBuffer()), pattern(MiB));
  dispose(response);
});

scenario("headers, requests and responses are echoed", async api => {
  assertSame([...await api.echo(new Headers({ b: "2", a: "1" }))], [["a", "1"], ["b", "2"]]);
  const request = await api.echo(make("request"));
  assert.equal(await check("request", request), true);
  dispose(request);
  const response = await api.echo(make("response"));
  assert.equal(await check("response", response), true);
  dispose(response);
});

// ---- errors

scenario("errors have their type and message", async api => {
  await assertRejects(api.throwError(), "RangeError", "test error");
  await assertRejects(api.fail("out of range"), "RangeError", "out of range");
  await assertRejects(api.fail(""), "RangeError", "");
});

for (const kind of errorKinds) {
  scenario(`error ${kind}: thrown, and thrown by a callback`, async api => {
    assertSame(await rejection(api.throwSample(kind)), make(kind));
    assertSame(await rejection(api.callFunction(() => { throw make(kind); }, 0)), make(kind));
  });
}

scenario("values that are not errors may be thrown", async api => {
  for (const kind of ["integer", "string", "object", "undefined", "null", "date"]) {
    assertSame(await rejection(api.throwSample(kind)), make(kind));
  }
});

scenario("an error of an unknown type keeps message and properties", async api => {
  class QuotaError extends Error { name = "QuotaError"; code = 429; }
  const error = await rejection(api.callFunction(() => { throw new QuotaError("too much"); }, 0));
  assert.ok(error instanceof Error);
  assert.deepEqual([error.message, error.code], ["too much", 429]);
});

scenario("stacks do not travel", async (api, { frames }) => {
  const from = frames.length;
  await rejection(api.throwSample("errorProps"));
  await rejection(api.fail("quiet"));
  const rejects = frames.slice(from).filter(({ dir }) => dir === "<").map(jsonOf).filter(m => m[0] === "reject");
  assert.deepEqual(rejects.map(([, , error]) => error[3] ?? null), [null, null]);
});

scenario("what cannot be sent fails the call only", async api => {
  const error = await rejection(api.callFunction(() => Symbol("no"), 0));
  assert.equal(error.name, "TypeError");
  await rejection((async () => api.echo(new Map()))());
  assert.equal(await api.square(2), 4);
});

// ---- lifetimes

scenario("an object lives until its stub is disposed", async api => {
  const before = await api.liveTracked();
  const tracked = await api.makeTracked();
  assert.equal(await tracked.ping(), "pong");
  assert.equal(await api.liveTracked(), before + 1);
  dispose(tracked);
  await eventually(() => api.liveTracked(), before);
});

scenario("an object lives until its last duplicate is disposed", async api => {
  const before = await api.liveTracked();
  const tracked = await api.makeTracked();
  const second = tracked.dup();
  dispose(tracked);
  assert.equal(await second.ping(), "pong");
  assert.equal(await api.liveTracked(), before + 1);
  dispose(second);
  await eventually(() => api.liveTracked(), before);
});

scenario("an object handed out twice lives until both are disposed", async api => {
  const before = await api.liveTracked();
  const tracked = await api.makeTracked();
  const again = await tracked.self();
  dispose(tracked);
  assert.equal(await again.ping(), "pong");
  assert.equal(await api.liveTracked(), before + 1);
  dispose(again);
  await eventually(() => api.liveTracked(), before);
});

scenario("an object only pipelined on goes with its promise", async api => {
  const before = await api.liveTracked();
  const tracked = api.makeTracked();
  assert.equal(await tracked.ping(), "pong");
  dispose(tracked);
  await eventually(() => api.liveTracked(), before);
});

scenario("a promise disposed at once leaves nothing behind", async api => {
  const before = await api.liveTracked();
  for (let i = 0; i < 20; i++) dispose(api.makeTracked());
  await eventually(() => api.liveTracked(), before);
});

scenario("a promise disposed while awaited leaves nothing behind", async api => {
  const before = await api.liveTracked();
  const tracked = api.makeTracked();
  const failed = rejection(tracked);
  dispose(tracked);
  await failed;
  await eventually(() => api.liveTracked(), before);
});

scenario("a hundred objects are released one by one", async api => {
  const before = await api.liveTracked();
  const all = await Promise.all(Array.from({ length: 100 }, () => api.makeTracked()));
  assert.equal(await api.liveTracked(), before + 100);
  all.forEach(dispose);
  await eventually(() => api.liveTracked(), before);
});

scenario("a session that ends releases its objects", async (api, { openSession }) => {
  const before = await api.liveTracked();
  const other = await openSession();
  for (let i = 0; i < 3; i++) await other.api.makeTracked();
  assert.equal(await api.liveTracked(), before + 3);
  other.socket.terminate();
  await eventually(() => api.liveTracked(), before);
}, { direct: true });

scenario("an object kept for others outlives the session it was made in", async (api, { openSession }) => {
  const before = await api.liveTracked();
  const other = await openSession();
  const tracked = await other.api.makeTracked();
  await other.api.keep("tracked", tracked);
  other.socket.terminate();
  assert.equal(await steady(() => api.liveTracked()), before + 1);
  const kept = await api.kept("tracked");
  assert.equal(await kept.stub.ping(), "pong");
  dispose(kept);
  await api.dropKept("tracked");
  await eventually(() => api.liveTracked(), before);
}, { direct: true, flag: "CAPNWEB_ECHO_HOME" });
