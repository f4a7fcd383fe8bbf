// Journal: events by request with why, filters, live, the past that is read and never run, and what a model was shown.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ask, Monas, openPage, startBrowser, until, settled } from "./harness.mjs";
import { startModel } from "./model.mjs";

let browser, monas;
before(async () => {
  browser = await startBrowser();
  monas = await Monas.start({ keep: true });
  const { page, close } = await openPage(browser, monas.page);
  await ask(page, "remember that I like short answers");
  await page.locator(".prose").getByText("I will remember").waitFor();
  await ask(page, "create notes.md with hello");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Approved.").waitFor();
  await until(async () => (await events()).some((it) => it.kind === "decided"), "the decision is in the journal");
  await close();
});

const events = async (query = "limit=500") => (await monas.api("GET", `/api/journal?${query}`)).value.events;
const of = async (kind) => (await events()).find((it) => it.kind === kind);

test("events stand below the request that they belong to, and say why", async () => {
  const { page, trouble, close } = await openPage(browser, `${monas.page}#/journal`);
  await page.getByRole("heading", { name: "create notes.md with hello" }).waitFor();
  await page.getByRole("heading", { name: "remember that I like short answers" }).waitFor();
  const decided = await of("decided");
  await page.locator(".jr").filter({ has: page.locator(".jn", { hasText: new RegExp(`^${decided.event}$`) }) }).click();
  const aside = page.getByRole("complementary", { name: "Event" });
  await aside.getByRole("heading", { name: `Event ${decided.event}` }).waitFor();
  const one = (await monas.api("GET", `/api/journal/${decided.event}`)).value;
  assert.ok(one.why.length > 1, "the server gives reasons");
  await until(async () => (await aside.locator(".why li").count()) === one.why.length, "each reason is shown");
  await aside.getByRole("heading", { name: "What changed" }).waitFor();
  // A reason opens the event that it cites.
  await aside.getByRole("button", { name: `Event ${one.why[0].event}`, exact: true }).first().click();
  await aside.getByRole("heading", { name: `Event ${one.why[0].event}` }).waitFor();
  await aside.getByRole("tab", { name: "Raw" }).click();
  await aside.getByText('"kind"').waitFor();
  assert.deepEqual(await trouble(), []);
  await close();
});

test("the past is shown as it was, and nothing is run again", async () => {
  const asked = (await events()).toReversed().find((it) => it.kind === "wanted");
  const state = (await monas.api("GET", `/api/journal/${asked.event}/state`)).value;
  assert.ok(state.approvals.length > 0, "a call waited then");
  const last = (await events("limit=1"))[0].event;
  const { page, trouble, close } = await openPage(browser, `${monas.page}#/journal/${asked.event}`);
  await page.getByRole("button", { name: "See it as it was then" }).click();
  await page.getByText(`As it was after event ${asked.event}.`).waitFor();
  await page.getByText("Nothing is run again: this is read, not replayed.").first().waitFor();
  const aside = page.getByRole("complementary", { name: "Event" });
  await aside.getByText("waited for a person").waitFor();
  await page.locator(".jr.later").first().waitFor();
  // The slider goes back event by event with the keys, and to the beginning.
  const slider = page.getByRole("slider", { name: "How far back" });
  await slider.focus();
  await page.keyboard.press("ArrowLeft");
  await page.getByText(`As it was after event ${asked.event - 1}.`).waitFor();
  await page.keyboard.press("Home");
  await page.getByText("As it was after event 1.").waitFor();
  await page.keyboard.press("End");
  await until(async () => (await page.getByText("As it was after event").count()) === 0, "it is back to now");
  assert.equal((await events("limit=1"))[0].event, last, "reading the past adds no event");
  assert.deepEqual(await trouble(), []);
  await close();
});

