/** The address is the state: `#/journal/4137?agent=scout` names a place, what is shown there, and of which agent. */
import { computed, signal } from "@preact/signals";

export const PLACE_NAMES = ["chat", "questions", "files", "terminal", "tasks", "memory", "law", "journal", "agents", "wire", "settings"] as const;
export type PlaceName = (typeof PLACE_NAMES)[number];

/** Where the page is. */
export interface Route {
  place: PlaceName;
  /** What is shown there: a session, an event, a record. */
  id: string | undefined;
  query: URLSearchParams;
}

/** Reads a fragment. What is no place is the chat. */
export function readRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [place = "", ...rest] = path.split("/");
  const known = PLACE_NAMES.find((name) => name === place);
  let id: string | undefined = rest.join("/");
  try {
    id = decodeURIComponent(id);
  } catch {
    /* a stray percent sign: as it is */
  }
  return { place: known ?? "chat", id: known && id !== "" ? id : undefined, query: new URLSearchParams(query) };
}

/** The address of a place. Parameters without a value are left out. */
export function address(place: PlaceName, id?: string | number, query: Record<string, string | undefined> = {}): string {
  const agent = query["agent"] ?? (agentOf(route.peek()) || undefined);
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, agent })) if (value) given.set(name, value);
  const path = id === undefined || id === "" ? place : `${place}/${encodeURIComponent(String(id)).replace(/%2F/gi, "/")}`;
  return `#/${path}${given.size > 0 ? `?${given}` : ""}`;
}

export const route = signal<Route>(readRoute(location.hash));
const agentOf = (it: Route) => it.query.get("agent") ?? "";

/** The agent that the place is about; undefined is the default one. */
export const agent = computed<string | undefined>(() => agentOf(route.value) || undefined);

/** Goes to a place. `replace` leaves no step in the history, for what is no step of the reader. */
export function go(place: PlaceName, id?: string | number, query: Record<string, string | undefined> = {}, replace = false): void {
  goTo(address(place, id, query), replace);
}

export function goTo(hash: string, replace = false): void {
  if (replace) {
    history.replaceState(null, "", hash);
    route.value = readRoute(hash);
  } else if (location.hash !== hash) location.hash = hash;
}

addEventListener("hashchange", () => {
  // `#main` is the skip link, which is no place.
  if (location.hash === "#main") return;
  route.value = readRoute(location.hash);
});
