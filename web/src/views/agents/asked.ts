/** Requests as the journals of the agents have them: who asked, which agent, what; and a picture of it. */
import type { JournalRecord } from "../../api/types.ts";

/** A request that an agent heard. */
export interface Asked {
  key: string;
  from: string;
  /** The one who asks is an agent of this server. */
  fromAgent: boolean;
  to: string;
  text: string;
  at: string;
  event: number;
  task?: string;
}

/** Reads a request out of a record of a journal; null if it is none. */
export function askedOf(record: JournalRecord, to: string): Asked | null {
  if (record.kind !== "heard") return null;
  const data = record.data as { caller?: unknown; from?: unknown; text?: unknown; turn?: unknown };
  const said = /^(.{1,200}?) asked: ([^]*)$/.exec(record.text);
  const caller = [data.caller, data.from, said?.[1]].find((it): it is string => typeof it === "string" && it !== "") ?? "anonymous";
  const text = typeof data.text === "string" ? data.text : (said?.[2] ?? record.text);
  const task = record.turn ?? (typeof data.turn === "string" ? data.turn : undefined);
  return { key: `${to}-${record.event}`, from: caller.replace(/^[a-z]+:/, "").split("#", 1)[0] || caller, fromAgent: caller.startsWith("agent:"), to, text, at: record.at, event: record.event, ...(task ? { task } : {}) };
}

export interface Node {
  id: string;
  agent: boolean;
  x: number;
  y: number;
}
export interface Edge {
  from: string;
  to: string;
  times: number;
}

/** Places people at the left, and agents by how many others are between them and the people. The same data give the same picture. */
export function picture(agents: readonly string[], asked: readonly Asked[], width: number, height: number): { nodes: Node[]; edges: Edge[] } {
  const edges = new Map<string, Edge>();
  for (const it of asked) {
    const key = JSON.stringify([it.fromAgent ? `agent:${it.from}` : it.from, it.to]);
    const edge = edges.get(key) ?? { from: it.fromAgent ? `agent:${it.from}` : `person:${it.from}`, to: `agent:${it.to}`, times: 0 };
    edge.times += 1;
    edges.set(key, edge);
  }
  const all = [...edges.values()].filter((it) => it.from !== it.to);
  const people = [...new Set(all.map((it) => it.from).filter((it) => it.startsWith("person:")))].sort().slice(0, 8);
  const depth = new Map<string, number>(agents.map((it) => [`agent:${it}`, all.some((edge) => edge.to === `agent:${it}` && edge.from.startsWith("agent:")) && !all.some((edge) => edge.to === `agent:${it}` && edge.from.startsWith("person:")) ? 2 : 1]));
  const columns = [people, ...[1, 2].map((level) => [...depth].filter(([, it]) => it === level).map(([it]) => it).sort())].filter((it) => it.length > 0);
  const nodes: Node[] = [];
  columns.forEach((column, at) => {
    const x = columns.length === 1 ? width / 2 : 70 + (at * (width - 140)) / (columns.length - 1);
    column.forEach((id, place) => nodes.push({ id, agent: id.startsWith("agent:"), x, y: ((place + 1) * height) / (column.length + 1) - 10 }));
  });
  const known = new Set(nodes.map((it) => it.id));
  return { nodes, edges: all.filter((it) => known.has(it.from) && known.has(it.to)) };
}
