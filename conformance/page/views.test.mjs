// Every view: axe-core finds nothing in light and dark at three widths, nothing scrolls sideways, and pictures are made on demand.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { ask, Monas, openPage, startBrowser } from "./harness.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PLACES = ["chat", "conversation", "questions", "files", "files/notes.md", "terminal", "tasks", "memory", "law", "journal", "agents", "wire", "settings"];

let browser, monas, talk;
before(async () => {
  browser = await startBrowser();
  monas = await Monas.start({ keep: true });
  mkdirSync(join(monas.workspace, "docs"));
  writeFileSync(join(monas.workspace, "docs", "usage.md"), "# Usage\n\n- one\n- two\n");
  const { page, close } = await openPage(browser, monas.page);
  await ask(page, "remember that I like short answers");
  await page.locator(".prose").getByText("I will remember").waitFor();
  await ask(page, "create notes.md with hello");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Approved.").waitFor();
  await ask(page, "run ls -la");
  await page.getByRole("group", { name: /May I run/ }).waitFor();
  talk = new URL(page.url()).hash;
});

/** Runs axe through the debugger, which the content security policy and Trusted Types do not stop. */
async function axe(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: AXE });
  const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
    expression: `axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then((it) => JSON.stringify(it.violations.map((v) => [v.id, v.help, v.nodes.map((n) => n.html.slice(0, 200) + " | " + n.failureSummary?.split("\\n").slice(1).join(" ").slice(0, 200))])))`,
    awaitPromise: true, returnByValue: true,
  });
  assert.equal(exceptionDetails, undefined, JSON.stringify(exceptionDetails));
  await session.detach();
  return JSON.parse(result.value);
}

const SIZES = [[1440, 900], [1024, 768], [390, 844]];
for (const theme of ["light", "dark"]) {
  for (const place of PLACES) {
    test(`${place} in ${theme}: axe finds nothing, nothing scrolls sideways`, async () => {
      const hash = place === "conversation" ? talk : `#/${place}`;
      const { page, trouble, close } = await openPage(browser, monas.page + hash, { theme });
      await page.locator("h1").waitFor();
      await page.waitForTimeout(1_200);
      for (const [width, height] of SIZES) {
        await page.setViewportSize({ width, height });
        await page.waitForTimeout(250);
        const found = await axe(page);
        assert.deepEqual(found, [], `${place} ${theme} ${width}: ${JSON.stringify(found, null, 1)}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        assert.equal(wide, false, `${place} at ${width} scrolls sideways`);
        if (process.env.MONAS_SHOTS) await page.screenshot({ path: join(process.env.MONAS_SHOTS, `${place.replaceAll("/", "-")}-${width}-${theme}.png`) });
      }
      assert.deepEqual(await trouble(), []);
      await close();
    });
  }
  test(`dialogs and the details in ${theme}: axe finds nothing`, async () => {
    const { page, close } = await openPage(browser, monas.page + talk, { theme, width: 1024, height: 768 });
    await page.locator(".ask").first().waitFor();
    const looks = async (what) => { await page.waitForTimeout(300); assert.deepEqual(await axe(page), [], what); };
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").waitFor();
    await looks("palette");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Share this conversation" }).click();
    await page.getByRole("dialog").waitFor();
    await looks("share");
    await page.keyboard.press("Escape");
    await page.locator("[data-composer]").blur();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await looks("keys");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Details" }).click();
    await looks("details");
    await close();
  });
}
