// A conversation of 10,000 messages and a journal of 50,000 events: what is in the document and in memory stays small.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { endWith, openPage, startBrowser, until } from "./harness.mjs";
import { startLarge } from "./large.mjs";

let browser;
let large;
before(async () => {
  browser = await startBrowser();
  large = await startLarge();
  endWith(large.stop, true);
});

/** How many elements a part of the page has, and how many bytes the script holds after a collection. */
async function held(page, selector) {
  const wire = await page.context().newCDPSession(page);
  await wire.send("Performance.enable");
  await wire.send("HeapProfiler.collectGarbage");
  const { metrics } = await wire.send("Performance.getMetrics");
  await wire.detach();
  const elements = await page.locator(selector).evaluate((it) => it.querySelectorAll("*").length);
  return { elements, heap: metrics.find((it) => it.name === "JSHeapUsedSize").value };
}

/** At most so many elements in a list, and so many bytes in all. */
const ELEMENTS = 500;
const BYTES = 64 << 20;

test("10,000 messages: few are in the document, at the end, at the start and on the way", async () => {
  const { page, trouble } = await openPage(browser, large.chat);
  await page.locator(".log").getByText("Answer 9999.").waitFor();
  const check = async (where) => {
    const { elements, heap } = await held(page, ".log");
    assert.ok(elements <= ELEMENTS, `${where}: ${elements} elements`);
    assert.ok(heap <= BYTES, `${where}: ${heap} bytes`);
  };
  await check("at the end");
  await page.locator(".log").focus();
  await page.keyboard.press("Home");
  await page.locator(".log").getByText("Question 0: how high was it?").waitFor();
  await check("at the start");
  await page.locator(".log").evaluate((it) => { it.scrollTop = it.scrollHeight / 2; });
  await until(() => page.locator(".log").evaluate((it) => /Question 4\d\d\d|Question 5\d\d\d/.test(it.textContent)), "the middle");
  await check("in the middle");
  await page.getByRole("button", { name: "Newest" }).click();
  await page.locator(".log").getByText("Answer 9999.").waitFor();
  // A growing answer adds to the end and to nothing else.
  const stream = large.stream(200);
  await until(() => stream.sent() > 600, "600 tokens");
  stream.end();
  await check("after an answer");
  assert.deepEqual(await trouble(), []);
});

test("50,000 events: few are in the document, and the first one is reached without all that are between", async () => {
  const { page, trouble } = await openPage(browser, large.journal);
  await page.getByText("event 50000:").first().waitFor();
  const list = "main .vlist";
  const check = async (where) => {
    const { elements, heap } = await held(page, list);
    assert.ok(elements <= ELEMENTS, `${where}: ${elements} elements`);
    assert.ok(heap <= BYTES, `${where}: ${heap} bytes`);
  };
  await check("the newest");
  // Page after page, as a reader scrolls back.
  for (let step = 0; step < 20; step++) {
    await page.locator(list).evaluate((it) => { it.parentElement.scrollTop = it.parentElement.scrollHeight; });
    await page.waitForTimeout(50);
  }
  await check("scrolled back");
  await page.goto(`${large.journal}/1`);
  await page.getByText("event 1:").first().waitFor();
  await check("the first");
  assert.deepEqual(await trouble(), []);
});
