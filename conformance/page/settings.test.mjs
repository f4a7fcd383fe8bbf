// Settings: models that are tried before they are kept, people, keys, links, grants, secrets, the look, and the export.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { ask, Monas, openPage, startBrowser, until } from "./harness.mjs";
import { startModel } from "./model.mjs";

let browser, monas, token;
before(async () => {
  browser = await startBrowser();
  monas = await Monas.start({ open: false, keep: true });
  monas.command("user", "add", "ada", "--role", "admin");
  token = monas.command("token", "--user", "ada");
});
const admin = async (section = "") => {
  const opened = await openPage(browser, `${monas.page}#token=${token}`);
  await opened.page.locator("h1").first().waitFor();
  if (section !== "chat") await opened.page.goto(`${monas.page}#/settings${section && `/${section}`}`);
  return opened;
};
const part = (page, name) => page.locator(`#set-${name}`);
const api = (verb, path, body, as = token) => monas.api(verb, path, body, as);

test("a person is added, signs in with the link once, gets another role, and is removed", async () => {
  const { page, trouble } = await admin("people");
  const here = part(page, "people");
  await here.getByRole("button", { name: "Add a person…" }).click();
  await here.getByRole("textbox", { name: "Name", exact: true }).fill("carl");
  await here.getByRole("button", { name: "Add", exact: true }).click();
  const link = await here.locator(".once code").innerText();
  const theirs = await openPage(browser, new URL(new URL(link).hash, monas.page).href);
  await theirs.page.locator("[data-composer]").waitFor();
  assert.ok(!theirs.page.url().includes("link="), "the link is taken out of the address");
  const again = await openPage(browser, new URL(new URL(link).hash, monas.page).href);
  await again.page.getByText(/used already/).waitFor();
  await here.getByRole("combobox", { name: "Role of carl" }).selectOption("viewer");
  await until(async () => (await api("GET", "/api/users")).value.users.find((it) => it.name === "carl")?.role === "viewer", "the server has the role");
  await here.getByRole("button", { name: "Remove… carl" }).click();
  await here.getByRole("button", { name: "Remove, with all keys carl" }).click();
  await until(async () => !(await api("GET", "/api/users")).value.users.some((it) => it.name === "carl"), "the user is gone");
  await theirs.page.locator("[data-composer]").waitFor({ state: "detached" });
  assert.deepEqual(await trouble(), []);
});

test("a key is shown once, works, and ends when it is revoked", async () => {
  const { page } = await admin("keys");
  const here = part(page, "keys");
  await here.getByRole("button", { name: "Make a key…" }).click();
  await here.getByRole("textbox", { name: "Name of the key" }).fill("report");
  await here.getByRole("combobox", { name: "What the key allows" }).selectOption("read-only");
  await here.getByRole("button", { name: "Make the key" }).click();
  const key = await here.locator(".once code").innerText();
  assert.equal((await api("GET", "/api/agents", undefined, key)).status, 200);
  assert.equal((await api("POST", "/api/agent/pause", {}, key)).status, 403);
  await here.getByRole("button", { name: "I have it" }).click();
  assert.ok(!(await page.content()).includes(key));
  await here.getByRole("button", { name: "Revoke… report" }).click();
  await here.getByRole("button", { name: "Revoke for good report" }).click();
  await until(async () => (await api("GET", "/api/agents", undefined, key)).status === 401, "the key has ended");
});

test("a link lets one look and not act, is listed as used, and ends also where it is open", async () => {
  writeFileSync(join(monas.workspace, "look.md"), "to look at\n");
  const { page, trouble } = await admin("links");
  const here = part(page, "links");
  await here.getByRole("button", { name: "Make a link…" }).click();
  await here.getByRole("textbox", { name: "For" }).fill("ben <img src=x onerror=alert(1)>");
  await here.getByRole("button", { name: "Make the link" }).click();
  const link = await here.locator(".once code").innerText();
  const theirs = await openPage(browser, new URL(new URL(link).hash, monas.page).href);
  await theirs.page.locator("h1").first().waitFor();
  await theirs.page.goto(`${monas.page}#/files`);
  await theirs.page.locator(".tree").getByText("look.md").waitFor();
  const lent = new URL(link).hash.replace("#token=", "");
  assert.equal((await api("PUT", "/api/files/content", { path: "x.md", content: "x" }, decodeURIComponent(lent))).status, 403);
  await page.reload();
  await here.getByText(/ben <img/).waitFor();
  await here.getByText(/last used/).first().waitFor();
  await here.getByRole("button", { name: /^End it: ben/ }).click();
  await until(async () => (await api("GET", "/api/agents", undefined, decodeURIComponent(lent))).status === 401, "the link has ended");
  await theirs.page.locator(".tree").waitFor({ state: "detached" });
  assert.deepEqual(await trouble(), []);
});

