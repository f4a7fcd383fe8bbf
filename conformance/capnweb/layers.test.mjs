// The npm client against a server of ours that stands between caller and object; see `tests/it/layers.rs`.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { newHttpBatchRpcSession } from "capnweb";
import { AT_REST, TEST_LIMIT, closeAll, eventually, httpUrl, openSession, steady } from "./session.mjs";

const url = process.env.CAPNWEB_URL;
afterEach(closeAll);

/** A test of one npm session; its tables must be at rest at the end. */
function sessionTest(name, run) {
  test(name, { timeout: TEST_LIMIT }, async () => {
    const opened = await openSession(url);
    await run(opened.api, opened);
    await eventually(() => opened.session.getStats(), AT_REST);
    await opened.close();
  });
}

const refused = { name: "TypeError", message: "not for you", code: "forbidden" };

sessionTest("a refused call rejects with the error of the layer", async api => {
  await assert.rejects(async () => await api.forbidden(), refused);
  assert.equal(await api.allowed(), "yes");
  assert.equal(await api.count, 1);
});

sessionTest("what is pipelined on a refused call rejects too", async api => {
  const promise = api.forbidden();
  await assert.rejects(async () => await promise.further.still(), refused);
  promise[Symbol.dispose]();
  assert.equal(await api.count, 0);
});

test("a refused call of a batch rejects", { timeout: TEST_LIMIT }, async () => {
  const api = newHttpBatchRpcSession(httpUrl(url));
  const [no, yes] = await Promise.allSettled([api.forbidden(), api.allowed()]);
  assert.partialDeepStrictEqual(no, { status: "rejected" });
  assert.equal(no.reason.code, "forbidden");
  assert.deepEqual(yes, { status: "fulfilled", value: "yes" });
});

sessionTest("a call that opted in stops when its promise is disposed", async api => {
  const promise = api.tick();
  await eventually(() => api.ticking, 1);
  promise[Symbol.dispose]();
  await eventually(() => api.ticking, 0);
  const ticks = await api.ticks;
  assert.ok(ticks > 0);
  assert.equal(await steady(() => api.ticks, 50), ticks);
});

sessionTest("also when it was awaited", async api => {
  const promise = api.tick();
  const outcome = promise.then(() => "ended", error => error.message);
  await eventually(() => api.ticking, 1);
  promise[Symbol.dispose]();
  assert.match(await outcome, /canceled/);
  await eventually(() => api.ticking, 0);
});

sessionTest("a call that did not opt in runs on", async api => {
  const promise = api.tickOn();
  await eventually(() => api.ticking, 1);
  promise[Symbol.dispose]();
  const ticks = await api.ticks;
  await eventually(async () => await api.ticks > ticks, true);
  assert.equal(await api.ticking, 1);
  await api.stop();
  await eventually(() => api.ticking, 0);
});

sessionTest("a call that opted in stops with its session", async api => {
  const other = await openSession(url);
  other.api.tick().catch(() => {});
  await eventually(() => api.ticking, 1);
  await other.close();
  await eventually(() => api.ticking, 0);
});

test("a call that takes longer than its server allows rejects and stops", { timeout: TEST_LIMIT }, async () => {
  const { api, session, close } = await openSession(process.env.CAPNWEB_HASTY_URL);
  await assert.rejects(async () => await api.tickOn(), { message: "the call did not finish within 100ms", code: "timeout" });
  await eventually(() => api.ticking, 0);
  await eventually(() => session.getStats(), AT_REST);
  await close();
});
