// The cost of the page for a reader, by `cargo xtask bench page`: prints one JSON object with the figures of every subject.
//
//     MONAS_PROGRAM=... node bench.mjs [--rounds 7] [--peer FOLDER]
//
// The peer is the built front end of Open WebUI, as it lies in its wheel, served from memory with gzip. It asks its server
// for its settings before it shows anything; those answers are given by hand, so that it gets as far as its sign-in.
import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { gzipSync } from "node:zlib";
import { ask, endWith, Monas, openPage, startBrowser, until } from "./harness.mjs";
import { startLarge } from "./large.mjs";

const option = (name, otherwise) => { const at = process.argv.indexOf(name); return at < 0 ? otherwise : process.argv[at + 1]; };
const rounds = Number(option("--rounds", "7"));
const peer = option("--peer", "");
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1] ?? null;
const percentile = (list, part) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * part))] ?? null;
const round = (value) => (value === null ? null : Math.round(value * 10) / 10);

const browser = await startBrowser();

/** A new window whose cache is empty, and what came over its wire. */
async function fresh(slow = 1) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const wire = await context.newCDPSession(page);
  await wire.send("Network.enable");
  await wire.send("Network.setCacheDisabled", { cacheDisabled: true });
  await wire.send("Performance.enable");
  if (slow > 1) await wire.send("Emulation.setCPUThrottlingRate", { rate: slow });
  const seen = { bytes: 0, requests: 0 };
  wire.on("Network.loadingFinished", (it) => { seen.bytes += it.encodedDataLength; seen.requests += 1; });
  await page.addInitScript(() => {
    window.__long = [];
    new PerformanceObserver((list) => { for (const it of list.getEntries()) window.__long.push(it.duration); }).observe({ entryTypes: ["longtask"] });
  });
  return { context, page, wire, seen };
}

/** Loads an address several times: bytes, first paint, and when `usable` is there, from the navigation on. */
async function loads(url, usable, slow) {
  const paints = [], usables = [], tasks = [];
  let bytes = 0, requests = 0;
  for (let at = 0; at < rounds; at++) {
    const { context, page, seen } = await fresh(slow);
    await page.goto(url, { waitUntil: "commit" });
    await page.locator(usable).first().waitFor();
    usables.push(await page.evaluate(() => performance.now()));
    await page.waitForLoadState("networkidle").catch(() => {});
    paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null));
    tasks.push(await page.evaluate(() => window.__long.reduce((sum, it) => sum + it, 0)));
    [bytes, requests] = [seen.bytes, seen.requests];
    await context.close();
  }
  return { bytes, requests, first_paint: round(median(paints.filter((it) => it !== null))), usable: round(median(usables)), long_tasks: round(median(tasks)) };
}

async function heap(wire) {
  await wire.send("HeapProfiler.collectGarbage");
  const { metrics } = await wire.send("Performance.getMetrics");
  return metrics.find((it) => it.name === "JSHeapUsedSize").value;
}

/** The time from each key to the frame that shows it. */
async function keys(page, field, count) {
  await page.locator(field).first().focus();
  await page.evaluate((selector) => {
    window.__keys = [];
    document.querySelector(selector).addEventListener("keydown", () => {
      const began = performance.now();
      requestAnimationFrame(() => { const channel = new MessageChannel(); channel.port1.onmessage = () => window.__keys.push(performance.now() - began); channel.port2.postMessage(0); });
    });
  }, field);
  for (let at = 0; at < count; at++) {
    await page.keyboard.press("abcdefghij"[at % 10]);
    await page.waitForTimeout(40);
  }
  await until(() => page.evaluate((wanted) => window.__keys.length >= wanted, count), "all keys");
  const times = await page.evaluate(() => window.__keys);
  return { key_p95: round(percentile(times, 0.95)), key_worst: round(Math.max(...times)) };
}

const figures = { rounds, chromium: browser.version() };

