// The first visit: from the address to the first useful answer, and signing in.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { ask, Monas, openPage, startBrowser, until } from "./harness.mjs";

let browser;
before(async () => { browser = await startBrowser(); });

test("the first screen works at once, and a first task ends with why", async () => {
  const monas = await Monas.start();
  const { page, trouble, close } = await openPage(browser, monas.page);
  await page.getByRole("heading", { name: "Monas is awake." }).waitFor();
  // The composer is the last text box of the first screen, and has the focus.
  const last = await page.evaluate(() => [...document.querySelectorAll("textarea, input:not([type=file]):not([type=radio]):not([type=checkbox])")].at(-1) === document.querySelector("[data-composer]"));
  assert.equal(last, true);
  await page.getByText("create notes.md with hello").click();
  const card = page.getByRole("group", { name: /May I create notes\.md/ });
  await card.waitFor();
  assert.equal(existsSync(join(monas.workspace, "notes.md")), false);
  await card.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Approved.").waitFor();
  await until(() => existsSync(join(monas.workspace, "notes.md")), "the file");
  assert.equal(monas.file("notes.md"), "hello");
  await ask(page, "why did you ask me?");
  const cited = page.locator(".prose .ev").first();
  await cited.waitFor();
  await cited.click();
  await page.getByRole("complementary").getByText(/You asked|asked/).first().waitFor();
  assert.deepEqual(await trouble(), []);
});

test("a closed server asks who one is, takes a link once, and keeps the token out of the address", async () => {
  const monas = await Monas.start({ open: false });
  const first = await openPage(browser, monas.page);
  await first.page.getByRole("heading", { name: "This server asks who you are." }).waitFor();
  await first.page.getByLabel("Link or token").fill("wrong");
  await first.page.getByRole("button", { name: "Sign in" }).click();
  await first.page.getByText("does not take this token").waitFor();
  const link = monas.command("open").split("\n").find((it) => it.startsWith("http"));
  const fragment = new URL(link).hash;
  assert.match(fragment, /^#(token|link)=/);
  const second = await openPage(browser, monas.page + fragment);
  await second.page.getByRole("heading", { name: "Monas is awake." }).waitFor();
  assert.doesNotMatch(second.page.url(), /token|link=/);
  await ask(second.page, "remember that I like short answers");
  await second.page.locator(".prose").getByText("I will remember").waitFor();
  // A reload of the tab is still signed in; the history of the browser has no token.
  await second.page.reload();
  await second.page.locator(".prose").getByText("I will remember").waitFor();
  assert.equal(await second.page.evaluate(() => document.cookie), "");
  assert.deepEqual(await second.trouble(), []);
});
