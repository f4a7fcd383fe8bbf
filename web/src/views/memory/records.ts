/** Records of memory, in one form: as the export lists them and as a search finds them. */
import type { MemoryRecord } from "../../api/types.ts";

/** The layers, the loosest first: key, name, how clearly it is held (the core of the sign), and what it is. */
export const LAYERS = [
  { key: "observation", name: "Observations", one: "observation", clear: 1, what: "The log: everything that was seen, in order." },
  { key: "working", name: "Working", one: "working", clear: 2, what: "Observations that matter now, because they were recalled." },
  { key: "hypothesis", name: "Hypotheses", one: "hypothesis", clear: 2, what: "Supposed by a source that is not sure." },
  { key: "belief", name: "Beliefs", one: "belief", clear: 3, what: "Held to be true, with a reason." },
  { key: "procedure", name: "Procedures", one: "procedure", clear: 4, what: "How something is done, with a reason." },
  { key: "axiom", name: "Axioms", one: "axiom", clear: 5, what: "What the agent starts from; it cannot change them." },
] as const;

export const clearOf = (layer: string): number => LAYERS.find((it) => it.key === layer)?.clear ?? 1;

/** Why a record is kept. */
export interface Reason {
  source: string;
  confidence: number;
  /** Which question it answers. */
  context: string;
  why: string;
}

/** A record as the page shows it. */
export interface Kept {
  id: string;
  text: string;
  kind: string;
  layer: string;
  recorded: number | string;
  occurred?: number | string | undefined;
  source?: string | undefined;
  speaker?: string | undefined;
  session?: string | undefined;
  task?: string | undefined;
  owner?: string | undefined;
  everybody: boolean;
  uses: number;
  lastUsed?: number | undefined;
  lastQuestion?: string | undefined;
  reason?: Reason | undefined;
  doubt?: { id: string; because: string } | undefined;
  support: { source: string; at?: number | undefined }[];
  from: { id: string; source?: string | undefined }[];
  /** How sure it is now; a belief that is not used fades. */
  confidence?: number | undefined;
  score?: number | undefined;
  parts: Part[];
}

/** A part of a score: the sign that it comes from, and how much it adds or takes. */
export interface Part {
  sign: string;
  part: number;
}

type Fields = Record<string, unknown>;
const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const fields = (value: unknown): Fields => (value !== null && typeof value === "object" ? (value as Fields) : {});
const items = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fields) : []);
const moment = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

function reasonOf(value: unknown): Reason | undefined {
  const given = fields(value);
  if (text(given["source"]) === undefined) return undefined;
  return {
    source: String(given["source"]),
    confidence: Number(given["confidence"] ?? 0),
    context: text(given["context"]) ?? "",
    why: text(given["why"]) ?? "",
  };
}

const supportOf = (value: unknown) => items(value).map((it) => ({ source: String(it["source"] ?? ""), at: moment(it["at"]) }));

/** A record that a search found. */
export function found(record: MemoryRecord): Kept {
  return {
    id: record.id,
    text: record.content,
    kind: record.type,
    layer: record.layer,
    recorded: record.recorded_at,
    occurred: record.occurred_at,
    source: record.source,
    speaker: record.speaker,
    session: record.session_id,
    task: record.task_id,
    owner: record.owner,
    everybody: record.public === true,
    uses: record.uses,
    reason: reasonOf(record.reason),
    doubt: record.contradicted_by ? { id: String(record.contradicted_by["id"] ?? ""), because: String(record.contradicted_by["because"] ?? "") } : undefined,
    support: supportOf(record.support),
    from: items(record.provenance).map((it) => ({ id: String(it["id"] ?? ""), source: text(it["source"]) })),
    confidence: record.confidence,
    score: record.score,
    parts: items(record.explanation).map((it) => ({ sign: String(it["sign"] ?? ""), part: Number(it["part"] ?? 0) })),
  };
}

/** A line of the export. */
export function exported(line: string): Kept | undefined {
  let given: Fields;
  try {
    given = fields(JSON.parse(line));
  } catch {
    return undefined;
  }
  if (text(given["id"]) === undefined) return undefined;
  const standing = given["standing"];
  const kept = fields(fields(standing)["kept"]);
  const certainty = kept["certainty"];
  const doubt = fields(fields(certainty)["uncertain"]);
  const usage = fields(given["usage"]);
  const reason = reasonOf(kept["reason"]);
  let layer = "observation";
  if (fields(standing)["working"]) layer = "working";
  else if (reason) layer = certainty === "hypothesis" ? "hypothesis" : (text(kept["layer"]) ?? "belief");
  return {
    id: String(given["id"]),
    text: text(given["text"]) ?? "",
    kind: text(given["type"]) ?? "",
    layer,
    recorded: Number(given["recorded"] ?? 0),
    occurred: moment(given["occurred"]),
    source: reason?.source ?? text(given["source"]) ?? text(given["speaker"]),
    speaker: text(given["speaker"]),
    session: text(given["session"]),
    task: text(given["task"]),
    owner: text(given["owner"]),
    everybody: given["public"] === true,
    uses: Number(usage["times"] ?? 0),
    lastUsed: moment(usage["last"]),
    lastQuestion: text(usage["question"]),
    reason,
    doubt: text(doubt["against"]) ? { id: String(doubt["against"]), because: text(doubt["because"]) ?? "" } : undefined,
    support: supportOf(kept["support"]),
    from: (Array.isArray(kept["from"]) ? kept["from"] : []).map((id) => ({ id: String(id) })),
    confidence: reason?.confidence,
    parts: [],
  };
}
