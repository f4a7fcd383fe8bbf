// Drives an A2A server with the unmodified official JavaScript client, over each binding its card offers.
//
//     node driver.mjs BASE-URL [--binding JSONRPC] [--only NAME] [--held PREFIX]
//
// Prints one JSON line for each scenario and binding: {"name", "binding", "ok", "detail"}. What each
// scenario checks stands in ../README.md. The exit code says whether the run itself worked, not
// whether the server passed.
import { parseArgs } from "node:util";
import { BINDINGS, Probe } from "./probe.mjs";
import { SCENARIOS } from "./scenarios/index.mjs";

/** A scenario that waits longer than this waits for something that will not come. */
const DEADLINE_MS = 30_000;

const { values: options, positionals: [base] } = parseArgs({
  allowPositionals: true,
  options: {
    binding: { type: "string", multiple: true, default: BINDINGS },
    only: { type: "string", multiple: true },
    held: { type: "string", default: "tck-cancel" },
  },
});

for (const binding of options.binding) {
  const probe = await Probe.reach(base, binding, options.held);
  for (const [name, scenario] of SCENARIOS) {
    if (options.only && !options.only.includes(name)) continue;
    if (!(scenario.bindings ?? BINDINGS).includes(binding)) continue;
    const detail = await attempt(scenario, probe);
    console.log(JSON.stringify({ name, binding, ok: detail === "", detail }));
  }
  probe.close();
}
// A stream that a failed scenario left open would keep the process alive.
process.exit(0);

/** Runs one scenario. What it throws is the server's failure, told in one line; "" if all went well. */
async function attempt(scenario, probe) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end after ${DEADLINE_MS / 1000} s`)), DEADLINE_MS);
  });
  try {
    await Promise.race([scenario(probe), late]);
    return "";
  } catch (error) {
    const line = `${error.name}: ${error.message}`.replace(/\s+/g, " ");
    return line.length <= 400 ? line : `${line.slice(0, 400)} …`;
  } finally {
    clearTimeout(timer);
  }
}
