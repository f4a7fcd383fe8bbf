// Files: the tree follows the folder, the editor saves what was typed and overwrites nothing, changes of the agent are taken back.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { ask, Monas, openPage, startBrowser, until } from "./harness.mjs";

let browser, monas;
before(async () => {
  browser = await startBrowser();
  monas = await Monas.start({ keep: true });
  mkdirSync(join(monas.workspace, "src"));
  writeFileSync(join(monas.workspace, "src", "main.rs"), "fn main() {\n    println!(\"tides\");\n}\n");
});
const put = (name, text) => writeFileSync(join(monas.workspace, name), text);
const disk = (name) => readFileSync(join(monas.workspace, name), "utf8");
const text = (page) => page.locator(".cm-content");
const saved = (page) => page.getByRole("button", { name: "Saved", exact: true });
const type = async (page, words) => {
  await text(page).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(words);
};

test("what is typed is on the disk when it is saved, and line ends stay as they are", async () => {
  put("win.txt", "one\r\ntwo\r\n");
  const { page, trouble } = await openPage(browser, `${monas.page}#/files/win.txt`);
  await type(page, "three");
  await page.keyboard.press("Control+s");
  await saved(page).waitFor();
  assert.equal(disk("win.txt"), "one\r\ntwo\r\nthree");
  assert.deepEqual(await trouble(), []);
});

test("the tree follows the folder, and an open file its text", async () => {
  put("live.md", "# before\n");
  const { page, trouble } = await openPage(browser, `${monas.page}#/files/live.md`);
  await text(page).getByText("before").waitFor();
  put("arrived.md", "new\n");
  await page.locator(".tree").getByText("arrived.md").waitFor();
  put("live.md", "# after\n");
  await text(page).getByText("after").waitFor();
  assert.deepEqual(await trouble(), []);
});

test("a file that changed meanwhile is not overwritten, until the reader says so", async () => {
  put("clash.md", "first\n");
  const { page, trouble } = await openPage(browser, `${monas.page}#/files/clash.md`);
  await type(page, "mine");
  put("clash.md", "theirs\n");
  await page.keyboard.press("Control+s");
  await page.getByText("This file changed meanwhile.").waitFor();
  assert.equal(disk("clash.md"), "theirs\n");
  await page.getByRole("button", { name: "Show the difference" }).click();
  await page.locator(".cm-deletedChunk").first().waitFor();
  await page.getByRole("button", { name: "Save mine over it" }).click();
  await saved(page).waitFor();
  assert.equal(disk("clash.md"), "first\nmine");
  assert.deepEqual(await trouble(), []);
});

test("the other text can be taken instead", async () => {
  put("take.md", "first\n");
  const { page } = await openPage(browser, `${monas.page}#/files/take.md`);
  await type(page, "mine");
  put("take.md", "theirs\n");
  await page.getByRole("button", { name: "Take theirs" }).click();
  await text(page).getByText("theirs").waitFor();
  assert.equal(disk("take.md"), "theirs\n");
  await saved(page).waitFor();
});

test("a change of the agent is shown with its lines, and taken back", async () => {
  const { page, trouble } = await openPage(browser, monas.page);
  await ask(page, "create notes.md with hello");
  await page.getByRole("button", { name: "Approve" }).click();
  await until(() => existsSync(join(monas.workspace, "notes.md")), "the file is written");
  await page.goto(`${monas.page}#/files`);
  await page.getByRole("tab", { name: "Changes" }).click();
  await page.locator(".side .rec").filter({ hasText: "notes.md" }).first().click();
  await page.locator(".udiff .now").getByText("hello").waitFor();
  await page.getByRole("button", { name: "Take back" }).click();
  await until(() => !existsSync(join(monas.workspace, "notes.md")), "the file is gone again");
  await page.getByText("This change was taken back").waitFor();
  // Taking back is a change itself, and is taken back in the same way.
  await page.locator(".side .rec").filter({ hasText: "notes.md" }).first().click();
  await page.getByRole("button", { name: "Take back" }).click();
  await until(() => existsSync(join(monas.workspace, "notes.md")), "the file is back");
  assert.deepEqual(await trouble(), []);
});

test("a new file is begun, and written when it is saved", async () => {
  const { page } = await openPage(browser, `${monas.page}#/files`);
  await page.getByRole("button", { name: "New file…" }).click();
  await page.getByRole("textbox", { name: "Path of the new file" }).fill("plans/week.md");
  await page.keyboard.press("Enter");
  await type(page, "rope");
  assert.equal(existsSync(join(monas.workspace, "plans", "week.md")), false);
  await page.keyboard.press("Control+s");
  await saved(page).waitFor();
  assert.equal(disk("plans/week.md"), "rope");
});

test("a search opens the file at its line", async () => {
  const { page } = await openPage(browser, `${monas.page}#/files`);
  await page.getByRole("searchbox", { name: "Search in files" }).first().fill("println");
  await page.locator(".found a").first().click();
  await until(async () => /main\.rs.*line=2/.test(page.url()), "the address names the line");
  await until(async () => (await page.locator(".cm-activeLine").textContent())?.includes("println"), "the line is the active one");
});

test("names and texts of files stay text", async () => {
  const evil = "<img src=x onerror=alert(1)>.md";
  put(evil, "<script>alert(1)</script> \u202egpj.exe \u200b \u001b[31m[x](javascript:alert(1))\n");
  put("photo\u202egpj.exe", "x\n");
  const { page, trouble } = await openPage(browser, `${monas.page}#/files/${encodeURIComponent(evil)}`);
  await text(page).getByText("<script>").waitFor();
  assert.deepEqual(await page.locator(".cm-content .hid").allInnerTexts(), ["\\u{202e}", "\\u{200b}", "\\u{1b}"]);
  await page.locator(".tree .hid").getByText("\\u{202e}").waitFor();
  await page.getByRole("searchbox", { name: "Search in files" }).first().fill("alert(1)");
  await page.locator(".found a").first().waitFor();
  await page.waitForTimeout(300);
  assert.deepEqual(await trouble(), []);
});

test("J and K go through the tree, and all of it works by keyboard", async () => {
  const { page } = await openPage(browser, `${monas.page}#/files`);
  await page.locator(".tree .row-key").first().waitFor();
  await page.locator("h1").focus();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  const first = await page.locator(".tree .row-key").first().textContent();
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), first);
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".tree .row-key").first().getAttribute("aria-expanded"), "true");
});

test("the viewer of a server reads and does not write", async () => {
  const closed = await Monas.start({ open: false });
  writeFileSync(join(closed.workspace, "read.md"), "to read\n");
  const token = closed.command("token", "--user", "eve", "--role", "viewer");
  const { page } = await openPage(browser, `${closed.page}#token=${token}`);
  await page.locator("h1").first().waitFor();
  await page.goto(`${closed.page}#/files/read.md`);
  await text(page).getByText("to read").waitFor();
  await page.getByText("you may read it, not change it").waitFor();
  await type(page, "x");
  assert.equal(await page.getByRole("button", { name: "Save", exact: true }).count(), 0);
  assert.equal(readFileSync(join(closed.workspace, "read.md"), "utf8"), "to read\n");
});
