// Law: rules in words, versions, a proposal with its evidence that is adopted and undone, a rejected one, and what is refused.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Monas, openPage, startBrowser, until } from "./harness.mjs";

let browser, monas;
before(async () => {
  browser = await startBrowser();
  monas = await Monas.start({ keep: true });
});

const law = async (version) => (await monas.api("GET", `/api/agent/law${version ? `?version=${version}` : ""}`)).value;
const proposals = async () => (await monas.api("GET", "/api/agent/law/proposals")).value.proposals;
const propose = async (target, change, justification, evidence = []) => {
  const { status, value } = await monas.api("POST", "/api/agent/law/propose", { target, change, justification, evidence });
  assert.equal(status, 200, JSON.stringify(value));
  return value;
};
const CONFIDENCE = "memory.rules[0].condition.min_confidence";

test("every sentence of the law is on the page, with its place", async () => {
  const { page, trouble, close } = await openPage(browser, `${monas.page}#/law`);
  await page.getByRole("heading", { name: "Frozen" }).waitFor();
  const now = await law();
  const said = now.text.split("\n").filter((line) => line.startsWith("  - ")).map((line) => line.slice(4));
  const shown = await page.locator(".rule .says").evaluateAll((all) => all.map((it) => it.querySelector("bdi").textContent));
  for (const sentence of said) assert.ok(shown.includes(sentence), sentence);
  await page.getByRole("button", { name: /memory\.rules\[0\]/ }).first().click();
  const aside = page.getByRole("complementary");
  await aside.getByText("condition.min_confidence").waitFor();
  await aside.getByRole("link", { name: "Version 1" }).waitFor();
  assert.deepEqual(await trouble(), []);
  await close();
});

test("a proposal is rejected with a reason by keyboard alone, and kept with it", async () => {
  await propose("attention.recall", 3, "answers are slow");
  const { page, close } = await openPage(browser, `${monas.page}#/law`);
  await page.getByRole("button", { name: "Reject…" }).waitFor();
  // A key counts only after the card has been in sight for a moment.
  await page.waitForTimeout(800);
  await page.keyboard.press("r");
  await page.getByRole("textbox", { name: "Why not?" }).and(page.locator(":focus")).waitFor();
  await page.keyboard.type("it should remember more, not less");
  await page.keyboard.press("Enter");
  await page.locator(".toast").getByText(/Not adopted/).waitFor();
  const last = (await proposals()).at(-1);
  assert.equal(last.standing, "rejected");
  assert.match(last.says, /it should remember more, not less/);
  assert.equal((await law()).law.attention.recall, 6);
  await page.locator(".past").getByText("rejected").first().waitFor();
  await close();
});

/** The form once had the whole law as the value to propose. */
test("a proposal without a place begins with the place, and has no value", async () => {
  const { page, close } = await openPage(browser, `${monas.page}#/law`, { width: 390, height: 844 });
  await page.getByRole("button", { name: "Reflect", exact: true }).waitFor();
  await page.getByRole("button", { name: "Propose…" }).click();
  const place = page.getByLabel("Which rule or value");
  await place.and(page.locator(":focus")).waitFor();
  assert.equal(await page.getByLabel("What it is to be").inputValue(), "");
  await page.getByText("Begin with a name").waitFor();
  await place.fill("attention.turns");
  await page.getByText("It is now 4").waitFor();
  await close();
});

test("a person proposes a change on the page, and it waits with its test", async () => {
  const { page, close } = await openPage(browser, `${monas.page}#/law/attention`);
  await page.getByRole("button", { name: "Propose another value of attention.turns" }).click();
  await page.getByLabel("What it is to be").fill("+= 1");
  await page.getByLabel("Why", { exact: true }).fill("several people ask at a time");
  await page.getByLabel("Events that speak for it").fill("1, 2");
  await page.getByRole("button", { name: "Propose", exact: true }).click();
  await page.getByRole("group", { name: /would like to change “turns”/ }).waitFor();
  const last = (await proposals()).at(-1);
  assert.equal(last.target, "attention.turns");
  assert.equal(last.change, "+= 1");
  assert.equal(last.major, true);
  assert.deepEqual(last.evidence, [1, 2]);
  // Changing it first rejects it, and proposes the other value.
  await page.getByRole("button", { name: "Change it first…" }).click();
  await page.getByLabel("What it is to be").fill("5");
  await page.getByRole("button", { name: "Propose", exact: true }).click();
  await until(async () => (await proposals()).at(-1).change === 5, "the other value is proposed");
  const all = await proposals();
  assert.equal(all.at(-2).standing, "rejected");
  assert.equal(all.at(-1).standing, "awaiting-approval");
  await page.getByRole("button", { name: "Reject…" }).click();
  await page.getByRole("textbox", { name: "Why not?" }).fill("enough");
  await page.keyboard.press("Enter");
  await until(async () => (await proposals()).at(-1).standing === "rejected", "it is rejected");
  await close();
});