// The first load: the real program, open, so that nothing is asked for.
const monas = await Monas.start({ keep: true });
figures.first = await loads(`${monas.url}/`, "[data-composer]", 1);
figures.slow = await loads(`${monas.url}/`, "[data-composer]", 4);
{
  const { context, page, wire } = await fresh();
  await page.goto(`${monas.url}/`);
  await page.locator("[data-composer]").waitFor();
  await ask(page, "hello");
  await page.locator(".prose").first().waitFor();
  figures.small = { heap: await heap(wire), elements: await page.evaluate(() => document.querySelectorAll("*").length), ...(await keys(page, "[data-composer]", 60)) };
  await context.close();
}
await monas.stop();

// The long conversation and the long journal.
const large = await startLarge();
endWith(large.stop, true);
{
  const { context, page, wire } = await fresh();
  await page.goto(large.chat, { waitUntil: "commit" });
  await page.locator(".log").getByText("Answer 9999.").waitFor();
  const opened = await page.evaluate(() => performance.now());
  figures.conversation = { opened: round(opened), heap: await heap(wire), elements: await page.locator(".log").evaluate((it) => it.querySelectorAll("*").length), ...(await keys(page, "[data-composer]", 60)) };
  await page.evaluate(() => { window.__long = []; });
  const stream = large.stream(200);
  await until(() => stream.sent() > 200, "the stream");
  const typed = await keys(page, "[data-composer]", 120);
  const long = await page.evaluate(() => window.__long);
  stream.end();
  figures.stream = { tokens: stream.sent(), ...typed, long_tasks: long.length, longest: round(Math.max(0, ...long)) };
  await context.close();
}
{
  const { context, page, wire } = await fresh();
  await page.goto(large.journal, { waitUntil: "commit" });
  await page.getByText("event 50000:").first().waitFor();
  const opened = await page.evaluate(() => performance.now());
  for (let step = 0; step < 20; step++) {
    await page.locator("main .vlist").evaluate((it) => { it.parentElement.scrollTop = it.parentElement.scrollHeight; });
    await page.waitForTimeout(60);
  }
  figures.journal = { opened: round(opened), heap: await heap(wire), elements: await page.locator("main .vlist").evaluate((it) => it.querySelectorAll("*").length), ...(await keys(page, "main header input", 40)) };
  await context.close();
}
await large.stop();

if (peer !== "") {
  const { url, stop } = await servePeer(peer);
  figures.peer = await loads(url, "input, textarea, button", 1);
  figures.peer_slow = await loads(url, "input, textarea, button", 4);
  await stop();
}
await browser.close();
process.stdout.write(`${JSON.stringify(figures)}\n`);
process.exit(0);

/** The files of Open WebUI, packed as its server packs them, and the two answers without which it shows nothing. */
async function servePeer(folder) {
  const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2", ".wasm": "application/wasm" };
  const packed = new Map();
  const config = { status: true, name: "Open WebUI", version: "0", default_locale: "en-US", oauth: { providers: {} }, features: { auth: true, auth_trusted_header: false, enable_signup: true, enable_login_form: true, enable_websocket: false, enable_signup_password_confirmation: false, enable_ldap: false } };
  const http = createServer((from, to) => {
    const path = normalize(new URL(from.url, "http://x").pathname);
    if (path === "/api/config") return void to.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(config));
    if (path.startsWith("/api/") || path.startsWith("/ws/") || path.startsWith("/ollama/")) return void to.writeHead(401, { "content-type": "application/json" }).end("{}");
    let file = join(folder, path);
    if (!file.startsWith(folder) || !existsSync(file) || statSync(file).isDirectory()) file = join(folder, "index.html");
    const headers = { "content-type": TYPES[extname(file)] ?? "application/octet-stream" };
    if (/\.(html|js|css|json|svg|wasm)$/.test(file)) {
      if (!packed.has(file)) packed.set(file, gzipSync(readFileSync(file)));
      return void to.writeHead(200, { ...headers, "content-encoding": "gzip" }).end(packed.get(file));
    }
    to.writeHead(200, headers);
    createReadStream(file).pipe(to);
  });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${http.address().port}/`, stop: () => new Promise((resolve) => { http.close(resolve); http.closeAllConnections(); }) };
}
