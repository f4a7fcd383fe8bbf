// Finds the address of an agent by its card.

import { DiscoveryError } from "./errors.js";
import type { AgentCard } from "./types.js";

/** The names of A2A over Cap'n Web in a card. */
const BINDINGS = ["urn:monas:a2a:binding:capnweb:1", "CAPNWEB"];

/** The path of the card on the agent's server. */
const WELL_KNOWN = "/.well-known/agent-card.json";

/**
 * Fetches the card of an agent.
 *
 * @param at The address of its server, with the path that it is below if there is one, or of the card itself if it ends with
 * `.json`.
 */
export async function discover(at: string, get: typeof fetch = fetch): Promise<AgentCard> {
  const url = at.endsWith(".json") ? at : at.replace(/\/+$/, "") + WELL_KNOWN;
  let response: Response;
  try {
    response = await get(url, { headers: { Accept: "application/json" } });
  } catch (error) {
    throw new DiscoveryError(`no card at ${url}`, error);
  }
  if (!response.ok) throw new DiscoveryError(`no card at ${url}: status ${response.status}`);
  try {
    return (await response.json()) as AgentCard;
  } catch (error) {
    throw new DiscoveryError(`the reply of ${url} is not a card`, error);
  }
}

/** The address of Cap'n Web in a card; it begins with `http`. */
export function addressOf(card: AgentCard): string {
  const ways = card.supportedInterfaces ?? [];
  const way = ways.find((way) => BINDINGS.includes(way.protocolBinding));
  if (way === undefined) {
    const others = ways.map((way) => way.protocolBinding).join(", ") || "nothing";
    throw new DiscoveryError(`${card.name} does not offer Cap'n Web, only ${others}`);
  }
  return way.url.replace(/^ws/, "http");
}
