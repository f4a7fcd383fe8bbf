// Tasks, agents and the wire: what the page shows is what the server has, and what is done there counts at the server.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import { ask, Monas, openPage, startBrowser, until } from "./harness.mjs";

let browser, monas;
before(async () => {
  browser = await startBrowser();
  monas = await Monas.start({ keep: true });
});
const taskState = async (id) => (await monas.api("GET", `/api/tasks/${id}`)).value.status?.state;

test("a task waits for its question, is filtered by its state, and is cancelled", async () => {
  const { page, trouble } = await openPage(browser, monas.page);
  await page.goto(`${monas.page}#/tasks`);
  await page.getByText("No tasks yet.").waitFor();
  const { value } = await monas.api("POST", "/api/agent/command", { command: "create waits.md with hello" });
  const row = page.locator(".trow").filter({ hasText: "create waits.md with hello" });
  await row.getByText("waits for you").waitFor();
  await page.getByRole("button", { name: "Done", exact: true }).click();
  await page.getByText("No task is in this state.").waitFor();
  await page.locator(".filters").getByRole("button", { name: "Waits for you" }).click();
  await row.click();
  const aside = page.getByRole("complementary");
  await aside.getByRole("link", { name: "Answer it" }).waitFor();
  await aside.getByRole("button", { name: "Cancel", exact: true }).click();
  await until(async () => (await taskState(value.task_id)) === "TASK_STATE_CANCELED", "the server has it as cancelled");
  await aside.getByText("cancelled").first().waitFor();
  assert.deepEqual(await trouble(), []);
});

test("what a task made is shown while it comes, and downloaded", async () => {
  const { page, trouble } = await openPage(browser, monas.page);
  await ask(page, "run printf 'a line\\n\\033[32mgreen\\033[0m <b>bold</b>\\n'");
  const approve = page.getByRole("button", { name: /^Approve/ }).first();
  await approve.waitFor();
  await page.waitForTimeout(700);
  await approve.click();
  await page.goto(`${monas.page}#/tasks`);
  await page.locator(".trow").filter({ hasText: "run printf" }).first().click();
  const made = page.getByRole("complementary").locator(".artifact").first();
  await made.getByText("<b>bold</b>").first().waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), made.getByRole("button", { name: "Download" }).first().click()]);
  assert.match(readFileSync(await download.path(), "utf8"), /bold/);
  assert.match(download.suggestedFilename(), /^[\p{L}\p{N}._ -]+$/u);
  assert.deepEqual(await trouble(), []);
});

test("J and K choose the next task and the one before", async () => {
  await monas.api("POST", "/api/agent/command", { command: "whoami" });
  const { page } = await openPage(browser, `${monas.page}#/tasks`);
  await page.locator(".trow[href]").nth(1).waitFor();
  await page.locator("h1").focus();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await until(async () => (await page.locator(".trow[href]").first().getAttribute("aria-current")) === "true", "the first is chosen again");
});

test("an agent is paused and resumed, and who asked it stands there", async () => {
  const { page, trouble } = await openPage(browser, `${monas.page}#/agents`);
  const paused = async () => (await monas.api("GET", "/api/agents")).value.agents[0].paused;
  await page.getByRole("button", { name: /^Pause / }).click();
  await until(async () => (await paused()) === true, "the server has it as paused");
  await page.getByRole("button", { name: /^Resume / }).first().click();
  await until(async () => (await paused()) === false, "it goes on");
  await page.locator(".grid-t").getByText("create waits.md with hello").waitFor();
  await monas.api("POST", "/api/agent/command", { command: "hello <img src=x onerror=alert(1)> \u202egnp" });
  await page.locator(".grid-t").getByText("hello <img src=x onerror=alert(1)>").waitFor();
  assert.deepEqual(await trouble(), []);
});

test("calls of other wires go by, are held, filtered, and copied without credentials", async () => {
  const closed = await Monas.start({ open: false });
  const token = closed.command("token", "--user", "ada", "--role", "operator");
  const { page, trouble } = await openPage(browser, `${closed.page}#token=${token}`);
  await page.locator("h1").first().waitFor();
  await page.goto(`${closed.page}#/wire`);
  // The view shows calls from the moment at which it follows them.
  const row = page.locator(".wrow[href]").filter({ hasText: "GET /api/files/tree" }).first();
  await until(async () => {
    await closed.api("GET", "/api/files/tree", undefined, token);
    return (await row.count()) > 0;
  }, "a call goes by");
  await page.getByRole("button", { name: "Hold" }).click();
  const before = await page.locator(".wrow[href]").filter({ hasText: "GET /api/agents" }).count();
  await closed.api("GET", "/api/agents", undefined, token);
  await page.getByRole("button", { name: /Go on, \d+ new/ }).waitFor();
  assert.equal(await page.locator(".wrow[href]").filter({ hasText: "GET /api/agents" }).count(), before);
  await page.getByRole("button", { name: /Go on/ }).click();
  await page.locator(".wrow[href]").filter({ hasText: "GET /api/agents" }).first().waitFor();
  await row.click();
  await page.getByRole("button", { name: "Copy as curl" }).click();
  const copied = await until(async () => await page.evaluate(() => navigator.clipboard.readText()), "it is copied");
  assert.match(copied, /^curl -X GET -H "Authorization: Bearer \$TOKEN"/);
  assert.ok(!copied.includes(token) && !(await page.content()).includes(token), "no credential is shown or copied");
  assert.deepEqual(await trouble(), []);
  // The command does what it says.
  await page.locator(".filters").getByRole("button", { name: "REST", exact: true }).click();
  await until(async () => (await page.locator(".wrow[href]").filter({ hasText: "GET /api/agents" }).count()) === 0, "the wire is left out");
});

test("the wire is not for those who may not operate the server", async () => {
  const closed = await Monas.start({ open: false });
  const token = closed.command("token", "--user", "ben", "--role", "user");
  const { page } = await openPage(browser, `${closed.page}#token=${token}`);
  await page.locator("h1").first().waitFor();
  await page.goto(`${closed.page}#/wire`);
  await page.getByText("You may not see the calls of all callers.").waitFor();
});
