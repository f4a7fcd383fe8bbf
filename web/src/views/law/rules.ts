/** The law as rows: a sentence of the server for each rule, with its place, its values, and the version that it comes from. */
import type { Fields, Json, LawVersion } from "../../api/types.ts";
import type { IconName } from "../../ui/icons.tsx";

/** A rule in words. */
export interface Rule {
  /** Its place, as a proposal names it: `memory.rules[0]`. */
  path: string;
  says: string;
  value: Json;
  frozen: boolean;
  /** Shown at the right: its one number or word, if there is one that says most. */
  short?: string | undefined;
}

/** Rules of one kind. */
export interface Section {
  title: string;
  icon: IconName;
  /** What counts when several fit. */
  hint?: string | undefined;
  rules: Rule[];
}

interface Kind {
  path: string;
  /** The title of the server's text; sentences of the kind stand below it. */
  of: string;
  title: string;
  icon: IconName;
  hint?: string;
  short?: string;
}

const KINDS: Kind[] = [
  { path: "frozen", of: "Axioms and safety", title: "Frozen", icon: "lock", hint: "Only an accepted manifest changes these." },
  { path: "update", of: "Perceptions", title: "What it perceives", icon: "eye", hint: "The first rule that fits counts.", short: "confidence" },
  { path: "belief_conflict", of: "Contradicting beliefs", title: "Beliefs that contradict each other", icon: "wire", short: "contradiction" },
  { path: "memory.rules", of: "Memory", title: "What becomes memory", icon: "mem", hint: "The first rule that fits counts.", short: "condition.min_confidence" },
  { path: "goal_priority", of: "Priorities", title: "What comes first", icon: "up", hint: "The first rule that fits counts.", short: "priority" },
  { path: "goal_conflict", of: "Requests against goals", title: "Requests against its goals", icon: "no", short: "then" },
  { path: "skill_selection", of: "Skills", title: "Skills", icon: "term", hint: "The last rule that fits counts.", short: "then" },
  { path: "agent_choice", of: "Other agents", title: "Other agents", icon: "agents", short: "trust" },
  { path: "clarification", of: "Questions", title: "When it asks", icon: "ask" },
  { path: "decomposition", of: "Limits of a request", title: "Limits of a request", icon: "task" },
  { path: "attention", of: "Limits of the agent", title: "Limits of the agent", icon: "clock" },
  { path: "timers", of: "Timers", title: "By the clock", icon: "clock", short: "every" },
  { path: "idle", of: "When idle", title: "When it has nothing to do", icon: "pause" },
  { path: "procedures", of: "Procedures", title: "Procedures", icon: "task" },
];

