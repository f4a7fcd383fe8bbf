/** Reads memory: its counts, its records, and what a search finds. */
import { read } from "../../state/app.ts";
import { exported, found, type Kept } from "./records.ts";

/** What an audit counts. */
export interface Audit {
  clean: boolean;
  records: number;
  layers: Record<string, number>;
  contradictions: number;
  unsettled: number;
  duplicates: number;
  echoes: number;
  recall_loops: number;
  never_read: number;
  uncertain: number;
  hypotheses: number;
  forgotten: number;
  without_reason: number;
  embedded: number;
}

/** Most records that are listed without a question; the export of more would take too long. */
export const MOST_LISTED = 5_000;

/** The counts, and the records, the newest first; null if there are too many to list. */
export async function readMemory(agent: string | undefined): Promise<{ audit: Audit; records: Kept[] | null }> {
  const audit = (await read("getMemoryAudit", { agent })) as unknown as Audit;
  if (audit.records > MOST_LISTED) return { audit, records: null };
  const reply: unknown = audit.records === 0 ? "" : await read("getMemoryExport", { agent, format: "jsonl" });
  // One line alone is also JSON, and may have been read as such on its way.
  const lines = typeof reply === "string" ? reply : JSON.stringify(reply);
  const records: Kept[] = [];
  for (const line of lines.split("\n")) {
    const record = line === "" ? undefined : exported(line);
    if (record) records.push(record);
  }
  return { audit, records: records.reverse() };
}

/** What a search found. */
export interface Search {
  records: Kept[];
  entities: string[];
  /** What served it: words, or words and vectors with the name of the embedder. */
  retriever: string;
  took: number;
}

/** Searches without counting what was found as used: looking leaves no trace. */
export async function search(agent: string | undefined, query: string, layer: string | undefined): Promise<Search> {
  const began = performance.now();
  const asked = { agent, query, top_k: 30, noted: false, ...(layer ? { layers: [layer] } : {}) };
  const reply = await read("postMemoryQuery", asked);
  const retriever = (reply as { retriever?: unknown }).retriever;
  return {
    records: reply.sources.map(found),
    entities: [...reply.entities],
    retriever: typeof retriever === "string" ? retriever : "words",
    took: performance.now() - began,
  };
}
