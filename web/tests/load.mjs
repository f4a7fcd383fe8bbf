// Loads modules of the page for tests: they are TypeScript, so they are bundled first, into the memory of this process.
import { join } from "node:path";
import { rolldown } from "rolldown";

/** The exports of a module below `src` that needs no document. */
export async function load(path) {
  const bundle = await rolldown({ input: join(import.meta.dirname, "..", "src", path), logLevel: "silent" });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  return await import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString("base64")}`);
}