test("what was allowed is listed, and asks again when it is revoked", async () => {
  const { page } = await admin("chat");
  await ask(page, "create one.md with hello");
  const scope = page.getByRole("radio", { name: /conversation/ }).first();
  await scope.waitFor();
  await scope.check();
  await page.waitForTimeout(700);
  await page.getByRole("button", { name: /^Approve/ }).first().click();
  await until(async () => (await api("GET", "/api/grants")).value.grants.length > 0, "the grant is there");
  await page.goto(`${monas.page}#/settings/allowed`);
  await part(page, "allowed").getByRole("button", { name: /^Revoke: file-write/ }).first().click();
  await until(async () => (await api("GET", "/api/grants")).value.grants.length === 0, "the grant has ended");
  await part(page, "allowed").getByText("Nothing is allowed in advance.").waitFor();
});

test("a secret is kept sealed and never shown", async () => {
  const { page } = await admin("secrets");
  const here = part(page, "secrets");
  await here.getByRole("button", { name: "Add a secret…" }).click();
  await here.getByRole("textbox", { name: "Name of the secret" }).fill("weather");
  await here.getByLabel("Value of the secret").fill("s3cr3t-value");
  await here.getByRole("button", { name: "Keep it" }).click();
  await here.getByText("weather", { exact: true }).waitFor();
  assert.ok((await api("GET", "/api/secrets")).value.secrets.some((it) => it.name === "weather"));
  assert.ok(!(await page.content()).includes("s3cr3t-value"));
  await here.getByRole("button", { name: "Remove… weather" }).click();
  await here.getByRole("button", { name: "Remove for good weather" }).click();
  await until(async () => !(await api("GET", "/api/secrets")).value.secrets.some((it) => it.name === "weather"), "it is removed");
});

test("the look is kept in the browser, and single letters can be switched off", async () => {
  const { page } = await admin("look");
  const here = part(page, "look");
  await here.getByRole("group", { name: "Colours" }).getByRole("button", { name: "Dark" }).click();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await here.getByRole("group", { name: "Single-letter keys" }).getByRole("button", { name: "Off" }).click();
  await page.reload();
  await here.waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.locator("h1").focus();
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await page.waitForTimeout(200);
  assert.match(page.url(), /settings/);
});

test("the export has what the caller may read, and no secret", async () => {
  const stored = await api("POST", "/api/memory/store", { content: "Ada likes rope." });
  assert.equal(stored.status, 200, JSON.stringify(stored.value));
  const { page } = await admin("export");
  const [download] = await Promise.all([page.waitForEvent("download"), part(page, "export").getByRole("button", { name: "Export" }).click()]);
  const text = readFileSync(await download.path(), "utf8");
  const all = JSON.parse(text);
  assert.equal(all.format, "monas-export-1");
  assert.ok(text.includes("Ada likes rope."), JSON.stringify([all.left_out, all.agents.default.memory]));
  assert.ok(all.agents.default.journal.length > 0);
  assert.ok(!text.includes(token) && !/monas-(key|link)-/.test(text));
});

test("those without the permission are not offered people and secrets, and see what is theirs", async () => {
  const theirs = monas.command("token", "--user", "eve", "--role", "viewer");
  const { page, trouble } = await openPage(browser, `${monas.page}#token=${theirs}`);
  await page.locator("h1").first().waitFor();
  await page.goto(`${monas.page}#/settings`);
  await part(page, "you").getByText("eve", { exact: true }).waitFor();
  await part(page, "keys").getByText("No keys.").waitFor();
  assert.equal(await part(page, "people").count(), 0);
  assert.equal(await part(page, "secrets").count(), 0);
  assert.deepEqual(await trouble(), []);
});

test("a model with a wrong key is not kept; one that answers is", async () => {
  const model = await startModel([{ text: "yes" }, { text: "yes" }, { text: "yes" }]);
  model.key.wanted = "right";
  const { page, trouble } = await admin("model");
  const here = part(page, "model");
  await here.getByRole("button", { name: /^(Choose|Change)…$/ }).click();
  await here.getByRole("combobox", { name: "Provider" }).selectOption("openai");
  await here.getByRole("textbox", { name: "Model" }).fill("small");
  await here.getByRole("textbox", { name: "Address" }).fill(model.url);
  await here.getByLabel("Key", { exact: true }).fill("wrong");
  await here.getByRole("button", { name: "Try it, then keep it" }).click();
  await here.getByText("The model from before is still in use").waitFor();
  assert.notEqual((await api("GET", "/api/model")).value.name, "small");
  await here.getByLabel("Key", { exact: true }).fill("right");
  await here.getByRole("button", { name: "Try it, then keep it" }).click();
  await here.getByText("in use", { exact: true }).waitFor();
  const { value } = await api("GET", "/api/model");
  assert.deepEqual([value.name, value.has_key, value.from], ["small", true, "kept"]);
  assert.ok(!JSON.stringify(value).includes("right"), "the key is not told");
  assert.ok(!(await page.content()).includes("right\""), "the key does not stay on the page");
  assert.deepEqual(await trouble(), []);
});
