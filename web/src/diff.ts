/**
 * Changes of a text, as data: reading a unified diff, putting it side by side with the words that differ, taking a part of
 * it, and writing one. Pure functions; the parts that draw a change are in views/questions.
 */

/** A line of a hunk. */
export interface DiffLine {
  kind: "same" | "was" | "now";
  text: string;
  /** The line has no line end: it is the last of its file. */
  open?: boolean;
}

/** A group of lines that changed together, with a few lines around them. */
export interface Hunk {
  oldStart: number;
  newStart: number;
  /** What stands behind the second @@. */
  section: string;
  lines: DiffLine[];
}

/** A change of one file. `from` or `to` is null for a file that does not exist. */
export interface FileDiff {
  from: string | null;
  to: string | null;
  hunks: Hunk[];
}

const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;
const path = (line: string): string | null => {
  const name = line.slice(4).split("\t", 1)[0]!;
  return name === "/dev/null" ? null : name.replace(/^[ab]\//, "");
};

/** Reads a unified diff of one file. Null: the text is none. */
export function parseDiff(text: string): FileDiff | null {
  const lines = text.split("\n");
  let at = lines.findIndex((line, index) => line.startsWith("--- ") && (lines[index + 1] ?? "").startsWith("+++ "));
  if (at < 0) return null;
  const diff: FileDiff = { from: path(lines[at]!), to: path(lines[at + 1]!), hunks: [] };
  at += 2;
  while (at < lines.length) {
    const header = HEADER.exec(lines[at]!);
    if (!header) {
      at++;
      continue;
    }
    const hunk: Hunk = { oldStart: Number(header[1]), newStart: Number(header[3]), section: header[5] ?? "", lines: [] };
    let olds = Number(header[2] ?? 1);
    let news = Number(header[4] ?? 1);
    at++;
    while (at < lines.length && (olds > 0 || news > 0 || lines[at]!.startsWith("\\"))) {
      const line = lines[at]!;
      if (line.startsWith("\\")) {
        const last = hunk.lines.at(-1);
        if (last) last.open = true;
      } else if (line.startsWith("-")) {
        hunk.lines.push({ kind: "was", text: line.slice(1) });
        olds--;
      } else if (line.startsWith("+")) {
        hunk.lines.push({ kind: "now", text: line.slice(1) });
        news--;
      } else {
        hunk.lines.push({ kind: "same", text: line.slice(1) });
        olds--;
        news--;
      }
      at++;
    }
    diff.hunks.push(hunk);
  }
  return diff;
}

/** A part of a line; `changed` is what differs from the other side. */
export interface Word {
  text: string;
  changed: boolean;
}

/** A row of a change that is shown side by side. A side that has no line there is null. */
export interface Row {
  oldNumber: number | null;
  was: Word[] | null;
  newNumber: number | null;
  now: Word[] | null;
  same: boolean;
}

/** The rows of a hunk: lines that were and lines that are now stand beside each other. */
export function rowsOf(hunk: Hunk): Row[] {
  const rows: Row[] = [];
  let oldNumber = hunk.oldStart;
  let newNumber = hunk.newStart;
  const plain = (text: string): Word[] => [{ text, changed: false }];
  for (let at = 0; at < hunk.lines.length; ) {
    const line = hunk.lines[at]!;
    if (line.kind === "same") {
      rows.push({ oldNumber: oldNumber++, was: plain(line.text), newNumber: newNumber++, now: plain(line.text), same: true });
      at++;
      continue;
    }
    const was: string[] = [];
    const now: string[] = [];
    while (at < hunk.lines.length && hunk.lines[at]!.kind !== "same") {
      const { kind, text } = hunk.lines[at++]!;
      (kind === "was" ? was : now).push(text);
    }
    for (let row = 0; row < Math.max(was.length, now.length); row++) {
      const [a, b] = [was[row], now[row]];
      const [left, right] = a !== undefined && b !== undefined ? wordsOf(a, b) : [a === undefined ? null : plain(a), b === undefined ? null : plain(b)];
      rows.push({ oldNumber: a === undefined ? null : oldNumber++, was: left, newNumber: b === undefined ? null : newNumber++, now: right, same: false });
    }
  }
  return rows;
}

/** Two lines with the words that differ marked; lines that have little in common are not marked word by word. */
export function wordsOf(was: string, now: string): [Word[], Word[]] {
  const plain: [Word[], Word[]] = [[{ text: was, changed: false }], [{ text: now, changed: false }]];
  if (was.length > 2_000 || now.length > 2_000) return plain;
  const split = (text: string) => text.match(/\s+|[\p{L}\p{N}_]+|[^]/gu) ?? [];
  const [a, b] = [split(was), split(now)];
  const kept = common(a, b);
  const shared = kept.reduce((sum, [at]) => sum + (a[at]!.trim() === "" ? 0 : a[at]!.length), 0);
  if (shared * 3 < Math.min(was.trim().length, now.trim().length)) return plain;
  const mark = (words: string[], same: Set<number>): Word[] => {
    const marked: Word[] = [];
    words.forEach((text, at) => {
      const changed = !same.has(at);
      const last = marked.at(-1);
      if (last && last.changed === changed) last.text += text;
      else marked.push({ text, changed });
    });
    return marked;
  };
  return [mark(a, new Set(kept.map(([at]) => at))), mark(b, new Set(kept.map(([, at]) => at)))];
}

/** The places of a longest common subsequence of two lists. Long lists are compared from both ends and by halves no further than needed. */
export function common<T>(a: readonly T[], b: readonly T[]): [number, number][] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const pairs: [number, number][] = [];
  for (let at = 0; at < start; at++) pairs.push([at, at]);
  const [rows, columns] = [a.length - start - end, b.length - start - end];
  if (rows > 0 && columns > 0 && rows * columns <= 4_000_000) {
    const width = columns + 1;
    const lengths = new Uint32Array((rows + 1) * width);
    for (let i = rows - 1; i >= 0; i--) {
      for (let j = columns - 1; j >= 0; j--) {
        lengths[i * width + j] = a[start + i] === b[start + j] ? lengths[(i + 1) * width + j + 1]! + 1 : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
      }
    }
    for (let i = 0, j = 0; i < rows && j < columns; ) {
      if (a[start + i] === b[start + j]) pairs.push([start + i++, start + j++]);
      else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) i++;
      else j++;
    }
  }
  for (let at = end; at > 0; at--) pairs.push([a.length - at, b.length - at]);
  return pairs;
}

