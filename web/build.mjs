// Builds the page into `dist` (or the folder that is given) and writes `manifest.json`: the hash of each file, and of all.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "vite";

const out = resolve(process.argv[2] ?? "dist");
process.chdir(import.meta.dirname);
process.env.MONAS_PAGE_OUT = out;
await build({ logLevel: "warn" });

const files = {};
for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const path = join(entry.parentPath, entry.name);
  files[path.slice(out.length + 1).replaceAll("\\", "/")] = createHash("sha256").update(readFileSync(path)).digest("hex");
}
const names = Object.keys(files).sort();
const all = createHash("sha256");
for (const name of names) all.update(`${name} ${files[name]}\n`);
const manifest = { build: all.digest("hex").slice(0, 16), files: Object.fromEntries(names.map((name) => [name, files[name]])) };
writeFileSync(join(out, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
