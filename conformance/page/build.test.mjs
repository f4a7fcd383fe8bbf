// What is committed is what the sources give, is small enough, and keeps to the rules of the page.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const web = join(import.meta.dirname, "../../web");
const files = (folder) => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((it) => it.isFile()).map((it) => join(it.parentPath, it.name).slice(folder.length + 1)).sort();
const read = (path) => readFileSync(join(web, path), "utf8");

test("a build gives the committed files, byte for byte", () => {
  if (!existsSync(join(web, "node_modules"))) {
    const ended = spawnSync("npm", ["ci"], { cwd: web, encoding: "utf8" });
    assert.equal(ended.status, 0, ended.stderr);
  }
  const out = mkdtempSync(join(tmpdir(), "monas-build-"));
  const ended = spawnSync(process.execPath, ["build.mjs", out], { cwd: web, encoding: "utf8", env: { ...process.env, TZ: "Pacific/Auckland", LANG: "de_DE.UTF-8" } });
  assert.equal(ended.status, 0, ended.stderr);
  const how = "run `npm ci && npm run build` in web/ and commit web/dist";
  assert.deepEqual(files(out), files(join(web, "dist")), how);
  for (const name of files(out)) assert.ok(readFileSync(join(out, name)).equals(readFileSync(join(web, "dist", name))), `${name} differs: ${how}`);
  rmSync(out, { recursive: true });
});

test("the first load is at most 120 KB compressed, its script 90, its style 12, its HTML 4", () => {
  const html = read("dist/index.html");
  const named = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map((it) => it[1]);
  const size = (path) => gzipSync(readFileSync(join(web, "dist", path)), { level: 9 }).length;
  // What the first files import by themselves is part of the first load.
  const all = new Set(named);
  for (const path of all) for (const [, next] of (path.endsWith(".js") ? readFileSync(join(web, "dist", path), "utf8") : "").matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) all.add(`assets/${next}`);
  const sum = (end) => [...all].filter((it) => it.endsWith(end)).reduce((total, it) => total + size(it), 0);
  const [script, style, page] = [sum(".js"), sum(".css"), size("index.html")];
  console.log(`first load: script ${script}, style ${style}, html ${page} bytes compressed`);
  assert.ok(script <= 90_000, `script ${script}`);
  assert.ok(style <= 12_000, `style ${style}`);
  assert.ok(page <= 4_000, `html ${page}`);
  assert.ok(script + style + page <= 120_000);
  assert.ok(![...all].some((it) => /editor|xterm|force/.test(it)), [...all].join(" "));
});

test("the lock names all platforms of the bundler and no host", () => {
  const lock = read("package-lock.json");
  assert.equal((lock.match(/"node_modules\/@rolldown\/binding-/g) ?? []).length, 16);
  assert.doesNotMatch(lock, /"resolved"/);
  for (const [name, wanted] of Object.entries({ ...JSON.parse(read("package.json")).dependencies, ...JSON.parse(read("package.json")).devDependencies })) assert.match(wanted, /^\d+\.\d+\.\d+$/, `${name} has no exact version`);
});

test("one file makes HTML, and the page needs nothing from elsewhere", () => {
  for (const name of files(join(web, "src"))) {
    const source = read(join("src", name));
    if (name !== "html.ts") assert.doesNotMatch(source, /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write/, name);
    assert.doesNotMatch(source, /\beval\(|new Function\(/, name);
  }
  assert.doesNotMatch(read("dist/index.html"), /https?:(?!\/\/www\.w3\.org)/);
  assert.doesNotMatch(read("dist/index.html"), /<script(?![^>]*src=)|\sstyle=|\son[a-z]+=/);
});
