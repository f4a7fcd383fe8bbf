// Drives an A2A server with the unmodified official JavaScript client of version 0.3.
//
//     node driver.mjs BASE-URL [--binding JSONRPC] [--only NAME]
//
// Prints one JSON line for each scenario and binding, as the driver of 1.0 does; what each scenario
// checks stands in ../README.md.
import { parseArgs } from "node:util";
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import * as scenarios from "./scenarios.mjs";

/** A scenario that waits longer than this waits for something that will not come. */
const DEADLINE_MS = 30_000;

const TRANSPORTS = {
  "JSONRPC": () => new JsonRpcTransportFactory(),
  "HTTP+JSON": () => new RestTransportFactory(),
  "GRPC": () => new GrpcTransportFactory(),
};

const { values: options, positionals: [base] } = parseArgs({
  allowPositionals: true,
  options: {
    binding: { type: "string", multiple: true, default: Object.keys(TRANSPORTS) },
    only: { type: "string", multiple: true },
  },
});

for (const binding of options.binding) {
  const card = await new DefaultAgentCardResolver().resolve(base);
  const offered = card.additionalInterfaces.some(({ transport }) => transport === binding);
  if (!offered) continue;
  // It knows one transport only, so that it must choose that interface of the card.
  const client = await new ClientFactory({ transports: [TRANSPORTS[binding]()] }).createFromAgentCard(card);
  for (const [name, scenario] of Object.entries(scenarios)) {
    const told = name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
    if (options.only && !options.only.includes(told)) continue;
    const detail = await attempt(scenario, client, binding);
    console.log(JSON.stringify({ name: told, binding, ok: detail === "", detail }));
  }
}
// A stream that a failed scenario left open would keep the process alive.
process.exit(0);

/** Runs one scenario. What it throws is the server's failure, told in one line; "" if all went well. */
async function attempt(scenario, client, binding) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end after ${DEADLINE_MS / 1000} s`)), DEADLINE_MS);
  });
  try {
    await Promise.race([scenario(client, binding), late]);
    return "";
  } catch (error) {
    const line = `${error.name}: ${error.message}`.replace(/\s+/g, " ");
    return line.length <= 400 ? line : `${line.slice(0, 400)} …`;
  } finally {
    clearTimeout(timer);
  }
}
