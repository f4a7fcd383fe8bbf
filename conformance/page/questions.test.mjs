// Questions: what is taken in part, edited, rejected, granted by prefix, answered elsewhere, and what a crash leaves.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { ask, Monas, openPage, startBrowser, until } from "./harness.mjs";
import { startModel } from "./model.mjs";

let browser;
before(async () => { browser = await startBrowser(); });

const OLD = "# Changes\n\n## 0.4.0\n\n### Changed\n- Round heights to a centimetre.\n- Fetch stations once a day.\n\n## 0.3.0\n- One.\n- Two.\n- Three.\n- Four.\n";
const NEW = OLD.replace("### Changed", "### Added\n- Print the table as JSON.\n\n### Changed").replace("- Four.", "- Four, and a half.");

async function withChange() {
  const model = await startModel([
    { reasoning: "The flag is in neither group.\nA new one is needed.", text: "I would add a group.", calls: [{ name: "file-write", arguments: { path: "CHANGELOG.md", content: NEW } }] },
    { text: "Done, the changelog has it." },
  ]);
  const monas = await Monas.start({ model });
  writeFileSync(join(monas.workspace, "CHANGELOG.md"), OLD);
  const opened = await openPage(browser, monas.page);
  await ask(opened.page, "The release notes miss the flag. Add it.");
  const card = opened.page.getByRole("group", { name: /May I change CHANGELOG\.md/ });
  await card.waitFor();
  return { model, monas, card, ...opened };
}

test("of two parts one is taken: the file has just that part, and the journal has who and what", async () => {
  const it = await withChange();
  // The reasoning is folded; the reader opens it.
  await it.page.getByText("I would add a group.").waitFor();
  await it.page.getByRole("button", { name: /^Thought/ }).click();
  await it.page.getByText("A new one is needed.").waitFor();
  await it.card.getByRole("checkbox").nth(1).uncheck();
  await it.card.getByRole("button", { name: "Approve 1 of 2" }).click();
  await it.page.getByText("Approved in part.").waitFor();
  await it.page.getByText("Done, the changelog has it.").first().waitFor();
  assert.equal(it.monas.file("CHANGELOG.md"), OLD.replace("### Changed", "### Added\n- Print the table as JSON.\n\n### Changed"));
  const { value } = await it.monas.api("GET", "/api/journal?limit=200");
  const decided = value.events.find((event) => /approv/i.test(event.kind + event.text) && JSON.stringify(event.data).includes("anonymous"));
  assert.ok(decided, JSON.stringify(value.events.map((event) => event.kind)));
  // The model was told what was done, not what it had asked for.
  assert.equal(it.model.seen.length, 2);
  assert.deepEqual(await it.trouble(), []);
});

test("edited first, then approved: the edited bytes are written", async () => {
  const it = await withChange();
  await it.card.getByRole("button", { name: "Edit first" }).click();
  const text = it.card.getByLabel("The text to write instead");
  await text.fill(NEW.replace("JSON", "JSON lines"));
  await it.card.getByRole("button", { name: "Approve as edited" }).click();
  await it.page.getByText("Approved as edited.").waitFor();
  await until(() => it.monas.file("CHANGELOG.md") !== OLD, "the change");
  assert.equal(it.monas.file("CHANGELOG.md"), NEW.replace("JSON", "JSON lines"));
});

test("one part is edited, the other taken as it is; Ctrl-Z takes the change back, and again brings it back", async () => {
  const it = await withChange();
  await it.card.getByRole("button", { name: /^Edit lines/ }).click();
  const text = it.card.getByLabel(/^What lines .* would be$/);
  await text.fill((await text.inputValue()).replace("JSON", "JSON lines"));
  await it.card.getByRole("button", { name: "Approve as edited" }).click();
  await it.page.getByText("Approved as edited.").waitFor();
  await it.card.getByText("- Print the table as JSON lines.").waitFor();
  await it.page.getByText("Done, the changelog has it.").first().waitFor();
  const wanted = NEW.replace("JSON", "JSON lines");
  assert.equal(it.monas.file("CHANGELOG.md"), wanted);
  // Inside of a field the key is the field's own.
  await it.page.locator("[data-composer]").focus();
  await it.page.keyboard.press("Control+z");
  await it.page.locator("h1").focus();
  await it.page.keyboard.press("Control+z");
  await it.page.getByText(/^Taken back:/).first().waitFor();
  assert.equal(it.monas.file("CHANGELOG.md"), OLD);
  await it.page.keyboard.press("Control+z");
  await until(() => it.monas.file("CHANGELOG.md") === wanted, "the change again");
  assert.deepEqual(await it.trouble(), []);
});