/** The value at a path such as `memory.rules[0].condition`. */
export function valueAt(law: unknown, path: string): Json | undefined {
  let value: unknown = law;
  for (const name of path.split(/[.[\]]+/).filter(Boolean)) {
    if (value === null || typeof value !== "object") return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value as Json | undefined;
}

/** A value in one line. */
export function short(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : String(Number(value.toFixed(4)));
  return JSON.stringify(value) ?? "";
}

/** The sentences of the server's text, by the title that they stand below. */
function sentences(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let lines: string[] = [];
  const titles = KINDS.map((it) => it.of);
  for (const line of text.split("\n")) {
    const title = titles.find((it) => line === it || line.startsWith(`${it} (`));
    if (title && !found.has(title)) found.set(title, (lines = []));
    else if (line.startsWith("  - ")) lines.push(line.slice(4));
    else if (line !== "" && lines.length > 0) lines[lines.length - 1] += `\n${line}`;
  }
  return found;
}

/** The rows of a law. A sentence is only used if there are as many as there are rules, so that none stands beside another's values. */
export function sections(law: Fields, text: string): Section[] {
  const said = sentences(text);
  const shown: Section[] = [];
  for (const kind of KINDS) {
    const value = valueAt(law, kind.path);
    const frozen = kind.path === "frozen";
    const places: [string, Json][] = [];
    if (frozen) {
      for (const list of ["axioms", "never", "always_ask"]) {
        const items = valueAt(law, `frozen.${list}`);
        if (Array.isArray(items)) items.forEach((it, at) => places.push([`frozen.${list}[${at}]`, it]));
      }
      const rest = Object.fromEntries(Object.entries((value ?? {}) as Fields).filter(([, it]) => !Array.isArray(it)));
      places.push(["frozen", rest as Json]);
    } else if (Array.isArray(value)) value.forEach((it, at) => places.push([`${kind.path}[${at}]`, it]));
    else if (value !== null && value !== undefined) places.push([kind.path, value]);
    const words = said.get(kind.of) ?? [];
    const fits = words.length === places.length;
    const rules = places.map(([path, it], at): Rule => {
      const brief = kind.short ? valueAt(it, kind.short) : undefined;
      return { path, says: (fits ? words[at] : undefined) ?? short(it), value: it, frozen, short: brief === undefined ? undefined : short(brief) };
    });
    if (kind.path === "memory.rules") {
      const layers = valueAt(law, "memory.layers");
      if (layers) rules.push({ path: "memory.layers", says: "how records move between the layers of memory, and when they fade", value: layers, frozen: false });
    }
    if (rules.length > 0) shown.push({ title: kind.title, icon: kind.icon, hint: kind.hint, rules });
  }
  return shown;
}

/** The values of a rule, each with its place. */
export function leaves(path: string, value: Json): [path: string, value: Json][] {
  if (value !== null && typeof value === "object" && !Array.isArray(value)) {
    return Object.entries(value).flatMap(([name, it]) => leaves(`${path}.${name}`, it));
  }
  return [[path, value]];
}

/** Most versions that are looked through for where a rule comes from. */
const LOOKED_THROUGH = 30;

/** The version that brought each rule of the newest law: the first of those in a row, up to now, that have it as it is. */
export async function origins(lawOf: (version: number) => Promise<Fields>, versions: readonly LawVersion[], newest: readonly Section[]): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const last = versions.at(-1)?.version ?? 1;
  for (const section of newest) for (const rule of section.rules) found.set(rule.path, last);
  const open = new Set(found.keys());
  for (let version = last - 1; version >= 1 && last - version <= LOOKED_THROUGH && open.size > 0; version--) {
    const law = await lawOf(version);
    for (const section of newest) {
      for (const rule of section.rules) {
        if (!open.has(rule.path)) continue;
        if (has(law, rule)) found.set(rule.path, version);
        else open.delete(rule.path);
      }
    }
  }
  return found;
}

/** Whether a law has a rule as it is; in a list its place may be another. */
function has(law: Fields, rule: Rule): boolean {
  const wanted = JSON.stringify(rule.value);
  const item = /^(.*)\[\d+\]$/.exec(rule.path);
  if (item) {
    const list = valueAt(law, item[1]!);
    return Array.isArray(list) && list.some((it) => JSON.stringify(it) === wanted);
  }
  if (rule.path === "frozen") {
    const rest = Object.fromEntries(Object.entries((valueAt(law, "frozen") ?? {}) as Fields).filter(([, it]) => !Array.isArray(it)));
    return JSON.stringify(rest) === wanted;
  }
  return JSON.stringify(valueAt(law, rule.path)) === wanted;
}

/** A line of a diff: `place: old -> new`, where either may be missing. */
export interface ChangedLine {
  place: string;
  was?: string | undefined;
  now?: string | undefined;
}

export function changedLine(line: string): ChangedLine {
  const colon = line.indexOf(": ");
  if (colon < 0) return { place: line };
  const place = line.slice(0, colon);
  const rest = line.slice(colon + 2);
  if (rest.startsWith("-> ")) return { place, now: rest.slice(3) };
  if (rest.endsWith(" ->")) return { place, was: rest.slice(0, -3) };
  const arrow = rest.indexOf(" -> ");
  return arrow < 0 ? { place, now: rest } : { place, was: rest.slice(0, arrow), now: rest.slice(arrow + 4) };
}

/** Reads what was typed as a value: a number, a list and the like as data, `+= 0.1` and words as text. */
export function typedValue(typed: string): Json {
  const text = typed.trim();
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