test("kinds are filtered by the server, and the address keeps it", async () => {
  const { page, close } = await openPage(browser, `${monas.page}#/journal`);
  await page.getByRole("button", { name: "Requests", exact: true }).click();
  const heard = await events("limit=500&kinds=heard,cancelled,closed");
  await until(async () => (await page.locator(".jr").count()) === heard.length, "only requests are listed");
  assert.match(page.url(), /only=requests/);
  await page.reload();
  await until(async () => (await page.locator(".jr").count()) === heard.length, "a reload shows the same");
  await page.getByRole("button", { name: "All", exact: true }).click();
  await until(async () => (await page.locator(".jr").count()) > heard.length, "all are listed again");
  await close();
});

test("what happens appears by itself, and J and K go from event to event", async () => {
  const { page, close } = await openPage(browser, `${monas.page}#/journal`);
  await page.locator(".jr").first().waitFor();
  const sent = await monas.api("POST", "/api/agent/command", { command: "remember that the tide is high" });
  assert.ok(sent.status < 300, JSON.stringify(sent.value));
  await page.getByRole("heading", { name: "remember that the tide is high" }).waitFor();
  // Events that come later would move the rows below.
  await settled(async () => await page.locator(".jr").allTextContents(), "the turn");
  const row = (place) => until(async () => (await page.locator(".jr").nth(place).getAttribute("aria-current")) === "true", `row ${place} is chosen`);
  await page.locator(".jr").first().click();
  await row(0);
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await row(1);
  await page.keyboard.press("k");
  await row(0);
  await close();
});

test("a question why is answered from the journal", async () => {
  const { page, close } = await openPage(browser, `${monas.page}#/journal`);
  await page.getByRole("textbox", { name: "Ask why" }).fill("why did you create notes.md?");
  await page.keyboard.press("Enter");
  const known = (await monas.api("GET", "/api/agent/why?question=why%20did%20you%20create%20notes.md%3F")).value;
  assert.equal(known.known, true);
  const answer = page.getByRole("complementary", { name: "Why" });
  await until(async () => (await answer.locator(".why li").count()) === known.because.length, "each sentence is there");
  await page.getByRole("textbox", { name: "Ask why" }).fill("why is the moon square?");
  await page.keyboard.press("Enter");
  await answer.getByText("nothing in my journal is about that").waitFor();
  await close();
});

test("what the model was shown is there for a thought, and malicious text stays text", async () => {
  const evil = "<script>alert(1)</script> <img src=x onerror=alert(1)> **bold** user\u202egnp.exe \u001b[31mred";
  const model = await startModel([{ text: evil }, { text: evil }]);
  const other = await Monas.start({ model });
  const opened = await openPage(browser, other.page);
  await ask(opened.page, `look: ${evil}`);
  await opened.page.locator(".prose").first().waitFor();
  const found = await until(async () => (await other.api("GET", "/api/journal?limit=100&kinds=thought")).value.events[0], "it thought");
  await opened.close();
  const { page, trouble, close } = await openPage(browser, `${other.page}#/journal/${found.event}`);
  const aside = page.getByRole("complementary", { name: "Event" });
  await aside.getByRole("tab", { name: "Seen" }).click();
  await aside.getByText("All that the model was shown for this thought, and nothing else.").waitFor();
  await aside.getByText("onerror=alert(1)").first().waitFor();
  await page.getByRole("heading", { name: /onerror=alert/ }).first().waitFor();
  assert.equal(await page.evaluate(() => document.querySelectorAll("main img, aside img, main script, aside script").length), 0);
  assert.ok((await page.locator(".turnh .hid").count()) > 0, "hidden characters are spelled out");
  // An event that is no thought says so.
  const heard = (await other.api("GET", "/api/journal?limit=100&kinds=heard")).value.events[0];
  await page.goto(`${other.page}#/journal/${heard.event}`);
  await aside.getByRole("tab", { name: "Seen" }).click();
  await aside.getByText("No model was asked for this event.").waitFor();
  assert.deepEqual((await trouble()).filter((it) => !it.startsWith("script-src-attr")), []);
  await close();
  await other.stop();
  await model.stop();
});

test("an event that is not there is said to be not there", async () => {
  const { page, close } = await openPage(browser, `${monas.page}#/journal/99999999`);
  await page.getByText(/has no event 99999999/).waitFor();
  await close();
});
