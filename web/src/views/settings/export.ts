/** All that a caller may read, in one file: what was said, what is remembered, the law, the journal, the tasks. */
import { refusal } from "../../api/refusal.ts";
import { agents, read } from "../../state/app.ts";

export interface Progress {
  step: string;
  stopped: () => boolean;
}

/** A part that the caller may not read is left out, and named with the reason. */
export async function gather(told: (step: string) => void, stopped: () => boolean): Promise<Blob | null> {
  const left: Record<string, string> = {};
  const all: Record<string, unknown> = { format: "monas-export-1", made: new Date().toISOString() };
  const attempt = async <T>(name: string, work: () => Promise<T>): Promise<T | undefined> => {
    if (stopped()) return undefined;
    try {
      return await work();
    } catch (error) {
      left[name] = refusal(error).message;
      return undefined;
    }
  };
  told("who you are");
  all["you"] = await attempt("you", () => read("getSession", {}));
  const sessions: unknown[] = [];
  for (const archived of [undefined, true]) {
    const listed = await attempt("sessions", () => read("getSessions", archived ? { archived } : {}));
    for (const it of listed?.sessions ?? []) {
      if (stopped()) return null;
      if (sessions.some((one) => (one as { session_id: string }).session_id === it.session_id)) continue;
      told(`the conversation “${it.title}”`);
      const whole = await attempt(`session ${it.session_id}`, () => read("getSessionsByIdExport", { id: it.session_id, agent: it.agent, format: "json" }));
      sessions.push({ ...it, content: asData(whole) });
    }
  }
  all["sessions"] = sessions;
  const each: Record<string, unknown> = {};
  for (const { id } of agents.peek().length > 0 ? agents.peek() : [{ id: "default" }]) {
    if (stopped()) return null;
    const one: Record<string, unknown> = {};
    told(`the memory of ${id}`);
    one["memory"] = asData(await attempt(`memory of ${id}`, () => read("getMemoryExport", { agent: id })));
    told(`the law of ${id}`);
    one["law"] = await attempt(`law of ${id}`, () => read("getAgentLaw", { agent: id }));
    one["laws"] = (await attempt(`laws of ${id}`, () => read("getAgentLaws", { agent: id })))?.versions;
    one["grants"] = (await attempt(`grants of ${id}`, () => read("getGrants", { agent: id })))?.grants;
    one["changes"] = (await attempt(`changes of ${id}`, () => read("getFilesChanges", { agent: id, limit: 500 })))?.changes;
    const tasks: unknown[] = [];
    for (let after: string | undefined = ""; after !== undefined && !stopped(); ) {
      told(`the tasks of ${id}, ${tasks.length} so far`);
      const at: string = after;
      const page = await attempt(`tasks of ${id}`, () => read("getTasks", { agent: id, limit: 100, ...(at ? { after: at } : {}) }));
      tasks.push(...(page?.tasks ?? []));
      after = page?.next || undefined;
    }
    one["tasks"] = tasks;
    const events: unknown[] = [];
    for (let after: number | undefined = 0; after !== undefined && !stopped(); ) {
      told(`the journal of ${id}, ${events.length} events so far`);
      const at: number = after;
      const page = await attempt(`journal of ${id}`, () => read("getJournal", { agent: id, after: at, limit: 500 }));
      events.push(...(page?.events ?? []));
      const last = page?.events.at(-1)?.event;
      after = last !== undefined && last > at && page!.events.length > 0 && last < page!.last ? last : undefined;
    }
    one["journal"] = events;
    each[id] = one;
  }
  all["agents"] = each;
  told("links and keys, without their secrets");
  all["links"] = (await attempt("links", () => read("getCapabilities", {})))?.capabilities;
  all["keys"] = (await attempt("keys", () => read("getKeys", {})))?.keys;
  if (stopped()) return null;
  all["left_out"] = left;
  return new Blob([JSON.stringify(all, null, 2)], { type: "application/json" });
}

/** Data that came as text becomes data; lines of JSON become a list; other text stays. */
function asData(given: unknown): unknown {
  if (typeof given !== "string") return given;
  try {
    return JSON.parse(given) as unknown;
  } catch {
    const lines = given.split("\n").filter(Boolean);
    try {
      return lines.map((it) => JSON.parse(it) as unknown);
    } catch {
      return given;
    }
  }
}
