// Terminals: a real shell in the project, seen by several windows, held by one, and harmless in what it shows.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { Monas, openPage, startBrowser, until } from "./harness.mjs";

let browser, monas;
before(async () => {
  browser = await startBrowser();
  monas = await Monas.start({ open: false, keep: true });
});
const signedIn = async (name, role = "user") => {
  const token = monas.command("token", "--user", name, "--role", role);
  const opened = await openPage(browser, `${monas.page}#token=${token}`);
  await opened.page.locator("h1").first().waitFor();
  return opened;
};
const rows = (page) => page.locator(".xterm-rows");
const begin = async (page) => {
  await page.goto(`${monas.page}#/terminal`);
  await page.locator("main").getByRole("button", { name: /^Open a/ }).first().click();
  await rows(page).waitFor();
  await page.locator(".hands").getByText("you hold it").waitFor();
};
const run = async (page, line) => {
  await page.locator(".screen").click();
  await page.keyboard.type(`${line}\n`);
};

test("what is typed runs in the project", async () => {
  const { page, trouble } = await signedIn("ada");
  await begin(page);
  await run(page, "echo made-$((40+2)) > made.txt; cat made.txt");
  await rows(page).getByText("made-42").first().waitFor();
  assert.equal(readFileSync(join(monas.workspace, "made.txt"), "utf8"), "made-42\n");
  assert.deepEqual(await trouble(), []);
});

test("two windows see the same; one holds it, the other takes it over", async () => {
  const first = await signedIn("ada");
  await begin(first.page);
  // A shell that has just begun may drop what is typed before its prompt.
  const shown = rows(first.page).getByText("shared-2").first();
  for (let left = 4; left > 0; left -= 1) {
    await run(first.page, "echo shared-$((1+1))");
    if (await shown.waitFor({ timeout: 10_000 }).then(() => true, () => false)) break;
  }
  await shown.waitFor();
  const id = new URL(first.page.url()).hash;
  const second = await signedIn("ben", "operator");
  await second.page.goto(`${monas.page}${id}`);
  await rows(second.page).getByText("shared-2").first().waitFor();
  await second.page.locator(".hands").getByText("ada holds it").waitFor();
  // Looking on, keys do nothing.
  await run(second.page, "touch by-ben.txt");
  await second.page.waitForTimeout(500);
  assert.equal(existsSync(join(monas.workspace, "by-ben.txt")), false);
  await second.page.getByRole("button", { name: "Take over" }).click();
  await second.page.locator(".hands").getByText("you hold it").waitFor();
  await first.page.locator(".hands").getByText("ben holds it").waitFor();
  await run(second.page, "touch by-ben.txt");
  await until(() => existsSync(join(monas.workspace, "by-ben.txt")), "the new holder types");
  await run(first.page, "touch by-ada.txt");
  await first.page.waitForTimeout(500);
  assert.equal(existsSync(join(monas.workspace, "by-ada.txt")), false);
  await second.page.getByRole("button", { name: "Give back" }).click();
  await first.page.locator(".hands").getByText("free", { exact: true }).waitFor();
  // Who typed what is told by the server.
  await first.page.locator(".typed li").filter({ hasText: "ben" }).getByText("touch by-ben.txt").waitFor();
  assert.deepEqual([...(await first.trouble()), ...(await second.trouble())], []);
});

test("a reload shows what was there, and answers no old question of a program", async () => {
  const { page } = await signedIn("ada");
  await begin(page);
  await run(page, "printf 'kept\\033[6n\\n'; sleep 0.2");
  await rows(page).getByText("kept").first().waitFor();
  await page.waitForTimeout(500);
  await page.reload();
  await rows(page).getByText("kept").first().waitFor();
  await run(page, "");
  await run(page, "echo after-$((2+2))");
  await rows(page).getByText("after-4").first().waitFor();
});

test("escape sequences change the screen and nothing else", async () => {
  const { page, context, trouble } = await signedIn("ada");
  await begin(page);
  await page.evaluate(() => navigator.clipboard.writeText("before"));
  const title = await page.title();
  await run(page, "printf '\\033]52;c;ZXZpbA==\\007\\033]0;evil\\007\\033]8;;http://evil.test/\\007link\\033]8;;\\007 \\342\\200\\256turned <img src=x onerror=alert(1)>\\n'");
  await rows(page).getByText("\ufffdturned").first().waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "before");
  assert.equal(await page.title(), title);
  const pages = context.pages().length;
  const { x, y } = await rows(page).getByText("\ufffdturned").first().boundingBox();
  await page.mouse.click(x + 12, y + 6);
  await page.waitForTimeout(300);
  assert.equal(context.pages().length, pages);
  assert.deepEqual(await trouble(), []);
});

test("the cut connection comes back, and nothing of the output is missing or twice", async () => {
  const { page } = await signedIn("ada");
  await begin(page);
  await run(page, "for i in $(seq 1 40); do echo line-$i; sleep 0.1; done");
  await rows(page).getByText("line-5").first().waitFor();
  await page.evaluate(() => dispatchEvent(new Event("pagehide")));
  await rows(page).getByText("line-40", { exact: true }).first().waitFor();
  const seen = (await rows(page).innerText()).split("\n").map((it) => it.trim()).filter((it) => /^line-\d+$/.test(it)).map((it) => Number(it.slice(5)));
  assert.deepEqual(seen, Array.from({ length: seen.length }, (_, at) => 40 - seen.length + 1 + at));
});

test("closing ends the shell, and a viewer opens none", async () => {
  const { page } = await signedIn("ada");
  await begin(page);
  const before = await page.locator(".ttab").count();
  await page.locator(".ttab.on").getByRole("button", { name: /Close the terminal/ }).click();
  await until(async () => (await page.locator(".ttab").count()) === before - 1, "its tab is gone");
  const viewer = await signedIn("eve", "viewer");
  await viewer.page.goto(`${monas.page}#/terminal`);
  await viewer.page.getByText(/You may not/).first().waitFor();
  assert.equal(await viewer.page.getByRole("button", { name: /^Open a/ }).count(), 0);
});