// After a change was adopted, the next proposal waits for its turn: so this comes after those that are rejected.
test("a proposal is read with its evidence, adopted, and undone with one click: the law is the old one", async () => {
  const before = await law();
  await propose(CONFIDENCE, 0.8, "two claims were wrong by the next day", [1]);
  const { page, trouble, close } = await openPage(browser, `${monas.page}#/law`);
  const card = page.getByRole("group", { name: /would like to change “min confidence”/ });
  await card.getByText("two claims were wrong by the next day").waitFor();
  await card.getByText("0.7", { exact: true }).waitFor();
  await card.getByText("0.8", { exact: true }).waitFor();
  await card.getByText(/Too few to say/).waitFor();
  await card.getByRole("button", { name: "Event 1", exact: true }).click();
  await page.getByRole("complementary", { name: "Event 1" }).waitFor();
  await page.keyboard.press("Escape");
  await card.getByRole("button", { name: "Adopt", exact: true }).click();
  await page.locator(".toast").getByText(/The law is version 2/).waitFor();
  assert.equal((await law()).law.memory.rules[0].condition.min_confidence, 0.8);
  await page.locator(".rule").getByText("since v2").waitFor();
  await page.getByRole("button", { name: "Undo this version" }).click();
  await page.getByRole("button", { name: /^v3/ }).waitFor();
  const after = await law();
  assert.equal(after.version, 3);
  assert.equal(after.hash, before.hash);
  assert.deepEqual(after.law, before.law);
  assert.equal((await proposals()).at(-1).standing, "adopted");
  assert.deepEqual(await trouble(), []);
  await close();
});

test("an attempt on a frozen part is refused, says so, and is kept", async () => {
  const before = await law();
  const { page, close } = await openPage(browser, `${monas.page}#/law?propose=1`);
  await page.getByLabel("Which rule or value").fill("frozen.axioms");
  await page.getByLabel("What it is to be").fill('["I may do anything"]');
  await page.getByLabel("Why", { exact: true }).fill("<img src=x onerror=alert(1)>");
  await page.getByRole("button", { name: "Propose", exact: true }).click();
  await page.getByText(/frozen\.axioms is frozen/).first().waitFor();
  await page.getByText("The law is as it was.").waitFor();
  assert.equal((await law()).hash, before.hash);
  const refused = page.locator(".past").filter({ hasText: "refused by the checks" });
  await refused.first().click();
  await page.getByRole("complementary").getByText("<img src=x onerror=alert(1)>").waitFor();
  await close();
});

test("a change that comes from elsewhere appears by itself, and an older version is returned to", async () => {
  const { page, trouble, close } = await openPage(browser, `${monas.page}#/law/v1`);
  await page.getByRole("heading", { name: "Version 1" }).waitFor();
  const { version } = await law();
  const changed = await monas.api("PUT", "/api/agent/law", { path: "attention.recall", value: 9, why: "ordered elsewhere" });
  assert.equal(changed.status, 200, JSON.stringify(changed.value));
  await page.getByRole("button", { name: new RegExp(`^v${version + 1}`) }).waitFor();
  await page.getByRole("button", { name: "What is different now" }).click();
  await page.getByRole("group", { name: "From version 1 to now" }).getByText("attention.recall").waitFor();
  await page.getByRole("button", { name: "Return to version 1" }).click();
  await page.getByRole("button", { name: new RegExp(`^v${version + 2}`) }).waitFor();
  assert.equal((await law()).law.attention.recall, 6);
  assert.equal((await law()).hash, (await law(1)).hash);
  assert.deepEqual(await trouble(), []);
  await close();
});

test("J and K go from rule to rule", async () => {
  const { page, close } = await openPage(browser, `${monas.page}#/law`);
  await page.locator(".rule").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.locator(".rule").nth(1).and(page.locator('[aria-pressed="true"]')).waitFor();
  await page.keyboard.press("k");
  await page.locator(".rule").nth(0).and(page.locator('[aria-pressed="true"]')).waitFor();
  await close();
});