/** The lines of a text, each with its line end. */
function linesOf(text: string): string[] {
  return text === "" ? [] : (text.match(/[^\n]*\n|[^\n]+$/g) ?? []);
}

const ended = (line: DiffLine): string => (line.open ? line.text : `${line.text}\n`);

/** The text of a person in place of the new lines of hunks, by the place of the hunk. */
export type HunkEdits = ReadonlyMap<number, string>;
const NONE: HunkEdits = new Map();

/** The lines of a hunk as they would be, for an edit; the line end of the last one is left out. */
export const newLines = (hunk: Hunk): string => hunk.lines.filter((it) => it.kind !== "was").map((it) => it.text).join("\n");

/**
 * The new text with only some hunks taken, and some of these edited: what was left out becomes again as it was. It begins
 * from the new text, so the old one is not needed. Null: the diff does not belong to this text.
 */
export function takeHunks(newText: string, hunks: readonly Hunk[], taken: ReadonlySet<number>, edits: HunkEdits = NONE): string | null {
  const lines = linesOf(newText);
  const parts: string[] = [];
  let from = 0;
  for (const [at, hunk] of hunks.entries()) {
    const news = hunk.lines.filter((it) => it.kind !== "was");
    const begin = Math.max(0, news.length === 0 ? hunk.newStart : hunk.newStart - 1);
    if (begin < from) return null;
    parts.push(...lines.slice(from, begin));
    const there = lines.slice(begin, begin + news.length);
    if (there.length !== news.length || there.some((line, index) => line.replace(/\r?\n$/, "") !== news[index]!.text.replace(/\r$/, ""))) return null;
    const edit = edits.get(at);
    if (!taken.has(at)) parts.push(...hunk.lines.filter((it) => it.kind !== "now").map(ended));
    else if (edit === undefined) parts.push(...there);
    else if (edit !== "") parts.push(news.at(-1)?.open ? edit : `${edit}\n`);
    from = begin + news.length;
  }
  parts.push(...lines.slice(from));
  return parts.join("");
}

/** The hunks that are taken, with the edited ones in place of what was proposed. */
export function editHunks(hunks: readonly Hunk[], taken: ReadonlySet<number>, edits: HunkEdits): Hunk[] {
  const made: Hunk[] = [];
  let grown = 0;
  for (const [at, hunk] of hunks.entries()) {
    if (!taken.has(at)) continue;
    const olds = hunk.lines.filter((it) => it.kind !== "now");
    const open = hunk.lines.at(-1)?.open;
    const edit = edits.get(at);
    const news = edit === undefined ? [] : edit === "" ? [] : edit.split("\n");
    const lines: DiffLine[] = edit === undefined ? hunk.lines : [
      ...olds.map((it): DiffLine => ({ ...it, kind: "was" })),
      ...news.map((text, line): DiffLine => ({ kind: "now", text, ...(open && line === news.length - 1 ? { open } : {}) })),
    ];
    const count = lines.filter((it) => it.kind !== "was").length;
    const first = olds.length === 0 ? hunk.oldStart + 1 : hunk.oldStart;
    made.push({ ...hunk, lines, newStart: first + grown - (count === 0 ? 1 : 0) });
    grown += count - olds.length;
  }
  return made;
}

