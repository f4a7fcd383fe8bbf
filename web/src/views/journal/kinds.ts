/** The kinds of events: how they are shown, and which filter they belong to. */
import type { IconName } from "../../ui/icons.tsx";

/** Filters: what is read of an agent's life. */
export const FILTERS = [
  { key: "requests", name: "Requests" },
  { key: "thoughts", name: "Thoughts" },
  { key: "calls", name: "Calls" },
  { key: "questions", name: "Questions" },
  { key: "memory", name: "Memory" },
  { key: "law", name: "Law" },
  { key: "itself", name: "Itself" },
] as const;
export type Filter = (typeof FILTERS)[number]["key"];

interface Look {
  icon: IconName;
  /** The class of the row, which gives the icon its colour: ask, th, do, ok, no. */
  tone: "" | "ask" | "th" | "do" | "ok" | "no";
  filter: Filter;
}

const LOOKS: Record<string, Look> = {
  heard: { icon: "chat", tone: "", filter: "requests" },
  clarified: { icon: "chat", tone: "", filter: "questions" },
  cancelled: { icon: "stop", tone: "no", filter: "requests" },
  closed: { icon: "ok", tone: "", filter: "requests" },
  recalled: { icon: "mem", tone: "", filter: "memory" },
  thought: { icon: "bolt", tone: "th", filter: "thoughts" },
  done: { icon: "ok", tone: "do", filter: "calls" },
  called: { icon: "term", tone: "do", filter: "calls" },
  did: { icon: "term", tone: "do", filter: "calls" },
  failed: { icon: "no", tone: "no", filter: "calls" },
  wanted: { icon: "ask", tone: "ask", filter: "questions" },
  asked: { icon: "ask", tone: "ask", filter: "questions" },
  answered: { icon: "hand", tone: "ok", filter: "questions" },
  decided: { icon: "hand", tone: "ok", filter: "questions" },
  revoked: { icon: "lock", tone: "", filter: "questions" },
  remembered: { icon: "mem", tone: "", filter: "memory" },
  storing: { icon: "mem", tone: "", filter: "memory" },
  stored: { icon: "mem", tone: "", filter: "memory" },
  forgot: { icon: "mem", tone: "no", filter: "memory" },
  proposed: { icon: "law", tone: "th", filter: "law" },
  tested: { icon: "law", tone: "", filter: "law" },
  weighed: { icon: "law", tone: "", filter: "law" },
  reflected: { icon: "law", tone: "th", filter: "law" },
  retested: { icon: "law", tone: "", filter: "law" },
  ruled: { icon: "law", tone: "ok", filter: "law" },
  "rolled-back": { icon: "undo", tone: "", filter: "law" },
  accepted: { icon: "law", tone: "ok", filter: "law" },
  born: { icon: "agents", tone: "", filter: "itself" },
  enabled: { icon: "agents", tone: "", filter: "itself" },
  described: { icon: "agents", tone: "", filter: "itself" },
  paused: { icon: "pause", tone: "", filter: "itself" },
  resumed: { icon: "play", tone: "", filter: "itself" },
  ticked: { icon: "clock", tone: "", filter: "itself" },
  begun: { icon: "clock", tone: "", filter: "itself" },
  broken: { icon: "no", tone: "no", filter: "itself" },
};
const OTHER: Look = { icon: "more", tone: "", filter: "itself" };

export const lookOf = (kind: string): Look => LOOKS[kind] ?? OTHER;

/** The kinds of some filters, as the server takes them; none is all. */
export function kindsOf(filters: ReadonlySet<Filter>): string[] {
  return filters.size === 0 ? [] : Object.entries(LOOKS).filter(([, look]) => filters.has(look.filter)).map(([kind]) => kind);
}

/** The filters that an address names. */
export function filtersOf(named: string | null): Set<Filter> {
  const words = (named ?? "").split(",");
  return new Set(FILTERS.map((it) => it.key).filter((it) => words.includes(it)));
}
