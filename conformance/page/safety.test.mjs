// Foreign text does nothing: script, handlers, links, fences, escape sequences, turned writing, hidden characters.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { before, test } from "node:test";
import { ask, endWith, Monas, openPage, startBrowser } from "./harness.mjs";
import { startModel } from "./model.mjs";

let browser;
before(async () => { browser = await startBrowser(); });

/** A server that counts what it is asked for; nothing may ask it. */
async function counter() {
  let asked = 0;
  const server = createServer((_, response) => { asked++; response.end(); });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  endWith(() => new Promise((resolve) => server.close(resolve)));
  return { url: `http://127.0.0.1:${server.address().port}`, asked: () => asked };
}

const bad = (url) => [
  `<script>fetch("${url}/script")</script>`, `<img src=x onerror="fetch('${url}/handler')">`, `![pixel](${url}/pixel.png)`, `<iframe src="${url}/frame"></iframe>`,
  `[click](javascript:fetch('${url}/js'))`, `<a href="javascript:alert(1)">x</a>`, `<svg onload=alert(1)>`, `<style>@import "${url}/style"</style>`, `<form action="${url}/form"><input name=a></form>`,
  "```\n</code></pre><script>alert(1)</script>\n```", "\u001b]52;c;c2VjcmV0\u0007\u001b[31mred", "user\u202egnp.exe", "tag\u{e0100}ged", `<object data="${url}/o">`, `<meta http-equiv=refresh content="0;url=${url}/m">`,
].join("\n\n");

test("malicious text of a model, a file, a command and a title does nothing", async () => {
  const count = await counter();
  const evil = bad(count.url);
  const name = "x\u202e<img src=x onerror=alert(1)>.md";
  const model = await startModel([
    { reasoning: evil, text: evil, calls: [{ name: "file-write", arguments: { path: "notes.md", content: evil } }, { name: "terminal-run", arguments: { command: "echo \u202e hidden; echo '<b>x</b>'" } }] },
    { text: evil }, { text: evil },
  ]);
  const monas = await Monas.start({ model });
  mkdirSync(join(monas.workspace, "docs"));
  writeFileSync(join(monas.workspace, name), evil);
  writeFileSync(join(monas.workspace, "docs", "a.md"), evil);
  const { page, trouble, close } = await openPage(browser, monas.page);
  await ask(page, `look at this: ${evil}`);
  const cards = page.locator(".ask.open");
  await cards.first().waitFor();
  // The hidden character is spelled out, approving is not the main button, and nothing lasting can be granted.
  const command = page.getByRole("group", { name: /May I run/ });
  await page.locator(".hid").first().waitFor();
  for (const card of await cards.all()) {
    await card.getByRole("button", { name: "Approve it as it is" }).waitFor();
    assert.equal(await card.locator(".b.main").count(), 0);
    assert.equal(await card.getByLabel("in this conversation").isDisabled(), true);
  }
  while ((await cards.count()) > 0) {
    const card = cards.first();
    const id = await card.getAttribute("data-question");
    await card.getByRole("button", { name: "Approve it as it is" }).click();
    await page.locator(`[data-question="${id}"].done`).waitFor();
  }
  await page.locator(".prose").last().waitFor();
  if ((await command.count()) > 0) assert.match(await command.first().locator("pre").first().innerText(), /\\u\{202e\}/);
  for (const place of ["questions", "files", "memory", "journal", "tasks", "agents", "wire", "law", "settings", "terminal"]) {
    await page.goto(`${monas.page}#/${place}`);
    await page.locator("h1").waitFor();
    await page.waitForTimeout(400);
  }
  await page.goto(`${monas.page}#/files/docs/a.md`);
  await page.waitForTimeout(1_000);
  const found = (await trouble()).filter((it) => !it.startsWith("script-src-attr"));
  assert.deepEqual(found, []);
  assert.equal(count.asked(), 0);
  assert.equal(await page.evaluate(() => document.querySelectorAll("script:not([src]), iframe, object, .prose img, .prose form, .prose style").length), 0);
});

test("every place keeps to the content security policy, in the header and in what it does", async () => {
  const monas = await Monas.start();
  const reply = await fetch(monas.page);
  const policy = reply.headers.get("content-security-policy") ?? "";
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /require-trusted-types-for 'script'/);
  assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval|https?:/);
  const { page, trouble, close } = await openPage(browser, monas.page);
  await ask(page, "create notes.md with hello");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Approved.").waitFor();
  for (const place of ["chat", "questions", "files", "files/notes.md", "terminal", "tasks", "memory", "law", "journal", "agents", "wire", "settings"]) {
    await page.goto(`${monas.page}#/${place}`);
    await page.locator("h1").waitFor();
    await page.waitForTimeout(700);
    assert.deepEqual(await trouble(), [], place);
  }
});

test("the page works below a path", async () => {
  const below = await Monas.start();
  // A proxy that adds a path: the server is told its public address, and the page is asked for below it.
  const { createServer: http, request } = await import("node:http");
  const proxy = http((from, to) => {
    const inner = request(new URL(from.url.replace(/^\/monas/, "") || "/", below.url), { method: from.method, headers: from.headers }, (reply) => { to.writeHead(reply.statusCode, reply.headers); reply.pipe(to); });
    inner.on("error", () => to.destroy());
    from.pipe(inner);
  });
  proxy.on("upgrade", (from, socket, head) => {
    const inner = request(new URL(from.url.replace(/^\/monas/, ""), below.url), { headers: from.headers });
    // The page closes its socket as it likes.
    for (const it of [inner, socket]) it.on("error", () => socket.destroy());
    inner.on("upgrade", (reply, other) => {
      other.on("error", () => socket.destroy());
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${Object.entries(reply.headers).map(([key, value]) => `${key}: ${value}\r\n`).join("")}\r\n`);
      other.pipe(socket).pipe(other);
      if (head.length > 0) other.write(head);
    });
    inner.end();
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  endWith(() => new Promise((resolve) => { proxy.close(resolve); proxy.closeAllConnections(); }));
  const address = `http://127.0.0.1:${proxy.address().port}/monas/`;
  await below.kill();
  below.arguments.push("--public-url", address.slice(0, -1));
  await below.run();
  const { page, trouble, close } = await openPage(browser, address);
  await page.getByRole("heading", { name: "Monas is awake." }).waitFor();
  await ask(page, "remember that it works below a path");
  await page.locator(".prose").getByText("I will remember").waitFor();
  await page.goto(`${address}#/settings`);
  await page.locator("h1").waitFor();
  assert.deepEqual(await trouble(), []);
});
