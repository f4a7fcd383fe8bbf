// The conversation: a stream that is cut, what is typed offline, two windows, reading above a growing answer, finding a line.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { createServer, connect } from "node:net";
import { ask, endWith, Monas, openPage, startBrowser, until } from "./harness.mjs";
import { startModel } from "./model.mjs";

let browser;
before(async () => { browser = await startBrowser(); });

/** A relay before a server that can cut all its connections. */
async function relay(to) {
  const target = new URL(to);
  const open = new Set();
  let refuse = false;
  const server = createServer((socket) => {
    if (refuse) return socket.destroy();
    const other = connect(Number(target.port), target.hostname);
    open.add(socket).add(other);
    for (const [a, b] of [[socket, other], [other, socket]]) {
      a.on("data", (data) => b.write(data));
      a.on("close", () => { b.destroy(); open.delete(a); });
      a.on("error", () => b.destroy());
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const it = {
    url: `http://127.0.0.1:${server.address().port}/`,
    cut: () => { for (const socket of open) socket.destroy(); },
    refuse: (on) => { refuse = on; },
    stop: () => new Promise((resolve) => { for (const socket of open) socket.destroy(); server.close(resolve); }),
  };
  endWith(it.stop);
  return it;
}

const LONG = Array.from({ length: 120 }, (_, at) => `Paragraph ${at} of the answer, with a few words in it.`).join("\n\n");

test("a stream is followed, and cut many times nothing is lost or doubled", async () => {
  const model = await startModel([{ reasoning: "Let me think about it.", text: LONG, piece: 40, wait: 15 }, { text: "Second answer." }]);
  const monas = await Monas.start({ model });
  const wire = await relay(monas.page);
  const { page, trouble, close } = await openPage(browser, wire.url);
  await ask(page, "tell me a lot");
  await page.locator(".log").getByText("Paragraph 3 of the answer").first().waitFor();
  for (let cut = 0; cut < 8; cut++) {
    wire.cut();
    await page.waitForTimeout(150 + Math.random() * 500);
    await page.getByRole("button", { name: "Try now" }).click({ timeout: 1_000 }).catch(() => {});
  }
  // What is typed while there is no connection is kept, and arrives once.
  wire.refuse(true);
  wire.cut();
  await page.getByText("No connection.").waitFor();
  await ask(page, "and typed offline");
  await page.getByText("Kept here, and sent when the connection is back.").waitFor();
  wire.refuse(false);
  await page.getByRole("button", { name: "Try now" }).click();
  await page.locator(".log").getByText("Paragraph 119 of the answer").first().waitFor();
  await page.locator(".log").getByText("Second answer.").first().waitFor();
  const { value } = await monas.api("GET", "/api/sessions");
  assert.equal(value.sessions.length, 1);
  const { value: kept } = await monas.api("GET", `/api/sessions/${value.sessions[0].session_id}/messages?limit=1000`);
  const said = kept.messages.filter((it) => it.type === "user_command").map((it) => it.payload.command);
  assert.deepEqual(said, ["tell me a lot", "and typed offline"]);
  assert.equal(await page.locator(".said", { hasText: "and typed offline" }).count(), 1);
  assert.equal(await page.evaluate(() => localStorage.getItem("monas.outbox")), "[]");
  assert.deepEqual(await trouble(), []);
});

test("what was typed offline outlives a reload", async () => {
  const monas = await Monas.start();
  const wire = await relay(monas.page);
  const { page, close } = await openPage(browser, wire.url);
  await ask(page, "remember that the tide turns at noon");
  await page.locator(".prose").getByText("I will remember").waitFor();
  const place = page.url();
  wire.refuse(true);
  wire.cut();
  await page.getByText("No connection.").waitFor();
  await ask(page, "remember that the moon is full");
  await page.getByText("Kept here").waitFor();
  wire.refuse(false);
  await page.goto("about:blank");
  await page.goto(place);
  await page.locator(".prose").getByText("the moon is full").last().waitFor();
  await until(async () => (await page.evaluate(() => localStorage.getItem("monas.outbox"))) === "[]", "the outbox");
  assert.equal(await page.locator(".said", { hasText: "the moon is full" }).count(), 1);
});

test("two windows show the same conversation in step", async () => {
  const monas = await Monas.start();
  const one = await openPage(browser, monas.page);
  await ask(one.page, "remember that Riga has a tide gauge");
  await one.page.locator(".prose").getByText("I will remember").waitFor();
  const two = await openPage(browser, monas.page + new URL(one.page.url()).hash);
  await two.page.locator(".prose").getByText("I will remember").waitFor();
  await ask(two.page, "remember that Roja has none");
  for (const { page } of [one, two]) await page.locator(".prose").getByText("Roja has none").last().waitFor();
  const texts = (page) => page.locator(".vpart").evaluateAll((parts) => parts.map((it) => it.querySelector(".prose")?.textContent ?? ""));
  await until(async () => JSON.stringify(await texts(one.page)) === JSON.stringify(await texts(two.page)), "being in step");
});

test("a reader above a growing answer stays where they are, and Newest brings them back", async () => {
  const model = await startModel([{ text: LONG }, { text: LONG.replaceAll("Paragraph", "Passage"), piece: 30, wait: 60 }]);
  const monas = await Monas.start({ model });
  const { page, close } = await openPage(browser, monas.page);
  await ask(page, "first");
  await page.locator(".log").getByText("Paragraph 119").first().waitFor();
  await ask(page, "second");
  await page.locator(".log").getByText("Passage 1 of").first().waitFor();
  await page.mouse.move(600, 400);
  await page.mouse.wheel(0, -1500);
  await page.getByRole("button", { name: "Newest" }).waitFor();
  await page.waitForTimeout(300);
  const line = () => page.evaluate(() => {
    const seen = [...document.querySelectorAll(".prose p")].find((it) => it.getBoundingClientRect().top > 200);
    return [seen.textContent, seen.getBoundingClientRect().top];
  });
  const [text, top] = await line();
  for (let look = 0; look < 10; look++) {
    await page.waitForTimeout(200);
    const now = await page.evaluate((words) => [...document.querySelectorAll(".prose p")].find((it) => it.textContent === words)?.getBoundingClientRect().top, text);
    assert.equal(now, top, `${text} moved`);
  }
  await page.getByRole("button", { name: "Newest" }).click();
  await page.locator(".log").getByText("Passage 119").first().waitFor();
  await until(() => page.locator(".log").evaluate((it) => it.scrollHeight - it.scrollTop - it.clientHeight < 4), "the end");
});

test("a word of an old conversation is found, and the line is in sight", async () => {
  const monas = await Monas.start();
  const { page, close } = await openPage(browser, monas.page);
  await ask(page, "remember that the lighthouse keeper is called Maris");
  await page.locator(".prose").getByText("I will remember").waitFor();
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.getByRole("heading", { name: "Monas is awake." }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("lighthouse");
  await page.getByRole("option", { name: /lighthouse keeper/ }).last().click();
  await page.locator(".said", { hasText: "lighthouse" }).waitFor();
});

test("a request is stopped, and the server has it as cancelled", async () => {
  const model = await startModel([{ text: LONG, piece: 10, wait: 50 }]);
  const monas = await Monas.start({ model });
  const { page, close } = await openPage(browser, monas.page);
  await ask(page, "tell me a lot");
  await page.locator(".log").getByText("Paragraph 0").first().waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  const { value } = await monas.api("GET", "/api/tasks");
  assert.match(JSON.stringify(value.tasks[0].status), /CANCELED/i);
});
