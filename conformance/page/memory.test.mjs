// Memory: why a record is kept, what a score is made of, the graph, correcting and forgetting, and what the server then holds.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Monas, openPage, startBrowser, until } from "./harness.mjs";

let browser, monas;
before(async () => {
  browser = await startBrowser();
  monas = await Monas.start({ keep: true });
});

const EVIL = "<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1)) user\u202egnp.exe \u001b[31mred";
const belief = (content, why, context, confidence = 0.9) => ({ type: "note", content, layer: "belief", reason: { source: "user:ada", confidence, context, why } });

/** Has the server remember something; gives the id of the record. */
async function remember(body) {
  const { status, value } = await monas.api("POST", "/api/memory/store", body);
  assert.equal(status, 200, JSON.stringify(value));
  return value.node_id;
}
/** The records that the server has, from its export; one line alone is read as JSON by the harness. */
async function records() {
  const { value } = await monas.api("GET", "/api/memory/export");
  return typeof value === "string" ? value.split("\n").filter(Boolean).map((line) => JSON.parse(line)) : [value];
}

test("an empty memory says what to do", async () => {
  const { page, trouble, close } = await openPage(browser, `${monas.page}#/memory`);
  await page.getByText("It remembers nothing yet.").waitFor();
  assert.deepEqual(await trouble(), []);
  await close();
});

test("a search says what each score is made of, and leaves no trace in what counts as used", async () => {
  await remember(belief("Ada wants changelog entries in the imperative.", "She corrected me twice.", "how should the changelog be written?"));
  await remember({ content: "Ben writes the tests of Tides in Riga.", metadata: { speaker: "Ada", session_id: "s1" } });
  await remember({ content: "Ada owns Tides, which is released by a tag.", metadata: { speaker: "Ada", session_id: "s1" } });
  const { page, trouble, close } = await openPage(browser, `${monas.page}#/memory`);
  await page.getByRole("textbox", { name: "Ask memory" }).first().fill("entries of the changelog in the imperative");
  await page.keyboard.press("Enter");
  const first = page.locator(".mem-rec").first();
  await first.getByText("Ada wants changelog entries in the imperative.").waitFor();
  assert.match(await first.locator(".mix").getAttribute("aria-label"), /made of words \d/);
  const aside = page.getByRole("complementary");
  await aside.getByText("words of the question").waitFor();
  // The parts add up to the score.
  const figures = (await aside.locator(".mem-parts td:last-child").allInnerTexts()).map((it) => Number(it.replace("−", "-")));
  const sum = figures.slice(0, -1).reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(sum - figures.at(-1)) < 0.03, `${figures}`);
  assert.equal(new URL(page.url()).hash.includes("query="), true);
  assert.ok((await records()).every((it) => it.usage.times === 0), "looking does not count as use");
  assert.deepEqual(await trouble(), []);
  await close();
});

test("layers are counted and chosen, and J and K go from record to record", async () => {
  const { page, close } = await openPage(browser, `${monas.page}#/memory`);
  const layers = page.getByRole("navigation", { name: "Layers" });
  await layers.getByRole("button", { name: /Beliefs 1/ }).click();
  await until(async () => (await page.locator(".mem-rec").count()) === 1, "only the belief is listed");
  await layers.getByRole("button", { name: /All layers 3/ }).click();
  await until(async () => (await page.locator(".mem-rec").count()) === 3, "all are listed");
  await page.keyboard.press("j");
  await page.locator(".mem-rec").nth(1).and(page.locator('[aria-pressed="true"]')).waitFor();
  await page.keyboard.press("k");
  await page.locator(".mem-rec").nth(0).and(page.locator('[aria-pressed="true"]')).waitFor();
  await close();
});

test("the graph is walked by keyboard, and its list opens the record that says so", async () => {
  const { page, trouble, close } = await openPage(browser, `${monas.page}#/memory`);
  const node = page.getByRole("button", { name: /^Tides, / });
  await node.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Around Tides" }).waitFor();
  assert.equal(await page.getByRole("button", { name: /^Tides, / }).getAttribute("aria-pressed"), "true");
  await page.getByRole("region", { name: "Connections as a list" }).getByRole("button", { name: /Ada own Tides/ }).click();
  await page.getByRole("complementary").getByText("Ada owns Tides, which is released by a tag.").waitFor();
  assert.deepEqual(await trouble(), []);
  await close();
});