/** The text after a diff. Null: a hunk does not fit where it says. */
export function applyDiff(oldText: string, hunks: readonly Hunk[]): string | null {
  const lines = linesOf(oldText);
  const parts: string[] = [];
  let from = 0;
  for (const hunk of hunks) {
    const olds = hunk.lines.filter((it) => it.kind !== "now");
    const begin = Math.max(0, olds.length === 0 ? hunk.oldStart : hunk.oldStart - 1);
    if (begin < from) return null;
    const there = lines.slice(begin, begin + olds.length);
    if (there.length !== olds.length || there.some((line, index) => line.replace(/\r?\n$/, "") !== olds[index]!.text.replace(/\r$/, ""))) return null;
    parts.push(...lines.slice(from, begin), ...hunk.lines.filter((it) => it.kind !== "was").map(ended));
    from = begin + olds.length;
  }
  parts.push(...lines.slice(from));
  return parts.join("");
}

/** The hunks between two texts, with three lines around each. */
export function diffOf(oldText: string, newText: string, around = 3): Hunk[] {
  const [a, b] = [linesOf(oldText), linesOf(newText)];
  const all: (DiffLine & { a: number; b: number })[] = [];
  let [i, j] = [0, 0];
  const add = (kind: DiffLine["kind"], raw: string) => {
    const open = !raw.endsWith("\n");
    all.push({ kind, text: open ? raw : raw.slice(0, -1), ...(open ? { open } : {}), a: i, b: j });
  };
  for (const [x, y] of [...common(a, b), [a.length, b.length] as [number, number]]) {
    for (; i < x; i++) add("was", a[i]!);
    for (; j < y; j++) add("now", b[j]!);
    if (x < a.length) {
      add("same", a[x]!);
      i++;
      j++;
    }
  }
  const hunks: Hunk[] = [];
  for (let at = 0; at < all.length; at++) {
    if (all[at]!.kind === "same") continue;
    let end = at;
    for (let next = at; next < all.length && next <= end + 2 * around + 1; next++) if (all[next]!.kind !== "same") end = next;
    const from = Math.max(0, at - around);
    const to = Math.min(all.length, end + 1 + around);
    const lines = all.slice(from, to);
    const olds = lines.filter((it) => it.kind !== "now").length;
    const news = lines.filter((it) => it.kind !== "was").length;
    hunks.push({
      oldStart: olds === 0 ? lines[0]!.a : lines[0]!.a + 1,
      newStart: news === 0 ? lines[0]!.b : lines[0]!.b + 1,
      section: "",
      lines: lines.map(({ kind, text, open }) => ({ kind, text, ...(open ? { open } : {}) })),
    });
    at = to - 1;
  }
  return hunks;
}

/** A diff as text. */
export function writeDiff(name: string, hunks: readonly Hunk[]): string {
  const out = [`--- a/${name}`, `+++ b/${name}`];
  for (const hunk of hunks) {
    const olds = hunk.lines.filter((it) => it.kind !== "now").length;
    const news = hunk.lines.filter((it) => it.kind !== "was").length;
    out.push(`@@ -${hunk.oldStart},${olds} +${hunk.newStart},${news} @@`);
    for (const line of hunk.lines) {
      out.push(`${line.kind === "same" ? " " : line.kind === "was" ? "-" : "+"}${line.text}`);
      if (line.open) out.push("\\ No newline at end of file");
    }
  }
  return `${out.join("\n")}\n`;
}

/** What a hunk does, in a few words. */
export function hunkWords(hunk: Hunk): string {
  const was = hunk.lines.filter((it) => it.kind === "was");
  const now = hunk.lines.filter((it) => it.kind === "now");
  const first = (lines: DiffLine[]) => lines.map((it) => it.text.trim()).find((it) => it !== "") ?? "";
  const cut = (text: string) => (text.length > 60 ? `${text.slice(0, 59)}…` : text);
  if (was.length === 0) return `add ${first(now) === "" ? "an empty line" : `“${cut(first(now))}”`}${now.length > 1 ? ` and ${now.length - 1} more` : ""}`;
  if (now.length === 0) return `remove ${first(was) === "" ? "an empty line" : `“${cut(first(was))}”`}${was.length > 1 ? ` and ${was.length - 1} more` : ""}`;
  return `change “${cut(first(was))}”${was.length > 1 ? ` and ${was.length - 1} more` : ""}`;
}

/** `lines 3 to 8`, of the new text, or of the old one where all is taken away. */
export function hunkPlace(hunk: Hunk): string {
  const changed = rowsOf(hunk).filter((it) => !it.same);
  const numbers = changed.map((it) => it.newNumber ?? it.oldNumber ?? 0);
  const [from, to] = [Math.min(...numbers), Math.max(...numbers)];
  return from === to ? `line ${from}` : `lines ${from} to ${to}`;
}
