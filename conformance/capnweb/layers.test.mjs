// The npm client against a server of ours that stands between caller and object; see `tests/it/layers.rs`.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { newHttpBatchRpcSession } from "capnweb";
import { AT_REST, TEST_LIMIT, closeAll, eventually, httpUrl, openSession } from "./session.mjs";

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
