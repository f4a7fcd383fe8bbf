// Pictures of every view, by `cargo xtask shots`: one small project, one request, and what there is to see of it.
//
//     MONAS_PROGRAM=... node shots.mjs ../../docs/page
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ask, Monas, openPage, startBrowser, until } from "./harness.mjs";
import { startModel } from "./model.mjs";

const out = resolve(process.argv[2] ?? "../../docs/page");
mkdirSync(out, { recursive: true });

const OLD = "# Changes\n\n## 0.4.0, unreleased\n\n### Changed\n- Round heights to a centimetre.\n- Fetch stations once a day.\n\n## 0.3.0\n- Read the gauge over HTTP.\n- Name stations by their code.\n- Say which station is missing.\n";
const NEW = OLD.replace("### Changed", "### Added\n- Print the table as JSON with `--json`.\n\n### Changed").replace("- Say which station is missing.", "- Say which stations are missing, and since when.");
const FILES = {
  "CHANGELOG.md": OLD,
  "docs/usage.md": "# Usage\n\n    tides [--json] STATION...\n\nPrints how high the tide was at each station.\n",
  "src/main.rs": "use tides::{Gauge, Station};\n\nfn main() -> Result<(), tides::Error> {\n    let stations = Station::from_args()?;\n    for station in stations {\n        let height = Gauge::of(&station).read()?;\n        println!(\"{station}: {height} cm\");\n    }\n    Ok(())\n}\n",
  "test.sh": "for name in heights stations json; do echo \"test $name ... ok\"; done\necho 'test result: ok. 3 passed; 0 failed'\n",
};
const model = await startModel([
  { reasoning: "The flag is in neither group of 0.4.\nI look at where flags are written about.", calls: [{ name: "file-search", arguments: { query: "--json" } }, { name: "file-read", arguments: { path: "CHANGELOG.md" } }] },
  { reasoning: "A group Added is missing. The entry about stations says less than it means.", text: "The flag is in neither group of 0.4, so I would add a group **Added**. While I am there: the entry about stations says less than it means. That is a part of its own below; leave it out if you like it as it is.", calls: [{ name: "file-write", arguments: { path: "CHANGELOG.md", content: NEW } }] },
  { text: "Now the tests.", calls: [{ name: "terminal-run", arguments: { command: "sh test.sh" } }] },
  { text: "The changelog has the flag, and all three tests pass.\n\n| test | result |\n|---|---|\n| heights | ok |\n| stations | ok |\n| json | ok |\n\nThe entry stands in `CHANGELOG.md` under **Added**:\n\n```markdown\n- Print the table as JSON with `--json`.\n```" },
]);
const monas = await Monas.start({ model, open: false, keep: true });
const token = monas.command("token", "--user", "ada", "--role", "admin");
for (const [name, text] of Object.entries(FILES)) {
  mkdirSync(dirname(join(monas.workspace, name)), { recursive: true });
  writeFileSync(join(monas.workspace, name), text);
}
const browser = await startBrowser();

async function picture(page, name) {
  await page.waitForTimeout(700);
  const wire = await page.context().newCDPSession(page);
  const { data } = await wire.send("Page.captureScreenshot", { format: "webp", quality: 82 });
  writeFileSync(join(out, `${name}.webp`), Buffer.from(data, "base64"));
  await wire.detach();
}
const wide = { width: 1280, height: 800 };
const signIn = `${monas.page}#token=${token}`;
const light = await openPage(browser, signIn, { ...wide, theme: "light" });
const dark = await openPage(browser, signIn, { ...wide, theme: "dark" });
const phone = await openPage(browser, signIn, { width: 390, height: 844, theme: "dark" });
const { page } = light;
for (const it of [light, dark, phone]) await it.page.locator("h1").first().waitFor();
await page.locator("[data-composer]").waitFor();
await picture(page, "welcome");
await ask(page, "The release notes for 0.4 miss the new `--json` flag. Add it to the changelog, then run the tests.");
const card = page.getByRole("group", { name: /May I change/ });
await card.waitFor();
await page.locator("h1").focus();
await picture(page, "chat-question");
const place = new URL(page.url()).hash;
await phone.page.goto(monas.page + place);
await phone.page.getByRole("group", { name: /May I change/ }).waitFor();
await picture(phone.page, "chat-phone-dark");
await dark.page.goto(`${monas.page}#/questions`);
await dark.page.getByRole("group", { name: /May I change/ }).waitFor();
await picture(dark.page, "questions-dark");
await card.getByRole("button", { name: /^Edit line/ }).first().click();
await picture(page, "chat-edit-part");
await card.getByRole("button", { name: /^Undo the edit/ }).click();
await card.getByRole("button", { name: "Approve" }).click();
await page.getByRole("group", { name: /May I run/ }).getByRole("button", { name: "Approve" }).click();
await page.locator(".log").getByText("all three tests pass").first().waitFor();
await dark.page.goto(monas.page + place);
await dark.page.locator(".log").getByText("all three tests pass").first().waitFor();
await picture(dark.page, "chat-dark");
await page.getByRole("button", { name: "Share this conversation" }).click();
await page.getByRole("button", { name: "Make the link" }).click();
await page.getByLabel("Link", { exact: true }).waitFor();
await picture(page, "share");
await page.keyboard.press("Escape");

for (const content of ["Ada wants changelog entries in the imperative.", "The gauge at the mole is read every six minutes.", "Releases are made on Thursdays."]) {
  await monas.api("POST", "/api/memory/store", { content, reason: { confidence: 0.9, context: "release notes", why: "Ada said so while the release notes were written" } }, token);
}
/** Goes to a place, waits for something in it, and takes the picture. */
const view = async (to, name, seen, prepare = async () => {}, where = light) => {
  await where.page.goto(`${monas.page}#/${to}`);
  await seen(where.page).first().waitFor();
  await prepare(where.page);
  await picture(where.page, name);
};
await view("files/src/main.rs", "files", (it) => it.locator(".cm-content"));
await view("terminal", "terminal", (it) => it.getByRole("button", { name: "Open a terminal" }), async (it) => {
  await it.getByRole("button", { name: "Open a terminal" }).last().click();
  await it.getByText("you hold it").waitFor();
  await it.locator(".xterm-helper-textarea").focus();
  await until(async () => {
    await it.keyboard.type("sh test.sh\n");
    await it.waitForTimeout(1000);
    return /3 passed/.test(await it.locator("main").innerText());
  }, "the shell");
});
await view("tasks", "tasks", (it) => it.locator("main").getByText("The release notes"));
await view("memory", "memory", (it) => it.getByText("Ada wants changelog").first(), async (it) => { await it.getByText("Ada wants changelog").first().click(); });
await view("law", "law", (it) => it.getByText("What it perceives"));
await view("journal", "journal", (it) => it.getByText(/approved it/));
await view("journal", "journal-dark", (it) => it.getByText(/approved it/), async () => {}, dark);
await view("agents", "agents", (it) => it.getByText("Who asked whom"));
await view("wire", "wire", (it) => it.getByRole("button", { name: "This page’s own" }), async (it) => { await it.getByRole("button", { name: "This page’s own" }).click(); });
await view("settings", "settings", (it) => it.getByText("What you have allowed").last());
await browser.close();
await monas.stop();
process.exit(0);