test("rejected with a reason: the file is untouched, the agent is told, the diff can still be read", async () => {
  const it = await withChange();
  await it.card.getByRole("button", { name: "Reject…" }).click();
  await it.card.getByLabel("Why not").fill("not before the tests pass");
  await it.page.keyboard.press("Enter");
  await it.page.getByText("Rejected: “not before the tests pass”").waitFor();
  assert.equal(it.monas.file("CHANGELOG.md"), OLD);
  await it.card.getByText("- Print the table as JSON.").waitFor();
  assert.equal(await it.card.getByRole("button", { name: "Approve" }).count(), 0);
  const { value } = await it.monas.api("GET", "/api/journal?limit=200");
  assert.match(JSON.stringify(value.events), /not before the tests pass/);
});

test("by keyboard alone: X leaves a part out, A approves", async () => {
  const it = await withChange();
  await it.page.locator("[data-composer]").blur();
  await it.page.waitForTimeout(700);
  await it.page.keyboard.press("x");
  await it.page.keyboard.press("x");
  await it.card.getByRole("button", { name: "Approve 1 of 2" }).waitFor();
  await it.page.keyboard.press("a");
  await it.page.getByText("Approved in part.").waitFor();
  await until(() => it.monas.file("CHANGELOG.md") !== OLD, "the change");
  assert.equal(it.monas.file("CHANGELOG.md"), OLD.replace("- Four.", "- Four, and a half."));
});

test("a key answers nothing that has just appeared, and nothing from inside of a field", async () => {
  const it = await withChange();
  await it.page.locator("[data-composer]").focus();
  await it.page.waitForTimeout(700);
  await it.page.keyboard.type("a");
  await it.page.waitForTimeout(300);
  assert.equal(await it.page.locator("[data-composer]").inputValue(), "a");
  assert.equal(await it.page.getByText("Approved.").count(), 0);
  assert.equal(it.monas.file("CHANGELOG.md"), OLD);
});

test("allowed by prefix, the next command is not asked about; revoked, it is", async () => {
  const monas = await Monas.start();
  const { page, close } = await openPage(browser, monas.page);
  await ask(page, "run echo one");
  const card = page.getByRole("group", { name: /May I run echo one/ });
  await card.getByLabel("whenever the command begins with").check();
  await card.getByLabel("begins with", { exact: true }).fill("echo");
  await card.getByRole("button", { name: "Approve" }).click();
  await page.locator(".step", { hasText: "Ran echo one" }).waitFor();
  await ask(page, "run echo two");
  await page.locator(".step", { hasText: "Ran echo two" }).waitFor();
  const { value } = await monas.api("GET", "/api/grants");
  assert.equal(value.grants.length, 1);
  assert.equal(value.grants[0].prefix, "echo");
  await monas.api("DELETE", `/api/grants/${encodeURIComponent(value.grants[0].id)}`);
  await ask(page, "run echo three");
  await page.getByRole("group", { name: /May I run echo three/ }).getByRole("button", { name: "Approve" }).waitFor();
});

test("the server is killed while a question waits: the page says so, and the answer counts once after the restart", async () => {
  const monas = await Monas.start();
  const { page, close } = await openPage(browser, monas.page);
  await ask(page, "create notes.md with hello");
  const card = page.getByRole("group", { name: /May I create notes\.md/ });
  await card.waitFor();
  await monas.kill();
  await page.getByText("No connection.").waitFor();
  await monas.run();
  await page.getByRole("button", { name: "Try now" }).click().catch(() => {});
  await page.getByText("No connection.").waitFor({ state: "detached" });
  await card.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Approved.").waitFor();
  await until(async () => (await monas.api("GET", "/api/approvals")).value.approvals.length === 0, "the answer");
  assert.equal(monas.file("notes.md"), "hello");
  assert.equal(await page.getByRole("group", { name: /May I create notes\.md/ }).count(), 1);
});

test("answered elsewhere: both windows follow, and their buttons go", async () => {
  const monas = await Monas.start();
  const one = await openPage(browser, monas.page);
  await ask(one.page, "create notes.md with hello");
  await one.page.getByRole("group", { name: /May I create notes\.md/ }).waitFor();
  const two = await openPage(browser, monas.page + new URL(one.page.url()).hash);
  const inbox = await openPage(browser, `${monas.page}#/questions`);
  for (const { page } of [two, inbox]) await page.getByRole("button", { name: "Approve" }).waitFor();
  assert.match(await inbox.page.title(), /^\(1\)/);
  const { value } = await monas.api("GET", "/api/approvals");
  await monas.api("POST", `/api/approvals/${value.approvals[0].id}`, { decision: "approve" });
  for (const { page } of [one, two, inbox]) {
    await page.getByText("Approved.").waitFor();
    assert.equal(await page.getByRole("button", { name: "Approve" }).count(), 0);
  }
  for (const { page } of [one, two]) await page.locator(".prose").getByText("created, 5 bytes").waitFor();
});
