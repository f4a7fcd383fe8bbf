// Two npm peers that meet through a relay (contract in README.md). Each offers the interop target as its main
// object and runs the scenarios on the other's. Afterwards all four tables must be at rest.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, describe, test } from "node:test";
import { Counter } from "./samples.mjs";
import { scenarios } from "./scenarios.mjs";
import { AT_REST, TEST_LIMIT, closeAll, eventually, openSession, skipUnless, sleep, start, within } from "./session.mjs";
import { InteropTarget } from "./target.mjs";

// Without RELAY_URL the suite checks itself with a relay that passes frames on unread.
let url = process.env.RELAY_URL;
let relay;
before(async () => {
  if (url) return;
  relay = await start("pipe-relay.mjs");
  url = relay.url;
});
afterEach(closeAll);
after(() => relay?.stop());

const newToken = () => randomUUID();
const connect = (token, side) => openSession(`${url.replace(/^http/, "ws")}/relay/${token}/${side}`, new InteropTarget());
const dispose = value => value[Symbol.dispose]();

async function relayStats(token) {
  const response = await fetch(`${url}/relay/${token}/stats`);
  assert.equal(response.status, 200);
  return response.json();
}

async function connectPair(order = ["a", "b"]) {
  const token = newToken();
  const parties = {};
  for (const side of order) parties[side] = await connect(token, side);
  return { token, ...parties };
}

/** Asserts that the four tables are at rest, but for `leaked` imports of the caller and what they pin. */
async function assertAtRest(pair, caller = "a", leaked = 0) {
  const callee = caller === "a" ? "b" : "a";
  const more = table => ({ ...AT_REST, [table]: AT_REST[table] + leaked });
  await eventually(() => ({ caller: pair[caller].session.getStats(), callee: pair[callee].session.getStats() }),
    { caller: more("imports"), callee: more("exports") });
  // The relay that passes frames on has no tables of its own.
  if (relay) return;
  await eventually(() => relayStats(pair.token), { [caller]: more("exports"), [callee]: more("imports") });
}

for (const caller of ["a", "b"]) {
  describe(`scenarios called by ${caller}`, () => {
    for (const { name, run, flag, direct, target, leaked } of scenarios) {
      if (direct || target) continue;
      test(name, { skip: skipUnless(flag), timeout: TEST_LIMIT }, async () => {
        const pair = await connectPair();
        await run(pair[caller].api, { frames: pair[caller].frames });
        await assertAtRest(pair, caller, leaked);
      });
    }
  });
}

describe("the relay itself", () => {
  test("an unused token has no sessions", async () => {
    assert.deepEqual(await relayStats(newToken()), { a: null, b: null });
  });

  for (const order of [["a", "b"], ["b", "a"]]) {
    test(`${order[0]} may come first and call at once`, async () => {
      const token = newToken();
      const first = await connect(token, order[0]);
      const counter = first.api.makeCounter(4);
      const results = Promise.all([first.api.square(9), counter.increment(), first.api.callFunction(n => n + 1, 1)]);
      await sleep(100);
      const second = await connect(token, order[1]);
      const [square, incremented, called] = await within(results, "calls made early were not answered");
      assert.deepEqual([square, incremented, called.result], [81, 5, 2]);
      dispose(counter);
      dispose(called);
      assert.equal(await second.api.square(3), 9);
      await assertAtRest({ token, [order[0]]: first, [order[1]]: second });
    });
  }

  for (const [leaving, staying] of [["a", "b"], ["b", "a"]]) {
    test(`what leads to ${leaving} breaks when ${leaving} drops`, async () => {
      const pair = await connectPair();
      const { api } = pair[staying];
      const counter = await api.makeCounter(1);
      assert.equal(await counter.increment(), 2);
      const hanging = assert.rejects(async () => { await api.hang(); });
      await api.square(1);
      pair[leaving].socket.terminate();
      await within(hanging, "a call in flight did not fail");
      await within(assert.rejects(async () => { await counter.increment(); }), "a stub still works");
      await within(assert.rejects(async () => { await api.square(1); }), "the main object still works");
    });
  }

  test("objects lent to the side that drops are released", async () => {
    const pair = await connectPair();
    for (let i = 0; i < 5; i++) await pair.a.api.makeTracked();
    assert.equal(await pair.a.api.liveTracked(), 5);
    pair.a.socket.terminate();
    await eventually(() => pair.b.session.getStats().exports <= 1 || pair.b.socket.readyState !== 1, true);
  });

  test("pairs do not see each other", async () => {
    const [one, two] = await Promise.all([connectPair(), connectPair()]);
    await Promise.all([one.a.api.append("one"), two.a.api.append("two")]);
    assert.deepEqual([[...await one.a.api.log()], [...await two.a.api.log()]], [["one"], ["two"]]);
    await Promise.all([two.a.close(), two.b.close()]);
    assert.equal(await one.a.api.square(2), 4);
    await assertAtRest(one);
  });

  test("mixed traffic flows in both directions at once", { timeout: TEST_LIMIT }, async () => {
    const pair = await connectPair();
    const talk = async (api, i) => {
      const counter = api.makeCounter(i);
      const list = api.list(3);
      const [square, count, echoed, sum, mapped, streamed] = await Promise.all([
        api.square(i), counter.increment(), api.echo({ own: new Counter(i), data: [i, { i }] }),
        api.callMe(n => n + i, 3), list.map(x => api.square(x)), api.countTo(20).then(drain),
      ]);
      assert.deepEqual([square, count, sum, [...mapped], streamed], [i * i, i + 1, 3 + 3 * i, [0, 1, 4], 210]);
      assert.equal(await echoed.own.increment(), i + 1);
      assert.deepEqual(echoed.data, [i, { i }]);
      for (const held of [counter, list, echoed, mapped]) dispose(held);
    };
    await Promise.all(Array.from({ length: 40 }, (_, i) => talk(pair[i % 2 ? "a" : "b"].api, i)));
    await assertAtRest(pair);
  });
});

async function drain(stream) {
  let sum = 0;
  for await (const n of stream) sum += n;
  return sum;
}
