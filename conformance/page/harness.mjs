// Starts the program and the browser for the tests of the page, and looks at what the server holds.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach } from "node:test";
import { chromium } from "playwright-core";

// What a test started ends with it, also when it fails; what was started with `keep` ends with the file.
const ends = { test: [], file: [] };
const endAll = async (list) => { for (const end of list.splice(0).reverse()) await end().catch(() => {}); };
afterEach(() => endAll(ends.test));
after(() => endAll(ends.file));
/** Has something end with the test, or with the file. */
export const endWith = (end, keep = false) => { (keep ? ends.file : ends.test).push(end); };

export const program = process.env.MONAS_PROGRAM;
assert.ok(program, "MONAS_PROGRAM names the program to test");
const chromiumPath = process.env.MONAS_CHROMIUM ?? "/usr/bin/chromium";

/** How long a test waits for something before it gives up; generous, because the machine may be busy. */
export const PATIENCE = 60_000;

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A server of its own: a home, a data folder, a workspace, and a port that stays over restarts. */
export class Monas {
  static async start({ model, open = true, keep = false, arguments: more = [], env = {} } = {}) {
    const it = new Monas();
    endWith(() => it.stop(), keep);
    it.home = mkdtempSync(join(tmpdir(), "monas-page-"));
    it.data = join(it.home, "data");
    it.workspace = join(it.home, "work");
    mkdirSync(it.workspace);
    it.port = await freePort();
    it.url = `http://127.0.0.1:${it.port}`;
    it.arguments = ["--data", it.data, "--workspace", it.workspace, "--listen", `127.0.0.1:${it.port}`, ...(open ? ["--open"] : []), ...more];
    it.env = { PATH: process.env.PATH, HOME: it.home, MONAS_RATE_LIMIT: "off", MONAS_LOG: "info,monas::call=off", ...env };
    if (model) Object.assign(it.env, { MONAS_MODEL_NAME: "openai:small", MONAS_MODEL_URL: model.url, MONAS_MODEL_KEY: "test" });
    await it.run();
    return it;
  }

  /** Starts the process, and waits until it listens. */
  async run() {
    this.process = spawn(program, this.arguments, { env: this.env, stdio: ["ignore", "pipe", "pipe"] });
    this.log = "";
    this.process.stderr.on("data", (text) => { this.log = (this.log + text).slice(-20_000); });
    this.ended = new Promise((resolve) => this.process.once("exit", resolve));
    await new Promise((resolve, reject) => {
      let said = "";
      const timer = setTimeout(() => reject(new Error(`it did not start:\n${this.log}`)), PATIENCE);
      this.process.stdout.on("data", (text) => {
        said += text;
        if (said.includes("monas listens on")) { clearTimeout(timer); resolve(); }
      });
      this.process.once("exit", () => { clearTimeout(timer); reject(new Error(`it ended:\n${this.log}`)); });
    });
    this.page = process.env.MONAS_PAGE_BRIDGE ? await bridge(this) : `${this.url}/`;
  }

  /** Ends the process at once, as a crash would. */
  async kill() {
    this.bridge?.kill();
    this.process.kill("SIGKILL");
    await this.ended;
  }

  async stop() {
    this.bridge?.kill();
    if (this.process && this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill("SIGTERM");
      await this.ended;
    }
    rmSync(this.home, { recursive: true, force: true });
  }

  /** Calls the REST API. */
  async api(verb, path, body, token) {
    const headers = { ...(body ? { "content-type": "application/json" } : {}), ...(token ? { authorization: `Bearer ${token}` } : {}) };
    const reply = await fetch(new URL(path, this.url), { method: verb, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    const text = await reply.text();
    let value = text;
    try { value = JSON.parse(text); } catch { /* not JSON */ }
    return { status: reply.status, value };
  }

  /** Runs a command of the program against this server's data, and gives what it printed. */
  command(...words) {
    const ended = spawnSync(program, words, { env: { ...this.env, MONAS_DATA: this.data, MONAS_URL: this.url }, encoding: "utf8" });
    assert.equal(ended.status, 0, `${words.join(" ")}: ${ended.stderr}`);
    return ended.stdout.trim();
  }

  file(name) {
    return readFileSync(join(this.workspace, name), "utf8");
  }
}

/** For development of the tests alone: a server without the door, behind the door of web/dev. */
async function bridge(monas) {
  const port = monas.bridgePort ??= await freePort();
  monas.bridge?.kill();
  monas.bridge = spawn(process.execPath, [join(import.meta.dirname, `../../web/dev/${process.env.MONAS_PAGE_BRIDGE}.mjs`), monas.url, String(port)], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => monas.bridge.stdout.once("data", resolve));
  return `http://127.0.0.1:${port}/`;
}

/** The browser; one for all tests of a file, with a new profile for each context. */
export async function startBrowser() {
  const browser = await chromium.launch({
    executablePath: chromiumPath,
    args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run", "--font-render-hinting=none", "--force-color-profile=srgb"],
  });
  endWith(() => browser.close(), true);
  return browser;
}

/**
 * Opens the page in a new profile. What it must never do is collected: errors, broken rules of the content security policy,
 * dialogs, and requests to another host. `trouble()` gives them.
 */
export async function openPage(browser, url, { width = 1440, height = 900, theme = "light", context } = {}) {
  const own = context ?? await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce", permissions: ["clipboard-read", "clipboard-write"] });
  if (!context) endWith(() => own.close());
  const page = await own.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.setDefaultNavigationTimeout(PATIENCE);
  const trouble = [];
  const host = new URL(url).host;
  page.on("pageerror", (error) => trouble.push(`error: ${error.stack ?? error}`));
  page.on("dialog", (dialog) => { trouble.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  page.on("request", (request) => { const to = new URL(request.url()); if (/^(http|ws)/.test(to.protocol) && to.host !== host) trouble.push(`request to ${to}`); });
  await page.addInitScript(() => {
    window.__violations = [];
    document.addEventListener("securitypolicyviolation", (e) => window.__violations.push(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile ?? ""}:${e.lineNumber ?? ""}`));
  });
  await page.goto(url, { timeout: PATIENCE });
  return {
    page,
    context: own,
    trouble: async () => [...trouble, ...(await page.evaluate(() => window.__violations).catch(() => []))],
    close: () => own.close(),
  };
}

/** Writes into the composer and sends it. */
export async function ask(page, text) {
  await page.locator("[data-composer]").fill(text);
  await page.keyboard.press("Enter");
}

/** Waits until something holds. */
export async function until(holds, what = "it") {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const value = await holds();
    if (value) return value;
    if (Date.now() > end) throw new Error(`${what} did not happen in time`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until something has had the same value for a second: what is on its way has come. */
export async function settled(read, what = "it") {
  let last = JSON.stringify(await read());
  let since = Date.now();
  await until(async () => {
    const value = JSON.stringify(await read());
    if (value !== last) [last, since] = [value, Date.now()];
    return Date.now() - since > 1000;
  }, `${what}: an end of changes`);
}