test("a record says why it is kept and on which event it rests", async () => {
  const { page, close } = await openPage(browser, `${monas.page}#/memory?layer=belief`);
  const aside = page.getByRole("complementary");
  await aside.getByText("She corrected me twice.").waitFor();
  await aside.getByText("how should the changelog be written?").waitFor();
  const event = aside.getByRole("button", { name: /^Event \d+$/ }).first();
  await event.click();
  await page.getByRole("complementary", { name: /^Event \d+/ }).waitFor();
  await close();
});

test("a record is corrected with a reason: the server has the new text, and a tombstone of the old", async () => {
  const id = await remember(belief("Stations are fetched 24 times a day.", "A comment says so.", "how often are stations fetched?", 0.8));
  const { page, close } = await openPage(browser, `${monas.page}#/memory/${id}`);
  await page.getByRole("button", { name: "Correct…" }).click();
  await page.getByRole("textbox", { name: "What is right" }).fill("Stations are fetched once a day.");
  assert.equal(await page.getByRole("button", { name: "Correct", exact: true }).isDisabled(), true, "a reason is asked for");
  await page.getByRole("textbox", { name: "How do you know?" }).fill("I wrote the fetcher.");
  await page.getByRole("button", { name: "Correct", exact: true }).click();
  await page.locator(".mem-rec").getByText("Stations are fetched once a day.").waitFor();
  const now = await records();
  const right = now.find((it) => it.text === "Stations are fetched once a day.");
  assert.equal(right?.standing.kept?.reason.why, "I wrote the fetcher.");
  assert.equal(now.some((it) => it.id === id), false);
  await close();
});

test("a record is forgotten with a reason, by keyboard alone, and the journal has who and why", async () => {
  const id = await remember(belief("Roja has a tide gauge.", "It is on a map.", "where are gauges?", 0.9));
  const before = (await monas.api("GET", "/api/memory/audit")).value.forgotten;
  const { page, trouble, close } = await openPage(browser, `${monas.page}#/memory/${id}`);
  await page.getByRole("button", { name: "Forget…" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Forget a record" }).waitFor();
  await page.keyboard.type("the map is old");
  await page.keyboard.press("Enter");
  await page.locator(".toast").getByText("A tombstone says when and why.").waitFor();
  await until(async () => (await page.locator(".mem-rec").getByText("Roja has a tide gauge.").count()) === 0, "the record goes");
  assert.equal((await monas.api("GET", "/api/memory/audit")).value.forgotten, before + 1);
  assert.equal((await records()).some((it) => it.id === id), false);
  const why = (await monas.api("GET", `/api/agent/why?question=${id}`)).value;
  assert.match(why.text, /the map is old/);
  await page.getByRole("button", { name: "Audit", exact: true }).click();
  await page.getByRole("complementary").getByText("Forgotten").waitFor();
  assert.deepEqual(await trouble(), []);
  await close();
});

test("malicious text of a record stays text, and hidden characters are spelled out", async () => {
  const id = await remember({ content: EVIL, metadata: { speaker: "<b>Mallory</b>", session_id: "s9" } });
  const { page, trouble, close } = await openPage(browser, `${monas.page}#/memory/${id}`);
  const aside = page.getByRole("complementary");
  await aside.getByText("<script>alert(1)</script>").waitFor();
  await aside.getByText("\\u{202e}").first().waitFor();
  await aside.getByText("<b>Mallory</b>").first().waitFor();
  assert.equal(await page.evaluate(() => document.querySelectorAll("main img, main b b, aside img, aside script, main script").length), 0);
  await page.getByRole("textbox", { name: "Ask memory" }).first().fill(EVIL);
  await page.keyboard.press("Enter");
  await page.locator(".mem-rec").first().waitFor();
  assert.deepEqual(await trouble(), []);
  await close();
});

test("a record that is gone is said to be gone", async () => {
  const { page, close } = await openPage(browser, `${monas.page}#/memory/01a1ee7520b975f8ba0603aa55d1ec00`);
  await page.getByText("There is no such record.").waitFor();
  await close();
});
