// Those who may not operate the server see their memory, and are told in words that law and journal are not theirs to see.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Monas, openPage, startBrowser } from "./harness.mjs";

let browser, monas;
before(async () => {
  browser = await startBrowser();
  monas = await Monas.start({ open: false, keep: true });
});

test("law and journal are refused in words, and memory works", async () => {
  const link = monas.command("user", "add", "ben").match(/https?:\/\/\S+/)?.[0];
  assert.ok(link, "a sign-in link is printed");
  const { page, trouble, close } = await openPage(browser, new URL(new URL(link).hash, monas.page).href);
  await page.locator("h1").first().waitFor();
  for (const place of ["law", "journal"]) {
    await page.goto(`${monas.page}#/${place}`);
    await page.getByText("You may not see this.").first().waitFor();
  }
  await page.goto(`${monas.page}#/memory`);
  await page.getByText("It remembers nothing yet.").waitFor();
  assert.deepEqual(await trouble(), []);
  await close();
});
